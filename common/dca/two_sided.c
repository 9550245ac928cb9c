/* SPDX-License-Identifier: MIT */
/* Two-sided DCA: rank 0 keeps the counters and answers requests between its iterations. Two-sided DCA needs only sends
 * and receives, so it works with any MPI library. A draw by position takes one request and its answer. Other draws take
 * two or more requests (core.h). */
#include "common/dca/share.h"
#include "common/metrics/report.h"
#include "common/util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_REQUEST = 1, TAG_ANSWER, TAG_MEASURED };

enum operation { OPERATION_ADD, OPERATION_SHARE, OPERATION_LEAVE };

struct ask {
    uint64_t operation;
    uint64_t counter, amount;
    struct dca_measured measured;
};

#define ADD_BYTES offsetof(struct ask, measured)

#define RECEIVES 8
/* How many times a rank with a core of its own tests for an answer before it calls idle(). All these tests together
 * take some microseconds. */
#define QUICK_LOOKS 64

struct two_sided {
    struct share *share;
    carrier_comm comm;
    uint64_t counters[DCA_COUNTERS];
    struct dca_measured *measured;
    struct ask asks[RECEIVES];
    carrier_request receives[RECEIVES];
    unsigned head;
    unsigned left;
    bool *has_left;
    carrier_request answer;
    uint64_t answered;
    bool has_answer;
};

/* Adds to a counter. If the addition assigns iterations, first waits for the injected delay: see `assigns` of struct
 * dca_action. */
static uint64_t two_sided_apply(struct two_sided *own, uint64_t counter, uint64_t amount)
{
    struct share *share = own->share;
    uint64_t before = own->counters[counter];
    if (share->assignment_ns > 0 && amount > 0 && counter == dca_first_counter(&share->core))
        share->host->delay(share, share->assignment_ns);
    own->counters[counter] += amount;
    return before;
}

static void two_sided_answer(struct two_sided *own, const struct ask *ask, int to)
{
    struct share *share = own->share;
    size_t all = share->ranks * sizeof *own->measured;
    uint64_t value;
    switch (ask->operation) {
    case OPERATION_LEAVE:
        own->has_left[to] = true;
        own->left++;
        return;
    case OPERATION_SHARE:
        own->measured[to] = ask->measured;
        carrier->send(own->comm, to, TAG_MEASURED, own->measured, all);
        share->bytes += all;
        break;
    case OPERATION_ADD:
        value = two_sided_apply(own, ask->counter, ask->amount);
        carrier->send(own->comm, to, TAG_ANSWER, &value, sizeof value);
        share->bytes += sizeof value;
    }
    share->messages++;
    share->host->sent(share, (unsigned)to);
}

static bool is_proper(const struct two_sided *own, const struct ask *ask, size_t bytes, int from)
{
    if (bytes < ADD_BYTES || from == 0 || own->has_left[from])
        return false;
    switch (ask->operation) {
    case OPERATION_ADD: return bytes == ADD_BYTES && ask->counter < DCA_COUNTERS;
    case OPERATION_SHARE: return bytes == sizeof *ask;
    case OPERATION_LEAVE: return bytes == ADD_BYTES;
    default: return false;
    }
}

/* Ends the run after a rank has sent an invalid request. The chunks that this rank has drawn could not be recovered. */
static void two_sided_refuse(const struct two_sided *own, int from)
{
    fprintf(stderr, "hdss: rank 0: rank %d asked for what is not in the protocol of --dca two-sided\n", from);
    fflush(stderr);
    carrier->abort(own->comm, EXIT_STATUS_FAILED);
}

static bool two_sided_serve_one(struct two_sided *own)
{
    struct carrier_status status;
    bool arrived;
    carrier->test(&own->receives[own->head], &arrived, &status);
    if (!arrived)
        return false;
    if (!is_proper(own, &own->asks[own->head], status.bytes, status.source))
        two_sided_refuse(own, status.source);
    two_sided_answer(own, &own->asks[own->head], status.source);
    carrier->start(own->receives[own->head]);
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
    (void)assigns;
    return two_sided_apply(self, counter, amount);
}

static void share_here(void *self, const struct dca_measured *measured, struct dca_measured *all)
{
    struct two_sided *own = self;
    own->measured[0] = *measured;
    memcpy(all, own->measured, own->share->ranks * sizeof *all);
}

static bool poll_answer(void *context)
{
    struct two_sided *own = context;
    carrier->test(&own->answer, &own->has_answer, NULL);
    return own->has_answer;
}

static void two_sided_send_ask(struct two_sided *own, const struct ask *ask, size_t bytes)
{
    carrier->send(own->comm, 0, TAG_REQUEST, ask, bytes);
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
    const struct ask ask = {.operation = OPERATION_ADD, .counter = counter, .amount = amount};
    own->answer = carrier->irecv(own->comm, 0, TAG_ANSWER, &own->answered, sizeof own->answered);
    two_sided_send_ask(own, &ask, ADD_BYTES);
    two_sided_wait_for_answer(own);
    return own->answered;
}

static void share_there(void *self, const struct dca_measured *measured, struct dca_measured *all)
{
    struct two_sided *own = self;
    const struct ask ask = {.operation = OPERATION_SHARE, .measured = *measured};
    own->answer = carrier->irecv(own->comm, 0, TAG_MEASURED, all, own->share->ranks * sizeof *all);
    two_sided_send_ask(own, &ask, sizeof ask);
    two_sided_wait_for_answer(own);
}

static void two_sided_calculating(void *self)
{
    struct share *share = ((struct two_sided *)self)->share;
    share->host->delay(share, share->calculation_ns);
}

static int open_rank_0(struct share *share, struct two_sided *own)
{
    own->measured = calloc(share->ranks, sizeof *own->measured);
    own->has_left = calloc(share->ranks, sizeof *own->has_left);
    if (own->measured == NULL || own->has_left == NULL)
        return error_set(share->error, "out of memory for %u workers", share->ranks);
    for (unsigned i = 0; i < RECEIVES; i++) {
        own->receives[i] = carrier->recv_init(own->comm, CARRIER_ANY, TAG_REQUEST, &own->asks[i], sizeof own->asks[i]);
        carrier->start(own->receives[i]);
    }
    share->counters.fetch_add = add_here;
    share->counters.share = share_here;
    return 0;
}

static int two_sided_open(struct share *share)
{
    struct two_sided *own = share->own;
    own->share = share;
    own->comm = carrier->duplicate(share->world);
    share->counters = (struct dca_counters){.self = own,
                                            .fetch_add = add_there,
                                            .share = share_there,
                                            .calculating = share->calculation_ns > 0 ? two_sided_calculating : NULL};
    return share->rank == 0 ? open_rank_0(share, own) : 0;
}

static void two_sided_finish(struct share *share)
{
    struct two_sided *own = share->own;
    if (share->rank != 0) {
        two_sided_send_ask(own, &(struct ask){.operation = OPERATION_LEAVE}, ADD_BYTES);
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

static void two_sided_close(struct share *share)
{
    struct two_sided *own = share->own;
    for (unsigned i = 0; own->measured != NULL && own->has_left != NULL && i < RECEIVES; i++)
        carrier_end_receive(&own->receives[i]);
    carrier->release_comm(&own->comm);
    free(own->measured);
    free(own->has_left);
}

const struct transport transport_two_sided = {
    .topology = REPORT_DCA_TWO_SIDED,
    .own_bytes = sizeof(struct two_sided),
    .open = two_sided_open,
    .serve = two_sided_serve,
    .finish = two_sided_finish,
    .drawn = two_sided_drawn,
    .close = two_sided_close,
};
