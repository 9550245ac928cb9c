/* SPDX-License-Identifier: MIT */
/* Counts the reasons of failed tasks, with one task as an example of each reason. Pure. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REASON_END_MAX  24
#define REASON_LINE_MAX 4600
#define REASONS_MAX     16
#define REASONS_SHOWN   4
#define REASON_TEXT_MAX 200
#define REASONS_LATEST  100

enum reason_kind { REASON_EXIT, REASON_SIGNAL, REASON_TIMEOUT, REASON_NOT_STARTED, REASON_NOT_KEPT };

struct reason {
    enum reason_kind kind;
    int64_t value;
    uint64_t count;
    /* number of the first task that was reported with this reason */
    uint64_t number;
    char command[REASON_TEXT_MAX], error[REASON_TEXT_MAX];
};

struct failed_task {
    uint64_t number;
    char end[REASON_END_MAX];
    char command[REASON_TEXT_MAX], error[REASON_TEXT_MAX];
};

struct reasons {
    struct reason items[REASONS_MAX];
    unsigned count;
    uint64_t others;
    /* The REASONS_LATEST tasks that were added last: task i of `added` is at i modulo REASONS_LATEST. Borrowed; NULL:
     * they are not kept. */
    struct failed_task *latest;
    uint64_t added;
};

void reasons_add(struct reasons *reasons, const struct task_row *row, const void *errors, size_t length);

bool reasons_know(const struct reasons *reasons, const struct task_row *row);

void reasons_sort(struct reasons *reasons);

/* Removes the reason of this kind and copies it to `taken`. Returns false if no task failed so. */
bool reasons_take(struct reasons *reasons, enum reason_kind kind, struct reason *taken);

/* Adds lines such as "12 tasks failed with exit 1, e.g. 17 ./fit a.dat: last line of its errors", at most `width`
 * columns wide. The first line begins with `first`, the other lines with `indent`. */
void reasons_add_text(const struct reasons *reasons, struct text *text, const char *first, const char *indent,
                      unsigned width);

const char *reasons_end_text(const struct task_row *row, char text[REASON_END_MAX]);

/* Writes the last line of a task's errors, without the prefix that the kernel exec gives its own lines. Returns
 * `text`. */
const char *reasons_last_line(char text[REASON_TEXT_MAX], const void *errors, size_t length);

void reasons_line(char line[REASON_LINE_MAX], const struct task_row *row, const char *error, unsigned width);
