/* SPDX-License-Identifier: MIT */
/* Recall: the worker returns iterations that have not begun, so that idle workers get them. It first returns queued
 * chunks, the newest one first. If the executor has begun all queued chunks, the executor cuts iterations off the end
 * of a chunk. It takes the newest chunk that has iterations to give. */
#include "worker/core.h"

#include "proto/record.h"

#include <assert.h>

static void send_returned(const struct worker *worker, unsigned count, struct actions *actions)
{
    worker_send_up(
        worker, actions,
        &(struct message){.type = MESSAGE_RETURNED, .records = actions->room.returned, .record_count = count});
}

static struct assigned *newest_waiting(struct worker *worker)
{
    assert(worker->queue_count > 0 && "a chunk waits");
    return &worker->queue[(worker->queue_first + worker->queue_count - 1) % WORKER_QUEUE_MAX];
}

static struct range take_from_newest(struct worker *worker, uint64_t most)
{
    struct assigned *newest = newest_waiting(worker);
    uint64_t count = newest->count < most ? newest->count : most;
    newest->count -= count;
    worker->queue_iterations -= count;
    worker->queue_count -= newest->count == 0;
    if (worker->queue_begun > worker->queue_count)
        worker->queue_begun = worker->queue_count;
    return (struct range){newest->first + newest->count, count};
}

static void return_waiting(struct worker *worker, unsigned waiting, struct actions *actions)
{
    uint64_t left = recall_share(worker->queue_iterations, 1, waiting);
    unsigned records = 0;
    while (left > 0 && worker->queue_count > worker->queue_begun) {
        const struct range range = take_from_newest(worker, left);
        assign_record_put(actions->room.returned, records++, range.first, range.count);
        left -= range.count;
    }
    send_returned(worker, records, actions);
}

void worker_receive_recall(struct worker *worker, const struct recall *recall, struct actions *actions)
{
    bool computes = worker->state == WORKER_COMPUTING || worker->state == WORKER_LEAVING;
    if (worker_is_dependent(worker))
        worker_refuse(worker, worker->config.master, "recalls work of a loop with dependencies", actions);
    else if (worker->queue_count > worker->queue_begun)
        return_waiting(worker, recall->waiting, actions);
    else if (computes)
        actions_add(actions, &(struct action){.type = ACTION_CUT, .cut = {recall->waiting}});
    else
        send_returned(worker, 0, actions);
}

static void shorten_running(struct worker *worker, uint64_t by)
{
    worker->running.count -= by;
    assert((worker->running.count > 0 || worker->state == WORKER_LEAVING) &&
           worker->running.count >= worker->running_sent && "what has begun, or is done, stays");
    /* All iterations of the chunk that the present master knows have been returned. */
    if (worker->running.count == worker->running_before)
        worker->running.chunk = 0;
}

void worker_note_stolen(struct worker *worker, const struct range *range)
{
    assert(range->count > 0 && worker->running.first + worker->running.count == range->first + range->count &&
           "the end of the running chunk is taken");
    shorten_running(worker, range->count);
}

/* The executor cuts its newest chunk first. So this function compares the cut with the newest queued chunk first, and
 * then with the running one. */
void worker_tell_cut(struct worker *worker, const struct range *cut, struct actions *actions)
{
    const uint64_t end = cut->first + cut->count;
    const struct assigned *newest = worker->queue_count > 0 ? newest_waiting(worker) : NULL;
    const bool is_newest = cut->count > 0 && newest != NULL && newest->first + newest->count == end;
    if (worker->state == WORKER_PROBING)
        return;
    if (is_newest) {
        take_from_newest(worker, cut->count);
    } else if (cut->count > 0 && worker->running.first + worker->running.count == end) {
        shorten_running(worker, cut->count);
    } else
        assert((cut->count == 0 || worker->state == WORKER_LEAVING) && "the newest chunk is cut, or the running one");
    if (cut->count > 0)
        assign_record_put(actions->room.returned, 0, cut->first, cut->count);
    send_returned(worker, cut->count > 0, actions);
    if (is_newest && worker->state == WORKER_LEAVING)
        actions_add(actions, &(struct action){.type = ACTION_CUT, .cut = {RECALL_ALL}});
}
