/* SPDX-License-Identifier: MIT */
/* Joining a set as a pod: see pod.h. */
#include "common/job/pod.h"

#include "common/stream/stream.h"
#include "common/stream/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* For so long an address is tried before the next one is, or the file is read again. */
#define ATTEMPT_NS       UINT64_C(3000000000)
#define LOCAL_ATTEMPT_NS UINT64_C(500000000) /* a socket of this machine, where there is a port, too */

/* The addresses of a set, and the key by which it is joined at a port. */
struct way_to_set {
    struct ticket ticket;
    bool has_key; /* else a socket of this machine needs none, and at a port a credential of munge is the key */
};

struct pod {
    struct streams *streams; /* owned */
    struct stream_welcome welcome;
};

/* Outcome of trying addresses. */
struct attempts {
    bool is_absent;     /* at one of them nobody answers */
    bool is_refused;    /* the set does not want the pod, or cannot be asked */
    struct error other; /* who answers at one of them is not the set; else empty */
};

#define FROM_ELSEWHERE                                                                                                 \
    "and it names no port; from other machines one is joined that was started with --listen HOST:PORT"

static struct stream_lineup describe(const struct runtime *runtime)
{
    const char *name = runtime_host_of(runtime, runtime_rank(runtime));
    struct stream_lineup lineup = {.workers = runtime_ranks(runtime) - 1, .cores = runtime_cores(runtime)};
    snprintf(lineup.name, sizeof lineup.name, "%s", name != NULL ? name : "unnamed");
    return lineup;
}

static bool is_socket(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* -1 with one line where no address of the ticket can lead to its set from this machine. */
static int check_way(const struct ticket *ticket, const char *set, struct error *error)
{
    for (size_t i = 0; i < ticket->count; i++)
        if (ticket_leads_from_here(ticket, &ticket->addresses[i]))
            return 0;
    return error_set(error, "cannot join by %.200s: its socket, %s, is on another machine, " FROM_ELSEWHERE, set,
                     ticket->addresses[0].path);
}

/* `set` is a socket of this machine, a port, or the file of a set. -1 with one line. */
static int find_way(struct way_to_set *way, const char *set, struct error *error)
{
    struct stream_address *address = &way->ticket.addresses[0];
    struct error no_address;
    *way = (struct way_to_set){.ticket = {.count = 1}};
    if ((is_socket(set) || access(set, F_OK) != 0) && stream_address_parse(address, set, &no_address) == 0 &&
        (stream_address_is_tcp(address) || is_socket(set)))
        return 0;
    way->has_key = true;
    return ticket_read(&way->ticket, set, error) < 0 ? -1 : check_way(&way->ticket, set, error);
}

/* Says what to do where the file names a socket alone, which is not here: it may be that of another machine. */
static void explain_absence(const struct way_to_set *way, const char *set, struct error *error)
{
    const struct ticket *ticket = &way->ticket;
    for (size_t i = 0; i < ticket->count; i++)
        if (stream_address_is_tcp(&ticket->addresses[i]) || is_socket(ticket->addresses[i].path))
            return;
    if (ticket->count > 0)
        error_set(error, "cannot join by %.200s: no set listens at its socket, %s, on this machine, " FROM_ELSEWHERE,
                  set, ticket->addresses[0].path);
}

static void try_address(struct pod *pod, const struct streams_setup *setup, const struct stream_address *address,
                        const struct stream_lineup *lineup, uint64_t attempt_ns, struct attempts *attempts,
                        struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    pod->streams = streams_join(setup, address, lineup, attempt_ns, &pod->welcome, error);
    if (pod->streams != NULL)
        return;
    attempts->is_absent |= errno == ETIMEDOUT;
    attempts->is_refused |= errno == 0;
    if (errno == EACCES)
        attempts->other = *error;
}

/* Tries one address after the other: one of another machine may be that of somebody else here, as those of bridges and
 * behind NAT are, while a later one leads to the set. False where the set has refused the pod, or is joined, or where
 * all that answer are others. */
static bool may_try_again(struct pod *pod, struct runtime *runtime, const struct way_to_set *way, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    const struct ticket *ticket = &way->ticket;
    const struct stream_lineup lineup = describe(runtime);
    const struct streams_setup setup = {.base = runtime_base(runtime),
                                        .key = way->has_key ? ticket->key : NULL,
                                        .grace_ns = STREAM_GRACE_NS,
                                        .closed_ns = STREAM_CLOSED_NS};
    struct attempts attempts = {.other = {""}};
    for (size_t i = 0; i < ticket->count && pod->streams == NULL && !attempts.is_refused; i++) {
        const uint64_t attempt_ns = i + 1 < ticket->count ? LOCAL_ATTEMPT_NS : ATTEMPT_NS;
        if (ticket_leads_from_here(ticket, &ticket->addresses[i]))
            try_address(pod, &setup, &ticket->addresses[i], &lineup, attempt_ns, &attempts, error);
    }
    if (pod->streams != NULL || attempts.is_refused)
        return false;
    if (attempts.other.text[0] != '\0') /* which tells more than that nobody answers */
        *error = attempts.other;
    return attempts.is_absent;
}

struct pod *pod_join(struct runtime *runtime, const char *set, uint64_t patience_ns, struct error *error)
{
    struct way_to_set way;
    struct pod *pod = calloc(1, sizeof *pod);
    const uint64_t began_ns = runtime_now();
    if (pod == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    bool is_absent;
    do
        is_absent = find_way(&way, set, error) == 0 && may_try_again(pod, runtime, &way, error);
    while (is_absent && runtime_now() - began_ns < patience_ns);
    if (is_absent)
        explain_absence(&way, set, error);
    if (pod->streams == NULL) {
        free(pod);
        return NULL;
    }
    runtime_enter_set(runtime, pod->streams, &pod->welcome);
    return pod;
}

void pod_leave(struct pod *pod)
{
    if (pod == NULL)
        return;
    streams_free(pod->streams);
    free(pod);
}
