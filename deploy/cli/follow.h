/* SPDX-License-Identifier: MIT */
/* Prints the output of a job of tasks while it runs, from the parts that `--join no` leaves. Each task is printed once
 * and as a whole, either when it finishes or in the order of tasks. With `live`, the output of running tasks is printed
 * earlier. Also writes the task log.
 *
 * A slow reader delays nothing: output stays in the parts, and only its position is kept in memory. After a large entry
 * of the parts was printed, its disk space is freed. An entry with a failed task stays, because the run reads failed
 * tasks again at its end. */
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

#define FOLLOW_HOPELESS 3

struct follow_options {
    const char *output;
    int out, err; /* descriptors for output and errors of tasks; -1: not printed */
    bool in_order;
    bool only_looks; /* another process has begun the job, so this process must not change the job's parts */
    bool clears_line;
    const char *live;
    /* Folder with output that is too long for the parts, as NUMBER.out and NUMBER.err; NULL: none. */
    const char *spilled;
    const char *joblog;
    /* Without either, a log that has tasks is refused. */
    bool joblog_appends, joblog_overwrites;
    bool tells;
    /* Tasks that could not be started print nothing if they make the run hopeless: the caller tells of them. */
    bool sums_up;
    /* Text before each line of a task, followed by a TAB; NULL: none. Tasks are counted from 0. */
    const char *(*tag_of)(void *context, uint64_t task);
    int (*files_of)(void *context, uint64_t task, char path[PATH_MAX], struct error *error);
    void *context;
};

struct follow_place {
    struct results_place entry;
    uint32_t index;
    bool is_there;
    bool is_not_started;
};

struct follow_queue {
    struct follow_place *places;
    size_t length, capacity;
    uint64_t base, next;
};

struct follow_task {
    bool is_open;
    bool is_live; /* a fragment of a running task, in follow->live.bytes */
    uint32_t length;
    uint64_t shown[2]; /* how many bytes of each stream were printed while the task ran */
    struct {
        void *bytes;
        uint64_t length;
    } spilled[2]; /* For a long stream: its beginning, mapped from a file. The rest of the stream is in the parts. */
    bool spilled_is_put;
    struct follow_place place;
    uint64_t iteration;
    unsigned stream;
    uint64_t at;
    bool is_left_out;
    uint64_t tag_at;
    uint64_t told;
};

struct follow_cursor {
    struct results_place entry;
    bool is_set;
    uint32_t index;
    const unsigned char *at[BLOCK_STREAMS_MAX];
};

struct follow {
    struct follow_options options;
    struct results_tail *tail;
    unsigned char *seen;
    uint64_t seen_bytes;
    struct follow_queue queue;
    struct follow_task task;
    struct follow_cursor cursor;
    struct live live;
    struct outlet out, err, log;
    enum task_log log_kind;
    bool is_broken;
    bool is_blocked;
    bool has_more;
    bool has_cleared; /* the progress line is not on the terminal: it was cleared, or overwritten by output */
    int wait_ms;
    struct sigaction before;
    uint64_t done, failed;
    uint64_t not_started;
    uint64_t shown_not_started;
    /* How many of the tasks that ended last could not be started, for the same reason; `why` is the last line of their
     * errors. */
    uint64_t alike;
    uint64_t started; /* tasks since the last one that could not be started */
    char why[REASON_TEXT_MAX];
    bool is_hopeless; /* FOLLOW_HOPELESS tasks in a row could not be started, so others would probably fail, too */
    struct reasons reasons;
};

/* Must be called before the job is launched. If it fails, follow_end() need not be called. */
int follow_begin(struct follow *follow, const struct follow_options *options, struct error *error);

/* Finds new output, and prints it without waiting for a reader. After an error, later calls only count tasks. */
int follow_look(struct follow *follow, struct error *error);

/* These two say when follow_look() must be called again. follow_wait_ms() returns after how many milliseconds at the
 * latest. follow_blocked_on() returns a descriptor; once it is writable, the call is due at once. -1: there is none. */
int follow_wait_ms(const struct follow *follow);
int follow_blocked_on(const struct follow *follow);

bool follow_has_printed(const struct follow *follow);

/* Polls a last time after the end of the job, and waits for slow readers. Frees everything. */
int follow_end(struct follow *follow, struct error *error);
