/* SPDX-License-Identifier: MIT */
/* A command that runs: its process, what it writes, its time limit, and what became of it.
 *
 * Nothing here waits. What a command may make happen (its end, output, a time that is up) makes one descriptor
 * readable, on which its worker waits beside its messages; command_advance() then deals with it. One command at a time.
 *
 * A command is over when its process has ended and nobody holds its output open any more; whoever still does is waited
 * for only a moment. Then what is left of its process group is killed, and what has left that group by command_fini().
 */
#pragma once

#include "worker/kernels/exec/orphans.h"
#include "worker/kernels/exec/spawn.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum command_end {
    COMMAND_ENDED,       /* ended by itself, or by a signal of somebody else */
    COMMAND_TIMED_OUT,   /* the time limit was over */
    COMMAND_NOT_STARTED, /* `error` says why; status is what a shell would say: 127, or 126 where it is there */
};

struct command_outcome {
    enum command_end end;
    bool has_no_folder; /* COMMAND_NOT_STARTED: `error` is that of its folder */
    bool left_some;     /* processes of its group still ran as it ended, and were killed */
    int status, signal; /* exit status; or the signal that ended the process */
    int error;
    double started_s; /* seconds since 1970 */
    uint64_t wall_ns, cpu_ns;
    uint64_t peak_kib; /* memory of its largest process. 0: too short-lived to tell, and no more than the worker */
};

/* Read in one go: what a pipe holds. */
#define COMMAND_READ_BYTES (64u << 10)

enum { COMMAND_OUT, COMMAND_ERR, COMMAND_STREAMS };

/* The output of a stream: kept here or, where there is a name for it, in a file. */
struct capture {
    int pipe;         /* -1: at its end */
    int task_end;     /* kept open until the process has ended: that it closes its own wakes nobody. -1: closed */
    const char *name; /* name of the file; NULL: none */
    int file;         /* -1: nothing has come yet */
    char *bytes;      /* owned */
    size_t length, capacity;
    bool is_spilled;   /* all of it is in the file, none in `bytes` */
    uint64_t received; /* bytes received in all; those above the limit were dropped */
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
    int folder;              /* folder of the files; -1: none */
    int set, timer, nothing; /* an epoll set; a timerfd; /dev/null */
    enum command_state state;
    pid_t pid;
    int process; /* pidfd; -1: none, the process is asked for */
    struct capture captures[COMMAND_STREAMS];
    char scratch[COMMAND_READ_BYTES];
    struct command_outcome outcome;
    uint64_t began_ns;
    uint64_t deadline_ns; /* time of what comes next: SIGTERM, SIGKILL, the end of lingering */
    uint64_t look_ns;     /* when to look at the task's memory next */
    uint64_t look_span_ns;
    uint64_t own_peak_kib; /* peak of the worker, which the kernel counts for the child, too */
};

/* The folder is an open descriptor, -1 for none; it becomes the command's. -1 when memory or descriptors are out, with
 * nothing owned. */
int command_init(struct command *command, const struct command_limits *limits, int folder, bool frees_cores);
/* Ends what runs: SIGTERM, and after the time of grace, for which this waits, SIGKILL. What commands have left behind
 * is killed, too. */
void command_fini(struct command *command);

/* Starts the program, in `folder` or, where that is "", in the worker's. `names` are those of the files for its streams
 * (borrowed until it is over), NULL where they are to be kept here. Also a command that cannot be started is over at
 * the next command_advance(). */
void command_start(struct command *command, const struct spawn *spawn, const char *folder,
                   const char *const names[COMMAND_STREAMS]);

/* A command that cannot be started for the reason `error`: it is over at the next command_advance(). */
void command_refuse(struct command *command, int error);

/* Asks the command to end: SIGTERM, and after the time of grace SIGKILL, as where its time is over. Nothing where none
 * runs. */
void command_stop(struct command *command);

/* Deals with what has happened. Whether the command is over: then its outcome and its captures say how. */
bool command_advance(struct command *command);

/* Has command_descriptor() be readable also while this descriptor is. -1 with errno. */
int command_watch_also(struct command *command, int descriptor);

/* Readable when there is something for command_advance(). */
static inline int command_descriptor(const struct command *command)
{
    return command->set;
}

static inline bool command_is_running(const struct command *command)
{
    return command->state != COMMAND_IDLE;
}

/* Bytes of a stream that were dropped. */
uint64_t command_dropped(const struct command *command, unsigned stream);
