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

#include "common/mpi/rank.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TAG_BEAT 3

#define BEAT_NS    1000000000u
#define MISSED_MAX 10
/* For who has not been heard of yet: it has said hello, but connects to everybody it sends something to, first. */
#define MISSED_AT_START_MAX 30
/* The thread looks so often whether the rank itself does what is due. */
#define THREAD_LOOK_MS 300

enum { BEAT, BEAT_LEAVING, BEAT_OUTCAST };

static bool is_far(const struct runtime *runtime, unsigned rank)
{
    return !doorbell_reaches(&runtime->doorbell, rank) || runtime->is_blind;
}

/* Who is to be watched from the start, as far as the kernel does not. */
static bool concerns(const struct runtime *runtime, unsigned rank)
{
    enum role own = runtime->role, other = runtime->hellos[rank].role;
    if (rank == runtime->rank)
        return false;
    if (own == ROLE_WORKER)
        return rank == runtime_master_of(runtime, runtime->rank);
    if (other == ROLE_WORKER)
        return runtime_master_of(runtime, rank) == runtime->rank;
    return own == ROLE_SUPERMASTER || other == ROLE_SUPERMASTER;
}

static void note_end(struct pulse *pulse, struct beating *peer)
{
    pulse->ended += !peer->ended;
    peer->ended = true;
}

static void take_beat(struct pulse *pulse, unsigned from)
{
    struct beating *peer = &pulse->peers[from];
    pulse_heard(pulse, from);
    peer->is_outcast = peer->lost; /* it lives after all */
    if (pulse->received == BEAT_OUTCAST)
        pulse->is_outcast = true;
    if (pulse->received != BEAT_LEAVING)
        return;
    peer->has_left = true;
    if (peer->watched)
        note_end(pulse, peer);
}

static void take_beats(struct pulse *pulse)
{
    MPI_Status status;
    int arrived = 1;
    while (arrived) {
        if (MPI_Test(&pulse->receive, &arrived, &status) != MPI_SUCCESS || !arrived)
            return;
        take_beat(pulse, (unsigned)status.MPI_SOURCE);
        MPI_Start(&pulse->receive);
    }
}

/* No second beat before the first is through: who is dead has one beat, and what it costs, outstanding. */
static void send_beat(struct pulse *pulse, unsigned to, unsigned char kind)
{
    struct beating *peer = &pulse->peers[to];
    int through = 1;
    if (peer->request != MPI_REQUEST_NULL)
        MPI_Test(&peer->request, &through, MPI_STATUS_IGNORE);
    if (!through)
        return;
    peer->sent = kind;
    MPI_Isend(&peer->sent, 1, MPI_BYTE, (int)to, TAG_BEAT, pulse->world, &peer->request);
}

static void beat_with(struct pulse *pulse, unsigned rank)
{
    struct beating *peer = &pulse->peers[rank];
    if (peer->is_outcast) {
        send_beat(pulse, rank, BEAT_OUTCAST);
        peer->is_outcast = false;
    }
    if (!peer->watched || peer->ended)
        return;
    if (++peer->missed <= (peer->heard ? MISSED_MAX : MISSED_AT_START_MAX)) {
        send_beat(pulse, rank, BEAT);
        return;
    }
    peer->lost = true;
    note_end(pulse, peer);
}

void pulse_look(struct pulse *pulse, uint64_t now_ns)
{
    if (now_ns < pulse->due_ns)
        return;
    pulse->due_ns = now_ns + BEAT_NS;
    take_beats(pulse);
    for (unsigned i = 0; i < pulse->ranks; i++)
        beat_with(pulse, i);
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

static bool is_needed(const struct runtime *runtime)
{
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (is_far(runtime, i))
            return runtime->can_beat;
    return false;
}

int pulse_init(struct pulse *pulse, const struct runtime *runtime)
{
    int level;
    *pulse = (struct pulse){.world = runtime->world, .ranks = runtime->ranks, .stop = -1};
    if (!is_needed(runtime))
        return 0;
    pulse->peers = calloc(runtime->ranks, sizeof *pulse->peers);
    if (pulse->peers == NULL)
        return -1;
    for (unsigned i = 0; i < runtime->ranks; i++) {
        pulse->peers[i].request = MPI_REQUEST_NULL;
        pulse->peers[i].is_far = is_far(runtime, i);
        if (concerns(runtime, i)) {
            pulse_begin(pulse, i);
            pulse->peers[i].heard = false;
        }
    }
    MPI_Recv_init(&pulse->received, 1, MPI_BYTE, MPI_ANY_SOURCE, TAG_BEAT, pulse->world, &pulse->receive);
    MPI_Start(&pulse->receive);
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) /* a supermaster or master that could not know: it never computes for long */
        return 0;
    pthread_mutex_init(&pulse->turn, NULL);
    pthread_mutex_lock(&pulse->turn);
    pulse->is_on = start_thread(pulse) == 0;
    return pulse->is_on ? 0 : -1;
}

void pulse_begin(struct pulse *pulse, unsigned rank)
{
    if (pulse->peers == NULL || !pulse->peers[rank].is_far || pulse->peers[rank].watched)
        return;
    pulse->peers[rank].watched = true;
    pulse_heard(pulse, rank);
    if (pulse->peers[rank].has_left)
        note_end(pulse, &pulse->peers[rank]);
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
    for (unsigned i = 0; pulse->peers != NULL && i < pulse->ranks; i++)
        if (pulse->peers[i].watched && !pulse->peers[i].ended)
            send_beat(pulse, i, BEAT_LEAVING);
}

void pulse_fini(struct pulse *pulse)
{
    if (pulse->peers == NULL)
        return;
    MPI_Cancel(&pulse->receive);
    MPI_Wait(&pulse->receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&pulse->receive);
    for (unsigned i = 0; i < pulse->ranks; i++)
        if (pulse->peers[i].request != MPI_REQUEST_NULL)
            MPI_Wait(&pulse->peers[i].request, MPI_STATUS_IGNORE);
    free(pulse->peers);
    pulse->peers = NULL;
}

void pulse_note(struct pulse *pulse, unsigned rank)
{
    if (pulse->peers != NULL && pulse->peers[rank].watched)
        note_end(pulse, &pulse->peers[rank]);
}

void pulse_cast_out(struct pulse *pulse, unsigned rank)
{
    if (pulse->peers == NULL)
        return;
    struct beating *peer = &pulse->peers[rank];
    pulse->ended -= peer->ended && !peer->taken;
    peer->lost = peer->ended = peer->taken = true;
}

bool pulse_take(struct pulse *pulse, unsigned *rank)
{
    for (unsigned i = 0; pulse->ended > 0 && i < pulse->ranks; i++) {
        struct beating *peer = &pulse->peers[i];
        if (!peer->ended || peer->taken)
            continue;
        peer->taken = true;
        pulse->ended--;
        *rank = i;
        return true;
    }
    return false;
}
