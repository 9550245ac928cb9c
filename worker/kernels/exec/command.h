/* SPDX-License-Identifier: MIT */
/* A running command: its process, output, time limit and outcome.
 *
 * No function blocks, except command_fini(). Events of the command (end, output, timeout) make one descriptor readable,
 * on which the worker waits together with its messages; command_advance() handles them. One command at a time.
 *
 * A command is over when its process has ended and its output is closed; a process that keeps it open is waited for
 * only briefly. Then the rest of its process group is killed, and processes that left the group are killed by
 * command_fini(). */
#pragma once

#include "worker/kernels/exec/orphans.h"
#include "worker/kernels/exec/spawn.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum command_end {
    COMMAND_ENDED,       /* by itself or by another's signal */
    COMMAND_TIMED_OUT,   /* time limit */
    COMMAND_NOT_STARTED, /* `error` says why; status as in a shell: 127 not found, 126 not executable */
};

struct command_outcome {
    enum command_end end;
    bool has_no_folder; /* COMMAND_NOT_STARTED because of its folder */
    bool left_some;     /* processes of its group were still running and were killed */
    int status, signal; /* exit status; or the signal that ended the process */
    int error;
    double started_s; /* seconds since 1970 */
    uint64_t wall_ns, cpu_ns;
    uint64_t peak_kib; /* peak memory of its largest process; 0: too short to measure, and no more than the worker's */
};

/* Size of a read: the capacity of a pipe. */
#define COMMAND_READ_BYTES (64u << 10)

enum { COMMAND_OUT, COMMAND_ERR, COMMAND_STREAMS };

/* The output of a stream, kept in memory or in a named file. */
struct capture {
    int pipe; /* -1: closed */
    /* kept open until the process has ended, so that an early close by the task wakes nobody; -1: closed */
    int task_end;
    const char *name; /* file name; NULL: none */
    int file;         /* -1: no output yet */
    char *bytes;      /* owned */
    size_t length, capacity;
    bool is_spilled;   /* all of it is in the file, none in `bytes` */
    uint64_t received; /* bytes received in all; those above the limit were dropped */
    uint64_t written;  /* bytes in the file */
    int error;         /* errno of the file that could not be written; bytes after that were dropped */
};

struct command_limits {
    uint64_t time_ns;     /* 0: none */
    uint64_t grace_ns;    /* between SIGTERM and SIGKILL */
    uint64_t bytes;       /* bytes kept of each stream */
    uint64_t spill_bytes; /* a stream that is longer goes to its file; 0: each does from its beginning on */
};

enum command_state { COMMAND_IDLE, COMMAND_RUNNING, COMMAND_STOPPING, COMMAND_LINGERING };

struct command {
    struct spawner spawner;
    struct orphans orphans;
    struct command_limits limits;
    int folder;              /* for the files; -1: none */
    int set, timer, nothing; /* epoll set; timerfd; /dev/null */
    enum command_state state;
    pid_t pid;
    int process; /* pidfd; -1: none, polled instead */
    struct capture captures[COMMAND_STREAMS];
    char scratch[COMMAND_READ_BYTES];
    struct command_outcome outcome;
    uint64_t began_ns;
    uint64_t deadline_ns; /* of the next event: SIGTERM, SIGKILL, end of lingering */
    uint64_t look_ns;     /* when to check memory use next */
    uint64_t look_span_ns;
    uint64_t own_peak_kib; /* of the worker, which the system counts for the child too */
};

/* `folder`: an open descriptor, which command takes over, or -1. -1: out of memory or descriptors; nothing is owned. */
int command_init(struct command *command, const struct command_limits *limits, int folder, bool frees_cores);
/* Ends a running command: SIGTERM, then after waiting for the grace period SIGKILL. Also kills what commands have left
 * behind. */
void command_fini(struct command *command);

/* Starts the program in `folder`, or "" for the worker's. `names`: files for its streams (borrowed until it is over),
 * NULL to keep them in memory. A command that cannot be started is over at the next command_advance(). */
void command_start(struct command *command, const struct spawn *spawn, const char *folder,
                   const char *const names[COMMAND_STREAMS]);

/* As a command that cannot be started because of `error`. */
void command_refuse(struct command *command, int error);

/* Ends the command as if its time were over; no effect if none runs. */
void command_stop(struct command *command);

/* Handles events. True if the command is over: outcome and captures are then valid. */
bool command_advance(struct command *command);

/* Makes command_descriptor() also readable when this descriptor is. -1 with errno. */
int command_watch_also(struct command *command, int descriptor);

/* Readable when command_advance() should be called. */
static inline int command_descriptor(const struct command *command)
{
    return command->set;
}

static inline bool command_is_running(const struct command *command)
{
    return command->state != COMMAND_IDLE;
}

/* Number of bytes dropped. */
uint64_t command_dropped(const struct command *command, unsigned stream);
