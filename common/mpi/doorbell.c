/* SPDX-License-Identifier: MIT */
/* Doorbells wake sleeping ranks. Each rank has a flag in memory that the ranks of its node share, and sets this flag
 * before it sleeps. A sender wakes a sleeping receiver by sending one byte to the receiver's datagram socket.
 *
 * No wake-up is lost. The sleeper sets its flag, checks for messages once more, and sleeps. The sender sends the
 * message, then checks the flag. All these accesses are sequentially consistent, so the sleeper sees the message or the
 * sender sees the flag. A rank sets its flag only after its socket exists, so no rank has to wait until the sockets of
 * the others exist. The sockets are in a folder of the node (folder.c). They carry no data: a forged byte only makes a
 * rank check for messages. In a launch without MPI the flags are in the memory of the lanes. */
#include "common/mpi/doorbell.h"

#include "common/mpi/lanes.h"
#include "common/mpi/rank.h"
#include "common/mpi/tree.h"
#include "proto/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct room {
    char folder[FOLDER_MAX];
    unsigned char memory_is_inside;
};

static int map_node(struct doorbell *doorbell, const struct runtime *runtime)
{
    const uint32_t node = runtime->hellos[runtime->rank].node;
    doorbell->node_index = malloc(runtime->ranks * sizeof *doorbell->node_index);
    if (doorbell->node_index == NULL)
        return -1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        doorbell->node_index[i] =
            runtime_has_rank(runtime, i) && runtime->hellos[i].node == node ? doorbell->node_ranks++ : -1;
    doorbell->own = doorbell->node_index[runtime->rank];
    return (int)node;
}

static size_t bells_bytes(const struct doorbell *doorbell)
{
    return sizeof *doorbell->shared + (size_t)doorbell->node_ranks * sizeof *doorbell->bells;
}

static int map_bells(struct doorbell *doorbell, const struct runtime *runtime, bool make, bool *inside,
                     struct error *error)
{
    doorbell->is_in_lanes = runtime->lanes != NULL;
    doorbell->shared = doorbell->is_in_lanes ? lanes_share(runtime->lanes, bells_bytes(doorbell))
                                             : folder_map(doorbell->folder, bells_bytes(doorbell), make, inside, error);
    if (doorbell->shared == NULL)
        return doorbell->is_in_lanes ? error_set(error, "no memory is left for the doorbells of the ranks") : -1;
    doorbell->bells = doorbell->shared->bell;
    if (doorbell->is_in_lanes)
        return 0;
    if (atomic_fetch_add(&doorbell->shared->mapped, 1) + 1 == (uint32_t)doorbell->node_ranks)
        /* All ranks have mapped the memory by now. So its name can be removed, and ranks that are killed leave no file
         * behind. */
        folder_unmap_name(doorbell->folder, *inside);
    return 0;
}

static struct room describe_room(const struct doorbell *doorbell, bool memory_is_inside)
{
    struct room room = {.memory_is_inside = memory_is_inside};
    memcpy(room.folder, doorbell->folder, sizeof room.folder);
    return room;
}

static int open_room(struct doorbell *doorbell, struct runtime *runtime, struct error *error)
{
    struct room room = {0};
    bool inside = false;
    doorbell->socket = folder_make(doorbell->folder, error);
    int result = doorbell->socket < 0 ? -1 : map_bells(doorbell, runtime, true, &inside, error);
    if (result == 0)
        room = describe_room(doorbell, inside);
    if (tree_tell_node(runtime, &room, sizeof room) < 0)
        return error_set(error, "out of memory for the ranks of this node");
    return result;
}

static int enter_room(struct doorbell *doorbell, struct runtime *runtime, unsigned first, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct room room;
    tree_hear_node(runtime, first, &room, sizeof room);
    error->text[0] = '\0';
    if (room.folder[0] == '\0')
        return -1;
    memcpy(doorbell->folder, room.folder, sizeof doorbell->folder);
    bool inside = room.memory_is_inside;
    doorbell->socket = folder_bind(doorbell->folder, (unsigned)doorbell->own, error);
    return doorbell->socket < 0 ? -1 : map_bells(doorbell, runtime, false, &inside, error);
}

size_t doorbell_room_bytes(void)
{
    return sizeof(struct room);
}

void doorbell_show_room(const struct doorbell *doorbell, const struct runtime *runtime, unsigned rank)
{
    const struct room room = describe_room(doorbell, false);
    lanes_put_data(runtime->lanes, rank, &room, sizeof room);
}

