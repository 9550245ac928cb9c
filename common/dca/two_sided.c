/* SPDX-License-Identifier: MIT */
/* Two-sided: rank 0 keeps the counters and answers requests while it computes, between iterations; nothing but sends
 * and receives, for any MPI library. A draw by position takes one exchange, the others two or more, as core.h has it.
 *
 * Where losses are survived (share.h) rank 0 keeps a book of the chunks that its answers stand for, see book.h. A rank
 * that draws no more leaves, and waits until rank 0 gives it iterations of a lost rank, or says that all is over.
 * Messages to a rank that may be dead are short, so that MPI sends them without its help, or not waited for. */
#include "common/dca/book.h"
#include "common/dca/share.h"
#include "common/metrics/report.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_REQUEST = 1, TAG_ANSWER, TAG_MEASURED, TAG_AGAIN };

enum operation { OPERATION_ADD, OPERATION_SHARE, OPERATION_LEAVE };

struct ask {
    uint64_t operation;
    uint64_t counter, amount;
    union {
        struct dca_measured measured;         /* SHARE only */
        unsigned char record[DCA_RECORD_MAX]; /* ADD and LEAVE, where losses are survived: share->record */
    };
};

#define ADD_BYTES offsetof(struct ask, measured)

struct answer {
    uint64_t value;
    struct range given; /* where losses are survived: to be computed in place of what is drawn, unless its count is 0 */
};

#define VALUE_BYTES offsetof(struct answer, given)

/* Requests that can be on their way to rank 0 before MPI keeps them itself. */
#define RECEIVES 8
/* Number of looks at an answer before the time is looked at, too, where each rank has its core: some microseconds. */
#define QUICK_LOOKS 64
/* Looks in a row that find no request: then no more requests of a lost rank can come. */
#define LAST_LOOKS 32

struct two_sided {
    struct share *share;
    MPI_Comm comm;
    uint64_t counters[DCA_COUNTERS];
    struct dca_measured *measured; /* [ranks], rank 0; owned */
    /* rank 0 */
    struct ask asks[RECEIVES];
    MPI_Request receives[RECEIVES];
    unsigned head;
    unsigned left;  /* ranks that draw no more */
    bool *has_left; /* [ranks] owned */
    struct dca_book book;
    bool has_book;
    unsigned char *records; /* [ranks] what each has done, as of its latest draw; owned */
    /* the others */
    MPI_Request answer, again;
    struct answer answered;
    struct range given_again;
    bool has_answer;
    /* all */
    bool is_over; /* nobody computes any more */
};

/* --- rank 0 --- */

/* Adds to the counter. A delayed assignment is that of the first counter: see dca_action. */
static uint64_t two_sided_apply(struct two_sided *own, uint64_t counter, uint64_t amount)
{
    struct share *share = own->share;
    uint64_t before = own->counters[counter];
    if (share->assignment_ns > 0 && amount > 0 && counter == dca_first_counter(&share->core))
        share->host->delay(share, share->assignment_ns);
    own->counters[counter] += amount;
    return before;
}

/* Sends a range to a rank that waits for it, empty where all is over. */
static void two_sided_give_again(struct two_sided *own, unsigned to, const struct range *given)
{
    struct share *share = own->share;
    MPI_Send(given, sizeof *given, MPI_BYTE, (int)to, TAG_AGAIN, own->comm);
    share->bytes += sizeof *given;
    share->messages++;
    share->host->sent(share, to);
}

/* Notes what the rank has done, as it begins a draw or leaves. */
static void two_sided_note_record(struct two_sided *own, const struct ask *ask, int from)
{
    struct share *share = own->share;
    if (ask->amount != share->core.stop)
        memcpy(own->records + (size_t)from * share->record_bytes, ask->record, share->record_bytes);
}

static void two_sided_let_leave(struct two_sided *own, const struct ask *ask, int from)
{
    struct range given;
    if (!own->share->survives) {
        own->has_left[from] = true;
        own->left++;
        return;
    }
    two_sided_note_record(own, ask, from);
    if (dca_book_leave(&own->book, (unsigned)from, &given))
        two_sided_give_again(own, (unsigned)from, &given);
}

static void two_sided_answer_add(struct two_sided *own, const struct ask *ask, int to)
{
    struct share *share = own->share;
    const bool survives = share->survives;
    const enum dca_counter counter = (enum dca_counter)ask->counter;
    const size_t bytes = survives ? sizeof(struct answer) : VALUE_BYTES;
    struct answer answer = {0};
    if (survives)
        two_sided_note_record(own, ask, to);
    if (!survives || !dca_book_ask(&own->book, (unsigned)to, counter, ask->amount, &answer.given)) {
        answer.value = two_sided_apply(own, counter, ask->amount);
        if (survives)
            dca_book_answer(&own->book, (unsigned)to, counter, ask->amount, answer.value);
    }
    MPI_Send(&answer, (int)bytes, MPI_BYTE, to, TAG_ANSWER, own->comm);
    share->bytes += bytes;
}

