/* SPDX-License-Identifier: MIT */
/* MPI between the ranks of a fabric, and ULFM.
 *
 * Messages of a pair of ranks arrive in their order, those of different pairs in any. A message between nodes may wait
 * in its sender, whose bytes MPI reads when it leaves: who changes or frees them before is found. One to a rank that
 * has ended may wait for ever. Large data are announced, and go when their receiver has room for them, while MPI may
 * write there at any time. Nothing moves but in a call of MPI, of the rank that it leaves or reaches. */
#include "common/machine/machine.h"
#include "common/mpi/net.h"
#include "tests/seeds/fabric_core.h"
#include "tests/seeds/fabric_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 1024
/* Data of so many bytes wait for their receiver. */
#define EAGER_MAX 4096u
/* MPI learns within so long that a rank has failed. */
#define KNOWN_AFTER_NS (2 * FABRIC_S)

enum operation_kind { NO_REQUEST, SEND, RECEIVE };

struct parcel {
    unsigned from, to;
    int tag;
    size_t size;
    const unsigned char *source; /* the sender's bytes */
    uint64_t sum;                /* of them, as they were sent */
    int request, receive;        /* of the sender and the receiver, by place; -1: none */
    bool is_announced;           /* of data that wait for their receiver, as this says */
    bool is_unread;              /* MPI has still to read them */
    bool has_left, is_granted, is_pushed;
    uint64_t leaves_ns, arrives_ns, granted_ns;
    struct parcel *next;
    unsigned char bytes[];
};

struct operation {
    enum operation_kind kind;
    bool is_active, is_persistent, is_free; /* is_free: given back before it was over */
    bool is_marked;                         /* of a receive: tested behind a failure */
    unsigned char *buffer;
    size_t bytes;
    int tag, source; /* CARRIER_ANY */
    uint64_t posted;
    bool is_matched;
    unsigned got_from;
    size_t got;
};

struct rank_mpi {
    struct operation requests[REQUESTS];
    int used; /* places that were ever taken */
    uint64_t posted;
    uint64_t last_ns[FABRIC_RANKS];  /* when what was sent to each rank arrives, at the earliest */
    uint64_t knows_ns[FABRIC_RANKS]; /* when it learns that the rank has failed; NEVER */
    unsigned failed[FABRIC_RANKS];
    int failed_count, acknowledged;
    bool finalizes;
};

static struct rank_mpi ranks[FABRIC_RANKS];
/* What is under way from one rank to another, in its order. */
static struct parcel *queues[FABRIC_RANKS][FABRIC_RANKS], **queue_ends[FABRIC_RANKS][FABRIC_RANKS];
static unsigned under_way[FABRIC_RANKS]; /* from and to a rank */
static unsigned finalizing;

static struct rank_mpi *self(void)
{
    return &ranks[fabric_rank()];
}

