/* Doorbells: a flag per rank in a shared-memory window of the node says "I sleep"; whoever has sent a message to a rank
 * that sleeps wakes it by one byte to its datagram socket.
 *
 * No wake-up is lost: the sleeper sets its flag, then looks for messages once more, then sleeps; the sender sends, then
 * looks at the flag. Both steps are sequentially consistent, so one of the two sees the other. The sockets have
 * abstract names with a random part and carry no data: a forged byte makes a rank look for messages, nothing else. */
#include "common/runtime/mpi/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t socket_name(const struct doorbell *doorbell, int index, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    /* A leading NUL makes the name abstract: nothing in the file system, gone with the process. */
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "hdss-%016llx-%d",
                          (unsigned long long)doorbell->token, index);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int open_socket(struct doorbell *doorbell)
{
    struct sockaddr_un address;
    socklen_t length = socket_name(doorbell, doorbell->own, &address);
    doorbell->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return doorbell->socket < 0 || bind(doorbell->socket, (struct sockaddr *)&address, length) < 0 ? -1 : 0;
}

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
}

int doorbell_init(struct doorbell *doorbell, MPI_Comm world, MPI_Comm node)
{
    *doorbell = (struct doorbell){.node = node, .window = MPI_WIN_NULL, .socket = -1};
    MPI_Comm_rank(node, &doorbell->own);
    MPI_Comm_size(node, &doorbell->node_ranks);
    if (doorbell->own == 0 && getrandom(&doorbell->token, sizeof doorbell->token, 0) != sizeof doorbell->token)
        doorbell->token = runtime_now() ^ (uint64_t)getpid() << 32;
    MPI_Bcast(&doorbell->token, 1, MPI_UINT64_T, 0, node);
    open_window(doorbell);
    int result = map_node(doorbell, world) < 0 || open_socket(doorbell) < 0 ? -1 : 0, worst;
    MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MIN, node); /* nobody rings before all sockets are there */
    return worst;
}

void doorbell_fini(struct doorbell *doorbell)
{
    if (doorbell->socket >= 0)
        close(doorbell->socket);
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
    struct sockaddr_un address;
    socklen_t length = socket_name(doorbell, index, &address);
    /* A full queue means that it has been rung; a closed socket that it has left. */
    (void)sendto(doorbell->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, length);
}

void doorbell_leave(struct doorbell *doorbell)
{
    atomic_store(&doorbell->bells[doorbell->own].left, 1);
}

bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank)
{
    return atomic_load(&doorbell->bells[doorbell->node_index[rank]].left) != 0;
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
