/* SPDX-License-Identifier: MIT */
/* Listens for pods: see pods_door.h. */
#include "supermaster/lead/pods_door.h"

#include "common/control/source.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "common/stream/own_addresses.h"
#include "common/stream/stream.h"
#include "common/stream/ticket.h"

#include <stdio.h>
#include <unistd.h>

static void warn(void *context, const char *line)
{
    (void)context;
    say(stderr, "supermaster: %s", line);
}

static int begin_ticket(struct ticket *ticket, const char *path, bool reuses, struct error *error)
{
    struct error unused;
    if (!reuses || ticket_read(ticket, path, &unused) < 0)
        return ticket_init(ticket, error);
    ticket->count = 0;
    ticket_name_machine(ticket); /* If machines share the folder, the existing ticket may name another machine. */
    return 0;
}

static int list_addresses(struct ticket *ticket, const char *path, const struct address *address, const char *option,
                          struct error *error)
{
    struct stream_address *local = &ticket->addresses[0];
    const int length = snprintf(local->path, sizeof local->path, "%s" TICKET_SOCKET_ENDING, path);
    if (length < 0 || (size_t)length >= sizeof local->path)
        return error_set(error,
                         "--listen: a socket beside %.200s would have too long a path; accepted: %zu bytes, by %s",
                         path, TICKET_PATH_LENGTH_MAX, option);
    ticket->count = 1;
    if (address->host[0] == '\0')
        return 0;
    ticket->addresses[ticket->count] = (struct stream_address){.port = *address};
    own_addresses_settle(&ticket->addresses[ticket->count++]);
    return 0;
}

/* If the supermaster listens at a wildcard address, the ticket gets the addresses of this machine instead. If a pod
 * connected to a wildcard address, it would reach the pod's own machine. */
static void name_own_addresses(struct ticket *ticket)
{
    const struct stream_address anywhere = ticket->addresses[ticket->count - 1];
    if (!own_addresses_are_meant(&anywhere))
        return;
    const size_t before = ticket->count - 1;
    const size_t count = own_addresses_list(&anywhere, &ticket->addresses[before], TICKET_ADDRESSES_MAX - before);
    if (count > 0)
        ticket->count = before + count;
    else
        ticket->addresses[before] = anywhere;
}

static int listen_at(struct pods_door *door, struct runtime *runtime, struct ticket *ticket, struct error *error)
{
    const struct streams_setup setup = {.base = runtime_base(runtime),
                                        .key = ticket->key,
                                        .grace_ns = STREAM_GRACE_NS,
                                        .closed_ns = STREAM_CLOSED_NS,
                                        .warn = warn};
    door->streams = streams_listen(&setup, ticket->addresses, ticket->count, error);
    if (door->streams == NULL)
        return -1;
    /* the operating system may have chosen ports, so the ticket gets the actual addresses */
    for (size_t i = 0; i < ticket->count; i++)
        ticket->addresses[i] = *streams_address(door->streams, i);
    name_own_addresses(ticket);
    return 0;
}

int pods_door_open(struct pods_door *door, struct runtime *runtime, const struct address *address, const char *path,
                   bool reuses, const char *option, struct error *error)
{
    struct ticket ticket;
    *door = (struct pods_door){.streams = NULL};
    if (snprintf(door->ticket, sizeof door->ticket, "%s", path) >= PATH_MAX)
        return error_set(error, "--listen: the path of the file by which pods join is too long");
    if (begin_ticket(&ticket, path, reuses, error) < 0 || list_addresses(&ticket, path, address, option, error) < 0 ||
        listen_at(door, runtime, &ticket, error) < 0)
        return -1;
    runtime_take_streams(runtime, door->streams);
    return ticket_write(&ticket, path, error);
}

void pods_door_close(struct pods_door *door)
{
    streams_free(door->streams);
    door->streams = NULL;
}

bool pods_door_tell(const struct link *link, uint64_t place, struct pod_figures *pod)
{
    struct link_pod there;
    if (link == NULL || !link_tell_pod(link, (size_t)place, &there))
        return false;
    *pod = (struct pod_figures){.rank = there.first_rank,
                                .workers = there.workers,
                                .cores = there.cores,
                                .node = there.name,
                                .leaves = there.is_leaving};
    return true;
}

void pods_door_remove_ticket(const struct pods_door *door)
{
    unlink(door->ticket);
}