int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error)
{
    *doorbell = (struct doorbell){.socket = -1};
    int first = map_node(doorbell, runtime);
    if (first < 0)
        return error_set(error, "out of memory for the ranks of this node");
    return doorbell->own == 0 ? open_room(doorbell, runtime, error)
                              : enter_room(doorbell, runtime, (unsigned)first, error);
}

static void close_socket(struct doorbell *doorbell)
{
    if (doorbell->socket < 0)
        return;
    close(doorbell->socket);
    doorbell->socket = -1;
    folder_leave(doorbell->folder, (unsigned)doorbell->own);
}

void doorbell_fini(struct doorbell *doorbell)
{
    close_socket(doorbell);
    if (doorbell->shared != NULL && !doorbell->is_in_lanes)
        munmap(doorbell->shared, bells_bytes(doorbell));
    free(doorbell->node_index);
}

bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank)
{
    return doorbell->node_index[rank] >= 0;
}

void doorbell_ring(struct doorbell *doorbell, unsigned rank)
{
    int index = doorbell->node_index[rank];
    if (index < 0)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    assert(index < doorbell->node_ranks);
    struct bell *bell = &doorbell->bells[index];
    if (atomic_load_explicit(&bell->sleeping, memory_order_relaxed) == 0 || atomic_exchange(&bell->sleeping, 0) == 0)
        return;
    if (!folder_ring(doorbell->folder, doorbell->socket, (unsigned)index) && atomic_load(&bell->left) == 0)
        atomic_store(&doorbell->shared->deaf, 1);
}

bool doorbell_is_deaf(const struct doorbell *doorbell)
{
    return atomic_load_explicit(&doorbell->shared->deaf, memory_order_relaxed) != 0;
}

void doorbell_leave(struct doorbell *doorbell)
{
    atomic_store(&doorbell->bells[doorbell->own].left, 1);
    doorbell_abandon(doorbell);
}

void doorbell_abandon(struct doorbell *doorbell)
{
    if (doorbell->socket < 0)
        return;
    close_socket(doorbell);
    folder_clear(doorbell->folder);
}

bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank)
{
    assert(doorbell_reaches(doorbell, rank));
    return atomic_load(&doorbell->bells[doorbell->node_index[rank]].left) != 0;
}

void doorbell_fence(struct doorbell *doorbell, unsigned rank)
{
    atomic_store(&doorbell->bells[doorbell->node_index[rank]].fenced, 1);
    doorbell_ring(doorbell, rank);
}

void doorbell_renew(struct doorbell *doorbell, unsigned rank)
{
    struct bell *bell = &doorbell->bells[doorbell->node_index[rank]];
    atomic_store(&bell->sleeping, 0);
    atomic_store(&bell->left, 0);
    atomic_store(&bell->reported, 0);
    atomic_store(&bell->fenced, 0);
    atomic_store(&bell->ran_count, 0);
    atomic_store(&bell->span.word, 0);
}

/* `ran_count` is set to 0 while `ran_first` changes. So no reader combines the old count with the new first iteration.
 */
void doorbell_note_ran(struct doorbell *doorbell, const struct range *range)
{
    struct bell *bell = &doorbell->bells[doorbell->own];
    atomic_store(&bell->ran_count, 0);
    atomic_store(&bell->ran_first, range->first);
    atomic_store(&bell->ran_count, range->count);
}

void doorbell_tell_ran(const struct doorbell *doorbell, void (*tell)(const struct range *range))
{
    for (int i = 0; i < doorbell->node_ranks; i++) {
        struct bell *bell = &doorbell->bells[i];
        const struct range range = {.count = atomic_load(&bell->ran_count), .first = atomic_load(&bell->ran_first)};
        if (range.count > 0)
            tell(&range);
    }
}

struct span *doorbell_span(const struct doorbell *doorbell, unsigned rank)
{
    return doorbell_reaches(doorbell, rank) ? &doorbell->bells[doorbell->node_index[rank]].span : NULL;
}

bool doorbell_claim_report(struct doorbell *doorbell, unsigned rank)
{
    return atomic_exchange(&doorbell->bells[doorbell->node_index[rank]].reported, 1) == 0;
}

void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping)
{
    atomic_store(&doorbell->bells[doorbell->own].sleeping, sleeping);
    atomic_thread_fence(memory_order_seq_cst);
}
