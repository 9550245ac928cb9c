/* SPDX-License-Identifier: MIT */
/* Prints the output of a job of tasks while it runs, from the parts that --join no leaves: each task once and as a
 * whole, as tasks finish or in their order; writes the task log.
 *
 * A slow reader delays nothing: the tasks' output stays in the parts meanwhile, and only the places are remembered. The
 * disk space of a large entry is freed after printing, unless one of its tasks has failed: the run reads failed tasks
 * at its end. */
#pragma once

#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "common/results/tail.h"
#include "common/util/error.h"
#include "deploy/cli/live.h"
#include "deploy/cli/outlet.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct follow_options {
    const char *output;
    int out, err;        /* descriptors for output and errors of tasks; -1: not printed */
    bool in_order;       /* print in the order of the tasks, not as they finish */
    bool only_looks;     /* another process began the job; its parts are not changed */
    bool clears_line;    /* the terminal of standard error may show a progress line */
    const char *live;    /* folder with the output of running tasks, which is printed at once; NULL: none */
    const char *spilled; /* folder with NUMBER.out and NUMBER.err of output too long for the parts; NULL: none */
    const char *joblog;  /* NULL: none */
    bool joblog_appends;
    bool tells; /* print the command of each task on `err`, before its output */
    /* Text before each line of a task, followed by a TAB; NULL: none. Tasks are counted from 0. */
    const char *(*tag_of)(void *context, uint64_t task);
    /* Path of a task's files, see task_files.h; NULL: none. */
    int (*files_of)(void *context, uint64_t task, char path[PATH_MAX], struct error *error);
    void *context;
};

/* Where a task's output is. */
struct follow_place {
    struct results_place entry;
    uint32_t index; /* within its entry */
    bool is_there;
};

/* Places of tasks that are not printed yet, in printing order. */
struct follow_queue {
    struct follow_place *places; /* owned; the first is of number `base` */
    size_t length, capacity;
    uint64_t base, next; /* next: number of the next task to print */
};

/* A task being printed, or a fragment of a running one. */
struct follow_task {
    bool is_open;
    bool is_live; /* a fragment, in live->bytes, of `length` bytes */
    uint32_t length;
    uint64_t shown[2]; /* bytes of its streams printed while it ran */
    struct {
        void *bytes; /* mapped; NULL: none */
        uint64_t length;
    } spilled[2];        /* by stream: the beginning of its output, from a spill file; the parts have the rest */
    bool spilled_is_put; /* for the present stream */
    struct follow_place place;
    uint64_t iteration;
    unsigned stream;
    uint64_t at;      /* bytes printed of that stream, or of its spill file */
    bool is_left_out; /* do not print its errors */
    uint64_t tag_at;  /* bytes printed of the tag */
    uint64_t told;    /* bytes printed of the command */
};

/* Position in a block up to which lengths were added. */
struct follow_cursor {
    struct results_place entry;
    bool is_set;
    uint32_t index;
    const unsigned char *at[BLOCK_STREAMS_MAX];
};

struct follow {
    struct follow_options options; /* borrowed texts */
    struct results_tail *tail;     /* owned */
    unsigned char *seen;           /* owned; a bit for each task found, here or earlier */
    uint64_t seen_bytes;
    struct follow_queue queue;
    struct follow_task task;
    struct follow_cursor cursor;
    struct live live;
    struct outlet out, err, log;
    enum task_log log_kind;
    bool is_broken;   /* something could not be printed */
    bool is_blocked;  /* a reader is slow */
    bool has_more;    /* the last poll was cut short */
    bool has_cleared; /* the progress line was cleared, or there is none */
    int wait_ms;
    struct sigaction before; /* action of SIGPIPE */
    uint64_t done, failed;   /* for the caller: tasks found, printed or not; done includes failed ones */
    uint64_t not_started;    /* part of `failed` */
    uint64_t shown_not_started;
    struct reasons reasons;
};

/* Begins, before the job is launched. On failure follow_end() is not needed. */
int follow_begin(struct follow *follow, const struct follow_options *options, struct error *error);

/* Finds new output and prints it without blocking. After an error later calls only count. */
int follow_look(struct follow *follow, struct error *error);

/* Longest time until the next follow_look(), in ms; -1: none. It is also due when the descriptor is writable. */
int follow_wait_ms(const struct follow *follow);
int follow_blocked_on(const struct follow *follow);

/* True if the last follow_look() printed over a progress line and ended its line. */
bool follow_has_printed(const struct follow *follow);

/* Last poll after the end of the job; waits for slow readers. Frees everything. */
int follow_end(struct follow *follow, struct error *error);
