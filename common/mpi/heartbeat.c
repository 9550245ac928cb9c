/* SPDX-License-Identifier: MIT */
/* Heartbeats, one per second, between ranks that cannot watch each other's processes, for example on different nodes. A
 * rank is declared lost after ten of its heartbeats in a row are missing.
 *
 * Ranks that depend on each other send heartbeats both ways: the supermaster and the masters; a worker and the rank
 * that serves it; a worker of a lost master and the supermaster. Any message counts as a heartbeat. A rank measures the
 * silence of a peer in checks of its own. It makes at most one check per second, after it has handled all messages that
 * have arrived. So a rank that was itself stopped, or got no core, does not declare others lost.
 *
 * A network outage causes a silence that is longer than the outage. TCP repeats a lost packet after 0.2 s and then
 * doubles the waiting time each time: 0.6, 1.4, 3.0, 6.2 and 12.6 s after the first attempt. So after an outage of t
 * seconds the packet arrives within 2 t + 0.2 s of the first attempt. The last heartbeat before the outage may be 1.3 s
 * old when the outage begins. So an outage of up to four seconds causes a silence below ten seconds, as the manual
 * promises.
 *
 * While a rank computes a long iteration or waits for a disk, its own thread cannot send heartbeats. A second thread
 * then sends them. One thread at a time uses MPI (MPI_THREAD_SERIALIZED). The rank's own thread holds the mutex `turn`,
 * except while it computes or waits for the disk. The heartbeat thread takes the mutex by pthread_mutex_trylock(). If
 * the system watches all peers, there are no heartbeats. If that is known before MPI starts, MPI is started with a
 * lower thread level (start.c).
 *
 * A rank that leaves in order says so in its last heartbeat. If a rank that was declared lost still sends heartbeats,
 * it gets an answer that tells it to end, and no other messages. */
#include "common/mpi/pulse.h"

#include "common/mpi/detect.h"
#include "common/mpi/net.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TAG_HEARTBEAT 3

#define HEARTBEAT_NS   1000000000u
#define THREAD_LOOK_MS 300

enum { HEARTBEAT, HEARTBEAT_LEAVING, BEAT_FENCED };

static bool is_far(const struct runtime *runtime, unsigned rank)
{
    return !doorbell_reaches(&runtime->doorbell, rank) || runtime->is_blind;
}

/* Sends nothing while an earlier heartbeat or message to the peer is unfinished. So no more than one heartbeat to a
 * dead peer is ever unfinished. */
static void send_heartbeat(struct heartbeat *heartbeat, unsigned to, unsigned char kind)
{
    struct beat *beat = &heartbeat->beats[to];
    struct net *net = heartbeat->runtime->net;
    assert(beat->is_far || kind == BEAT_FENCED);
    if (net != NULL ? !net_is_clear(net, to) : !heartbeat_is_through(heartbeat, heartbeat->runtime->ops, to))
        return;
    beat->sent = kind;
    beat->request = carrier->isend(heartbeat->runtime->world, runtime_mpi_rank(heartbeat->runtime, to), TAG_HEARTBEAT,
                                   &beat->sent, 1);
}

static void take_heartbeat(struct heartbeat *heartbeat, unsigned from)
{
    struct peers *peers = &heartbeat->runtime->peers;
    const enum peer_state state = peers_state(peers, from);
    heartbeat_heard(heartbeat, from);
    if (heartbeat->received == BEAT_FENCED)
        heartbeat->is_fenced = true;
    if (heartbeat->received == HEARTBEAT_LEAVING)
        peers_move(peers, from, PEER_LEAVES);
    else if (state == PEER_DIED || state == PEER_FENCED || state == PEER_LOST)
        send_heartbeat(heartbeat, from, BEAT_FENCED);
}

static bool has_beat(struct heartbeat *heartbeat, struct carrier_status *status)
{
    bool arrived;
    const enum carrier_result result = carrier->test(&heartbeat->receive, &arrived, status);
    return net_is_whole(result, arrived);
}

