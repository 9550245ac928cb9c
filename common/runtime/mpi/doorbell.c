/* Doorbells: a flag per rank in a shared-memory window of the node says "I sleep"; whoever has sent a message to a rank
 * that sleeps wakes it by one byte to its datagram socket.
 *
 * No wake-up is lost: the sleeper sets its flag, then looks for messages once more, then sleeps; the sender sends, then
 * looks at the flag. Both steps are sequentially consistent, so one of the two sees the other. The sockets are in a
 * folder of the node (folder.c) and carry no data: a forged byte makes a rank look for messages, nothing else. */
#include "common/runtime/mpi/internal.h"

#include <stdlib.h>
#include <unistd.h>

/* Which world ranks are on this node, and where. */
static int map_node(struct doorbell *doorbell, MPI_Comm world)
{
    MPI_Group world_group, node_group;
    int ranks;
    MPI_Comm_size(world, &ranks);
    int *all = malloc((size_t)ranks * sizeof *all);
    doorbell->node_index = malloc((size_t)ranks * sizeof *doorbell->node_index);
    if (all == NULL || doorbell->node_index == NULL) {
        free(all);
        return -1;
    }
    for (int i = 0; i < ranks; i++)
        all[i] = i;
    MPI_Comm_group(world, &world_group);
    MPI_Comm_group(doorbell->node, &node_group);
    MPI_Group_translate_ranks(world_group, ranks, all, node_group, doorbell->node_index);
    for (int i = 0; i < ranks; i++)
        if (doorbell->node_index[i] == MPI_UNDEFINED)
            doorbell->node_index[i] = -1;
    MPI_Group_free(&world_group);
    MPI_Group_free(&node_group);
    free(all);
    return 0;
}

static void open_window(struct doorbell *doorbell)
{
    struct bell *own;
    MPI_Aint size;
    int unit;
    MPI_Win_allocate_shared(sizeof *own, 1, MPI_INFO_NULL, doorbell->node, &own, &doorbell->window);
    MPI_Win_shared_query(doorbell->window, 0, &size, &unit, &doorbell->bells);
    atomic_store(&own->sleeping, 0);
    atomic_store(&own->left, 0);
    atomic_store(&own->mourned, 0);
    atomic_store(&own->outcast, 0);
}

/* The first rank of the node makes the folder and tells the others of it; an empty name says that there is none. */
static int open_socket(struct doorbell *doorbell, struct error *error)
{
    if (doorbell->own == 0)
        doorbell->socket = folder_make(doorbell->folder, error);
    MPI_Bcast(doorbell->folder, FOLDER_MAX, MPI_CHAR, 0, doorbell->node);
    if (doorbell->own > 0 && doorbell->folder[0] != '\0')
        doorbell->socket = folder_bind(doorbell->folder, (unsigned)doorbell->own, error);
    return doorbell->socket < 0 ? -1 : 0;
}

/* All ranks of the node get the line of the first that has failed. */
static void share_cause(const struct doorbell *doorbell, int result, struct error *error)
{
    int failed = result < 0 ? doorbell->own : doorbell->node_ranks, first;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, doorbell->node);
    MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, first, doorbell->node);
}

int doorbell_init(struct doorbell *doorbell, MPI_Comm world, MPI_Comm node, struct error *error)
{
    *doorbell = (struct doorbell){.node = node, .window = MPI_WIN_NULL, .socket = -1};
    MPI_Comm_rank(node, &doorbell->own);
    MPI_Comm_size(node, &doorbell->node_ranks);
    int result = open_socket(doorbell, error), worst;
    open_window(doorbell);
    if (map_node(doorbell, world) < 0)
        result = error_set(error, "out of memory for the ranks of this node");
    MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MIN, node); /* nobody rings before all sockets are there */
    if (worst < 0)
        share_cause(doorbell, result, error);
    return worst;
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
    if (doorbell->window != MPI_WIN_NULL)
        MPI_Win_free(&doorbell->window);
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
    struct bell *bell = &doorbell->bells[index];
    if (atomic_load_explicit(&bell->sleeping, memory_order_relaxed) == 0 || atomic_exchange(&bell->sleeping, 0) == 0)
        return;
    folder_ring(doorbell->folder, doorbell->socket, (unsigned)index);
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
    return atomic_load(&doorbell->bells[doorbell->node_index[rank]].left) != 0;
}

void doorbell_cast_out(struct doorbell *doorbell, unsigned rank)
{
    atomic_store(&doorbell->bells[doorbell->node_index[rank]].outcast, 1);
    doorbell_ring(doorbell, rank);
}

bool doorbell_mourn(struct doorbell *doorbell, unsigned rank)
{
    return atomic_exchange(&doorbell->bells[doorbell->node_index[rank]].mourned, 1) == 0;
}

void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping)
{
    atomic_store(&doorbell->bells[doorbell->own].sleeping, sleeping);
    atomic_thread_fence(memory_order_seq_cst);
}
