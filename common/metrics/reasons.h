/* SPDX-License-Identifier: MIT */
/* Why tasks have failed: as many as failed alike are counted together, with one of them as an example. Pure. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REASON_END_MAX  24
#define REASON_LINE_MAX 4600
#define REASONS_MAX     16 /* reasons that are told apart */
#define REASONS_SHOWN   4
#define REASON_TEXT_MAX 200

enum reason_kind { REASON_EXIT, REASON_SIGNAL, REASON_TIMEOUT, REASON_NOT_STARTED, REASON_NOT_KEPT };

struct reason {
    enum reason_kind kind;
    int64_t value; /* of REASON_EXIT and REASON_SIGNAL */
    uint64_t count;
    /* the first task */
    uint64_t number;
    char command[REASON_TEXT_MAX], error[REASON_TEXT_MAX]; /* the last line of its errors */
};

/* All zero: none. */
struct reasons {
    struct reason items[REASONS_MAX];
    unsigned count;
    uint64_t others; /* tasks for which there was no place */
};

/* Counts a task that has failed, and which wrote these errors. */
void reasons_add(struct reasons *reasons, const struct task_row *row, const void *errors, size_t length);

/* True if a task has failed for the same reason before. */
bool reasons_know(const struct reasons *reasons, const struct task_row *row);

/* Sorts them: the commonest come first. */
void reasons_sort(struct reasons *reasons);

/* Adds lines that begin with `first`, later ones with `indent`: "12 tasks failed with exit 1, e.g. 17 ./fit a.dat: last
 * line of its errors", in lines of at most so many columns. */
void reasons_add_text(const struct reasons *reasons, struct text *text, const char *first, const char *indent,
                      unsigned width);

/* "exit 1", "SIGKILL", "time limit", "not started", "not kept". Returns `text`. */
const char *reasons_end_text(const struct task_row *row, char text[REASON_END_MAX]);

/* The last line of a task's errors, without what the kernel puts before its own lines. Returns `text`. */
const char *reasons_last_line(char text[REASON_TEXT_MAX], const void *errors, size_t length);

/* Adds "command: error" to a line, which is cut at so many columns. */
void reasons_line(char line[REASON_LINE_MAX], const struct task_row *row, const char *error, unsigned width);
