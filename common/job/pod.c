/* SPDX-License-Identifier: MIT */
/* Joining a set as a pod: see pod.h. */
#include "common/job/pod.h"

#include "common/stream/stream.h"
#include "common/stream/ticket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* For so long an address is tried before the next one is, or the file is read again. */
#define ATTEMPT_NS       UINT64_C(3000000000)
#define LOCAL_ATTEMPT_NS UINT64_C(500000000) /* a socket of this machine, where there is a port, too */

/* The addresses of a set, and the key by which it is joined at a port. */
struct way_to_set {
    struct ticket ticket;
    bool has_key; /* else a credential of munge is the key */
};

struct pod {
    struct streams *streams; /* owned */
    struct stream_welcome welcome;
};

static struct stream_lineup describe(const struct runtime *runtime)
{
    const char *name = runtime_host_of(runtime, runtime_rank(runtime));
    struct stream_lineup lineup = {.workers = runtime_ranks(runtime) - 1, .cores = runtime_cores(runtime)};
    snprintf(lineup.name, sizeof lineup.name, "%s", name != NULL ? name : "unnamed");
    return lineup;
}

static int find_way(struct way_to_set *way, const char *set, struct error *error)
{
    struct error no_address;
    *way = (struct way_to_set){.ticket = {.count = 1}};
    if (access(set, F_OK) != 0 && stream_address_parse(&way->ticket.addresses[0], set, &no_address) == 0 &&
        stream_address_is_tcp(&way->ticket.addresses[0]))
        return 0;
    way->has_key = true;
    return ticket_read(&way->ticket, set, error);
}

/* Tries one address after the other. False where the set has refused the pod, or is joined. */
static bool may_try_again(struct pod *pod, struct runtime *runtime, const struct way_to_set *way, struct error *error)
{
    const struct ticket *ticket = &way->ticket;
    const struct stream_lineup lineup = describe(runtime);
    const struct streams_setup setup = {.base = runtime_base(runtime),
                                        .key = way->has_key ? ticket->key : NULL,
                                        .grace_ns = STREAM_GRACE_NS,
                                        .closed_ns = STREAM_CLOSED_NS};
    errno = ETIMEDOUT;
    for (size_t i = 0; i < ticket->count && pod->streams == NULL && errno == ETIMEDOUT; i++) {
        const uint64_t attempt_ns = i + 1 < ticket->count ? LOCAL_ATTEMPT_NS : ATTEMPT_NS;
        pod->streams = streams_join(&setup, &ticket->addresses[i], &lineup, attempt_ns, &pod->welcome, error);
    }
    return pod->streams == NULL && errno == ETIMEDOUT;
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
    while (find_way(&way, set, error) == 0 && may_try_again(pod, runtime, &way, error) &&
           runtime_now() - began_ns < patience_ns)
        ;
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
