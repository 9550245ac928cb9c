/* SPDX-License-Identifier: MIT */
/* Running commands: see command.h. */
#include "worker/kernels/exec/command.h"

#include "common/os/children.h"
#include "common/os/clock.h"
#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER_NS UINT64_MAX
/* After a command has ended, another process may keep the output open. That process usually ends soon, so the worker
 * waits for this long. */
#define LINGER_NS     200000000u
#define LOOK_FIRST_NS 10000000u
#define LOOK_MOST_NS  1000000000u
#define ASK_NS        1000000u
#define READS_MAX     16
#define KEPT_BYTES    (1u << 20)

#define STATUS_NOT_FOUND 127
#define STATUS_NOT_RUN   126
#define FILE_MODE        0666
enum { TAG_PROCESS = COMMAND_STREAMS, TAG_TIMER, TAG_JOINED, TAGS };

static void close_one(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static int watch(const struct command *command, int descriptor, unsigned tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = tag};
    return epoll_ctl(command->set, EPOLL_CTL_ADD, descriptor, &event);
}

/* The descriptor must be above 2, because the child replaces its descriptors 0, 1 and 2. */
static int open_first_three(void)
{
    int descriptor;
    do
        descriptor = file_open_nothing();
    while (descriptor >= 0 && descriptor < 3);
    return descriptor < 0 ? -1 : fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 ? descriptor : -1;
}

int command_init(struct command *command, const struct command_limits *limits, int folder, bool frees_cores)
{
    *command = (struct command){.limits = *limits, .folder = folder, .process = -1};
    for (unsigned i = 0; i < COMMAND_STREAMS; i++)
        command->captures[i] = (struct capture){.pipe = -1, .task_end = -1, .file = -1};
    signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, the child's status would be lost */
    command->nothing = open_first_three();
    command->set = epoll_create1(EPOLL_CLOEXEC);
    command->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int result = spawner_init(&command->spawner, frees_cores);
    if (result == 0)
        /* The guard has started before this, so it does not count as an orphan. */
        result = orphans_init(&command->orphans);
    if (result == 0 && command->nothing >= 0 && command->set >= 0 && command->timer >= 0 &&
        watch(command, command->timer, TAG_TIMER) == 0)
        return 0;
    command_fini(command);
    return -1;
}

