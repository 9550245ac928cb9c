/* SPDX-License-Identifier: MIT */
/* The invariants of a worker. */
#include "common/machine/machine.h"
#include "proto/message.h"
#include "worker/core.h"
#include "worker/worker.h"

#include <assert.h>

static void check_assigned(const struct worker *worker)
{
    uint64_t iterations = 0;
    assert(worker->queue_count <= WORKER_QUEUE_MAX && "no more chunks wait than have room");
    for (unsigned i = 0; i < worker->queue_count; i++) {
        const struct assigned *chunk = &worker->queue[(worker->queue_first + i) % WORKER_QUEUE_MAX];
        assert(chunk->count > 0 && "no chunk is empty");
        iterations += chunk->count;
    }
    assert(worker->queue_begun <= worker->queue_count && worker->queue_begun <= worker->config.ahead &&
           "the executor has no more of the chunks that wait than it may");
    assert(iterations == worker->queue_iterations && "the iterations that wait are those of the chunks that wait");
}

static void check_worker_asks(const struct worker *worker)
{
    assert(worker->asked <= ASKS_MAX && "no more chunks are asked for than a master takes");
    assert(worker->asked_before <= worker->asked && "chunks that were asked for earlier are asked for");
    assert((worker->asked_at_ns == NEVER || worker->asked > worker->asked_before) &&
           "an ask that is timed has no answer yet");
    assert(worker->done_count <= ASKS_MAX && "the completions that wait fit into one request");
}

static void check_worker_state(const struct worker *worker)
{
    switch ((enum worker_state)worker->state) {
    case WORKER_STARTING:
    case WORKER_PROBING:
        assert(worker->asked + worker->queue_count + worker->done_count == 0 && "who probes has asked for nothing");
        break;
    case WORKER_ASKING:
        assert(worker->queue_count == 0 && "who has nothing to compute has no chunk that waits");
        assert(worker->done_count == 0 && "no completion waits while there is nothing to compute");
        assert(worker->asked > 0 && "who has nothing to compute has asked");
        break;
    case WORKER_STUCK: break;
    case WORKER_COMPUTING:
    case WORKER_LEAVING:
        assert((worker->running.count > 0 || worker->state == WORKER_LEAVING) && "the chunk that runs is not empty");
        assert(worker->running_sent <= worker->running.count && "no more results leave than the chunk has iterations");
        assert((worker->state == WORKER_COMPUTING || worker->queue_count == worker->queue_begun) &&
               "nothing waits behind the last chunk but what has begun");
        break;
    case WORKER_GONE: assert(worker->done_count == 0 && "who has left has told what it finished"); break;
    }
}

static void check_handovers(const struct worker *worker, const struct boundaries *boundaries)
{
    assert(boundaries->halo_send_count <= HALO_SENDS_MAX && "boundary data that are kept have room");
    assert(boundaries->halo_receive_count <= HALO_RECEIVES_MAX && "boundary data that come have room");
    for (unsigned i = 0; i < boundaries->halo_send_count; i++) {
        const struct halo_send *halo_send = &boundaries->halo_sends[i];
        assert((i == 0 || boundaries->halo_sends[i - 1].boundary_at < halo_send->boundary_at) && "seams ascend");
        assert(halo_send->boundary_at < worker->config.end && "behind the last iteration there is no seam");
        assert(halo_send->sent <= halo_send->bytes && halo_send->bytes <= worker->config.boundary_bytes &&
               "no more boundary data are sent than are complete");
        assert((halo_send->bytes == 0 || halo_send->data != NULL) && "boundary data that are complete are somewhere");
        assert((halo_send->known || halo_send->sent == 0) && "boundary data are sent to whom is known");
    }
    for (unsigned i = 0; i < boundaries->halo_receive_count; i++)
        for (unsigned k = 0; k < i; k++)
            assert(boundaries->halo_receives[i].first != boundaries->halo_receives[k].first &&
                   "what comes for a chunk is accounted for once");
}

void worker_check(const struct worker *worker)
{
    check_assigned(worker);
    check_worker_asks(worker);
    check_worker_state(worker);
    if (worker_is_dependent(worker))
        check_handovers(worker, worker->config.boundaries);
}
