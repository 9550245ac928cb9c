/* SPDX-License-Identifier: MIT */
/* A rank on a real computer: see ops.h. A doorbell wakes it; libevent reports signals, timers and ended processes; MPI
 * transports messages. This file calls all detectors (detect.c). */
#include "common/mpi/ops.h"

#include "common/machine/executor.h"
#include "common/mpi/detect.h"
#include "common/mpi/net.h"
#include "common/mpi/peers.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/mpi/rouse.h"
#include "common/mpi/runtime.h"
#include "common/mpi/ulfm.h"
#include "common/mpi/wait.h"
#include "common/mpi/watch.h"
#include "common/os/clock.h"
#include "common/os/process.h"
#include "proto/message.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t runtime_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Most sleeps are too long by less than this time, if the computer is not overloaded and the timer slack is minimal.
 * Measured sleeps were 14 to 17 us too long at the median, and 15 to 37 us at the 90th percentile. With the default
 * slack they were 65 us too long. */
#define SLEEP_LATE_NS 20000u

static void sleep_to_instant(struct runtime *runtime, uint64_t until_ns)
{
    const struct timespec until = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    if (!runtime->sleeps_precisely)
        prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    runtime->sleeps_precisely = true;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

void runtime_nap(struct runtime *runtime, uint64_t ns)
{
    sleep_to_instant(runtime, runtime_now() + ns);
}

void runtime_delay(struct runtime *runtime, uint64_t ns)
{
    if (ns == 0)
        return;
    uint64_t until_ns = runtime_now() + ns;
    if (!runtime->cores_are_free && ns > SLEEP_LATE_NS)
        sleep_to_instant(runtime, until_ns - SLEEP_LATE_NS);
    while (runtime_now() < until_ns)
        ;
}

int runtime_prepare(struct runtime *runtime, struct error *error)
{
    runtime->prepared = true;
    return doorbell_init(&runtime->doorbell, runtime, error);
}

/* Returns within how many checks the first heartbeat of a newly watched peer must come. A worker of a lost master needs
 * more checks if the supermaster already knows of the loss: the worker sends heartbeats to the supermaster only after
 * it has learnt of the loss itself. If worker and master are on different nodes, the worker learns of the loss from
 * missing heartbeats, which takes time. If the supermaster has learnt of the loss from missing heartbeats too, the
 * worker knows about as early and gets no extra checks. */
static unsigned looks_for_first_beat(const struct runtime *runtime, unsigned rank)
{
    const bool is_orphan = runtime->role == ROLE_SUPERMASTER && runtime->hellos[rank].role == ROLE_WORKER;
    const bool knows_by_silence =
        !is_orphan || heartbeat_is_silent(&runtime->heartbeat, runtime_master_of(runtime, rank));
    return knows_by_silence ? MAY_MISS : MAY_MISS_AS_ORPHAN;
}

static void real_watch(struct runtime *runtime, unsigned rank)
{
    assert(rank != runtime->rank);
    if (!peers_move(&runtime->peers, rank, PEER_WATCH))
        return;
    watch_begin(&runtime->watch, rank);
    heartbeat_expect(&runtime->heartbeat, rank, looks_for_first_beat(runtime, rank));
}

static void watch_all(struct runtime *runtime)
{
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        if (detect_concerns(runtime, i))
            real_watch(runtime, i);
}

static int real_watch_all(struct runtime *runtime)
{
    assert(runtime->peers.state == NULL);
    if (peers_init(&runtime->peers, runtime->ranks) < 0 || watch_init(&runtime->watch, runtime) < 0)
        return -1;
    watch_all(runtime);
    assert(peers_check(&runtime->peers));
    if (runtime->lanes == NULL)
        ulfm_begin(runtime->world);
    return heartbeat_init(&runtime->heartbeat, runtime);
}

static void real_look_at_peers(struct runtime *runtime, uint64_t now_ns)
{
    watch_ask(&runtime->watch, now_ns);
    ulfm_look(runtime, now_ns);
    heartbeat_look(&runtime->heartbeat, now_ns);
    rouse_look(runtime, now_ns);
}

static void real_fence(struct runtime *runtime, unsigned rank)
{
    /* A rank whose doorbell cannot be reached from here learns from the answers to its heartbeats that it was declared
     * lost. */
    if (doorbell_reaches(&runtime->doorbell, rank))
        doorbell_fence(&runtime->doorbell, rank);
}

static const char *real_why_fenced(const struct runtime *runtime)
{
    if (doorbell_is_fenced(&runtime->doorbell))
        return "is taken for lost by others, who do not understand it";
    return runtime->heartbeat.is_fenced ? "is taken for lost by others, whom it did not answer or understand" : NULL;
}

static void real_abandon(struct runtime *runtime)
{
    doorbell_abandon(&runtime->doorbell);
}

static bool real_claim_report(struct runtime *runtime)
{
    unsigned first_of_node = 0;
    while (!doorbell_reaches(&runtime->doorbell, first_of_node))
        first_of_node++;
    assert(first_of_node <= runtime->rank);
    return doorbell_claim_report(&runtime->doorbell, first_of_node);
}

static void real_start_receive(struct net *net, unsigned receive)
{
    carrier->start(net->receives[receive]);
}

static bool real_announce(struct net *net, unsigned to, size_t bytes)
{
    (void)net, (void)to, (void)bytes;
    return true;
}

/* MPI fills the receives in the order in which they were started. So it is enough to test the oldest receive. */
static bool real_find_message(struct net *net, struct carrier_status *status)
{
    carrier_request *oldest = &net->receives[net->receive_head];
    bool arrived;
    const enum carrier_result result = carrier->test(oldest, &arrived, status);
    const bool has_arrived = net_has_arrived(net, result, arrived);
    if (*oldest == 0)
        net_renew_receive(net);
    return has_arrived;
}

static bool real_is_sent(carrier_request *request)
{
    bool is_over = true;
    if (*request != 0)
        is_over = carrier->is_over(*request);
    if (is_over && *request != 0)
        carrier->test(request, &is_over, NULL);
    return is_over;
}

static void real_ring(struct runtime *runtime, unsigned rank)
{
    doorbell_ring(&runtime->doorbell, rank);
}

static int real_steal(struct runtime *runtime, unsigned rank, unsigned waiting, struct stolen *stolen)
{
    struct span *span = doorbell_span(&runtime->doorbell, rank);
    if (span == NULL)
        return 0;
    return span_steal(span, runtime->rank, waiting, stolen) ? 1 : -1;
}

/* May messages come from ranks that cannot ring this rank's doorbell? A worker gets messages from its master. It gets
 * messages from other workers only if workers exchange boundary data. */
static bool real_has_far_peers(const struct runtime *runtime)
{
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        if (!doorbell_reaches(&runtime->doorbell, i))
            return runtime->role != ROLE_WORKER || runtime->exchanges ||
                   !doorbell_reaches(&runtime->doorbell, runtime_master_of(runtime, runtime->rank));
    return false;
}

static int real_open_wait(struct wait *wait, struct runtime *runtime)
{
    assert(runtime->watch.peers != NULL);
    if (wait_init(wait, &runtime->doorbell, runtime->cores_are_free, runtime->base) < 0 ||
        wait_watch(wait, &runtime->watch) < 0)
        return -1;
    wait->far_peers = real_has_far_peers(runtime);
    wait->shares_memory = runtime->lanes != NULL;
    wait->patient = runtime->role == ROLE_WORKER;
    return 0;
}

static int real_begin_work(struct wait *wait, struct wait_work *work, const struct executor *executor)
{
    if (executor == NULL)
        return 0;
    return wait_begin_work(wait, work, executor_descriptor(executor), &executor->is_away);
}

static void real_end_work(struct wait *wait, struct wait_work *work)
{
    (void)wait;
    wait_end_work(work);
}

static void real_exchange(struct wait *wait, struct runtime *runtime)
{
    wait->far_peers = real_has_far_peers(runtime);
    if (runtime->exchanges)
        watch_all(runtime);
}

static bool real_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                      bool (*poll)(void *context), void *context)
{
    return wait_idle(wait, &runtime->doorbell, now_ns, until_ns, pending, poll, context);
}

