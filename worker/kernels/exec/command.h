/* SPDX-License-Identifier: MIT */
/* A running command: its process, output, time limit and outcome.
 *
 * One command runs at a time. No function blocks, except command_fini(). One descriptor becomes readable after each
 * event of the command: end, output or timeout. The worker waits for this descriptor and for messages.
 * command_advance() handles the event.
 *
 * After the process of a command has ended, its output may still be open. The command is over when the output is
 * closed, or after some time. The remaining processes of its process group are then killed. command_fini() kills
 * processes that have left the group. */
#pragma once

#include "worker/kernels/exec/orphans.h"
#include "worker/kernels/exec/spawn.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum command_end {
    COMMAND_ENDED,
    COMMAND_TIMED_OUT,
    COMMAND_NOT_STARTED, /* `error` has the reason; `status` is that of a shell: 127 not found, 126 not executable */
};

struct command_outcome {
    enum command_end end;
    bool has_no_folder;
    bool left_some;
    int status, signal;
    int error;
    double started_s;
    uint64_t wall_ns, cpu_ns;
    /* Peak memory of the command's largest process. 0: the process used no more than the worker, or ended before it
     * could be measured. */
    uint64_t peak_kib;
};

#define COMMAND_READ_BYTES (64u << 10)

enum { COMMAND_OUT, COMMAND_ERR, COMMAND_STREAMS };

struct capture {
    int pipe;
    /* The task's end of the pipe; -1: closed. The worker keeps this end open until the process has ended. So closing
     * the task's own copy does not wake the worker. */
    int task_end;
    const char *name;
    int file;
    char *bytes;
    size_t length, capacity;
    bool is_spilled;
    uint64_t received;
    uint64_t written;
    int error; /* errno of a write to the file that has failed; 0: none; the bytes after it were dropped */
};

struct command_limits {
    uint64_t time_ns;
    uint64_t grace_ns;
    uint64_t bytes;
    /* a stream with more bytes than this is written to its file; 0: every stream is written there from its first byte
     * on */
    uint64_t spill_bytes;
};

enum command_state { COMMAND_IDLE, COMMAND_RUNNING, COMMAND_STOPPING, COMMAND_LINGERING };

struct command {
    struct spawner spawner;
    struct orphans orphans;
    struct command_limits limits;
    int folder;
    int set, timer, nothing;
    enum command_state state;
    pid_t pid;
    int process; /* pidfd; -1: there is none, so the process is polled */
    struct capture captures[COMMAND_STREAMS];
    char scratch[COMMAND_READ_BYTES];
    struct command_outcome outcome;
    uint64_t began_ns;
    uint64_t deadline_ns;
    uint64_t look_ns;
    uint64_t look_span_ns;
    uint64_t own_peak_kib; /* the worker's peak memory, which the system reports for a child that used less */
};

/* Takes ownership of `folder`, an open descriptor or -1. Returns -1 if memory or descriptors run out; then nothing is
 * owned. */
int command_init(struct command *command, const struct command_limits *limits, int folder, bool frees_cores);
/* Ends a running command: sends SIGTERM, and SIGKILL after the grace period. Waits until the command has ended. Also
 * kills processes that commands have left behind. */
void command_fini(struct command *command);

/* Starts the program in `folder`, or in the worker's folder if `folder` is "". `names`: files for the streams, borrowed
 * until the command is over; NULL: output stays in memory. If the command cannot be started, the next command_advance()
 * says that the command is over. */
void command_start(struct command *command, const struct spawn *spawn, const char *folder,
                   const char *const names[COMMAND_STREAMS]);

void command_refuse(struct command *command, int error);

/* Sends SIGTERM to the command and, after the grace period, SIGKILL. Does nothing if no command runs. */
void command_stop(struct command *command);

/* Handles events. Returns true if the command is over; outcome and captures are then valid. */
bool command_advance(struct command *command);

/* Makes command_descriptor() readable also while `descriptor` is readable. Returns -1 with errno on failure. */
int command_watch_also(struct command *command, int descriptor);

static inline int command_descriptor(const struct command *command)
{
    return command->set;
}

static inline bool command_is_running(const struct command *command)
{
    return command->state != COMMAND_IDLE;
}

uint64_t command_dropped(const struct command *command, unsigned stream);
