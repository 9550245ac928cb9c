/* SPDX-License-Identifier: MIT */
/* Joining a set as a pod: see pod.h. */
#include "common/job/pod.h"

#include "common/stream/stream.h"
#include "common/stream/ticket.h"

#include <stdio.h>
#include <stdlib.h>

/* For so long the set may take to answer. */
#define PATIENCE_NS UINT64_C(10000000000)
/* For so long a socket of this machine may take, where the set has a port, too. */
#define LOCAL_PATIENCE_NS UINT64_C(500000000)
/* For so long the master of a pod that is cut off tries to come back: where the set is silent, and where the connection
 * was closed, as that of a set whose process has ended. */
#define GRACE_NS  UINT64_C(10000000000)
#define CLOSED_NS UINT64_C(2000000000)

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

/* Tries one address after the other. -1 with the line of the last. */
static int join_at(struct pod *pod, struct runtime *runtime, const struct ticket *ticket, struct error *error)
{
    const struct stream_lineup lineup = describe(runtime);
    const struct streams_setup setup = {
        .base = runtime_base(runtime), .key = ticket->key, .grace_ns = GRACE_NS, .closed_ns = CLOSED_NS};
    for (size_t i = 0; i < ticket->count && pod->streams == NULL; i++) {
        const uint64_t patience_ns = i + 1 < ticket->count ? LOCAL_PATIENCE_NS : PATIENCE_NS;
        pod->streams = streams_join(&setup, &ticket->addresses[i], &lineup, patience_ns, &pod->welcome, error);
    }
    return pod->streams != NULL ? 0 : -1;
}

struct pod *pod_join(struct runtime *runtime, const char *ticket, struct error *error)
{
    struct ticket read;
    struct pod *pod = calloc(1, sizeof *pod);
    if (pod == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    if (ticket_read(&read, ticket, error) < 0 || join_at(pod, runtime, &read, error) < 0) {
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
