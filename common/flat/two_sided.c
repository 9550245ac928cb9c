/* Two-sided: rank 0 keeps the counters and answers requests while it computes, between iterations; nothing but sends
 * and receives, for any MPI library. A draw by place takes one exchange, the others two or more, as core.h has it. */
#include "common/flat/flat.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_REQUEST = 1, TAG_ANSWER, TAG_MEASURED };

enum operation { OPERATION_ADD, OPERATION_SHARE, OPERATION_LEAVE };

struct ask {
    uint64_t operation;
    uint64_t counter, amount;
    struct flat_measured measured; /* SHARE only: not sent else */
};

#define ADD_BYTES offsetof(struct ask, measured)

/* Requests that can be on their way to rank 0 before MPI keeps them itself. */
#define RECEIVES 8
/* Looks at an answer before the time is looked at, too, where each rank has its core: some microseconds. */
#define QUICK_LOOKS 64

struct two_sided {
    struct flat *flat;
    MPI_Comm comm;
    uint64_t counters[FLAT_COUNTERS];
    struct flat_measured *measured; /* [ranks], rank 0; owned */
    /* rank 0 */
    struct ask asks[RECEIVES];
    MPI_Request receives[RECEIVES];
    unsigned head;
    unsigned left; /* ranks that draw no more */
    /* the others */
    MPI_Request answer;
    uint64_t answered;
    bool has_answer;
};

/* --- rank 0 --- */

static uint64_t apply(struct two_sided *own, uint64_t counter, uint64_t amount)
{
    struct flat *flat = own->flat;
    uint64_t before = own->counters[counter];
    if (flat->assignment_ns > 0 && amount > 0 && counter == flat_first_counter(&flat->core))
        runtime_delay(flat->runtime, flat->assignment_ns);
    own->counters[counter] += amount;
    return before;
}

static void answer(struct two_sided *own, const struct ask *ask, int to)
{
    struct flat *flat = own->flat;
    size_t all = flat->ranks * sizeof *own->measured;
    uint64_t value;
    switch (ask->operation) {
    case OPERATION_LEAVE: own->left++; return;
    case OPERATION_SHARE:
        own->measured[to] = ask->measured;
        MPI_Send(own->measured, (int)all, MPI_BYTE, to, TAG_MEASURED, own->comm);
        flat->figures.bytes += all;
        break;
    default:
        value = apply(own, ask->counter, ask->amount);
        MPI_Send(&value, 1, MPI_UINT64_T, to, TAG_ANSWER, own->comm);
        flat->figures.bytes += sizeof value;
    }
    flat->figures.messages++;
    doorbell_ring(&flat->runtime->doorbell, (unsigned)to);
}

static bool serve_one(struct two_sided *own)
{
    MPI_Status status;
    int arrived;
    MPI_Test(&own->receives[own->head], &arrived, &status);
    if (!arrived)
        return false;
    answer(own, &own->asks[own->head], status.MPI_SOURCE);
    MPI_Start(&own->receives[own->head]);
    own->head = (own->head + 1) % RECEIVES;
    return true;
}

static bool two_sided_serve(struct flat *flat)
{
    struct two_sided *own = flat->own;
    bool any = false;
    for (unsigned i = 0; i < 2 * flat->ranks && serve_one(own); i++)
        any = true;
    return any;
}

static bool poll_requests(void *context)
{
    struct two_sided *own = context;
    if (!serve_one(own))
        return false;
    flat_happened(own->flat);
    return true;
}

static uint64_t add_here(void *self, enum flat_counter counter, uint64_t amount)
{
    return apply(self, counter, amount);
}

