/* SPDX-License-Identifier: MIT */
/* Watches the processes of peers on this node. The system reports when one of them ends.
 *
 * This rank has a pidfd for each peer that concerns it. All pidfds are in one epoll set, and the set is a single event
 * of the rank's libevent base. So the end of a peer wakes a sleeping rank. A computing rank notices the end when it
 * checks for signals. If a peer has no pidfd (the system is old, or too many files are open), its process is checked
 * once per second. All ranks watch the supermaster, and workers watch their master. A worker is watched by the rank
 * that serves it: its master or, after the master was lost, the supermaster. Workers that exchange boundary data watch
 * each other, because sends to a lost worker would never finish.
 *
 * All ranks of a node can use each other's pids only if they are in one pid namespace. If they are not, as in
 * containers, no process is watched, and heartbeats are used as between nodes. If a pid is not found in a common
 * namespace, the peer has ended since it sent its hello. Workers of a set begin to watch each other when a loop with
 * boundary data begins. By then the pid of a worker that was lost long before may belong to another process. That does
 * no harm, because the lost worker takes no part in the loop.
 *
 * The system does not report that a process was stopped (SIGSTOP). Other ranks wait for a master, so a stopped master
 * does the same harm as a master that sends no heartbeats. Therefore each rank that watches the master checks it once
 * per second. After MAY_MISS checks in a row have found the master stopped, the rank kills it. If the whole run is
 * stopped and continued, no rank is killed, because a stopped rank makes no checks. A stopped worker is not killed if
 * others can compute its work. Its chunks then become overdue, and the worker is continued at the end (rouse.c). A
 * stopped worker is killed like a master in two cases: no other worker may compute its work, as with tasks, or it has
 * begun to send results. */
#include "common/mpi/watch.h"

#include "common/mpi/detect.h"
#include "common/mpi/ops.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/os/process.h"
#include "common/os/say.h"
#include "proto/message.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ASK_EVERY_NS 1000000000u
/* Maximum number of peers with a pidfd. Processes are often limited to 1,024 open files, and MPI needs some of them. If
 * the limit is lower, fewer pidfds are opened: see real_open_process() in ops_mpi.c. */
#define PIDFDS_MAX    256
#define ENDS_PER_LOOK 16

static bool may_concern(const struct runtime *runtime, unsigned rank)
{
    if (rank == runtime->rank || !doorbell_reaches(&runtime->doorbell, rank))
        return false;
    return runtime->role == ROLE_SUPERMASTER || detect_concerns(runtime, rank);
}

static void open_peer(const struct watch *watch, struct watched *peer, unsigned rank)
{
    *peer = (struct watched){rank, (int)watch->runtime->hellos[rank].pid, -1, WATCH_BY_ASKING, 0};
    if (peer - watch->peers >= PIDFDS_MAX)
        return;
    peer->process = watch->runtime->ops->open_process(peer->pid);
    if (peer->process >= 0)
        peer->means = WATCH_BY_KERNEL;
    else if (errno == ESRCH)
        peer->means = WATCH_TOO_LATE;
}

int watch_init(struct watch *watch, struct runtime *runtime)
{
    *watch = (struct watch){.runtime = runtime, .set = epoll_create1(EPOLL_CLOEXEC)};
    watch->peers = calloc(runtime->ranks, sizeof *watch->peers);
    if (watch->peers == NULL || watch->set < 0)
        return -1;
    for (unsigned i = runtime->first_rank; !runtime->is_blind && i < runtime->ranks; i++)
        if (may_concern(runtime, i))
            open_peer(watch, &watch->peers[watch->count++], i);
    return 0;
}

void watch_fini(struct watch *watch)
{
    if (watch->peers == NULL)
        return;
    for (unsigned i = 0; i < watch->count; i++)
        if (watch->peers[i].process >= 0)
            close(watch->peers[i].process);
    close(watch->set);
    free(watch->peers);
    watch->peers = NULL;
}

static unsigned find_watched(const struct watch *watch, unsigned rank)
{
    unsigned i = 0;
    while (i < watch->count && watch->peers[i].rank != rank)
        i++;
    return i;
}