/* Where the rank may be dead it is not waited for, as this message may be long; a record that changes meanwhile does
 * not fit its check. */
static void two_sided_send_measured(struct two_sided *own, int bytes, int to)
{
    MPI_Request request;
    if (!own->share->survives) {
        MPI_Send(own->measured, bytes, MPI_BYTE, to, TAG_MEASURED, own->comm);
        return;
    }
    MPI_Isend(own->measured, bytes, MPI_BYTE, to, TAG_MEASURED, own->comm, &request);
    MPI_Request_free(&request);
}

static void two_sided_answer(struct two_sided *own, const struct ask *ask, int to)
{
    struct share *share = own->share;
    size_t all = share->ranks * sizeof *own->measured;
    switch (ask->operation) {
    case OPERATION_LEAVE: two_sided_let_leave(own, ask, to); return;
    case OPERATION_SHARE:
        own->measured[to] = ask->measured;
        two_sided_send_measured(own, (int)all, to);
        share->bytes += all;
        break;
    case OPERATION_ADD: two_sided_answer_add(own, ask, to);
    }
    share->messages++;
    share->host->sent(share, (unsigned)to);
}

static size_t two_sided_ask_bytes(const struct share *share, enum operation operation)
{
    if (operation == OPERATION_SHARE)
        return ADD_BYTES + sizeof(struct dca_measured);
    return ADD_BYTES + (share->survives ? share->record_bytes : 0);
}

/* True if the ask can be that of a rank that has not left. */
static bool is_proper(const struct two_sided *own, const struct ask *ask, int bytes, int from)
{
    const struct share *share = own->share;
    if (bytes < (int)ADD_BYTES || from == 0 || ask->operation > OPERATION_LEAVE ||
        bytes != (int)two_sided_ask_bytes(share, (enum operation)ask->operation))
        return false;
    if (own->has_left[from] || (own->has_book && own->book.holders[from].waits))
        return false;
    return ask->operation != OPERATION_ADD || ask->counter < DCA_COUNTERS;
}

/* Ends the run: the chunks that the failed rank has drawn are with it, and nobody else can have them. */
static void two_sided_refuse(const struct two_sided *own, int from)
{
    fprintf(stderr, "hdss: rank 0: rank %d asked for what is not in the protocol of --dca two-sided\n", from);
    fflush(stderr);
    MPI_Abort(own->comm, EXIT_STATUS_FAILED);
}

static bool two_sided_serve_one(struct two_sided *own)
{
    MPI_Status status;
    int arrived, bytes;
    if (MPI_Test(&own->receives[own->head], &arrived, &status) != MPI_SUCCESS || !arrived)
        return false;
    const int from = status.MPI_SOURCE;
    const bool is_lost = own->has_book && own->book.holders[from].lost; /* nobody waits for the answer */
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (!is_lost && !is_proper(own, &own->asks[own->head], bytes, from))
        two_sided_refuse(own, from);
    if (!is_lost)
        two_sided_answer(own, &own->asks[own->head], from);
    assert(!own->has_book || dca_book_check(&own->book) == NULL);
    MPI_Start(&own->receives[own->head]);
    own->head = (own->head + 1) % RECEIVES;
    return true;
}

static bool two_sided_serve(struct share *share)
{
    struct two_sided *own = share->own;
    bool any = false;
    for (unsigned i = 0; i < 2 * share->ranks && two_sided_serve_one(own); i++)
        any = true;
    return any;
}

static bool poll_requests(void *context)
{
    struct two_sided *own = context;
    if (!two_sided_serve_one(own))
        return false;
    own->share->host->happened(own->share);
    return true;
}

static uint64_t add_here(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    struct two_sided *own = self;
    (void)assigns;
    if (own->has_book && amount == own->share->core.stop)
        dca_book_stop(&own->book);
    return two_sided_apply(own, counter, amount);
}

static void share_here(void *self, const struct dca_measured *measured, struct dca_measured *all)
{
    struct two_sided *own = self;
    own->measured[0] = *measured;
    memcpy(all, own->measured, own->share->ranks * sizeof *all);
}

/* --- rank 0, where losses are survived --- */

/* Has others compute what the lost rank has not, when its last requests are answered. */
static void two_sided_lose(struct two_sided *own, unsigned rank)
{
    for (unsigned empty = 0; empty < LAST_LOOKS;)
        empty = two_sided_serve_one(own) ? 0 : empty + 1;
    share_lose(own->share, &own->book, rank);
}