void heartbeat_look(struct heartbeat *heartbeat, uint64_t now_ns)
{
    struct carrier_status status;
    if (heartbeat->beats == NULL || now_ns < heartbeat->due_ns)
        return;
    struct runtime *runtime = heartbeat->runtime;
    struct peers *peers = &runtime->peers;
    heartbeat->due_ns = now_ns + HEARTBEAT_NS;
    while (has_beat(heartbeat, &status)) {
        take_heartbeat(heartbeat, heartbeat->runtime->first_rank + (unsigned)status.source);
        carrier->start(heartbeat->receive);
    }
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++) {
        struct beat *beat = &heartbeat->beats[i];
        if (!beat->is_far || !peers_is_watched(peers, i))
            continue;
        if (beat->may_miss == 0)
            detect_end(runtime, i);
        else {
            beat->may_miss--;
            send_heartbeat(heartbeat, i, HEARTBEAT);
        }
    }
}

static void *run_heartbeat_thread(void *context)
{
    struct heartbeat *heartbeat = context;
    struct pollfd stop = {.fd = heartbeat->stop, .events = POLLIN};
    while (poll(&stop, 1, THREAD_LOOK_MS) == 0) {
        if (pthread_mutex_trylock(&heartbeat->turn) != 0)
            continue;
        heartbeat_look(heartbeat, heartbeat->runtime->ops->now());
        pthread_mutex_unlock(&heartbeat->turn);
    }
    return NULL;
}

static int start_thread(struct heartbeat *heartbeat)
{
    sigset_t all, before;
    heartbeat->stop = eventfd(0, EFD_CLOEXEC);
    if (heartbeat->stop < 0)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&heartbeat->thread, NULL, run_heartbeat_thread, heartbeat);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0 ? 0 : -1;
}

static bool heartbeat_is_needed(const struct runtime *runtime)
{
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        if (is_far(runtime, i))
            return runtime->can_run_heartbeats;
    return false;
}

int heartbeat_init(struct heartbeat *heartbeat, struct runtime *runtime)
{
    *heartbeat = (struct heartbeat){.runtime = runtime, .stop = -1};
    if (!heartbeat_is_needed(runtime))
        return 0;
    heartbeat->beats = calloc(runtime->ranks, sizeof *heartbeat->beats);
    if (heartbeat->beats == NULL)
        return -1;
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        heartbeat->beats[i] = (struct beat){.is_far = is_far(runtime, i), .may_miss = MAY_MISS_AT_START};
    heartbeat->receive = carrier->recv_init(runtime->world, CARRIER_ANY, TAG_HEARTBEAT, &heartbeat->received, 1);
    carrier->start(heartbeat->receive);
    /* MPI may grant a lower thread level than was requested. The supermaster and the masters can then do without the
     * heartbeat thread, because they never compute for long. If the level of any worker is too low, no rank uses
     * heartbeats: see `can_run_heartbeats`. */
    if (carrier->level() < CARRIER_SERIALIZED)
        return 0;
    pthread_mutex_init(&heartbeat->turn, NULL);
    pthread_mutex_lock(&heartbeat->turn);
    heartbeat->is_on = start_thread(heartbeat) == 0;
    return heartbeat->is_on ? 0 : -1;
}

void heartbeat_stop(struct heartbeat *heartbeat)
{
    if (!heartbeat->is_on)
        return;
    const uint64_t one = 1;
    heartbeat->is_on = false;
    if (write(heartbeat->stop, &one, sizeof one) == sizeof one)
        pthread_join(heartbeat->thread, NULL);
    close(heartbeat->stop);
    pthread_mutex_unlock(&heartbeat->turn);
    pthread_mutex_destroy(&heartbeat->turn);
}

void heartbeat_leave(struct heartbeat *heartbeat)
{
    if (heartbeat->beats == NULL)
        return;
    const struct runtime *runtime = heartbeat->runtime;
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        if (heartbeat->beats[i].is_far && peers_is_watched(&runtime->peers, i))
            send_heartbeat(heartbeat, i, HEARTBEAT_LEAVING);
}

void heartbeat_fini(struct heartbeat *heartbeat)
{
    if (heartbeat->beats == NULL)
        return;
    carrier_end_receive(&heartbeat->receive);
    for (unsigned i = heartbeat->runtime->first_rank; i < heartbeat->runtime->ranks; i++)
        if (heartbeat->beats[i].request != 0)
            carrier->wait(&heartbeat->beats[i].request);
    free(heartbeat->beats);
    heartbeat->beats = NULL;
}
