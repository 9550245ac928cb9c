/* SPDX-License-Identifier: MIT */
/* What a launch sees of the machine and does to it: time, the launcher and its words, signals, processes. A program has
 * the real one. A test brings its own, with a clock that it sets and processes that it makes up. */
#pragma once

#include "common/os/process.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch;

struct started_launcher {
    pid_t pid, parent; /* `parent` is this process */
    int signals;       /* readable while next_signal() has one */
    int errors;        /* standard error of the launcher and its ranks */
    int errors_end;    /* where they write it; closed at the start */
};

struct launch_world {
    /* --- time and descriptors --- */
    int64_t (*now_ms)(struct launch_world *world); /* of a clock that nobody sets */
    int (*poll)(struct launch_world *world, struct pollfd *polled, unsigned count, int wait_ms);
    ssize_t (*read)(struct launch_world *world, int descriptor, void *bytes, size_t size); /* never waits */
    void (*close)(struct launch_world *world, int descriptor);
    /* Opens a pipe and names its second end in the environment, for the ranks to write to. -1 when files are out. */
    int (*open_pipe)(struct launch_world *world, int ends[2], const char *variable);
    void (*close_pipe)(struct launch_world *world, int ends[2], const char *variable);

    /* --- the launcher --- */
    /* Takes the signals to this process from then on, and fills in all but the launcher's number. -1 with errno. */
    int (*prepare)(struct launch_world *world, const struct launch *how, struct started_launcher *started);
    int (*start)(struct launch_world *world, char *const *argv, const struct launch *how,
                 struct started_launcher *started);
    int (*next_signal)(struct launch_world *world);      /* the oldest signal to this process; 0: there is none */
    void (*stop_self)(struct launch_world *world);       /* stops this process until it is told to go on */
    void (*release_signals)(struct launch_world *world); /* they do again what they did before the start */

    /* --- processes --- */
    unsigned (*cores)(struct launch_world *world); /* that this process may use */
    int (*kill)(struct launch_world *world, pid_t pid, int signal_number);
    bool (*reap)(struct launch_world *world, pid_t pid, int *status); /* true if that child has ended: its status */
    char (*state)(struct launch_world *world, pid_t pid);             /* as process_state() */
    pid_t (*parent)(struct launch_world *world, pid_t pid);           /* as process_parent() */
    /* Visits the children of a process. False where a visit returned it, or nothing can be seen. */
    bool (*visit_children)(struct launch_world *world, pid_t parent, process_visitor *visit, void *context);
    /* The signals that the process catches, a bit for each; false where it is gone. */
    bool (*read_caught)(struct launch_world *world, pid_t pid, uint64_t *caught);
    size_t (*read_command_line)(struct launch_world *world, pid_t pid, char *line, size_t size);
};

/* The machine that this process runs on. One launch at a time uses it. */
struct launch_world *launch_world_real(void);
