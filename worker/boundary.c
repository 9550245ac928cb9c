/* SPDX-License-Identifier: MIT */
/* Boundary data in a loop with dependencies: the data of a chunk go directly to the worker of the next chunk.
 *
 * The executor holds the data; this file tracks which data are complete, sent and received. The data wait until the
 * supermaster names the worker of the next chunk. If it names another worker, this worker sends the data to that
 * worker. The data of the latest HALO_SENDS_KEPT finished chunks are kept even after they were sent.
 *
 * With a journal, the supermaster sometimes asks for the data of a boundary. For this it sends a NEIGHBOUR message that
 * names the supermaster itself as the receiver. After the chunk is finished, this worker sends all data of the boundary
 * to the supermaster, in pieces of at most INLINE_MAX bytes. In a resumed run the worker of the first chunk gets its
 * boundary data in such pieces. */
#include "worker/core.h"

#include "common/machine/topology.h"
#include "proto/record.h"

#include <assert.h>
#include <string.h>

#define PIECE_MAX (1u << 30)

static struct halo_send *find_halo_send(struct worker *worker, uint64_t boundary_at)
{
    struct boundaries *boundaries = worker->config.boundaries;
    for (unsigned i = boundaries != NULL ? boundaries->halo_send_count : 0; i-- > 0;)
        if (boundaries->halo_sends[i].boundary_at == boundary_at)
            return &boundaries->halo_sends[i];
    return NULL;
}

static void remove_halo_send(struct worker *worker, struct halo_send *halo_send)
{
    struct boundaries *boundaries = worker->config.boundaries;
    assert(boundaries->halo_send_count > 0 && "what is removed is there");
    size_t behind = (size_t)(&boundaries->halo_sends[--boundaries->halo_send_count] - halo_send);
    memmove(halo_send, halo_send + 1, behind * sizeof *halo_send);
}

static struct halo_receive *find_halo_receive(struct worker *worker, uint64_t first)
{
    struct boundaries *boundaries = worker->config.boundaries;
    for (unsigned i = 0; i < boundaries->halo_receive_count; i++)
        if (boundaries->halo_receives[i].first == first)
            return &boundaries->halo_receives[i];
    return NULL;
}

static bool worker_boundary_is_through(const struct worker *worker, const struct halo_send *halo_send)
{
    return halo_send->finished && halo_send->known && halo_send->to != worker->config.rank &&
           halo_send->sent == halo_send->bytes;
}

static void worker_boundary_let_go(struct worker *worker, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    unsigned kept = 0;
    for (unsigned i = boundaries->halo_send_count; i-- > 0;) {
        struct halo_send *halo_send = &boundaries->halo_sends[i];
        if (!worker_boundary_is_through(worker, halo_send) || ++kept <= HALO_SENDS_KEPT)
            continue;
        actions_add(actions, &(struct action){.type = ACTION_RELEASE, .boundary_at = halo_send->boundary_at});
        remove_halo_send(worker, halo_send);
    }
}

static void send_copy(struct worker *worker, struct halo_send *halo_send, struct actions *actions)
{
    uint64_t bytes;
    assert(halo_send->finished && "a copy has all boundary data of its chunk");
    for (uint64_t sent = 0; sent < halo_send->bytes; sent += bytes) {
        bytes = halo_send->bytes - sent < INLINE_MAX ? halo_send->bytes - sent : INLINE_MAX;
        worker_send_up(worker, actions,
                       &(struct message){
                           .type = MESSAGE_BOUNDARY,
                           .payload = PAYLOAD_INLINE,
                           .payload_data = (const unsigned char *)halo_send->data + sent,
                           .payload_bytes = bytes,
                           .boundary = {halo_send->boundary_at, sent},
                       });
    }
    halo_send->copied = false;
}

static void send_ready(struct worker *worker, struct halo_send *halo_send, struct actions *actions)
{
    if (!halo_send->known || halo_send->to == worker->config.rank)
        return;
    for (uint64_t bytes; (bytes = halo_send->bytes - halo_send->sent) > 0; halo_send->sent += bytes) {
        bytes = bytes < PIECE_MAX ? bytes : PIECE_MAX;
        const struct message message = {
            .type = MESSAGE_BOUNDARY,
            .payload = bytes <= INLINE_MAX ? PAYLOAD_INLINE : PAYLOAD_DATA,
            .payload_data = (const unsigned char *)halo_send->data + halo_send->sent,
            .payload_bytes = bytes,
            .boundary = {halo_send->boundary_at, halo_send->sent},
        };
        actions_send(actions, halo_send->to, &message);
    }
    if (halo_send->finished)
        worker_boundary_let_go(worker, actions);
}

/* Notes that this worker also has the chunk that begins at `first`, so the boundary data before `first` need not be
 * sent. Returns false if the supermaster has already named a worker for the chunk at `first`. */
static bool note_own_successor(struct worker *worker, uint64_t first)
{
    struct halo_send *before = find_halo_send(worker, first);
    if (before == NULL)
        return true;
    if (before->known)
        return false;
    before->known = true;
    before->to = worker->config.rank;
    return true;
}

