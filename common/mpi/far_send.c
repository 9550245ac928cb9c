/* SPDX-License-Identifier: MIT */
/* Sends messages to other launches and closes connections. Receiving is in a file of its own, far.c, because a step of
 * a machine calls the functions of this file, but no function of far.c. */
#include "common/mpi/far.h"

#include "common/mpi/driver.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct far_launch *far_find(const struct far *far, unsigned rank)
{
    size_t low = 0, high = far->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (far->launches[middle].first_rank <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || rank - far->launches[low - 1].first_rank >= far->launches[low - 1].count)
        return NULL;
    return &far->launches[low - 1];
}

bool far_has_gone(const struct link *link, unsigned rank)
{
    const struct far_launch *launch = far_find(&link->far, rank);
    return launch == NULL || launch->is_gone;
}

static unsigned count_ranks_here(const struct link *link)
{
    const struct runtime *runtime = link->runtime;
    const char *name = runtime_host_of(runtime, runtime->rank);
    unsigned here = 0;
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        here += runtime->hellos[i].node == runtime->hellos[runtime->rank].node;
    for (size_t i = 0; i < link->far.count; i++) {
        const struct far_launch *launch = &link->far.launches[i];
        if (name != NULL && !launch->is_gone && strcmp(launch->lineup.name, name) == 0)
            here += launch->count;
    }
    return here;
}

void far_share_cores(struct link *link)
{
    const struct runtime *runtime = link->runtime;
    if (runtime->role == ROLE_SUPERMASTER)
        link->wait.cores_are_free = runtime->cores_are_free && count_ranks_here(link) <= runtime->node_cores;
}

void far_close_launch(struct link *link, struct far_launch *launch)
{
    launch->is_gone = true;
    far_results_fini(&launch->results);
    far_share_cores(link);
}

void far_results_fini(struct far_results *results)
{
    free(results->data);
    *results = (struct far_results){0};
}

void far_drop(struct link *link, unsigned rank)
{
    struct far_launch *launch = far_find(&link->far, rank);
    if (launch == NULL || launch->is_gone)
        return;
    far_close_launch(link, launch);
    streams_drop(link->far.streams, launch->peer);
}

int far_send(struct link *link, unsigned to, uint32_t job, const struct message *message)
{
    unsigned char bytes[MESSAGE_MAX];
    const struct far_launch *launch = far_find(&link->far, to);
    if (launch == NULL || launch->is_gone)
        return 0;
    assert(to == launch->first_rank && "the workers of another launch hear of their master alone");
    return streams_send(link->far.streams, launch->peer, bytes, message_encode(message, job, bytes));
}

int far_send_store(struct link *link, uint32_t job, const struct part *part, enum payload payload, const void *data,
                   uint64_t bytes)
{
    const struct message message = {.type = MESSAGE_STORE,
                                    .payload = payload,
                                    .payload_data = data,
                                    .payload_bytes = bytes,
                                    .store = {part->first, part->count}};
    return far_send(link, link->runtime->topology.supermaster, job, &message);
}