static unsigned count_ranks(void)
{
    return fabric_config()->ranks;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return random_between(fabric_random(), low, high);
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* --- requests --- */

static carrier_request handle_of(int place)
{
    return 0x10000 + (carrier_request)place;
}

static struct operation *request_of(carrier_request handle)
{
    const intptr_t place = (intptr_t)handle - 0x10000;
    if (place < 0 || place >= REQUESTS || self()->requests[place].kind == NO_REQUEST) {
        fabric_complain("uses a request that is none");
        fabric_end(1);
    }
    return &self()->requests[place];
}

static int take_request(enum operation_kind kind)
{
    struct rank_mpi *mpi = self();
    int place = 0;
    while (place < REQUESTS && mpi->requests[place].kind != NO_REQUEST)
        place++;
    if (place == REQUESTS)
        abort();
    mpi->used = place >= mpi->used ? place + 1 : mpi->used;
    mpi->requests[place] = (struct operation){.kind = kind};
    return place;
}

static void give_request(struct operation *request)
{
    request->kind = NO_REQUEST;
}

/* The operation of a request is over. */
static void finish(unsigned rank, int place)
{
    struct operation *request = place >= 0 ? &ranks[rank].requests[place] : NULL;
    if (request == NULL)
        return;
    request->is_active = false;
    if (request->is_free)
        give_request(request);
}

static uint64_t sum_of(const unsigned char *bytes, size_t size)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void mpi_check_free(unsigned rank, const void *bytes, size_t size)
{
    const unsigned char *first = bytes;
    for (int i = 0; i < ranks[rank].used; i++) {
        const struct operation *request = &ranks[rank].requests[i];
        if (request->kind == NO_REQUEST || !request->is_active || request->buffer == NULL || request->buffer < first ||
            request->buffer >= first + size)
            continue;
        if (request->kind == RECEIVE)
            fabric_complain("frees %zu bytes to which MPI may still write (tag %d)", size, request->tag);
        else
            fabric_complain("frees %zu bytes that MPI may still read (tag %d)", size, request->tag);
    }
}

/* --- what moves --- */

static void drop_parcel(unsigned from, unsigned to, struct parcel **place)
{
    struct parcel *parcel = *place;
    *place = parcel->next;
    if (queue_ends[from][to] == &parcel->next)
        queue_ends[from][to] = place;
    under_way[from]--;
    under_way[to]--;
    memory_give(parcel);
}

/* MPI reads what was to be sent. */
static void read_source(struct parcel *parcel)
{
    if (!parcel->is_unread)
        return;
    if (parcel->size > 0)
        memcpy(parcel->bytes, parcel->source, parcel->size);
    if (sum_of(parcel->bytes, parcel->size) != parcel->sum)
        fabric_complain("has changed bytes that MPI had not read yet (to %u, tag %d)", parcel->to, parcel->tag);
    parcel->is_unread = false;
    finish(parcel->from, parcel->request);
    parcel->request = -1;
}

static uint64_t arrival_ns(unsigned from, unsigned to)
{
    const struct fabric_config *config = fabric_config();
    const uint64_t way_ns = fabric_is_near(from, to) ? 0 : between(config->far_min_ns, config->far_max_ns);
    return fabric_now() + way_ns;
}

/* A message leaves its sender. False where its receiver has ended: it may stay for ever. */
static bool leave(struct parcel *parcel)
{
    struct rank_mpi *mpi = &ranks[parcel->from];
    if (fabric_is_over(parcel->to)) {
        if (between(0, 1) == 0 || parcel->is_announced)
            return false;
        read_source(parcel);
        return false;
    }
    if (!parcel->is_announced)
        read_source(parcel);
    parcel->has_left = true;
    parcel->arrives_ns = at_least(mpi->last_ns[parcel->to], arrival_ns(parcel->from, parcel->to));
    mpi->last_ns[parcel->to] = parcel->arrives_ns;
    fabric_wake(parcel->to, parcel->arrives_ns);
    return true;
}

/* What this rank sends. */
static void push(unsigned from, unsigned to)
{
    bool is_first = true; /* that has not left */
    for (struct parcel **place = &queues[from][to]; *place != NULL;) {
        struct parcel *parcel = *place;
        bool stays = true;
        if (!parcel->has_left && is_first && parcel->leaves_ns <= fabric_now())
            stays = leave(parcel);
        else if (parcel->is_granted && !parcel->is_pushed && parcel->granted_ns <= fabric_now()) {
            read_source(parcel);
            parcel->is_pushed = true;
            parcel->arrives_ns = arrival_ns(from, to);
            fabric_wake(to, parcel->arrives_ns);
        }
        is_first &= parcel->has_left;
        if (stays)
            place = &parcel->next;
        else
            drop_parcel(from, to, place);
    }
}

static int find_receive(unsigned rank, const struct parcel *parcel)
{
    const struct rank_mpi *mpi = &ranks[rank];
    int best = -1;
    for (int i = 0; i < mpi->used; i++) {
        const struct operation *request = &mpi->requests[i];
        if (request->kind != RECEIVE || !request->is_active || request->is_matched || request->tag != parcel->tag ||
            (request->source != CARRIER_ANY && request->source != (int)parcel->from))
            continue;
        if (best < 0 || request->posted < mpi->requests[best].posted)
            best = i;
    }
    return best;
}

static void deliver(struct operation *request, const struct parcel *parcel)
{
    assert(request->is_active && parcel->size <= request->bytes);
    if (parcel->size > 0)
        memcpy(request->buffer, parcel->bytes, parcel->size);
    request->got = parcel->size;
    request->got_from = parcel->from;
}

/* Takes a message that has arrived. True where it is through. */
static bool take(unsigned to, struct parcel *parcel)
{
    struct rank_mpi *mpi = &ranks[to];
    if (parcel->receive < 0) {
        parcel->receive = find_receive(to, parcel);
        if (parcel->receive < 0)
            return false;
        struct operation *request = &mpi->requests[parcel->receive];
        request->is_matched = true;
        if (parcel->is_announced) {
            parcel->is_granted = true;
            parcel->granted_ns = arrival_ns(to, parcel->from);
            fabric_wake(parcel->from, parcel->granted_ns);
            return false;
        }
    }
    struct operation *request = &mpi->requests[parcel->receive];
    if (parcel->is_announced && !parcel->is_pushed) {
        request->buffer[between(0, parcel->size - 1)] ^= 0x55; /* parts of it may be here */
        return false;
    }
    deliver(request, parcel);
    finish(to, parcel->receive);
    return true;
}

/* What comes to this rank. */
static void pull(unsigned from, unsigned to)
{
    for (struct parcel **place = &queues[from][to]; *place != NULL;) {
        struct parcel *parcel = *place;
        if (parcel->has_left && parcel->arrives_ns <= fabric_now() && take(to, parcel))
            drop_parcel(from, to, place);
        else
            place = &parcel->next;
    }
}

static void learn_of_failures(struct rank_mpi *mpi)
{
    for (unsigned i = 0; fabric_has_ulfm() && i < count_ranks(); i++)
        if (mpi->knows_ns[i] <= fabric_now()) {
            mpi->knows_ns[i] = NEVER;
            mpi->failed[mpi->failed_count++] = i;
        }
}

static void progress(void)
{
    const unsigned own = fabric_rank();
    fabric_step();
    learn_of_failures(self());
    for (unsigned i = 0; under_way[own] > 0 && i < count_ranks(); i++) {
        if (queues[own][i] != NULL)
            push(own, i);
        if (queues[i][own] != NULL)
            pull(i, own);
    }
}

uint64_t mpi_next_ns(unsigned rank)
{
    uint64_t next_ns = NEVER;
    for (unsigned i = 0; i < count_ranks(); i++) {
        for (const struct parcel *out = queues[rank][i]; out != NULL; out = out->next) {
            const uint64_t at_ns = !out->has_left                       ? out->leaves_ns
                                   : out->is_granted && !out->is_pushed ? out->granted_ns
                                                                        : NEVER;
            next_ns = at_ns < next_ns ? at_ns : next_ns;
        }
        for (const struct parcel *in = queues[i][rank]; in != NULL; in = in->next) {
            const bool comes = in->has_left && (in->is_pushed || in->arrives_ns > fabric_now());
            next_ns = comes && in->arrives_ns < next_ns ? in->arrives_ns : next_ns;
        }
    }
    return next_ns;
}

void mpi_say(void)
{
    for (unsigned i = 0; i < count_ranks(); i++)
        for (unsigned j = 0; j < count_ranks(); j++)
            for (const struct parcel *out = queues[i][j]; out != NULL; out = out->next)
                fabric_say("from %u to %u, tag %d, %zu bytes: leaves at %.6f s%s%s%s%s", i, j, out->tag, out->size,
                           (double)out->leaves_ns / 1e9, out->has_left ? ", has left" : "",
                           out->receive >= 0 ? ", has its receive" : "", out->is_granted ? ", granted" : "",
                           out->is_pushed ? ", pushed" : "");
}

static const struct carrier fabric_carrier;

/* --- ranks that end --- */

static void clear_requests(struct rank_mpi *mpi)
{
    memset(mpi->requests, 0, (size_t)mpi->used * sizeof *mpi->requests);
    mpi->used = 0;
}

void mpi_forget(unsigned rank, bool all)
{
    for (unsigned i = 0; i < count_ranks(); i++) {
        for (struct parcel **place = &queues[rank][i]; *place != NULL;) {
            const struct parcel *parcel = *place;
            const bool arrives = parcel->has_left && /* be it an announcement without its data */
                                 !(all && !fabric_is_near(rank, i) && parcel->arrives_ns > fabric_now());
            if (arrives)
                place = &(*place)->next;
            else
                drop_parcel(rank, i, place);
        }
        while (queues[i][rank] != NULL) { /* what has not been read of it may stay so for ever */
            struct parcel *parcel = queues[i][rank];
            if (parcel->request >= 0 && !parcel->is_announced && between(0, 1) == 0)
                finish(i, parcel->request);
            drop_parcel(i, rank, &queues[i][rank]);
        }
        if (i != rank && !ranks[rank].finalizes)
            ranks[i].knows_ns[rank] = fabric_now() + between(0, KNOWN_AFTER_NS);
    }
    clear_requests(&ranks[rank]);
}

void mpi_begin(void)
{
    carrier = &fabric_carrier;
    finalizing = 0;
    for (unsigned i = 0; i < FABRIC_RANKS; i++) {
        struct rank_mpi *mpi = &ranks[i];
        clear_requests(mpi);
        mpi->failed_count = mpi->acknowledged = 0;
        mpi->finalizes = false;
        mpi->posted = 0;
        for (unsigned j = 0; j < FABRIC_RANKS; j++) {
            mpi->last_ns[j] = 0;
            mpi->knows_ns[j] = NEVER;
            queues[i][j] = NULL;
            queue_ends[i][j] = &queues[i][j];
        }
    }
}

void mpi_fini(void)
{
    for (unsigned i = 0; i < FABRIC_RANKS; i++)
        for (unsigned j = 0; j < FABRIC_RANKS; j++)
            while (queues[i][j] != NULL)
                drop_parcel(i, j, &queues[i][j]);
}

/* --- the calls --- */

static carrier_request fabric_isend(carrier_comm comm, int to, int tag, const void *buffer, size_t size)
{
    (void)comm;
    progress();
    const struct fabric_config *config = fabric_config();
    const unsigned own = fabric_rank();
    struct rank_mpi *mpi = self();
    struct parcel *parcel = memory_take(sizeof *parcel + size);
    const bool is_near = fabric_is_near(own, (unsigned)to);
    const bool is_held = !is_near && between(0, 99) < config->held_percent;
    *parcel = (struct parcel){.from = own, .to = (unsigned)to, .tag = tag, .size = size, .receive = -1, .request = -1};
    parcel->is_announced = size > EAGER_MAX;
    parcel->leaves_ns = fabric_now() + (is_held ? between(0, config->held_max_ns) : 0);
    fabric_tally.messages += tag == TAG_CONTROL;
    fabric_tally.data += tag == TAG_DATA;
    fabric_tally.beats += tag != TAG_CONTROL && tag != TAG_DATA;
    parcel->request = take_request(SEND);
    struct operation *send = &mpi->requests[parcel->request];
    send->is_active = true;
    send->buffer = (unsigned char *)buffer;
    send->tag = tag;
    const carrier_request request = handle_of(parcel->request); /* of the place, which read_source() forgets */
    parcel->source = buffer;
    parcel->is_unread = true;
    parcel->sum = sum_of(buffer, size);
    if (!parcel->is_announced && between(0, 1) == 0) { /* MPI has a copy, and the send is over */
        read_source(parcel);
    }
    *queue_ends[own][to] = parcel;
    queue_ends[own][to] = &parcel->next;
    under_way[own]++;
    under_way[to]++;
    push(own, (unsigned)to);
    return request;
}

static void post(int place)
{
    struct operation *request = &self()->requests[place];
    request->is_active = true;
    request->is_matched = request->is_marked = false;
    request->posted = self()->posted++;
}

static int make_receive(void *buffer, size_t size, int from, int tag)
{
    const int place = take_request(RECEIVE);
    struct operation *request = &self()->requests[place];
    request->buffer = buffer;
    request->bytes = size;
    request->source = from;
    request->tag = tag;
    return place;
}

static carrier_request fabric_irecv(carrier_comm comm, int from, int tag, void *buffer, size_t size)
{
    (void)comm;
    const int place = make_receive(buffer, size, from, tag);
    post(place);
    progress();
    return handle_of(place);
}

static carrier_request fabric_recv_init(carrier_comm comm, int from, int tag, void *buffer, size_t size)
{
    (void)comm;
    const int place = make_receive(buffer, size, from, tag);
    self()->requests[place].is_persistent = true;
    return handle_of(place);
}

static void fabric_start(carrier_request request)
{
    struct operation *receive = request_of(request);
    if (receive->is_active)
        fabric_complain("starts a receive that has been started");
    memset(receive->buffer, 0xcc, receive->bytes < 64 ? receive->bytes : 64);
    post((int)(receive - self()->requests));
    progress();
}

static bool has_failed(const struct rank_mpi *mpi, int rank)
{
    for (int i = 0; i < mpi->failed_count; i++)
        if ((int)mpi->failed[i] == rank)
            return true;
    return false;
}

/* Where a receive fails with its sender, no later one from there takes its data. */
static void drop_data(unsigned from)
{
    for (struct parcel **place = &queues[from][fabric_rank()]; *place != NULL;)
        if ((*place)->tag == TAG_DATA)
            drop_parcel(from, fabric_rank(), place);
        else
            place = &(*place)->next;
}

/* The result of a receive; *is_over is as it would be without. */
static enum carrier_result look_at_failures(struct rank_mpi *mpi, carrier_request *handle, struct operation *request,
                                            bool *is_over)
{
    const bool is_new = mpi->failed_count > mpi->acknowledged;
    if (request->kind != RECEIVE)
        return CARRIER_DONE;
    if (request->source != CARRIER_ANY) {
        if (*is_over || !has_failed(mpi, request->source))
            return CARRIER_DONE;
        drop_data((unsigned)request->source);
        give_request(request);
        *handle = 0;
        *is_over = true;
        return CARRIER_LOST;
    }
    if (is_new && !*is_over && request->tag == TAG_CONTROL && between(0, 7) == 0) {
        give_request(request);
        *handle = 0;
        *is_over = true;
        fabric_tally.renewed++;
        return CARRIER_LOST;
    }
    request->is_marked |= is_new && !*is_over;
    fabric_tally.marked += request->is_marked && *is_over;
    return request->is_marked && (is_new || *is_over) ? CARRIER_PENDING : CARRIER_DONE;
}

static enum carrier_result fabric_test(carrier_request *handle, bool *is_over, struct carrier_status *status)
{
    progress();
    *is_over = true;
    if (*handle == 0)
        return CARRIER_DONE;
    struct rank_mpi *mpi = self();
    struct operation *request = request_of(*handle);
    if (request->kind == SEND && request->is_active && request->tag != 4) /* the tree has no losses at the start */
        fabric_complain("tests a send that is not over: Open MPI 5 ends a rank then");
    if (request->is_persistent && !request->is_active && !request->is_matched)
        fabric_complain("tests a receive that has not been started");
    *is_over = !request->is_active;
    const enum carrier_result result = look_at_failures(mpi, handle, request, is_over);
    if (*is_over && status != NULL)
        *status = (struct carrier_status){.source = (int)request->got_from, .bytes = request->got};
    if (!*is_over || *handle == 0)
        return result;
    request->is_matched = false;
    if (!request->is_persistent) {
        give_request(request);
        *handle = 0;
    }
    return result;
}

static bool fabric_request_is_over(carrier_request handle)
{
    progress();
    return !request_of(handle)->is_active;
}

static void fabric_cancel(carrier_request handle)
{
    progress();
    struct operation *request = request_of(handle);
    if (request->kind == RECEIVE && !request->is_matched)
        request->is_active = false;
}

static void fabric_wait(carrier_request *handle)
{
    progress();
    struct operation *request = request_of(*handle);
    while (request->is_active) {
        const uint64_t next_ns = mpi_next_ns(fabric_rank());
        fabric_rest(next_ns < NEVER ? at_least(next_ns, fabric_now() + 1000) : fabric_now() + FABRIC_S);
        progress();
    }
    if (request->is_persistent)
        return;
    give_request(request);
    *handle = 0;
}

static void fabric_release(carrier_request *handle)
{
    struct operation *request = request_of(*handle);
    request->is_free = true;
    if (!request->is_active)
        give_request(request);
    *handle = 0;
}

static void fabric_progress(carrier_comm comm, int self_rank)
{
    (void)comm, (void)self_rank;
    progress();
}

static enum carrier_level fabric_level(void)
{
    return CARRIER_FUNNELED;
}

static void fabric_abort(carrier_comm comm, int status)
{
    (void)comm;
    fabric_say("MPI_Abort(%d)", status);
    fabric_abort_others();
    fabric_end(status);
}

static void fabric_release_comm(carrier_comm *comm)
{
    *comm = 0;
}

/* Ends with that of the last rank, if the launcher answers. */
static void fabric_finish(void)
{
    progress();
    self()->finalizes = true;
    finalizing++;
    fabric_say("MPI_Finalize()");
    while (finalizing < count_ranks() || fabric_is_halted()) {
        fabric_rest(NEVER);
        progress();
    }
    for (unsigned i = 0; i < count_ranks(); i++)
        if (i != fabric_rank())
            fabric_wake(i, fabric_now());
}

/* --- ULFM --- */

static void fabric_heed_losses(carrier_comm comm)
{
    (void)comm;
}

static int fabric_next_losses(carrier_comm comm, int known, int *lost, int room)
{
    (void)comm;
    struct rank_mpi *mpi = self();
    int count = 0;
    progress();
    for (; known + count < mpi->failed_count && count < room; count++)
        lost[count] = (int)mpi->failed[known + count];
    if (count > 0)
        mpi->acknowledged = known + count;
    return count;
}

static const struct carrier fabric_carrier = {
    .version = CARRIER_VERSION,
    .name = "the fabric",
    .level = fabric_level,
    .finish = fabric_finish,
    .abort = fabric_abort,
    .release_comm = fabric_release_comm,
    .isend = fabric_isend,
    .irecv = fabric_irecv,
    .recv_init = fabric_recv_init,
    .start = fabric_start,
    .test = fabric_test,
    .is_over = fabric_request_is_over,
    .wait = fabric_wait,
    .cancel = fabric_cancel,
    .release = fabric_release,
    .progress = fabric_progress,
    .heed_losses = fabric_heed_losses,
    .next_losses = fabric_next_losses,
};
