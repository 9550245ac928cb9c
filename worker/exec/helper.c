/* SPDX-License-Identifier: MIT */
/* The worker's end of a helper: see helper.h. */
#include "worker/exec/helper.h"

#include "common/os/cores.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Three limits of the time for which the worker waits until a helper has closed its kernel: at the end of the run;
 * before a thread takes over the waiting; after the kernel could not be opened. */
#define HELPER_CLOSE_MS  10000
#define HELPER_SOON_MS   20
#define HELPER_REFUSE_MS 1000
#define HELPER_LOOK_NS   20000000u
/* The worker waits for at most this long for a command that is expected to be short. The limit is longer than a tick of
 * Linux (4 ms at 250 Hz). A shorter limit would have to be programmed into the processor's timer. In a virtual machine
 * that may take longer than the rest of a short chunk. */
#define HELPER_MOMENT_NS 5000000u

void helper_tell_end(int status, char error[HDSS_ERROR_MAX])
{
    if (WIFSIGNALED(status))
        snprintf(error, HDSS_ERROR_MAX, "killed the child process: signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(error, HDSS_ERROR_MAX, "ended the child process with status %d", WEXITSTATUS(status));
}

static void helper_close(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static bool has_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 1;
}

int helper_init(struct helper *helper, const struct helper_start *start, size_t room, char error[HDSS_ERROR_MAX])
{
    const size_t at = (sizeof(struct channel) + 4095) / 4096 * 4096;
    struct epoll_event news = {.events = EPOLLIN};
    *helper = (struct helper){.start = *start, .channel_bytes = at + room, .process = -1, .has_cores = has_cores()};
    if (start->world == NULL)
        helper->start.world = &helper_world_real;
    helper->file = memfd_create("hdss-helper", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    helper->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    helper->watch = epoll_create1(EPOLL_CLOEXEC);
    void *memory = MAP_FAILED;
    /* The seal keeps the user's kernel from truncating the file through its descriptor. Without the seal, the worker
     * could die of SIGBUS. */
    if (helper->file >= 0 && ftruncate(helper->file, (off_t)helper->channel_bytes) == 0 &&
        fcntl(helper->file, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        memory = mmap(NULL, helper->channel_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, helper->file, 0);
    helper->channel = memory == MAP_FAILED ? NULL : memory;
    if (helper->channel == NULL || helper->bell < 0 || helper->watch < 0 ||
        epoll_ctl(helper->watch, EPOLL_CTL_ADD, helper->bell, &news) < 0) {
        snprintf(error, HDSS_ERROR_MAX, "no memory, or no files, for a helper: %s", strerror(errno));
        helper_fini(helper);
        return -1;
    }
    *helper->channel = (struct channel){.version = CHANNEL_VERSION,
                                        .worker_pid = getpid(),
                                        .records_at = at,
                                        .bytes = helper->channel_bytes,
                                        .until_ns = UINT64_MAX};
    helper->wake_at = UINT64_MAX;
    return 0;
}

uint64_t helper_processor_ns(const struct helper *helper)
{
    return helper->cpu_ns + (helper->pid > 0 ? helper->start.world->processor_ns(helper->pid) : 0);
}

static void release_process(const struct helper_world *world, int process)
{
    if (process >= 0)
        world->release(process);
}

static void reap_helper(struct helper *helper)
{
    helper->cpu_ns = helper_processor_ns(helper);
    helper->status = helper->start.world->reap(helper->pid);
    release_process(helper->start.world, helper->process);
    helper->process = -1;
    helper->pid = 0;
    helper->killed = false;
    helper->state = HELPER_NONE;
}

int helper_begin(struct helper *helper, char error[HDSS_ERROR_MAX])
{
    struct channel *channel = helper->channel;
    struct epoll_event news = {.events = EPOLLIN};
    assert(helper->state == HELPER_NONE && helper->pid == 0 && "one helper runs at a time");
    assert(!helper->has_next && "a helper that has died leaves nothing behind");
    atomic_store(&channel->helper_sleeps, 0);
    atomic_store(&channel->answered, helper->current);
    helper->current += CHANNEL_STEP;
    helper_work(helper)->command = CHANNEL_OPEN;
    helper_work(helper)->error[0] = '\0';
    channel_call(channel, helper->current);
    helper->pid = helper->start.begin(helper->start.context, helper->file, helper->bell, error);
    if (helper->pid < 0) {
        helper->pid = 0;
        atomic_store(&channel->answered, helper->current);
        return -1;
    }
    helper->process = helper->start.world->adopt(helper->pid);
    if (helper->process >= 0)
        epoll_ctl(helper->watch, EPOLL_CTL_ADD, helper->process, &news);
    helper->has_refused = false;
    helper->state = HELPER_OPENING;
    return 0;
}

static void take_helper_news(struct helper *helper)
{
    uint64_t count;
    if (helper->rests && atomic_exchange(&helper->channel->worker_sleeps, CHANNEL_AWAKE) == CHANNEL_AWAKE)
        helper->rings++;
    if (helper->rings > 0 && read(helper->bell, &count, sizeof count) == sizeof count)
        helper->rings -= count;
    helper->rests = false;
}

void helper_call(struct helper *helper, enum channel_command command)
{
    assert(helper->state == HELPER_READY && !helper->has_next && "a helper has one command at a time");
    take_helper_news(helper);
    helper->current += CHANNEL_STEP;
    helper->state = HELPER_RUNNING;
    atomic_store(&helper_work(helper)->wake_at, helper->wake_at);
    helper_work(helper)->command = command;
    channel_call(helper->channel, helper->current);
}

void helper_call_ahead(struct helper *helper, enum channel_command command)
{
    assert(helper->state == HELPER_RUNNING && !helper->has_next && "one command is given ahead of the one that runs");
    helper->has_next = true;
    atomic_store(&helper_next_work(helper)->wake_at, UINT64_MAX);
    helper_next_work(helper)->command = command;
    channel_call_ahead(helper->channel, helper->current);
}

bool helper_withdraw(struct helper *helper)
{
    if (!helper->has_next)
        return true;
    helper->has_next = !channel_withdraw(helper->channel, helper->current);
    return !helper->has_next;
}

bool helper_go_on(struct helper *helper)
{
    assert(helper->has_next && helper->state != HELPER_RUNNING && "a command was given ahead of one that is over");
    const bool is_dead = helper->state == HELPER_NONE;
    const bool has_it = is_dead ? !helper_withdraw(helper) : channel_confirm(helper->channel, helper->current);
    helper->has_next = false;
    if (!has_it)
        return false;
    helper->current += CHANNEL_STEP;
    helper->wake_at = UINT64_MAX;
    helper->state = HELPER_RUNNING;
    return true;
}

void helper_call_on(struct helper *helper, enum channel_command command, unsigned cpu)
{
    cpu_set_t before;
    const bool is_bound = cpu > 0 && cores_bind(helper->pid, cpu, &before);
    helper_call(helper, command);
    if (is_bound)
        cores_bind_again(helper->pid, &before);
}

void helper_kill(struct helper *helper)
{
    assert(helper_is_busy(helper) && "only what runs is killed");
    helper->killed = helper->pid > 0;
    if (helper->killed)
        helper->start.world->kill(helper->pid);
}

struct leaving {
    const struct helper_world *world;
    pid_t pid;
    int process;
};

static void *see_leave(void *context)
{
    struct leaving leaving = *(struct leaving *)context;
    free(context);
    leaving.world->await_end(leaving.process, HELPER_CLOSE_MS);
    leaving.world->kill(leaving.pid);
    leaving.world->reap(leaving.pid);
    release_process(leaving.world, leaving.process);
    return NULL;
}

static bool let_go(struct helper *helper)
{
    const uint64_t cpu_ns = helper_processor_ns(helper); /* read before the process ID is reused */
    struct leaving *leaving = malloc(sizeof *leaving);
    if (leaving == NULL)
        return false;
    epoll_ctl(helper->watch, EPOLL_CTL_DEL, helper->process, NULL);
    *leaving = (struct leaving){helper->start.world, helper->pid, helper->process};
    if (!helper->start.world->run_aside(see_leave, leaving)) {
        free(leaving);
        return false;
    }
    helper->cpu_ns = cpu_ns;
    helper->process = -1;
    helper->pid = 0;
    helper->state = HELPER_NONE;
    return true;
}

/* Tells the helper to leave and waits for its end. If that takes too long, a thread continues to wait. If no thread is
 * permitted or can be started, the helper is killed instead. If another helper will follow, the thread takes over only
 * after this helper has answered. Otherwise this helper would take commands that are for the next helper. */
static void helper_leave(struct helper *helper, bool is_last)
{
    const struct helper_world *world = helper->start.world;
    const bool lets_go = helper->start.lets_go || !is_last;
    const int most_ms = helper->start.lets_go ? HELPER_SOON_MS : is_last ? HELPER_CLOSE_MS : HELPER_REFUSE_MS;
    if (helper->state == HELPER_READY && helper_withdraw(helper)) {
        helper_call(helper, CHANNEL_LEAVE);
        if (helper->process >= 0 && !world->await_end(helper->process, most_ms) && lets_go &&
            (is_last || helper_is_over(helper)) && let_go(helper))
            return;
    }
    world->kill(helper->pid); /* safe even if the process has ended: it keeps its ID until it is reaped */
    reap_helper(helper);
}

void helper_fini(struct helper *helper)
{
    if (helper->pid > 0)
        helper_leave(helper, true);
    if (helper->channel != NULL && !helper->is_kept)
        munmap(helper->channel, helper->channel_bytes);
    helper_close(&helper->file);
    helper_close(&helper->bell);
    helper_close(&helper->watch);
    helper->channel = NULL;
}

static bool has_died(struct helper *helper, char error[HDSS_ERROR_MAX])
{
    if (helper->pid > 0) {
        if (!helper->start.world->has_ended(helper->pid))
            return false;
        reap_helper(helper);
    }
    helper->state = HELPER_NONE;
    helper_tell_end(helper->status, error);
    return true;
}

bool helper_look(struct helper *helper, char error[HDSS_ERROR_MAX])
{
    bool rested = helper->rests;
    take_helper_news(helper);
    if (helper->state == HELPER_NONE)
        return false;
    if (helper->state == HELPER_READY) {
        if (rested)
            has_died(helper, error);
        return false;
    }
    if (!helper->killed && helper_is_over(helper)) {
        bool opened = helper->state == HELPER_RUNNING || helper_work(helper)->result == CHANNEL_DONE;
        helper->state = helper->pid > 0 ? HELPER_READY : HELPER_NONE;
        if (opened)
            return false;
        snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, helper_work(helper)->error);
        helper->has_refused = true;
        helper_leave(helper, false);
        return true;
    }
    bool asks = rested || helper->killed || helper->pid == 0;
    if (!asks || !has_died(helper, error))
        return false;
    /* If the helper died after its answer, the answer is valid. */
    return !helper_is_over(helper);
}

bool helper_await(struct helper *helper, uint64_t most_ns, char error[HDSS_ERROR_MAX])
{
    const struct helper_world *world = helper->start.world;
    uint64_t began_ns = world->now(), passed_ns = 0;
    if (helper_look(helper, error))
        return true;
    for (; helper_is_busy(helper) && passed_ns < most_ns; passed_ns = world->now() - began_ns) {
        uint64_t left_ns = most_ns - passed_ns;
        if (world->await_answer(helper->channel, helper->current,
                                left_ns < HELPER_LOOK_NS ? left_ns : HELPER_LOOK_NS)) {
            if (helper_look(helper, error))
                return true;
        } else if (left_ns >= HELPER_LOOK_NS && has_died(helper, error) && !helper_is_over(helper)) {
            return true;
        }
    }
    return false;
}

void helper_await_moment(const struct helper *helper)
{
    /* The helper shares the worker's only core. After this call the command may already be done; then the worker need
     * not sleep. */
    if (!helper->has_cores)
        sched_yield();
    if (!helper_is_over(helper))
        helper->start.world->await_answer(helper->channel, helper->current, HELPER_MOMENT_NS);
}

void helper_wake_at(struct helper *helper, uint64_t done)
{
    helper->wake_at = done;
    atomic_store(&helper_work(helper)->wake_at, done);
}

bool helper_rest(struct helper *helper)
{
    take_helper_news(helper);
    atomic_store(&helper->channel->worker_sleeps, CHANNEL_ON_BELL);
    helper->rests = true;
    if (helper->killed || !helper_is_busy(helper))
        return true;
    return helper->pid > 0 && !helper_is_over(helper) &&
           atomic_load(&helper_work(helper)->published) >> 1 < helper->wake_at;
}