void watch_begin(struct watch *watch, unsigned rank)
{
    const unsigned i = find_watched(watch, rank);
    if (i == watch->count && may_concern(watch->runtime, rank) && !watch->runtime->is_blind)
        open_peer(watch, &watch->peers[watch->count++], rank);
    if (i == watch->count)
        return;
    struct watched *peer = &watch->peers[i];
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    if (peer->means == WATCH_BY_KERNEL && epoll_ctl(watch->set, EPOLL_CTL_ADD, peer->process, &event) < 0)
        peer->means = WATCH_BY_ASKING;
    if (peer->means == WATCH_TOO_LATE)
        detect_end(watch->runtime, rank);
}

void watch_look(struct watch *watch)
{
    struct epoll_event events[ENDS_PER_LOOK];
    if (watch->count == 0)
        return;
    int count = epoll_wait(watch->set, events, ENDS_PER_LOOK, 0);
    for (int i = 0; i < count; i++) {
        assert(events[i].data.u32 < watch->count);
        struct watched *peer = &watch->peers[events[i].data.u32];
        epoll_ctl(watch->set, EPOLL_CTL_DEL, peer->process, NULL);
        detect_end(watch->runtime, peer->rank);
    }
}

void watch_add_to(const struct watch *watch, int set)
{
    for (unsigned i = 0; i < watch->count; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = i};
        if (watch->peers[i].process >= 0)
            epoll_ctl(set, EPOLL_CTL_ADD, watch->peers[i].process, &event);
    }
}

static bool is_missing(const struct watch *watch, const struct watched *peer)
{
    return watch->runtime->ops->signal_process(peer->pid, 0) < 0 && errno == ESRCH;
}

static bool has_ended(const struct watch *watch, const struct watched *peer)
{
    struct pollfd file = {.fd = peer->process, .events = POLLIN};
    if (peer->process >= 0)
        return poll(&file, 1, 0) == 1;
    return peer->means == WATCH_TOO_LATE || is_missing(watch, peer);
}

bool watch_has_ended(const struct watch *watch, unsigned rank)
{
    const unsigned i = find_watched(watch, rank);
    return i < watch->count && has_ended(watch, &watch->peers[i]);
}

void watch_renew(struct watch *watch, unsigned rank)
{
    struct watched *peer = &watch->peers[find_watched(watch, rank)];
    assert(peer < watch->peers + watch->count && "the end of the process before was watched");
    if (peer->process >= 0)
        close(peer->process);
    open_peer(watch, peer, rank);
}

bool watch_has_lost(const struct watch *watch, unsigned *rank)
{
    for (unsigned i = 0; i < watch->count; i++) {
        *rank = watch->peers[i].rank;
        if (has_ended(watch, &watch->peers[i]) && !doorbell_has_left(&watch->runtime->doorbell, *rank))
            return true;
    }
    return false;
}

static bool is_waited_for(const struct runtime *runtime, unsigned rank)
{
    return runtime->hellos[rank].role == ROLE_MASTER ||
           (runtime->link_needs != NULL && runtime->link_needs(runtime->link, rank));
}

/* Counts for how many checks in a row the peer has been stopped, and kills it after MAY_MISS. Several ranks may find
 * the same peer stopped; only one of them prints the message. */
static void end_stopped_peer(struct watch *watch, struct watched *peer)
{
    struct runtime *runtime = watch->runtime;
    const bool is_stopped = runtime->ops->process_state(peer->pid) == PROCESS_STOPPED;
    peer->stopped_looks = is_stopped ? peer->stopped_looks + 1 : 0;
    if (peer->stopped_looks < MAY_MISS)
        return;
    if (doorbell_claim_report(&runtime->doorbell, peer->rank))
        say(stderr, "%s: rank %u: %s rank %u has been stopped for %u seconds: it is ended", role_name(runtime->role),
            runtime->rank, role_name(runtime->hellos[peer->rank].role), peer->rank, peer->stopped_looks);
    runtime->ops->signal_process(peer->pid, SIGKILL);
}

void watch_ask(struct watch *watch, uint64_t now_ns)
{
    if (now_ns < watch->ask_ns)
        return;
    watch->ask_ns = now_ns + ASK_EVERY_NS;
    for (unsigned i = 0; i < watch->count; i++) {
        struct watched *peer = &watch->peers[i];
        if (!peers_is_watched(&watch->runtime->peers, peer->rank))
            continue;
        if (peer->means == WATCH_BY_ASKING && is_missing(watch, peer))
            detect_end(watch->runtime, peer->rank);
        else if (is_waited_for(watch->runtime, peer->rank))
            end_stopped_peer(watch, peer);
        else
            peer->stopped_looks = 0;
    }
}
