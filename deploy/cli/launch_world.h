/* SPDX-License-Identifier: MIT */
/* How a launch accesses the machine: time, output of the launcher, signals, processes. Programs use the real machine;
 * tests have a clock and processes of their own. */
#pragma once

#include "common/os/process.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch;

struct started_launcher {
    pid_t pid, parent;
    int signals;
    int errors;
    int errors_end;
};

struct launch_world {
    int64_t (*now_ms)(struct launch_world *world);
    int (*poll)(struct launch_world *world, struct pollfd *polled, unsigned count, int wait_ms);
    ssize_t (*read)(struct launch_world *world, int descriptor, void *bytes, size_t size);
    void (*close)(struct launch_world *world, int descriptor);
    /* Opens a pipe for the ranks. Its end for writing is named in an environment variable that the ranks inherit.
     * Returns -1 if descriptors run out. */
    int (*open_pipe)(struct launch_world *world, int ends[2], const char *variable);
    void (*close_pipe)(struct launch_world *world, int ends[2], const char *variable);

    /* From this call on, signals to this process are read by next_signal(). Fills `started` except the launcher's ID.
     * Returns -1 and sets errno on failure. */
    int (*prepare)(struct launch_world *world, const struct launch *how, struct started_launcher *started);
    int (*start)(struct launch_world *world, char *const *argv, const struct launch *how,
                 struct started_launcher *started);
    int (*next_signal)(struct launch_world *world);
    void (*stop_self)(struct launch_world *world);
    void (*release_signals)(struct launch_world *world);

    unsigned (*cores)(struct launch_world *world);
    int (*kill)(struct launch_world *world, pid_t pid, int signal_number);
    bool (*reap)(struct launch_world *world, pid_t pid, int *status);
    /* state() and parent() return the same as process_state() and process_parent(). */
    char (*state)(struct launch_world *world, pid_t pid);
    pid_t (*parent)(struct launch_world *world, pid_t pid);
    /* Calls `visit` for each child until it returns false. Returns false if `visit` has returned false, or if the
     * children cannot be seen. */
    bool (*visit_children)(struct launch_world *world, pid_t parent, process_visitor *visit, void *context);
    /* Sets a bit of `*caught` for each signal that the process catches. Returns false if there is no such process. */
    bool (*read_caught)(struct launch_world *world, pid_t pid, uint64_t *caught);
    size_t (*read_command_line)(struct launch_world *world, pid_t pid, char *line, size_t size);
};

/* Serves one launch at a time. */
struct launch_world *launch_world_real(void);
