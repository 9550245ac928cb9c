/* SPDX-License-Identifier: MIT */
/* Ranks of other launches. A pod is a launch of its own: a master and its workers. It has joined a set by a stream.
 * Only the pod's master and the supermaster use the stream. The ranks of a pod get the next free numbers after all
 * existing ranks; numbers are not reused. */
#include "common/mpi/far.h"

#include "common/machine/topology.h"
#include "common/mpi/driver.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/grow.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

static struct far_launch *add_launch(struct far *far, unsigned peer, unsigned first_rank, unsigned count)
{
    struct far_launch *launches = grow(far->launches, far->count, &far->room, sizeof *launches);
    if (launches == NULL)
        return NULL;
    far->launches = launches;
    launches[far->count] = (struct far_launch){.peer = peer, .first_rank = first_rank, .count = count};
    return &launches[far->count++];
}

static struct far_launch *launch_of_peer(const struct far *far, unsigned peer)
{
    size_t i = far->count;
    while (i > 0 && (far->launches[i - 1].peer != peer || far->launches[i - 1].is_gone))
        i--;
    return i > 0 ? &far->launches[i - 1] : NULL;
}

int far_init(struct link *link)
{
    struct runtime *runtime = link->runtime;
    struct far *far = &link->far;
    far->streams = runtime->streams;
    far->launched_cores = runtime->cores;
    if (far->streams != NULL)
        streams_gather(far->streams);
    if (runtime->first_rank == 0 || far->streams == NULL)
        return 0;
    peers_move(&runtime->peers, runtime->topology.supermaster, PEER_WATCH);
    return add_launch(far, 0, runtime->topology.supermaster, 1) != NULL ? 0 : -1;
}

/* Launches with the same node name are on one node. */
static unsigned find_node_rank(const struct link *link, const struct far_launch *launch)
{
    const struct runtime *runtime = link->runtime;
    const char *name = launch->lineup.name;
    for (unsigned i = 0; i < runtime->node_count; i++)
        if (strcmp(runtime->nodes[i].name, name) == 0)
            return runtime->nodes[i].first_rank;
    for (const struct far_launch *earlier = link->far.launches; earlier < launch; earlier++)
        if (strcmp(earlier->lineup.name, name) == 0)
            return earlier->node_rank;
    return launch->first_rank;
}

static int make_place(struct link *link, const struct far_launch *launch)
{
    struct runtime *runtime = link->runtime;
    const struct job_source *source = &link->announcements.source;
    if (peers_grow(&runtime->peers, launch->first_rank + launch->count) < 0 ||
        source->reserve(source->context, launch->count - 1) < 0)
        return -1;
    return topology_append(&runtime->topology, launch->first_rank, launch->count, launch->node_rank);
}

static void note_end(struct link *link, unsigned peer, bool in_order)
{
    struct far_launch *launch = launch_of_peer(&link->far, peer);
    if (launch == NULL)
        return;
    far_close_launch(link, launch);
    peers_move(&link->runtime->peers, launch->first_rank, in_order ? PEER_LEAVES : PEER_DIES);
}