static void share_here(void *self, const struct flat_measured *measured, struct flat_measured *all)
{
    struct two_sided *own = self;
    own->measured[0] = *measured;
    memcpy(all, own->measured, own->flat->ranks * sizeof *all);
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

static void send_ask(struct two_sided *own, const struct ask *ask, size_t bytes)
{
    MPI_Send(ask, (int)bytes, MPI_BYTE, 0, TAG_REQUEST, own->comm);
    doorbell_ring(&own->flat->runtime->doorbell, 0);
    own->flat->figures.messages++;
    own->flat->figures.bytes += bytes;
}

static void wait_for_answer(struct two_sided *own)
{
    own->has_answer = false;
    for (int i = 0; own->flat->runtime->cores_are_free && i < QUICK_LOOKS && !own->has_answer; i++)
        poll_answer(own);
    while (!own->has_answer && !poll_answer(own))
        flat_idle(own->flat, poll_answer, own);
    flat_happened(own->flat);
}

static uint64_t add_there(void *self, enum flat_counter counter, uint64_t amount)
{
    struct two_sided *own = self;
    const struct ask ask = {.operation = OPERATION_ADD, .counter = counter, .amount = amount};
    MPI_Irecv(&own->answered, 1, MPI_UINT64_T, 0, TAG_ANSWER, own->comm, &own->answer);
    send_ask(own, &ask, ADD_BYTES);
    wait_for_answer(own);
    return own->answered;
}

static void share_there(void *self, const struct flat_measured *measured, struct flat_measured *all)
{
    struct two_sided *own = self;
    const struct ask ask = {.operation = OPERATION_SHARE, .measured = *measured};
    MPI_Irecv(all, (int)(own->flat->ranks * sizeof *all), MPI_BYTE, 0, TAG_MEASURED, own->comm, &own->answer);
    send_ask(own, &ask, sizeof ask);
    wait_for_answer(own);
}

static void calculating(void *self)
{
    struct flat *flat = ((struct two_sided *)self)->flat;
    runtime_delay(flat->runtime, flat->calculation_ns);
}

/* --- the topology --- */

static int open_rank_0(struct flat *flat, struct two_sided *own)
{
    own->measured = calloc(flat->ranks, sizeof *own->measured);
    if (own->measured == NULL)
        return error_set(&flat->lead.error, "out of memory for %u workers", flat->ranks);
    for (unsigned i = 0; i < RECEIVES; i++) {
        MPI_Recv_init(&own->asks[i], sizeof own->asks[i], MPI_BYTE, MPI_ANY_SOURCE, TAG_REQUEST, own->comm,
                      &own->receives[i]);
        MPI_Start(&own->receives[i]);
    }
    flat->counters.fetch_add = add_here;
    flat->counters.share = share_here;
    return 0;
}

static int two_sided_open(struct flat *flat)
{
    static struct two_sided memory;
    struct two_sided *own = &memory;
    *own = (struct two_sided){.flat = flat};
    flat->own = own;
    MPI_Comm_dup(flat->runtime->world, &own->comm);
    flat->counters = (struct flat_counters){.self = own,
                                            .fetch_add = add_there,
                                            .share = share_there,
                                            .calculating = flat->calculation_ns > 0 ? calculating : NULL};
    return flat->rank == 0 ? open_rank_0(flat, own) : 0;
}

static bool two_sided_draw(struct flat *flat, struct range *chunk)
{
    return flat_draw(&flat->core, &flat->counters, chunk);
}

static void two_sided_stop(struct flat *flat)
{
    flat_stop(&flat->core, &flat->counters);
}

static void two_sided_finish(struct flat *flat)
{
    struct two_sided *own = flat->own;
    if (flat->rank != 0) {
        send_ask(own, &(struct ask){.operation = OPERATION_LEAVE}, ADD_BYTES);
        return;
    }
    while (own->left < flat->ranks - 1)
        if (two_sided_serve(flat))
            flat_happened(flat);
        else
            flat_idle(flat, poll_requests, own);
}

static uint64_t two_sided_drawn(struct flat *flat)
{
    const struct two_sided *own = flat->own;
    return flat_drawn(&flat->core, own->counters[flat_first_counter(&flat->core)]);
}

static void two_sided_close(struct flat *flat)
{
    struct two_sided *own = flat->own;
    if (own == NULL)
        return;
    for (unsigned i = 0; own->measured != NULL && i < RECEIVES; i++) {
        MPI_Cancel(&own->receives[i]);
        MPI_Wait(&own->receives[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&own->receives[i]);
    }
    MPI_Comm_free(&own->comm);
    free(own->measured);
    flat->own = NULL;
}

const struct transport transport_two_sided = {
    .topology = REPORT_DCA_TWO_SIDED,
    .open = two_sided_open,
    .draw = two_sided_draw,
    .stop = two_sided_stop,
    .serve = two_sided_serve,
    .finish = two_sided_finish,
    .drawn = two_sided_drawn,
    .close = two_sided_close,
};
