/* SPDX-License-Identifier: MIT */
/* Waiting without burning the core of a busy rank.
 *
 * A rank polls before it sleeps. If every rank of the node can have a core, it polls for SPIN_NS. If ranks share cores,
 * it polls for SHARED_SPIN_NS and calls sched_yield(). If its kernel runs in a process that needs the core, it does not
 * poll. Then the rank sets its doorbell flag, checks for messages once more, and sleeps in epoll. In two cases it only
 * naps: if an unfinished send needs progress of MPI, or if messages may come from other nodes, whose ranks cannot ring
 * its doorbell. Each nap is twice as long as the one before, up to NAP_MAX_NS. A worker (`patient`) may nap longer: its
 * naps grow with the time that it has waited. */
#include "common/mpi/wait.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#define SPIN_NS        200000u
#define SHARED_SPIN_NS 20000u
#define NAP_MIN_NS     50000u
#define NAP_MAX_NS     1000000u
/* Naps of a patient rank grow to 1/PATIENCE of the time that it has waited, but not beyond SLEEP_MAX_NS. One check with
 * TCP takes 20 us of a core or more. If hundreds of ranks on one machine checked every millisecond, ranks that have
 * work would get too little time. */
#define PATIENCE 16
/* A rank sleeps no longer than this if its doorbell does not ring, because the sender's transport may hold a message
 * back until this rank calls MPI. Shared memory holds nothing back, so its limit is higher. */
#define SLEEP_MAX_NS        20000000u
#define SLEEP_MAX_SHARED_NS 500000000u
#define LOOK_NS             1000000u
#define SPIN_LOOKS          8
/* At most this many bytes are read from the doorbell per turn. So a sender that rings again and again does not keep
 * this rank from its work. */
#define RINGS_PER_TURN 16

static void on_signal(evutil_socket_t signal, short what, void *context)
{
    (void)signal, (void)what;
    ((struct wait *)context)->drain = true;
}

/* true: a drain signal has come before wait_init() */
static volatile sig_atomic_t drain_early;

static void (*tell_early)(void);

static void on_early_signal(int signal)
{
    const int before = errno;
    (void)signal;
    if (!drain_early && tell_early != NULL)
        tell_early();
    drain_early = 1;
    errno = before;
}

/* Should this rank handle the signal? If SIGHUP was ignored when the run was started (nohup), it stays ignored. */
static bool wait_takes(int number)
{
    struct sigaction action;
    return number != SIGHUP || sigaction(number, NULL, &action) < 0 || action.sa_handler != SIG_IGN;
}

void wait_catch_early(void (*tell)(void))
{
    const struct sigaction action = {.sa_handler = on_early_signal, .sa_flags = SA_RESTART};
    tell_early = tell;
    for (int i = 0; i < DRAIN_SIGNALS; i++)
        if (wait_takes(drain_signals[i]))
            sigaction(drain_signals[i], &action, NULL);
}

static void on_bell(evutil_socket_t socket, short what, void *context)
{
    char byte;
    (void)what, (void)context;
    for (int i = 0; i < RINGS_PER_TURN && recv(socket, &byte, sizeof byte, MSG_DONTWAIT) > 0; i++)
        ;
}

static void on_timer(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what, (void)context;
}