/* Opens a pidfd. Fails if the number of the pidfd is in the upper half of the process's limit of open files. This half
 * is left to MPI and others. */
static int real_open_process(int pid)
{
#ifdef SYS_pidfd_open
    struct rlimit limit;
    const int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)process < limit.rlim_cur / 2)
        return process;
    close(process);
    errno = EMFILE;
#else
    (void)pid;
    errno = ENOSYS;
#endif
    return -1;
}

static int late_status;

static void on_alarm(int signal)
{
    (void)signal;
    _exit(late_status);
}

static void real_exit_after(unsigned seconds, int status)
{
    late_status = status;
    signal(SIGALRM, on_alarm);
    alarm(seconds);
}

const struct runtime_ops runtime_mpi_ops = {
    .now = runtime_now,
    .delay = runtime_delay,
    .nap = runtime_nap,
    .prepare = runtime_prepare,
    .watch_all = real_watch_all,
    .watch = real_watch,
    .look_at_peers = real_look_at_peers,
    .fence = real_fence,
    .fenced = real_why_fenced,
    .abandon = real_abandon,
    .claim_report = real_claim_report,
    .sends = SENDS_MAX,
    .start_receive = real_start_receive,
    .announce = real_announce,
    .find_message = real_find_message,
    .is_sent = real_is_sent,
    .ring = real_ring,
    .steal = real_steal,
    .open_wait = real_open_wait,
    .close_wait = wait_fini,
    .begin_work = real_begin_work,
    .end_work = real_end_work,
    .exchange = real_exchange,
    .look = wait_look,
    .idle = real_idle,
    .open_process = real_open_process,
    .process_state = process_state,
    .signal_process = kill,
    .end_process = _exit,
    .exit_after = real_exit_after,
};
