/* SPDX-License-Identifier: MIT */
/* Follows the output of a job of tasks while it runs, in the parts that --join no leaves: prints each task once and
 * whole, as tasks finish or in their order, and writes the task log.
 *
 * A slow reader of what is printed holds up nobody: until it reads on the tasks' output stays in the parts, of which
 * only the places are remembered. The disk space of a large entry is freed after it was printed, unless one of its
 * tasks has failed: the run names failed tasks at its end. */
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
    const char *output;  /* the job's --output */
    int out, err;        /* descriptors for what tasks print; -1: it is not printed */
    bool in_order;       /* in the order of the tasks, not as they finish */
    bool only_looks;     /* another process began the job, perhaps long ago, and its parts stay as they are */
    bool clears_line;    /* a progress line may stand on the terminal of standard error */
    const char *live;    /* folder with what tasks write while they run, which is printed then; NULL: none */
    const char *spilled; /* folder with NUMBER.out and NUMBER.err of what is too long for the parts; NULL: none */
    const char *joblog;  /* NULL: none */
    bool joblog_appends;
    bool tells; /* the command of each task is printed on `err`, before what it has printed */
    /* Text before each line of a task, and a TAB; NULL: there is none. Tasks count from 0. */
    const char *(*tag_of)(void *context, uint64_t task);
    /* Path of a task's files, see task_files.h; NULL: there are none. */
    int (*files_of)(void *context, uint64_t task, char path[PATH_MAX], struct error *error);
    void *context;
};

/* Place of a task. */
struct follow_place {
    struct results_place entry;
    uint32_t index; /* within its entry */
    bool is_there;
};

/* Places of tasks that are not printed yet, by the order in which they are to be. */
struct follow_queue {
    struct follow_place *places; /* owned; the first is of number `base` */
    size_t length, capacity;
    uint64_t base, next; /* number of the one to be printed next */
};

/* A task that is being printed, or a fragment of one that runs. */
struct follow_task {
    bool is_open;
    bool is_live; /* the fragment in live->bytes, of `length` bytes */
    uint32_t length;
    uint64_t shown[2]; /* bytes of its streams that were printed while it ran */
    struct {
        void *bytes; /* a mapping; NULL: there is none */
        uint64_t length;
    } spilled[2];        /* what is before the bytes in the parts */
    bool spilled_is_put; /* that of the stream at hand */
    struct follow_place place;
    uint64_t iteration;
    unsigned stream;
    uint64_t at;      /* bytes of that stream, or of what was spilled, that are printed */
    bool is_left_out; /* its errors are not printed */
    uint64_t tag_at;  /* bytes of the tag that are printed */
    uint64_t told;    /* bytes of the command that are printed */
};

/* The place in a block up to which lengths were added. */
struct follow_cursor {
    struct results_place entry;
    bool is_set;
    uint32_t index;
    const unsigned char *at[BLOCK_STREAMS_MAX];
};

struct follow {
    struct follow_options options; /* borrowed texts */
    struct results_tail *tail;     /* owned */
    unsigned char *seen;           /* owned; a bit for each task that was found, here or earlier */
    uint64_t seen_bytes;
    struct follow_queue queue;
    struct follow_task task;
    struct follow_cursor cursor;
    struct live live;
    struct outlet out, err, log;
    enum task_log log_kind;
    bool is_broken;   /* something could not be printed */
    bool is_blocked;  /* a reader is slow */
    bool has_more;    /* the look was cut short */
    bool has_cleared; /* the place of a progress line is taken, or nothing stands there */
    int wait_ms;
    struct sigaction before; /* of SIGPIPE */
    /* for the caller */
    uint64_t done, failed; /* tasks that were found, printed or not; done counts those that failed, too */
    uint64_t not_started;  /* of those that failed */
    uint64_t shown_not_started;
    struct reasons reasons;
};

/* Begins before the job is launched. -1 with one line, and there is nothing to end. */
int follow_begin(struct follow *follow, const struct follow_options *options, struct error *error);

/* Looks for what is new and prints it, as far as that does not wait. -1 with one line; later looks only count. */
int follow_look(struct follow *follow, struct error *error);

/* The next look is to come at the latest after so many milliseconds, or when the descriptor can be written to; -1:
 * none is waited for. */
int follow_wait_ms(const struct follow *follow);
int follow_blocked_on(const struct follow *follow);

/* True if the last look has printed where a progress line may have stood, and ended its line. */
bool follow_has_printed(const struct follow *follow);

/* A last look, when the job has ended; waits for slow readers. Frees everything. */
int follow_end(struct follow *follow, struct error *error);