static void welcome(struct link *link, const struct far_launch *launch)
{
    const struct runtime *runtime = link->runtime;
    const struct stream_welcome welcome = {
        .first_rank = launch->first_rank, .words = runtime->words, .words_bytes = runtime->words_bytes};
    if (streams_welcome(link->far.streams, launch->peer, &welcome) == 0)
        announce_all_to_pod(link, launch->first_rank);
    else
        note_end(link, launch->peer, false);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Returns by how many cores a launch increases the number of cores of the run. Launches on the same node share its
 * cores, so a core counts only for the first launch that may use it. If this rank's launch has several nodes, the
 * number of cores of each of these nodes is not known. A pod on one of these nodes then adds no cores. */
static unsigned count_added_cores(const struct link *link, const struct far_launch *launch)
{
    const struct runtime *runtime = link->runtime;
    const char *name = launch->lineup.name;
    unsigned known = 0;
    for (const struct far_launch *earlier = link->far.launches; earlier < launch; earlier++)
        if (strcmp(earlier->lineup.name, name) == 0)
            known = larger(known, earlier->lineup.cores);
    for (unsigned i = 0; i < runtime->node_count; i++)
        if (strcmp(runtime->nodes[i].name, name) == 0)
            known = larger(known, runtime->node_count == 1 ? link->far.launched_cores : launch->lineup.cores);
    return larger(launch->lineup.cores, known) - known;
}

static struct far_launch *add_pod(struct link *link, unsigned peer, const struct stream_lineup *lineup)
{
    struct far_launch *launch = add_launch(&link->far, peer, link->runtime->peers.ranks, lineup->workers + 1);
    if (launch == NULL)
        return NULL;
    launch->lineup = *lineup;
    launch->node_rank = find_node_rank(link, launch);
    return launch;
}

static struct link_pod describe(const struct far_launch *launch)
{
    return (struct link_pod){.first_rank = launch->first_rank,
                             .workers = launch->lineup.workers,
                             .cores = launch->lineup.cores,
                             .node_rank = launch->node_rank,
                             .name = launch->lineup.name,
                             .is_leaving = launch->is_leaving};
}

static void admit(struct link *link, unsigned peer, const struct stream_lineup *lineup)
{
    struct runtime *runtime = link->runtime;
    const struct job_source *source = &link->announcements.source;
    if (link->announcements.end != 0 || source->joined == NULL) {
        streams_refuse(link->far.streams, peer, "the set is about to end");
        return;
    }
    struct far_launch *launch = add_pod(link, peer, lineup);
    if (launch == NULL || make_place(link, launch) < 0) {
        link->far.count -= launch != NULL;
        streams_refuse(link->far.streams, peer, "the set is out of memory");
        return;
    }
    runtime->cores += count_added_cores(link, launch);
    far_share_cores(link);
    peers_move(&runtime->peers, launch->first_rank, PEER_WATCH);
    welcome(link, launch);
    const struct link_pod pod = describe(launch);
    source->joined(source->context, &pod);
}

bool link_send_away(struct link *link, unsigned rank, bool now)
{
    const struct job_source *source = &link->announcements.source;
    struct far_launch *launch = far_find(&link->far, rank);
    if (link->runtime->role != ROLE_SUPERMASTER || launch == NULL || launch->is_gone)
        return false;
    if (!launch->is_leaving && link->announcements.end == 0)
        announce_end_to(link, launch->first_rank);
    launch->is_leaving = true;
    source->leaving(source->context, launch->first_rank, now);
    return true;
}

bool link_tell_pod(const struct link *link, size_t place, struct link_pod *pod)
{
    const struct far *far = &link->far;
    for (size_t i = 0; i < far->count; i++) {
        const struct far_launch *launch = &far->launches[i];
        if (launch->is_gone || place-- > 0)
            continue;
        *pod = describe(launch);
        return true;
    }
    return false;
}

int link_append_pods(const struct link *link, struct topology *topology)
{
    const struct far *far = &link->far;
    for (size_t i = 0; i < far->count; i++) {
        const struct far_launch *launch = &far->launches[i];
        if (!launch->is_gone && !launch->is_leaving &&
            topology_append(topology, launch->first_rank, launch->count, launch->node_rank) < 0)
            return -1;
    }
    return 0;
}

static void take_data(struct link *link, const struct stream_event *event)
{
    struct far_launch *launch = launch_of_peer(&link->far, event->peer);
    const char *problem = launch != NULL ? far_take_data(link, launch, event->bytes, event->size) : NULL;
    link->far.has_stored = true;
    if (problem != NULL)
        link_refuse(link, launch->first_rank, problem);
}

static bool take_event(struct link *link, const struct stream_event *event, unsigned *from)
{
    const struct far_launch *launch = launch_of_peer(&link->far, event->peer);
    switch (event->type) {
    case STREAM_JOINS: admit(link, event->peer, &event->lineup); return false;
    case STREAM_LEFT: note_end(link, event->peer, true); return false;
    case STREAM_LOST: note_end(link, event->peer, false); return false;
    case STREAM_DATA: take_data(link, event); return false;
    case STREAM_MESSAGE: break;
    }
    if (launch == NULL)
        return false;
    *from = launch->first_rank;
    return true;
}

/* Time between two checks of the sockets by a busy rank; each check is a system call. */
#define LOOK_AT_SOCKETS_NS 10000u

/* Checks the sockets and takes the next event. A rank that waits checks the sockets in its event loop. A rank that
 * serves others rarely waits, so this function checks them too. */
static bool take_next_event(struct far *far, const struct link *link, struct stream_event *event)
{
    if (streams_poll(far->streams, event))
        return true;
    const uint64_t now_ns = link->ops->now();
    if (now_ns - far->looked_ns < LOOK_AT_SOCKETS_NS)
        return false;
    far->looked_ns = now_ns;
    streams_look(far->streams);
    return streams_poll(far->streams, event);
}

/* At most this many pieces of results are taken per call of far_poll(). More would delay the messages of other ranks.
 */
#define DATA_PER_LOOK 16

bool far_poll(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size)
{
    struct stream_event event;
    unsigned data = 0;
    while (link->far.streams != NULL && data < DATA_PER_LOOK && take_next_event(&link->far, link, &event)) {
        data += event.type == STREAM_DATA;
        if (!take_event(link, &event, from))
            continue;
        *bytes = event.bytes;
        *size = event.size;
        return true;
    }
    return false;
}

/* Time limit for sending the remaining messages when the link is closed. The time limit starts again whenever some
 * bytes of these messages were sent. */
#define LAST_MESSAGES_NS 2000000000u

static size_t far_unsent(const struct far *far)
{
    size_t bytes = 0;
    for (size_t i = 0; i < far->count; i++)
        bytes += far->launches[i].is_gone ? 0 : streams_unsent(far->streams, far->launches[i].peer);
    return bytes;
}

void far_close(struct link *link)
{
    struct far *far = &link->far;
    struct stream_event event;
    uint64_t moved_ns = link->ops->now();
    for (size_t i = 0; i < far->count; i++)
        if (!far->launches[i].is_gone)
            streams_part(far->streams, far->launches[i].peer);
    far_flush(far);
    while (far->streams != NULL && !streams_are_flushed(far->streams) &&
           link->ops->now() - moved_ns < LAST_MESSAGES_NS) {
        const struct timeval nap = {.tv_usec = 10000};
        const size_t before = far_unsent(far);
        event_base_loopexit(link->runtime->base, &nap);
        event_base_dispatch(link->runtime->base);
        while (streams_poll(far->streams, &event))
            if (event.type == STREAM_JOINS)
                streams_refuse(far->streams, event.peer, "the set has ended");
        if (far_unsent(far) < before)
            moved_ns = link->ops->now();
    }
    for (size_t i = 0; i < far->count; i++)
        far_results_fini(&far->launches[i].results);
    free(far->launches);
}
