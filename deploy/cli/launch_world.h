/* SPDX-License-Identifier: MIT */
/* How a launch accesses the machine: time, output of the launcher, signals, processes. Programs use the real one; tests
 * provide a clock and processes of their own. */
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
    int errors_end;    /* its other end; closed at the start */
};

struct launch_world {
    int64_t (*now_ms)(struct launch_world *world); /* monotonic */
    int (*poll)(struct launch_world *world, struct pollfd *polled, unsigned count, int wait_ms);
    ssize_t (*read)(struct launch_world *world, int descriptor, void *bytes, size_t size); /* never waits */
    void (*close)(struct launch_world *world, int descriptor);
    /* Opens a pipe and puts the name of its write end into the environment of the ranks. -1 if descriptors run out. */
    int (*open_pipe)(struct launch_world *world, int ends[2], const char *variable);
    void (*close_pipe)(struct launch_world *world, int ends[2], const char *variable);

    /* Begins to handle signals to this process, and fills in all members but the launcher's ID. -1 with errno. */
    int (*prepare)(struct launch_world *world, const struct launch *how, struct started_launcher *started);
    int (*start)(struct launch_world *world, char *const *argv, const struct launch *how,
                 struct started_launcher *started);
    int (*next_signal)(struct launch_world *world);      /* oldest signal to this process; 0: none */
    void (*stop_self)(struct launch_world *world);       /* stops this process until SIGCONT */
    void (*release_signals)(struct launch_world *world); /* restores the signal handling */

    unsigned (*cores)(struct launch_world *world); /* available to this process */
    int (*kill)(struct launch_world *world, pid_t pid, int signal_number);
    bool (*reap)(struct launch_world *world, pid_t pid,
                 int *status);                              /* true if that child has ended, with its status */
    char (*state)(struct launch_world *world, pid_t pid);   /* like process_state() */
    pid_t (*parent)(struct launch_world *world, pid_t pid); /* like process_parent() */
    /* Visits the children of a process. False if a visit returned false, or they are not visible. */
    bool (*visit_children)(struct launch_world *world, pid_t parent, process_visitor *visit, void *context);
    /* Bit mask of the signals that the process catches; false if it does not exist. */
    bool (*read_caught)(struct launch_world *world, pid_t pid, uint64_t *caught);
    size_t (*read_command_line)(struct launch_world *world, pid_t pid, char *line, size_t size);
};

/* The real machine. Used by one launch at a time. */
struct launch_world *launch_world_real(void);