int worker_expect_chunk(struct worker *worker, const struct assigned *chunk)
{
    struct boundaries *boundaries = worker->config.boundaries;
    unsigned count = boundaries->halo_send_count;
    const struct halo_send *last = count > 0 ? &boundaries->halo_sends[count - 1] : NULL;
    uint64_t end = chunk->first + chunk->count;
    if (end > worker->config.end || count == HALO_SENDS_MAX || (last != NULL && last->boundary_at > chunk->first) ||
        !note_own_successor(worker, chunk->first))
        return -1;
    if (end < worker->config.end)
        boundaries->halo_sends[boundaries->halo_send_count++] = (struct halo_send){.boundary_at = end};
    return 0;
}

static bool is_another_worker(const struct worker *worker, unsigned rank)
{
    const struct topology *topology = worker->config.topology;
    return worker_is_dependent(worker) && rank != worker->config.rank &&
           topology_worker(topology, rank) < topology->workers;
}

int worker_take_neighbour(struct worker *worker, const struct neighbour *neighbour, struct actions *actions)
{
    struct halo_send *halo_send = find_halo_send(worker, neighbour->first);
    if (worker_is_dependent(worker) && neighbour->rank == worker->config.supermaster) {
        if (halo_send == NULL)
            return 0;
        halo_send->copied = true;
        if (halo_send->finished)
            send_copy(worker, halo_send, actions);
        return 0;
    }
    if (halo_send == NULL || halo_send->known || !is_another_worker(worker, neighbour->rank))
        return -1;
    halo_send->known = true;
    halo_send->to = neighbour->rank;
    send_ready(worker, halo_send, actions);
    return 0;
}

static struct halo_receive *expect_halo_receive(struct worker *worker, uint64_t first, unsigned from)
{
    struct boundaries *boundaries = worker->config.boundaries;
    struct halo_receive *halo_receive = find_halo_receive(worker, first);
    if (halo_receive != NULL || boundaries->halo_receive_count == HALO_RECEIVES_MAX)
        return halo_receive;
    halo_receive = &boundaries->halo_receives[boundaries->halo_receive_count++];
    *halo_receive = (struct halo_receive){.first = first, .from = from};
    return halo_receive;
}

int worker_take_boundary(struct worker *worker, unsigned from, const struct message *message, struct actions *actions)
{
    const struct boundary *boundary = &message->boundary;
    uint64_t all = worker->config.boundary_bytes;
    const bool can_send =
        is_another_worker(worker, from) || (worker_is_dependent(worker) && from == worker->config.master);
    if (!can_send || boundary->first >= worker->config.end || boundary->offset > all ||
        message->payload_bytes > all - boundary->offset)
        return -1;
    struct halo_receive *halo_receive = expect_halo_receive(worker, boundary->first, from);
    if (halo_receive == NULL || halo_receive->from != from || halo_receive->bytes != boundary->offset)
        return -1;
    halo_receive->bytes += message->payload_bytes;
    actions_add(actions, &(struct action){
                             .type = ACTION_BOUNDARY,
                             .boundary = {.first = boundary->first,
                                          .offset = boundary->offset,
                                          .data = message->payload == PAYLOAD_INLINE ? message->payload_data : NULL,
                                          .bytes = message->payload_bytes,
                                          .from = from},
                         });
    return 0;
}

void worker_begin_boundary(struct worker *worker, struct actions *actions)
{
    struct halo_send *before = find_halo_send(worker, worker->running.first);
    if (before == NULL)
        return;
    actions_add(actions, &(struct action){.type = ACTION_REUSE, .boundary_at = before->boundary_at});
    before->reused = true;
}

void worker_note_boundary_ready(struct worker *worker, const struct boundary_ready *ready, struct actions *actions)
{
    struct halo_send *halo_send = find_halo_send(worker, ready->boundary_at);
    if (halo_send == NULL)
        return;
    halo_send->data = ready->data;
    halo_send->bytes = ready->bytes;
    send_ready(worker, halo_send, actions);
}

/* Call it after the running chunk has finished. Forgets the boundary data that this chunk has received, and sends the
 * chunk's own boundary data, which are now complete. */
void worker_end_boundary(struct worker *worker, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    struct halo_receive *halo_receive = find_halo_receive(worker, worker->running.first);
    struct halo_send *before = find_halo_send(worker, worker->running.first);
    if (halo_receive != NULL)
        *halo_receive = boundaries->halo_receives[--boundaries->halo_receive_count];
    if (before != NULL && before->reused)
        remove_halo_send(worker, before);
    struct halo_send *halo_send = find_halo_send(worker, worker->running.first + worker->running.count);
    assert((halo_receive == NULL || halo_receive->from != worker->config.rank) &&
           "own boundary data are inherited, not sent");
    if (halo_send == NULL)
        return;
    halo_send->finished = true;
    if (halo_send->copied)
        send_copy(worker, halo_send, actions);
    send_ready(worker, halo_send, actions);
}