static void set_timer(struct command *command)
{
    uint64_t at = command->deadline_ns < command->look_ns ? command->deadline_ns : command->look_ns;
    struct itimerspec when = {0};
    if (at != NEVER_NS) {
        at = at > 0 ? at : 1;
        when.it_value = (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
    }
    timerfd_settime(command->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void take_timer(struct command *command)
{
    uint64_t expirations;
    ssize_t got = read(command->timer, &expirations, sizeof expirations);
    (void)got;
}

static uint64_t own_peak_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
}

static void look_at_memory(struct command *command)
{
    char path[40], text[4096];
    unsigned long long kib;
    snprintf(path, sizeof path, "/proc/%d/status", (int)command->pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (got <= 0)
        return;
    text[got] = '\0';
    const char *line = strstr(text, "\nVmHWM:");
    if (line != NULL && sscanf(line + 7, "%llu", &kib) == 1 && kib > command->outcome.peak_kib)
        command->outcome.peak_kib = kib;
}

static void command_plan_look(struct command *command, uint64_t now_ns)
{
    if (command->process < 0) {
        command->look_ns = now_ns + ASK_NS;
        return;
    }
    command->look_ns = now_ns + command->look_span_ns;
    command->look_span_ns = 2 * command->look_span_ns < LOOK_MOST_NS ? 2 * command->look_span_ns : LOOK_MOST_NS;
}

static int begin_file(struct command *command, struct capture *capture)
{
    capture->file =
        openat(command->folder, capture->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    return capture->file;
}

/* Truncates this file to half of its length after a write error. If the disk was full, other tasks can then write. */
static void give_way(struct capture *capture)
{
    if (capture->is_spilled && ftruncate(capture->file, (off_t)(capture->written / 2)) == 0)
        capture->written /= 2;
}

static void command_write_file(struct command *command, struct capture *capture, const char *bytes, size_t count)
{
    if (capture->error == 0 && capture->file < 0 && begin_file(command, capture) < 0)
        capture->error = errno;
    while (count > 0 && capture->error == 0) {
        ssize_t done = write(capture->file, bytes, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            capture->error = errno;
            give_way(capture);
            return;
        }
        bytes += done;
        count -= (size_t)done;
        capture->written += (uint64_t)done;
    }
}

static void command_keep(struct capture *capture, const char *bytes, size_t count)
{
    if (capture->length + count > capture->capacity) {
        size_t capacity = 2 * (capture->length + count);
        char *grown = realloc(capture->bytes, capacity);
        if (grown == NULL) {
            capture->error = ENOMEM;
            return;
        }
        capture->bytes = grown;
        capture->capacity = capacity;
    }
    memcpy(capture->bytes + capture->length, bytes, count);
    capture->length += count;
}

static void command_spill(struct command *command, struct capture *capture)
{
    unlinkat(command->folder, capture->name, 0);
    capture->is_spilled = true;
    command_write_file(command, capture, capture->bytes, capture->length);
    capture->length = 0;
}

static void command_take_output(struct command *command, struct capture *capture, const char *bytes, size_t count)
{
    uint64_t limit = command->limits.bytes, room = capture->received < limit ? limit - capture->received : 0;
    size_t taken = count < room ? count : (size_t)room;
    capture->received += count;
    const uint64_t most = command->limits.spill_bytes;
    if (capture->name != NULL && most > 0 && !capture->is_spilled && capture->length + taken > most)
        command_spill(command, capture);
    if (taken > 0 && capture->name != NULL && (most == 0 || capture->is_spilled))
        command_write_file(command, capture, bytes, taken);
    else if (taken > 0 && capture->error == 0)
        command_keep(capture, bytes, taken);
}

static void read_output(struct command *command, struct capture *capture)
{
    char *bytes = command->scratch;
    for (unsigned i = 0; i < READS_MAX && capture->pipe >= 0; i++) {
        ssize_t got = read(capture->pipe, bytes, sizeof command->scratch);
        if (got > 0)
            command_take_output(command, capture, bytes, (size_t)got);
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            close_one(&capture->pipe);
        else
            return;
        if (got < (ssize_t)sizeof command->scratch && got > 0 && command->state != COMMAND_LINGERING)
            return;
    }
}

static bool output_is_open(const struct command *command)
{
    return command->captures[COMMAND_OUT].pipe >= 0 || command->captures[COMMAND_ERR].pipe >= 0;
}

uint64_t command_dropped(const struct command *command, unsigned stream)
{
    uint64_t received = command->captures[stream].received;
    return received > command->limits.bytes ? received - command->limits.bytes : 0;
}

static int open_pipe(struct command *command, unsigned stream)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    command->captures[stream].pipe = ends[0];
    command->captures[stream].task_end = ends[1];
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 || watch(command, ends[0], stream) < 0 ? -1 : 0;
}

static void begin_capture(struct command *command, struct capture *capture, const char *name)
{
    if (capture->capacity > KEPT_BYTES) {
        free(capture->bytes);
        capture->bytes = NULL;
        capture->capacity = 0;
    }
    capture->length = 0;
    capture->received = 0;
    capture->written = 0;
    capture->error = 0;
    capture->is_spilled = false;
    capture->name = command->folder >= 0 ? name : NULL;
    if (capture->name != NULL && command->limits.spill_bytes == 0)
        unlinkat(command->folder, name, 0);
}

static void close_pipes(struct command *command)
{
    for (unsigned i = 0; i < COMMAND_STREAMS; i++) {
        close_one(&command->captures[i].pipe);
        close_one(&command->captures[i].task_end);
    }
}

static void not_started(struct command *command, int error)
{
    close_pipes(command);
    command->outcome.end = COMMAND_NOT_STARTED;
    command->outcome.error = error;
    command->outcome.status = error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    command->pid = -1;
    /* This time is in the past, so the next command_advance() finds that the command is over. */
    command->deadline_ns = 1;
    set_timer(command);
}

static int open_start_folder(const char *path, int *folder)
{
    *folder = path[0] == '\0' ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (path[0] == '\0')
        return 0;
    return *folder < 0 || faccessat(*folder, ".", X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* How often starting a process is tried. If a user has too many processes, that usually lasts only for a short time. */
#define SPAWN_TRIES  100
#define SPAWN_NAP_NS 20000000

static pid_t spawn_patiently(struct command *command, const struct spawn *prepared)
{
    pid_t pid = spawn(&command->spawner, prepared, &command->process);
    for (int tries = 1; pid < 0 && errno == EAGAIN && tries < SPAWN_TRIES; tries++) {
        nanosleep(&(struct timespec){.tv_nsec = SPAWN_NAP_NS}, NULL);
        pid = spawn(&command->spawner, prepared, &command->process);
    }
    return pid;
}

static int start_process(struct command *command, const struct spawn *given, int folder)
{
    struct spawn prepared = *given;
    if (open_pipe(command, COMMAND_OUT) < 0 || open_pipe(command, COMMAND_ERR) < 0)
        return errno;
    prepared.folder = folder;
    prepared.descriptors[0] = command->nothing;
    prepared.descriptors[1] = command->captures[COMMAND_OUT].task_end;
    prepared.descriptors[2] = command->captures[COMMAND_ERR].task_end;
    command->pid = spawn_patiently(command, &prepared);
    return command->pid < 0 ? errno : 0;
}

static void begin_command(struct command *command, const char *const names[COMMAND_STREAMS])
{
    for (unsigned i = 0; i < COMMAND_STREAMS; i++)
        begin_capture(command, &command->captures[i], names != NULL ? names[i] : NULL);
    command->state = COMMAND_RUNNING;
    command->outcome = (struct command_outcome){.started_s = (double)clock_ns(CLOCK_REALTIME) / 1e9};
    command->own_peak_kib = own_peak_kib();
    command->began_ns = clock_ns(CLOCK_MONOTONIC);
    command->deadline_ns = command->look_ns = NEVER_NS;
}

void command_refuse(struct command *command, int error)
{
    begin_command(command, NULL);
    not_started(command, error);
}

void command_start(struct command *command, const struct spawn *spawn, const char *folder,
                   const char *const names[COMMAND_STREAMS])
{
    int begins_in;
    begin_command(command, names);
    int error = open_start_folder(folder, &begins_in);
    command->outcome.has_no_folder = error != 0;
    if (error == 0)
        error = start_process(command, spawn, begins_in);
    close_one(&begins_in);
    if (error != 0) {
        not_started(command, error);
        return;
    }
    if (command->process >= 0)
        watch(command, command->process, TAG_PROCESS);
    if (command->limits.time_ns > 0)
        command->deadline_ns = command->began_ns + command->limits.time_ns;
    command->look_span_ns = LOOK_FIRST_NS;
    command_plan_look(command, command->began_ns);
    set_timer(command);
}

static uint64_t span_ns(struct timeval span)
{
    return (uint64_t)span.tv_sec * 1000000000u + (uint64_t)span.tv_usec * 1000u;
}

/* Collects the remaining processes of the task's process group: this worker has become their parent. Returns true if
 * one of them was killed or has not ended yet. */
static bool has_killed_some(pid_t group)
{
    int status;
    pid_t ended;
    bool was_killed = false;
    while ((ended = waitpid(-group, &status, WNOHANG)) > 0)
        was_killed |= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return was_killed || ended == 0;
}

/* The group is killed before the process is reaped, because the system may give the group's ID to another process after
 * that. */
static void reap(struct command *command)
{
    struct rusage usage = {0};
    int status = 0;
    kill(-command->pid, SIGKILL);
    spawn_forget(&command->spawner);
    pid_t ended;
    while ((ended = wait4(command->pid, &status, 0, &usage)) < 0 && errno == EINTR)
        ;
    children_forget(command->pid);
    struct command_outcome *outcome = &command->outcome;
    outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    outcome->signal = ended < 0 ? SIGKILL : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome->cpu_ns = span_ns(usage.ru_utime) + span_ns(usage.ru_stime);
    /* Before exec the child uses the worker's memory. The system reports the greater of two peaks, that of the worker
     * and that of the program. */
    if ((uint64_t)usage.ru_maxrss > command->own_peak_kib && (uint64_t)usage.ru_maxrss > outcome->peak_kib)
        outcome->peak_kib = (uint64_t)usage.ru_maxrss;
    outcome->left_some = has_killed_some(command->pid);
    command->pid = -1;
    orphans_collect();
}

int command_watch_also(struct command *command, int descriptor)
{
    return watch(command, descriptor, TAG_JOINED);
}

static void command_finish(struct command *command)
{
    if (command->pid > 0)
        reap(command);
    close_one(&command->process);
    close_pipes(command);
    for (unsigned i = 0; i < COMMAND_STREAMS; i++) {
        struct capture *capture = &command->captures[i];
        if (capture->file >= 0 && close(capture->file) < 0 && capture->error == 0)
            capture->error = errno;
        capture->file = -1;
    }
    command->deadline_ns = command->look_ns = NEVER_NS;
    set_timer(command);
    command->state = COMMAND_IDLE;
}

static bool command_has_ended(const struct command *command)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid != 0;
}

static void process_ended(struct command *command, uint64_t now_ns)
{
    command->outcome.wall_ns = now_ns - command->began_ns;
    command->state = COMMAND_LINGERING;
    command->look_ns = NEVER_NS;
    close_one(&command->process);
    for (unsigned i = 0; i < COMMAND_STREAMS; i++) {
        close_one(&command->captures[i].task_end);
        read_output(command, &command->captures[i]);
    }
    command->deadline_ns = now_ns + LINGER_NS;
    if (output_is_open(command))
        set_timer(command);
}

static bool terminate(struct command *command, uint64_t now_ns)
{
    if (command->state != COMMAND_RUNNING || command->pid <= 0)
        return false;
    kill(-command->pid, SIGTERM);
    command->state = COMMAND_STOPPING;
    command->deadline_ns = now_ns + command->limits.grace_ns;
    set_timer(command);
    return true;
}

void command_stop(struct command *command)
{
    terminate(command, clock_ns(CLOCK_MONOTONIC));
}

static void deadline_passed(struct command *command, uint64_t now_ns)
{
    switch (command->state) {
    case COMMAND_RUNNING:
        if (terminate(command, now_ns))
            command->outcome.end = COMMAND_TIMED_OUT;
        break;
    case COMMAND_STOPPING:
        kill(-command->pid, SIGKILL);
        command->deadline_ns = NEVER_NS;
        set_timer(command);
        break;
    case COMMAND_IDLE:
    case COMMAND_LINGERING: break;
    }
}

static void command_look(struct command *command, uint64_t now_ns)
{
    bool ended = command->process < 0 && command_has_ended(command);
    if (ended) {
        process_ended(command, now_ns);
        return;
    }
    look_at_memory(command);
    command_plan_look(command, now_ns);
    set_timer(command);
}

static void command_look_at_time(struct command *command)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    take_timer(command);
    if (command->deadline_ns <= now_ns)
        deadline_passed(command, now_ns);
    if (command->look_ns <= now_ns)
        command_look(command, now_ns);
}

static bool command_is_over(const struct command *command)
{
    if (command->pid < 0)
        return true;
    return command->state == COMMAND_LINGERING &&
           (!output_is_open(command) || command->deadline_ns <= clock_ns(CLOCK_MONOTONIC));
}

bool command_advance(struct command *command)
{
    struct epoll_event events[TAGS];
    bool timer = false, ended = false;
    if (command->state == COMMAND_IDLE)
        return false;
    int count = epoll_wait(command->set, events, TAGS, 0);
    for (int i = 0; i < count; i++) {
        unsigned tag = events[i].data.u32;
        timer |= tag == TAG_TIMER;
        ended |= tag == TAG_PROCESS;
        if (tag < COMMAND_STREAMS)
            read_output(command, &command->captures[tag]);
    }
    if (ended && command->state != COMMAND_LINGERING)
        process_ended(command, clock_ns(CLOCK_MONOTONIC));
    if (timer)
        command_look_at_time(command);
    if (!command_is_over(command))
        return false;
    command_finish(command);
    return true;
}

static void end_now(struct command *command)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + command->limits.grace_ns;
    const struct timespec moment = {.tv_nsec = 1000000};
    if (command->state == COMMAND_RUNNING && command->pid > 0)
        kill(-command->pid, SIGTERM);
    while (command->pid > 0 && !command_has_ended(command) && clock_ns(CLOCK_MONOTONIC) < until_ns)
        nanosleep(&moment, NULL);
    if (command->pid > 0)
        kill(-command->pid, SIGKILL);
    command_finish(command);
}

void command_fini(struct command *command)
{
    if (command->state != COMMAND_IDLE)
        end_now(command);
    for (unsigned i = 0; i < COMMAND_STREAMS; i++) {
        free(command->captures[i].bytes);
        command->captures[i].bytes = NULL;
    }
    close_one(&command->set);
    close_one(&command->timer);
    close_one(&command->nothing);
    close_one(&command->folder);
    orphans_fini(&command->orphans);
    spawner_fini(&command->spawner);
}
