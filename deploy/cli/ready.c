/* SPDX-License-Identifier: MIT */
/* mpirun and its children in /proc: see ready.h. */
#include "deploy/cli/ready.h"

#include "common/os/process.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called for each child until it returns false. */
typedef bool visitor(pid_t child, void *context);

/* The children that one thread has started. */
static bool visit_children(const char *path, visitor *visit, void *context)
{
    int child;
    bool on = true;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    while (on && fscanf(file, "%d", &child) == 1)
        on = visit(child, context);
    fclose(file);
    return on;
}

/* The children of all threads. False when a visit was, or nothing can be seen. */
static bool visit_all(pid_t parent, visitor *visit, void *context)
{
    char path[320];
    bool on = true;
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    if (threads == NULL)
        return false;
    for (struct dirent *entry; on && (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, entry->d_name);
        on = visit_children(path, visit, context);
    }
    closedir(threads);
    return on;
}

struct below {
    unsigned depth;
    visitor *visit;
    void *context;
};

static bool visit_below(pid_t child, void *context)
{
    const struct below *below = context;
    struct below next = {below->depth - 1, below->visit, below->context};
    return below->depth <= 1 ? below->visit(child, below->context) : visit_all(child, visit_below, &next);
}

/* False when a visit was, or the launcher cannot be seen. */
static bool visit_ranks(pid_t launcher, unsigned depth, visitor *visit, void *context)
{
    struct below below = {depth, visit, context};
    return visit_all(launcher, visit_below, &below);
}

/* Reads from /proc/PID/status which signals a process catches and its parent. False when the process has gone. */
static bool read_status(pid_t pid, unsigned long long *caught, pid_t *parent)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    *caught = 0;
    *parent = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigCgt:", 7) == 0)
            *caught = strtoull(line + 7, NULL, 16);
        else if (strncmp(line, "PPid:", 5) == 0)
            *parent = (pid_t)strtol(line + 5, NULL, 10);
    fclose(file);
    return true;
}

static size_t read_command_line(pid_t pid, char *line, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(line, 1, size, file) : 0;
    if (file != NULL)
        fclose(file);
    return length;
}

/* A process that was forked and runs no program of its own yet still has the command line and the handlers of the one
 * that has forked it. Its own program begins without any; in between it has no command line. */
static bool is_copy_of(pid_t pid, pid_t parent)
{
    char own[1024], before[1024];
    const size_t length = read_command_line(pid, own, sizeof own);
    return length == 0 ||
           (length == read_command_line(parent, before, sizeof before) && memcmp(own, before, length) == 0);
}

struct catching {
    int signal_number;
    unsigned ranks;
};

static bool visit_catching(pid_t child, void *context)
{
    struct catching *catching = context;
    unsigned long long caught;
    pid_t parent;
    catching->ranks++;
    /* In this order: a copy may run its own program from any moment on, and what it caught before says nothing. */
    return read_status(child, &caught, &parent) && !is_copy_of(child, parent) && read_status(child, &caught, &parent) &&
           (caught >> (catching->signal_number - 1) & 1) != 0;
}

bool ready_for(pid_t launcher, unsigned depth, unsigned ranks, int signal_number)
{
    struct catching catching = {.signal_number = signal_number};
    unsigned long long caught;
    pid_t parent;
    return read_status(launcher, &caught, &parent) && (caught >> (signal_number - 1) & 1) != 0 &&
           visit_ranks(launcher, depth, visit_catching, &catching) && catching.ranks >= ranks;
}

bool has_ended(pid_t pid)
{
    return !process_runs(process_state(pid));
}

struct children {
    pid_t *pids;
    unsigned count, max;
};

static bool visit_listing(pid_t child, void *context)
{
    struct children *children = context;
    if (children->count < children->max)
        children->pids[children->count++] = child;
    return children->count < children->max;
}

unsigned children_of(pid_t parent, pid_t *children, unsigned max)
{
    struct children listed = {.pids = children, .max = max};
    visit_all(parent, visit_listing, &listed);
    return listed.count;
}

static bool visit_counting(pid_t child, void *context)
{
    *(unsigned *)context += !has_ended(child);
    return true;
}

unsigned ranks_below(pid_t launcher, unsigned depth)
{
    unsigned count = 0;
    visit_ranks(launcher, depth, visit_counting, &count);
    return count;
}

struct stopped {
    unsigned stopped, awake;
};

static bool visit_counting_stopped(pid_t child, void *context)
{
    struct stopped *count = context;
    const char state = process_state(child);
    count->stopped += state == PROCESS_STOPPED;
    count->awake += process_runs(state) && state != PROCESS_STOPPED;
    return true;
}

unsigned ranks_stopped(pid_t launcher, unsigned depth, unsigned *awake)
{
    struct stopped count = {0};
    visit_ranks(launcher, depth, visit_counting_stopped, &count);
    *awake = count.awake;
    return count.stopped;
}

static bool visit_signalling_stopped(pid_t child, void *context)
{
    if (process_state(child) == PROCESS_STOPPED)
        kill(child, *(int *)context);
    return true;
}

void ranks_end_stopped(pid_t launcher, unsigned depth)
{
    int signal_number = SIGKILL;
    visit_ranks(launcher, depth, visit_signalling_stopped, &signal_number);
}

void ranks_rouse(pid_t launcher, unsigned depth)
{
    int signal_number = SIGCONT;
    visit_ranks(launcher, depth, visit_signalling_stopped, &signal_number);
}

static bool visit_signalling(pid_t child, void *context)
{
    kill(child, *(int *)context);
    return true;
}

void ranks_signal(pid_t launcher, unsigned depth, int signal_number)
{
    visit_ranks(launcher, depth, visit_signalling, &signal_number);
}
