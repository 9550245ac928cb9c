/* SPDX-License-Identifier: MIT */
/* The state of mpirun and its ranks: see ready.h. */
#include "deploy/cli/ready.h"

#include "common/os/process.h"

#include <signal.h>
#include <string.h>

struct below {
    struct launch_world *world;
    unsigned depth;
    process_visitor *visit;
    void *context;
};

static bool visit_below(pid_t child, void *context)
{
    const struct below *below = context;
    if (below->depth <= 1)
        return below->visit(child, below->context);
    struct below next = *below;
    next.depth--;
    return below->world->visit_children(below->world, child, visit_below, &next);
}

static bool visit_ranks(struct launch_world *world, pid_t launcher, unsigned depth, process_visitor *visit,
                        void *context)
{
    struct below below = {world, depth, visit, context};
    return world->visit_children(world, launcher, visit_below, &below);
}

/* After fork(), a process has the command line and signal handlers of its parent until it executes its program. The
 * program begins without handlers. Between these two states the process has no command line for a short time. */
static bool is_copy_of(struct launch_world *world, pid_t pid, pid_t parent)
{
    char own[1024], before[1024];
    const size_t length = world->read_command_line(world, pid, own, sizeof own);
    return length == 0 || (length == world->read_command_line(world, parent, before, sizeof before) &&
                           memcmp(own, before, length) == 0);
}

static bool does_catch(struct launch_world *world, pid_t pid, int signal_number)
{
    uint64_t caught;
    return world->read_caught(world, pid, &caught) && (caught >> (signal_number - 1) & 1) != 0;
}

struct catching {
    struct launch_world *world;
    int signal_number;
    unsigned ranks;
};

static bool visit_catching(pid_t child, void *context)
{
    struct catching *catching = context;
    struct launch_world *world = catching->world;
    const pid_t parent = world->parent(world, child);
    catching->ranks++;
    /* The order matters. If the handlers were read first, the child might execute its program before is_copy_of() is
     * called. Then is_copy_of() would be false, although the handlers were still those of the parent. */
    return parent > 0 && !is_copy_of(world, child, parent) && does_catch(world, child, catching->signal_number);
}

bool ready_for(struct launch_world *world, pid_t launcher, unsigned depth, unsigned ranks, int signal_number)
{
    struct catching catching = {.world = world, .signal_number = signal_number};
    return does_catch(world, launcher, signal_number) &&
           visit_ranks(world, launcher, depth, visit_catching, &catching) && catching.ranks >= ranks;
}

bool has_ended(struct launch_world *world, pid_t pid)
{
    return !process_runs(world->state(world, pid));
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

unsigned children_of(struct launch_world *world, pid_t parent, pid_t *children, unsigned max)
{
    struct children listed = {.pids = children, .max = max};
    world->visit_children(world, parent, visit_listing, &listed);
    return listed.count;
}

struct count {
    struct launch_world *world;
    unsigned stopped, awake;
};

static bool visit_counting(pid_t child, void *context)
{
    struct count *count = context;
    const char state = count->world->state(count->world, child);
    count->stopped += state == PROCESS_STOPPED;
    count->awake += process_runs(state) && state != PROCESS_STOPPED;
    return true;
}

unsigned ranks_stopped(struct launch_world *world, pid_t launcher, unsigned depth, unsigned *awake)
{
    struct count count = {.world = world};
    visit_ranks(world, launcher, depth, visit_counting, &count);
    *awake = count.awake;
    return count.stopped;
}

unsigned ranks_below(struct launch_world *world, pid_t launcher, unsigned depth)
{
    unsigned awake;
    const unsigned stopped = ranks_stopped(world, launcher, depth, &awake);
    return stopped + awake;
}

struct signalling {
    struct launch_world *world;
    int signal_number;
    bool to_stopped;
};

static bool visit_signalling(pid_t child, void *context)
{
    const struct signalling *signalling = context;
    struct launch_world *world = signalling->world;
    if (!signalling->to_stopped || world->state(world, child) == PROCESS_STOPPED)
        world->kill(world, child, signalling->signal_number);
    return true;
}

void ranks_end_stopped(struct launch_world *world, pid_t launcher, unsigned depth)
{
    visit_ranks(world, launcher, depth, visit_signalling, &(struct signalling){world, SIGKILL, true});
}

void ranks_rouse(struct launch_world *world, pid_t launcher, unsigned depth)
{
    visit_ranks(world, launcher, depth, visit_signalling, &(struct signalling){world, SIGCONT, true});
}

void ranks_signal(struct launch_world *world, pid_t launcher, unsigned depth, int signal_number)
{
    visit_ranks(world, launcher, depth, visit_signalling, &(struct signalling){world, signal_number, false});
}

struct signalling_all {
    struct launch_world *world;
    int signal_number;
    unsigned depth;
};

/* Signals a process before its children: if the signal stops the process, it starts no more children. */
static bool visit_signalling_all(pid_t child, void *context)
{
    enum { DEPTH_MAX = 64 };
    const struct signalling_all *here = context;
    struct signalling_all next = {here->world, here->signal_number, here->depth + 1};
    here->world->kill(here->world, child, here->signal_number);
    if (next.depth < DEPTH_MAX)
        here->world->visit_children(here->world, child, visit_signalling_all, &next);
    return true;
}

void below_signal(struct launch_world *world, pid_t launcher, int signal_number)
{
    world->visit_children(world, launcher, visit_signalling_all, &(struct signalling_all){world, signal_number, 0});
}