static void two_sided_look_at_losses(struct two_sided *own)
{
    struct share *share = own->share;
    struct range given;
    unsigned rank;
    while (share->host->lost(share, &rank))
        two_sided_lose(own, rank);
    while (dca_book_give(&own->book, &rank, &given))
        two_sided_give_again(own, rank, &given);
}

static void two_sided_look(struct share *share, uint64_t now_ns)
{
    struct two_sided *own = share->own;
    (void)now_ns;
    if (own->has_book && !own->is_over)
        two_sided_look_at_losses(own);
}

/* Rank 0 draws no more. Returns false when no other rank draws any more, true with what rank 0 is to compute, as none
 * of the others is left. */
static bool two_sided_await_others(struct two_sided *own, struct range *given)
{
    struct share *share = own->share;
    const struct range nothing = {0, 0};
    while (!own->is_over && !dca_book_is_over(&own->book, own->counters[DCA_START])) {
        if (two_sided_serve(share))
            share->host->happened(share);
        else
            share->host->idle(share, poll_requests, own);
        share->host->look(share);
        two_sided_look_at_losses(own);
    }
    if (!own->is_over && dca_book_take(&own->book, given))
        return true;
    for (unsigned rank = 1; rank < share->ranks && !own->is_over; rank++)
        if (!own->book.holders[rank].lost)
            two_sided_give_again(own, rank, &nothing);
    own->is_over = true;
    return false;
}

/* --- the others --- */

static bool poll_answer(void *context)
{
    struct two_sided *own = context;
    int arrived;
    MPI_Test(&own->answer, &arrived, MPI_STATUS_IGNORE);
    own->has_answer = arrived;
    return arrived;
}

static void two_sided_send_ask(struct two_sided *own, struct ask *ask)
{
    const struct share *share = own->share;
    const size_t bytes = two_sided_ask_bytes(share, (enum operation)ask->operation);
    if (share->survives && ask->operation != OPERATION_SHARE)
        memcpy(ask->record, share->record, share->record_bytes);
    MPI_Send(ask, (int)bytes, MPI_BYTE, 0, TAG_REQUEST, own->comm);
    own->share->host->sent(own->share, 0);
    own->share->messages++;
    own->share->bytes += bytes;
}

static void two_sided_wait_for_answer(struct two_sided *own)
{
    own->has_answer = false;
    for (int i = 0; own->share->cores_are_free && i < QUICK_LOOKS && !own->has_answer; i++)
        poll_answer(own);
    while (!own->has_answer && !poll_answer(own))
        own->share->host->idle(own->share, poll_answer, own);
    own->share->host->happened(own->share);
}

static uint64_t add_there(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)assigns;
    struct two_sided *own = self;
    struct ask ask;
    ask.operation = OPERATION_ADD; /* without the rest, most of which is not sent */
    ask.counter = counter;
    ask.amount = amount;
    own->answered.given.count = 0;
    MPI_Irecv(&own->answered, sizeof own->answered, MPI_BYTE, 0, TAG_ANSWER, own->comm, &own->answer);
    two_sided_send_ask(own, &ask);
    two_sided_wait_for_answer(own);
    return own->answered.value;
}

static bool two_sided_given(void *self, struct range *given)
{
    const struct two_sided *own = self;
    *given = own->answered.given;
    return given->count > 0;
}

static void share_there(void *self, const struct dca_measured *measured, struct dca_measured *all)
{
    struct two_sided *own = self;
    struct ask ask = {.operation = OPERATION_SHARE, .measured = *measured};
    MPI_Irecv(all, (int)(own->share->ranks * sizeof *all), MPI_BYTE, 0, TAG_MEASURED, own->comm, &own->answer);
    two_sided_send_ask(own, &ask);
    two_sided_wait_for_answer(own);
}

static void two_sided_leave(struct two_sided *own)
{
    two_sided_send_ask(own, &(struct ask){.operation = OPERATION_LEAVE});
}

static bool poll_again(void *context)
{
    struct two_sided *own = context;
    int arrived;
    MPI_Test(&own->again, &arrived, MPI_STATUS_IGNORE); /* true again and again, once it has come */
    return arrived;
}

/* A rank other than 0 draws no more. Returns false when no rank draws any more, true with iterations of a lost rank,
 * which this one is to compute. */
static bool two_sided_await_again(struct two_sided *own, struct range *given)
{
    struct share *share = own->share;
    if (own->is_over)
        return false;
    MPI_Irecv(&own->given_again, sizeof own->given_again, MPI_BYTE, 0, TAG_AGAIN, own->comm, &own->again);
    two_sided_leave(own);
    while (!poll_again(own)) /* without a look at signals: rank 0 may not answer any more, and nothing is drawn here */
        share->host->idle(share, poll_again, own);
    share->host->happened(share);
    *given = own->given_again;
    own->is_over = given->count == 0;
    return !own->is_over;
}