struct event_base *wait_new_base(void)
{
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    /* without this flag libevent would round a timer of 1 ms up to 4 ms */
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static void sleep_in_base(struct wait *wait, uint64_t now_ns, uint64_t until_ns)
{
    uint64_t span_us = (until_ns - now_ns + 999) / 1000;
    const struct timeval span = {.tv_sec = (time_t)(span_us / 1000000), .tv_usec = (suseconds_t)(span_us % 1000000)};
    event_add(wait->timer, &span);
    for (const struct wait_work *work = wait->works; work != NULL; work = work->next)
        /* The event is added for this sleep only. The descriptor stays readable until the executor reads it, so in any
         * other event loop the event would end the loop at once. */
        if (work->event != NULL)
            event_add(work->event, NULL);
    event_base_loop(wait->base, EVLOOP_ONCE);
    for (const struct wait_work *work = wait->works; work != NULL; work = work->next)
        if (work->event != NULL)
            event_del(work->event);
    event_del(wait->timer);
}

int wait_init(struct wait *wait, struct doorbell *doorbell, bool cores_are_free, struct event_base *base)
{
    *wait = (struct wait){.base = base,
                          .sleep = sleep_in_base,
                          .has_own_base = base == NULL,
                          .cores_are_free = cores_are_free,
                          .idle_since_ns = NEVER,
                          .nap_ns = NAP_MIN_NS};
    if (wait->has_own_base)
        wait->base = wait_new_base();
    if (wait->base == NULL)
        return -1;
    wait->bell = event_new(wait->base, doorbell->socket, EV_READ | EV_PERSIST, on_bell, wait);
    wait->timer = event_new(wait->base, -1, 0, on_timer, wait);
    if (wait->bell == NULL || wait->timer == NULL || event_add(wait->bell, NULL) < 0)
        return -1;
    for (int i = 0; i < DRAIN_SIGNALS; i++) {
        if (!wait_takes(drain_signals[i]))
            continue;
        wait->signals[i] = evsignal_new(wait->base, drain_signals[i], on_signal, wait);
        if (wait->signals[i] == NULL || event_add(wait->signals[i], NULL) < 0)
            return -1;
    }
    wait->drain = drain_early;
    return 0;
}

static void on_end(evutil_socket_t set, short what, void *context)
{
    (void)set, (void)what;
    watch_look(context);
}

int wait_watch(struct wait *wait, struct watch *watch)
{
    wait->ends = event_new(wait->base, watch->set, EV_READ | EV_PERSIST, on_end, watch);
    return wait->ends == NULL || event_add(wait->ends, NULL) < 0 ? -1 : 0;
}

static void on_work(evutil_socket_t descriptor, short what, void *context)
{
    (void)descriptor, (void)what;
    ((struct wait *)context)->work_is_ready = true;
}

int wait_begin_work(struct wait *wait, struct wait_work *work, int descriptor, const bool *is_away)
{
    *work = (struct wait_work){.is_away = is_away};
    if (descriptor >= 0) {
        work->event = event_new(wait->base, descriptor, EV_READ, on_work, wait);
        if (work->event == NULL)
            return -1;
    }
    work->wait = wait;
    work->next = wait->works;
    wait->works = work;
    return 0;
}

void wait_end_work(struct wait_work *work)
{
    if (work->wait == NULL)
        return;
    struct wait_work **place = &work->wait->works;
    while (*place != work)
        place = &(*place)->next;
    *place = work->next;
    if (work->event != NULL)
        event_free(work->event);
    *work = (struct wait_work){0};
}

void wait_fini(struct wait *wait)
{
    for (int i = 0; i < DRAIN_SIGNALS; i++) {
        if (wait->signals[i] != NULL)
            event_free(wait->signals[i]);
        signal(drain_signals[i], SIG_IGN); /* a rank that is leaving must not be killed by a second signal */
    }
    if (wait->bell != NULL)
        event_free(wait->bell);
    if (wait->timer != NULL)
        event_free(wait->timer);
    if (wait->ends != NULL)
        event_free(wait->ends);
    if (wait->has_own_base && wait->base != NULL)
        event_base_free(wait->base);
}

void wait_look(struct wait *wait, uint64_t now_ns)
{
    if (now_ns - wait->looked_at_ns < LOOK_NS)
        return;
    wait->looked_at_ns = now_ns;
    event_base_loop(wait->base, EVLOOP_NONBLOCK);
}

void wait_yield(void)
{
    sched_yield();
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool work_is_away(const struct wait *wait)
{
    for (const struct wait_work *work = wait->works; work != NULL; work = work->next)
        if (work->is_away != NULL && *work->is_away)
            return true;
    return false;
}

bool wait_idle(struct wait *wait, struct doorbell *doorbell, uint64_t now_ns, uint64_t until_ns, bool pending,
               bool (*poll)(void *context), void *context)
{
    if (wait->idle_since_ns == NEVER) {
        wait->idle_since_ns = now_ns;
        wait->nap_ns = NAP_MIN_NS;
    }
    if (!work_is_away(wait) && now_ns - wait->idle_since_ns < (wait->cores_are_free ? SPIN_NS : SHARED_SPIN_NS)) {
        if (!wait->cores_are_free) {
            sched_yield();
            return true;
        }
        /* Does not poll if a send or receive is pending: the rank then returns and does another turn. */
        for (int i = 0; i < SPIN_LOOKS && !pending && !poll(context); i++)
            ;
        return false;
    }
    uint64_t longest = wait->shares_memory && !doorbell_is_deaf(doorbell) ? SLEEP_MAX_SHARED_NS : SLEEP_MAX_NS;
    if (pending || wait->far_peers) {
        uint64_t patience_ns = wait->patient && !pending ? (now_ns - wait->idle_since_ns) / PATIENCE : 0;
        longest = wait->nap_ns;
        wait->nap_ns =
            earlier(2 * wait->nap_ns, patience_ns < NAP_MAX_NS ? NAP_MAX_NS : earlier(patience_ns, SLEEP_MAX_NS));
    }
    doorbell_set_sleeping(doorbell, true);
    bool found = poll(context);
    if (!found) {
        const uint64_t wake_ns = earlier(until_ns, now_ns + longest);
        if (wake_ns > now_ns)
            wait->sleep(wait, now_ns, wake_ns);
        wait->looked_at_ns = now_ns;
    }
    doorbell_set_sleeping(doorbell, false);
    return !found;
}
