/* SPDX-License-Identifier: MIT */
/* The pods of a set: see pods.h. The ticket stays where the set is to go on with its jobs: pods that wait for it come
 * back with the key that they have. */
#include "supermaster/set/pods.h"

#include "common/mpi/runtime.h"
#include "common/stream/ticket.h"
#include "supermaster/set/jobs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The name of the socket in the folder of the set, beside the ticket. */
#define SOCKET_NAME "pods.socket"

static void warn(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "supermaster: %s\n", line);
}

/* --- the ticket --- */

/* The ticket of an earlier set that this one goes on for, else a new one. -1 with one line. */
static int find_ticket(const struct set *set, struct ticket *ticket, struct error *error)
{
    struct error unused;
    if (!set->options.resumes || ticket_read(ticket, set->pods.ticket, &unused) < 0)
        return ticket_init(ticket, error);
    ticket->count = 0;
    return 0;
}

/* The addresses at which the set is to listen. -1 with one line. */
static int list_addresses(const struct set *set, struct ticket *ticket, struct error *error)
{
    struct stream_address *local = &ticket->addresses[0];
    const int length = snprintf(local->path, sizeof local->path, "%s/" SOCKET_NAME, set->folder.path);
    if (length < 0 || (size_t)length >= sizeof local->path)
        return error_set(error,
                         "--listen: the path of the set's folder is too long for a socket; accepted: %zu bytes, by "
                         "--state FOLDER",
                         sizeof local->path - sizeof SOCKET_NAME - 1);
    ticket->count = 1;
    if (set->options.listen.host[0] != '\0')
        ticket->addresses[ticket->count++] = (struct stream_address){.port = set->options.listen};
    return 0;
}

static int listen_for_pods(struct set *set, struct ticket *ticket, struct error *error)
{
    const struct streams_setup setup = {.base = runtime_base(set->runtime),
                                        .key = ticket->key,
                                        .grace_ns = STREAM_GRACE_NS,
                                        .closed_ns = STREAM_CLOSED_NS,
                                        .warn = warn};
    if (list_addresses(set, ticket, error) < 0)
        return -1;
    set->streams = streams_listen(&setup, ticket->addresses, ticket->count, error);
    if (set->streams == NULL)
        return -1;
    for (size_t i = 0; i < ticket->count; i++) /* the kernel may have chosen the port */
        ticket->addresses[i] = *streams_address(set->streams, i);
    return 0;
}

int set_pods_open(struct set *set, struct error *error)
{
    struct ticket ticket;
    if (!set->options.listens)
        return 0;
    if (snprintf(set->pods.ticket, sizeof set->pods.ticket, "%s/" TICKET_NAME, set->folder.path) >= PATH_MAX)
        return error_set(error, "the path of the set's folder is too long");
    if (find_ticket(set, &ticket, error) < 0 || listen_for_pods(set, &ticket, error) < 0)
        return -1;
    runtime_take_streams(set->runtime, set->streams);
    return ticket_write(&ticket, set->pods.ticket, error);
}

void set_pods_close(struct set *set)
{
    if (set->streams == NULL)
        return;
    streams_free(set->streams);
    set->streams = NULL;
    if (queue_is_over(&set->queue))
        unlink(set->pods.ticket);
}

/* --- coming and going --- */

static int reserve(void *context, unsigned workers)
{
    return set_reserve(context, workers);
}

static void joined(void *context, unsigned first_rank, unsigned count, const char *name)
{
    struct set *set = context;
    fprintf(stderr, "supermaster: rank %u has joined with %u worker%s of %s\n", first_rank, count - 1,
            count > 2 ? "s" : "", name);
    set_tell_joined(set, first_rank, count);
}

static void leaving(void *context, unsigned first_rank, bool now)
{
    set_tell_leaving(context, first_rank, now);
}

void set_pods_fill_source(struct set *set, struct job_source *source)
{
    if (set->streams == NULL)
        return;
    source->reserve = reserve;
    source->joined = joined;
    source->leaving = leaving;
}
