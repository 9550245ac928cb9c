/* SPDX-License-Identifier: MIT */
/* Ranks that no kernel of this node watches: a beat once a second, and whoever misses ten in a row is taken for lost.
 *
 * Beats go both ways between those who depend on each other: the supermaster and masters, whoever serves and a worker,
 * of which one is on another node; a worker whose master is lost, and the supermaster. Any message counts as a beat.
 * What is counted is this rank's own looks, one a second at most, each after all that has arrived was taken: who was
 * stopped, or starved, blames nobody for it.
 *
 * A rank that computes a long iteration, or waits for a disk, cannot beat: then a thread does. One thread at a time
 * uses MPI (MPI_THREAD_SERIALIZED): the rank's own holds `turn` but for the time in which it does neither; the other
 * only tries for it. Nothing of all this is there where all peers are watched by the kernel, and MPI is asked for less
 * where that is known before it begins (start.c).
 *
 * Who leaves in order says so with its last beat. Who is taken for lost but beats again is told, and leaves: nobody
 * else ever sends it anything again. */
#include "common/mpi/pulse.h"

#include "common/mpi/detect.h"
#include "common/mpi/rank.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TAG_BEAT 3

#define BEAT_NS 1000000000u
/* For who has not been heard of yet: it has said hello, but connects to everybody it sends something to, first. */
#define MAY_MISS_AT_START 30
/* The thread looks so often whether the rank itself does what is due. */
#define THREAD_LOOK_MS 300

enum { BEAT, BEAT_LEAVING, BEAT_FENCED };

static bool is_far(const struct runtime *runtime, unsigned rank)
{
    return !doorbell_reaches(&runtime->doorbell, rank) || runtime->is_blind;
}

/* No second beat before the first is through: who is dead has one beat, and what it costs, outstanding. */
static void send_beat(struct pulse *pulse, unsigned to, unsigned char kind)
{
    struct beat *beat = &pulse->beats[to];
    int through = 1;
    assert(beat->is_far || kind == BEAT_FENCED);
    if (beat->request != MPI_REQUEST_NULL)
        MPI_Test(&beat->request, &through, MPI_STATUS_IGNORE);
    if (!through)
        return;
    beat->sent = kind;
    MPI_Isend(&beat->sent, 1, MPI_BYTE, (int)to, TAG_BEAT, pulse->runtime->world, &beat->request);
}

/* A peer that beats though it was taken for lost lives after all, and is told. */
static void take_beat(struct pulse *pulse, unsigned from)
{
    struct peers *peers = &pulse->runtime->peers;
    const enum peer_state state = peers_state(peers, from);
    pulse_heard(pulse, from);
    if (pulse->received == BEAT_FENCED)
        pulse->is_fenced = true;
    if (pulse->received == BEAT_LEAVING)
        peers_move(peers, from, PEER_LEAVES);
    else if (state == PEER_DIED || state == PEER_FENCED || state == PEER_LOST)
        send_beat(pulse, from, BEAT_FENCED);
}

void pulse_look(struct pulse *pulse, uint64_t now_ns)
{
    MPI_Status status;
    int arrived;
    if (pulse->beats == NULL || now_ns < pulse->due_ns)
        return;
    struct peers *peers = &pulse->runtime->peers;
    pulse->due_ns = now_ns + BEAT_NS;
    while (MPI_Test(&pulse->receive, &arrived, &status) == MPI_SUCCESS && arrived) {
        take_beat(pulse, (unsigned)status.MPI_SOURCE);
        MPI_Start(&pulse->receive);
    }
    for (unsigned i = 0; i < peers->ranks; i++) {
        struct beat *beat = &pulse->beats[i];
        if (!beat->is_far || !peers_is_watched(peers, i))
            continue;
        if (beat->may_miss == 0)
            detect_end(pulse->runtime, i);
        else {
            beat->may_miss--;
            send_beat(pulse, i, BEAT);
        }
    }
}

/* --- the thread --- */

static void *keep_beating(void *context)
{
    struct pulse *pulse = context;
    struct pollfd stop = {.fd = pulse->stop, .events = POLLIN};
    while (poll(&stop, 1, THREAD_LOOK_MS) == 0) {
        if (pthread_mutex_trylock(&pulse->turn) != 0)
            continue; /* the rank is at it itself */
        pulse_look(pulse, runtime_now());
        pthread_mutex_unlock(&pulse->turn);
    }
    return NULL;
}

static int start_thread(struct pulse *pulse)
{
    sigset_t all, before;
    pulse->stop = eventfd(0, EFD_CLOEXEC);
    if (pulse->stop < 0)
        return -1;
    sigfillset(&all); /* signals are the rank's own */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&pulse->thread, NULL, keep_beating, pulse);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result == 0 ? 0 : -1;
}

/* --- for the runtime --- */

static bool pulse_is_needed(const struct runtime *runtime)
{
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (is_far(runtime, i))
            return runtime->can_beat;
    return false;
}

int pulse_init(struct pulse *pulse, struct runtime *runtime)
{
    int level;
    *pulse = (struct pulse){.runtime = runtime, .stop = -1};
    if (!pulse_is_needed(runtime))
        return 0;
    pulse->beats = calloc(runtime->ranks, sizeof *pulse->beats);
    if (pulse->beats == NULL)
        return -1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        pulse->beats[i] =
            (struct beat){.is_far = is_far(runtime, i), .may_miss = MAY_MISS_AT_START, .request = MPI_REQUEST_NULL};
    MPI_Recv_init(&pulse->received, 1, MPI_BYTE, MPI_ANY_SOURCE, TAG_BEAT, runtime->world, &pulse->receive);
    MPI_Start(&pulse->receive);
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) /* a supermaster or master that could not know: it never computes for long */
        return 0;
    pthread_mutex_init(&pulse->turn, NULL);
    pthread_mutex_lock(&pulse->turn);
    pulse->is_on = start_thread(pulse) == 0;
    return pulse->is_on ? 0 : -1;
}

void pulse_stop(struct pulse *pulse)
{
    if (!pulse->is_on)
        return;
    const uint64_t one = 1;
    pulse->is_on = false;
    if (write(pulse->stop, &one, sizeof one) == sizeof one)
        pthread_join(pulse->thread, NULL);
    close(pulse->stop);
    pthread_mutex_unlock(&pulse->turn);
    pthread_mutex_destroy(&pulse->turn);
}

void pulse_leave(struct pulse *pulse)
{
    if (pulse->beats == NULL)
        return;
    const struct peers *peers = &pulse->runtime->peers;
    for (unsigned i = 0; i < peers->ranks; i++)
        if (pulse->beats[i].is_far && peers_is_watched(peers, i))
            send_beat(pulse, i, BEAT_LEAVING);
}

void pulse_fini(struct pulse *pulse)
{
    if (pulse->beats == NULL)
        return;
    MPI_Cancel(&pulse->receive);
    MPI_Wait(&pulse->receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&pulse->receive);
    for (unsigned i = 0; i < pulse->runtime->ranks; i++)
        if (pulse->beats[i].request != MPI_REQUEST_NULL)
            MPI_Wait(&pulse->beats[i].request, MPI_STATUS_IGNORE);
    free(pulse->beats);
    pulse->beats = NULL;
}
