/* SPDX-License-Identifier: MIT */
/* Loops with dependencies: the process that assigns two adjacent chunks tells the worker of the first chunk which
 * worker has the second.
 *
 * Why such a run always ends, whatever the order of the requests: a chunk needs only the boundary data of the chunk
 * before it. Chunks are cut in ascending order: the ledger grants the lowest free iterations, and nothing is returned
 * to it. A master's pool is filled in that order, because refills do not overtake each other, and it hands out its
 * oldest chunk first (pool_put_in_order()). A worker runs its chunks in the order in which they arrive. So the chunks
 * of each pool and of each worker's queue are in ascending order, and the chunks of a master's workers are lower than
 * those of its pool.
 *
 * Consider the lowest unfinished chunk. All chunks before it are finished. Their boundary data are sent, or kept until
 * the worker of the next chunk is known.
 * - If the chunk runs, it has its boundary data or will get them: after it was assigned, the worker of the chunk before
 *   it was told.
 * - If the chunk is in the queue of a worker, the chunks before it in that queue are lower. So they are finished, and
 *   it runs next.
 * - If the chunk is in a pool, the chunks of that master's workers are lower. So they are finished, the workers hold
 *   none and have requested chunks, and it is assigned.
 * - If the chunk is not cut, all cut chunks are finished. So some worker has requested a chunk, and it is cut.
 *
 * In each case the run makes progress, and the number of chunks is finite. tests/seeds runs such loops with random
 * delays. */
#include "common/service/serving.h"

#include "common/service/boundary_list.h"
#include "proto/record.h"

static void order_tell(const struct service *service, unsigned w, const struct neighbour *neighbour,
                       struct actions *actions)
{
    if (!service->workers[w].gone)
        actions_send(actions, service->ranks[w], &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = *neighbour});
}

static void look_behind(struct service *service, unsigned w, uint64_t end, struct actions *actions)
{
    struct neighbour neighbour = {.first = end};
    if (boundary_list_take(&service->order.beginnings, end, &neighbour.rank))
        order_tell(service, w, &neighbour, actions);
    else
        service_check_memory(service, boundary_list_add(&service->order.ends, end, w));
}

static void look_before(struct service *service, unsigned w, uint64_t first, struct actions *actions)
{
    const struct neighbour neighbour = {first, service->ranks[w]};
    unsigned before;
    if (first == service->order.first)
        return;
    if (!boundary_list_take(&service->order.ends, first, &before)) {
        /* This process does not know which worker has the chunk before, so the owner tells the process that assigns
         * that chunk which worker has this one. This is not done if memory has run out, because the end of that chunk
         * may have been known here and lost. */
        if (service->ops->neighbour != NULL && !service->out_of_memory)
            service->ops->neighbour(service->owner, &neighbour);
    } else if (before != w)
        order_tell(service, before, &neighbour, actions);
}

static struct range answered_chunk(const struct service *service, unsigned w, unsigned i)
{
    const struct assign *answer = &service->workers[w].answer;
    struct range range = {answer->first, answer->count};
    if (i > 0)
        assign_record_get(service->step.more + (size_t)w * SERVICE_MORE, i - 1, &range.first, &range.count);
    return range;
}

/* The chunks of one step are in no order, so two passes are needed. The first pass records the ends of all chunks. The
 * second pass looks up the beginnings of the chunks. */
void service_tell_neighbours(struct service *service, struct actions *actions)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < service->step.answered_count; i++) {
            unsigned w = service->step.answered[i];
            for (unsigned k = 0; k < service->workers[w].answers; k++) {
                const struct range chunk = answered_chunk(service, w, k);
                if (pass == 0)
                    look_behind(service, w, chunk.first + chunk.count, actions);
                else
                    look_before(service, w, chunk.first, actions);
            }
        }
}

bool service_take_neighbour(struct service *service, const struct neighbour *neighbour, struct actions *actions)
{
    unsigned w;
    if (!service->dependent || boundary_list_has(&service->order.beginnings, neighbour->first))
        return false;
    if (boundary_list_take(&service->order.ends, neighbour->first, &w))
        order_tell(service, w, neighbour, actions);
    else
        service_check_memory(service, boundary_list_add(&service->order.beginnings, neighbour->first, neighbour->rank));
    return true;
}

void service_ask_for_boundary(struct service *service, uint64_t at, unsigned supermaster, struct actions *actions)
{
    struct neighbour wanted = {.first = 0, .rank = supermaster};
    unsigned holder = service->worker_count;
    for (unsigned w = 0; w < service->worker_count && service->state == SERVICE_SERVING; w++) {
        const struct served *worker = &service->workers[w];
        for (unsigned i = 0; worker->present && !worker->gone && i < worker->slots; i++) {
            const struct grant *grant = &worker->grants[i];
            const uint64_t end = grant->first + grant->count;
            if (grant->chunk == 0 || end < at || (holder < service->worker_count && end > wanted.first))
                continue;
            wanted.first = end;
            holder = w;
        }
    }
    if (holder < service->worker_count)
        order_tell(service, holder, &wanted, actions);
}

void service_pass_boundary(const struct service *service, const struct message *message, struct actions *actions)
{
    for (unsigned w = 0; w < service->worker_count && service->state == SERVICE_SERVING; w++) {
        const struct served *worker = &service->workers[w];
        for (unsigned i = 0; worker->present && !worker->gone && i < worker->slots; i++) {
            const struct grant *grant = &worker->grants[i];
            if (grant->chunk == 0 || grant->computed || grant->first != message->boundary.first)
                continue;
            actions_send(actions, service->ranks[w], message);
            return;
        }
    }
}