static void two_sided_calculating(void *self)
{
    struct share *share = ((struct two_sided *)self)->share;
    share->host->delay(share, share->calculation_ns);
}

/* --- the topology --- */

static int open_book(struct share *share, struct two_sided *own)
{
    own->records = calloc(share->ranks, share->record_bytes);
    if (own->records == NULL)
        return error_set(share->error, "out of memory for what %u workers have done", share->ranks);
    own->has_book = dca_book_init(&own->book, &share->core, share->ranks, share->error) == 0;
    return own->has_book ? 0 : -1;
}

static int open_rank_0(struct share *share, struct two_sided *own)
{
    own->measured = calloc(share->ranks, sizeof *own->measured);
    own->has_left = calloc(share->ranks, sizeof *own->has_left);
    if (own->measured == NULL || own->has_left == NULL)
        return error_set(share->error, "out of memory for %u workers", share->ranks);
    for (unsigned i = 0; i < RECEIVES; i++) {
        MPI_Recv_init(&own->asks[i], sizeof own->asks[i], MPI_BYTE, MPI_ANY_SOURCE, TAG_REQUEST, own->comm,
                      &own->receives[i]);
        MPI_Start(&own->receives[i]);
    }
    share->counters.fetch_add = add_here;
    share->counters.share = share_here;
    share->counters.given = NULL;
    return share->survives ? open_book(share, own) : 0;
}

static int two_sided_open(struct share *share)
{
    struct two_sided *own = share->own;
    own->share = share;
    MPI_Comm_dup(share->world, &own->comm);
    share->counters = (struct dca_counters){.self = own,
                                            .fetch_add = add_there,
                                            .share = share_there,
                                            .given = share->survives ? two_sided_given : NULL,
                                            .calculating = share->calculation_ns > 0 ? two_sided_calculating : NULL};
    return share->rank == 0 ? open_rank_0(share, own) : 0;
}

/* Waits for the others at the end of the draws. True where this rank is to compute `given`. */
static bool two_sided_await(struct share *share, struct range *given)
{
    struct two_sided *own = share->own;
    return share->rank == 0 ? two_sided_await_others(own, given) : two_sided_await_again(own, given);
}

static bool two_sided_draw(struct share *share, struct range *chunk)
{
    if (dca_machine_draw(&share->machine, &share->counters, chunk))
        return true;
    if (!share->survives || !two_sided_await(share, chunk))
        return false;
    dca_machine_step(&share->machine, &(struct dca_event){.type = DCA_EVENT_GIVEN, .given = *chunk});
    return true;
}

static void two_sided_finish(struct share *share)
{
    struct two_sided *own = share->own;
    struct range none;
    if (share->survives) { /* a rank that has failed has stopped the run before, and nothing is given any more */
        two_sided_await(share, &none);
        return;
    }
    if (share->rank != 0) {
        two_sided_leave(own);
        return;
    }
    while (own->left < share->ranks - 1)
        if (two_sided_serve(share))
            share->host->happened(share);
        else
            share->host->idle(share, poll_requests, own);
}

static uint64_t two_sided_drawn(struct share *share)
{
    const struct two_sided *own = share->own;
    return dca_drawn(&share->core, own->counters[dca_first_counter(&share->core)]);
}

static uint64_t two_sided_reissued(const struct share *share)
{
    const struct two_sided *own = share->own;
    return own->has_book ? own->book.reissued : 0;
}

static const void *two_sided_record(const struct share *share, unsigned rank)
{
    const struct two_sided *own = share->own;
    return own->records + (size_t)rank * share->record_bytes;
}

static void two_sided_close(struct share *share)
{
    struct two_sided *own = share->own;
    for (unsigned i = 0; own->measured != NULL && own->has_left != NULL && i < RECEIVES; i++) {
        MPI_Cancel(&own->receives[i]);
        MPI_Wait(&own->receives[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&own->receives[i]);
    }
    MPI_Comm_free(&own->comm);
    if (own->has_book)
        dca_book_fini(&own->book);
    free(own->measured);
    free(own->has_left);
    free(own->records);
}

const struct transport transport_two_sided = {
    .topology = REPORT_DCA_TWO_SIDED,
    .own_bytes = sizeof(struct two_sided),
    .open = two_sided_open,
    .draw = two_sided_draw,
    .serve = two_sided_serve,
    .look = two_sided_look,
    .reissued = two_sided_reissued,
    .record = two_sided_record,
    .finish = two_sided_finish,
    .drawn = two_sided_drawn,
    .close = two_sided_close,
};
