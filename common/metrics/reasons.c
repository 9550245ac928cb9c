/* SPDX-License-Identifier: MIT */
/* Counting reasons of failed tasks: see reasons.h. */
#include "common/metrics/reasons.h"

#include "common/metrics/human.h"
#include "common/util/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_LEAST 20
#define SIGNALS_MAX   1024
/* The kernel exec begins its own lines in a task's error output with this text. */
#define NOTE_START "hdss: task "

static enum reason_kind kind_of(const struct task_row *row)
{
    return task_text_is(row->end, "timeout")       ? REASON_TIMEOUT
           : task_text_is(row->end, "not-started") ? REASON_NOT_STARTED
           : task_text_is(row->end, "not-kept")    ? REASON_NOT_KEPT
           : row->signal != 0                      ? REASON_SIGNAL
                                                   : REASON_EXIT;
}

static int64_t value_of(const struct task_row *row, enum reason_kind kind)
{
    return kind == REASON_EXIT ? row->exit : kind == REASON_SIGNAL ? row->signal : 0;
}

static void copy_text(char target[REASON_TEXT_MAX], const char *text, size_t length)
{
    size_t kept = length < REASON_TEXT_MAX ? length : REASON_TEXT_MAX - 1;
    while (kept > 0 && kept < length && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    for (size_t i = 0; i < kept; i++)
        target[i] = text[i] != '\0' ? text[i] : '?';
    target[kept] = '\0';
    plain(target);
}

static struct task_text last_line(struct task_text *errors)
{
    while (errors->length > 0 && strchr(" \t\r\n", errors->at[errors->length - 1]) != NULL)
        errors->length--;
    const char *newline = errors->length > 0 ? memrchr(errors->at, '\n', errors->length) : NULL;
    const size_t before = newline != NULL ? (size_t)(newline - errors->at) + 1 : 0;
    const struct task_text line = {errors->at + before, errors->length - before};
    errors->length = before;
    return line;
}

static struct task_text without_note(struct task_text line)
{
    const size_t length = strlen(NOTE_START);
    if (line.length < length || memcmp(line.at, NOTE_START, length) != 0)
        return line;
    const char *colon = memchr(line.at + length, ':', line.length - length);
    if (colon == NULL || line.length - (size_t)(colon - line.at) < 2)
        return line;
    return (struct task_text){colon + 2, line.length - (size_t)(colon - line.at) - 2};
}

static void set_example(struct reason *reason, const struct task_row *row, const void *errors, size_t length)
{
    struct task_text rest = {errors, length}, line = last_line(&rest), own = without_note(line);
    /* The last line, which the kernel exec has written, only repeats the reason. So the line before it is shown. */
    if (reason->kind == REASON_TIMEOUT && own.at != line.at)
        own = last_line(&rest);
    reason->number = row->number;
    copy_text(reason->command, row->command.at, row->command.length);
    copy_text(reason->error, own.at, own.length);
}

static struct reason *find_reason(const struct reasons *reasons, const struct task_row *row)
{
    const enum reason_kind kind = kind_of(row);
    for (unsigned i = 0; i < reasons->count; i++)
        if (reasons->items[i].kind == kind && reasons->items[i].value == value_of(row, kind))
            return (struct reason *)&reasons->items[i];
    return NULL;
}

bool reasons_know(const struct reasons *reasons, const struct task_row *row)
{
    return find_reason(reasons, row) != NULL;
}

static void keep_task(struct reasons *reasons, const struct task_row *row, const void *errors, size_t length)
{
    struct failed_task *task = &reasons->latest[reasons->added++ % REASONS_LATEST];
    task->number = row->number;
    reasons_end_text(row, task->end);
    copy_text(task->command, row->command.at, row->command.length);
    reasons_last_line(task->error, errors, length);
}

void reasons_add(struct reasons *reasons, const struct task_row *row, const void *errors, size_t length)
{
    if (reasons->latest != NULL)
        keep_task(reasons, row, errors, length);
    const enum reason_kind kind = kind_of(row);
    struct reason *reason = find_reason(reasons, row);
    if (reason != NULL) {
        reason->count++;
        return;
    }
    if (reasons->count == REASONS_MAX) {
        reasons->others++;
        return;
    }
    reason = &reasons->items[reasons->count++];
    *reason = (struct reason){.kind = kind, .value = value_of(row, kind), .count = 1};
    set_example(reason, row, errors, length);
}

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

void reasons_sort(struct reasons *reasons)
{
    if (reasons->count > 0)
        qsort(reasons->items, reasons->count, sizeof *reasons->items, by_count);
}

bool reasons_take(struct reasons *reasons, enum reason_kind kind, struct reason *taken)
{
    for (unsigned i = 0; i < reasons->count; i++) {
        if (reasons->items[i].kind != kind)
            continue;
        *taken = reasons->items[i];
        memmove(&reasons->items[i], &reasons->items[i + 1], (--reasons->count - i) * sizeof *taken);
        return true;
    }
    return false;
}

static const char *signal_text(int64_t number, char text[REASON_END_MAX])
{
    const char *name = number > 0 && number < SIGNALS_MAX ? sigabbrev_np((int)number) : NULL;
    if (name != NULL)
        snprintf(text, REASON_END_MAX, "SIG%s", name);
    else
        snprintf(text, REASON_END_MAX, "signal %" PRId64, number % 100000);
    return text;
}

const char *reasons_end_text(const struct task_row *row, char text[REASON_END_MAX])
{
    switch (kind_of(row)) {
    case REASON_EXIT: snprintf(text, REASON_END_MAX, "exit %" PRId64, row->exit % 100000); break;
    case REASON_SIGNAL: return signal_text(row->signal, text);
    case REASON_TIMEOUT: return strcpy(text, "time limit");
    case REASON_NOT_STARTED: return strcpy(text, "not started");
    case REASON_NOT_KEPT: return strcpy(text, "not kept");
    }
    return text;
}

static void describe(const struct reason *reason, char *text, size_t size)
{
    char name[REASON_END_MAX];
    const char *verb = reason->count == 1 ? "was" : "were";
    switch (reason->kind) {
    case REASON_EXIT: snprintf(text, size, "failed with exit %" PRId64, reason->value); break;
    case REASON_SIGNAL: snprintf(text, size, "%s ended by %s", verb, signal_text(reason->value, name)); break;
    case REASON_TIMEOUT: snprintf(text, size, "%s ended at the time limit", verb); break;
    case REASON_NOT_STARTED: snprintf(text, size, "could not be started"); break;
    case REASON_NOT_KEPT: snprintf(text, size, "had output that could not be kept"); break;
    }
}

static void cut_text(char *text, size_t columns)
{
    const char *end = text;
    if (plain_columns(text) <= columns)
        return;
    for (size_t seen = 3; seen < columns; seen++)
        end = plain_next(end);
    strcpy(text + (end - text), "...");
}

static void add_command(char line[REASON_LINE_MAX], const char *command, const char *error, size_t width)
{
    char cut[REASON_TEXT_MAX + 4];
    const bool has_error = error[0] != '\0';
    const size_t length = strlen(line);
    const size_t others = plain_columns(line) + (has_error ? 2 + plain_columns(error) : 0);
    snprintf(cut, sizeof cut, "%s", command);
    cut_text(cut, others + COMMAND_LEAST > width ? COMMAND_LEAST : width - others);
    snprintf(line + length, REASON_LINE_MAX - length, "%s%s%s", cut, has_error ? ": " : "", error);
    cut_text(line, width);
}

static void add_reason(struct text *text, const struct reason *reason, const char *start, const char *indent,
                       size_t width)
{
    char what[80], number[HUMAN_MAX], line[REASON_LINE_MAX];
    const bool one = reason->count == 1, has_error = reason->error[0] != '\0';
    describe(reason, what, sizeof what);
    int length = snprintf(line, sizeof line, "%s%s task%s %s%s %" PRIu64 " ", start, human_count(number, reason->count),
                          one ? "" : "s", what, one ? ":" : ", e.g.", reason->number);
    const size_t all = plain_columns(line) + plain_columns(reason->command) + plain_columns(reason->error) + 2;
    const bool breaks = has_error && all > width;
    add_command(line, reason->command, breaks ? "" : reason->error, width);
    text_add(text, "%s\n", line);
    if (!breaks)
        return;
    length = snprintf(line, sizeof line, "%s    ", indent);
    snprintf(line + length, sizeof line - (size_t)length, "%s", reason->error);
    cut_text(line, width);
    text_add(text, "%s\n", line);
}

const char *reasons_last_line(char text[REASON_TEXT_MAX], const void *errors, size_t length)
{
    struct task_text rest = {errors, length}, line = without_note(last_line(&rest));
    copy_text(text, line.at, line.length);
    return text;
}

void reasons_line(char line[REASON_LINE_MAX], const struct task_row *row, const char *error, unsigned width)
{
    char command[REASON_TEXT_MAX];
    copy_text(command, row->command.at, row->command.length);
    add_command(line, command, error, width);
}

void reasons_add_text(const struct reasons *reasons, struct text *text, const char *first, const char *indent,
                      unsigned width)
{
    char number[HUMAN_MAX];
    uint64_t rest = reasons->others;
    for (unsigned i = 0; i < reasons->count; i++) {
        if (i >= REASONS_SHOWN) {
            rest += reasons->items[i].count;
            continue;
        }
        add_reason(text, &reasons->items[i], i == 0 ? first : indent, indent, width);
    }
    if (rest > 0)
        text_add(text, "%s%s task%s failed for other reasons\n", indent, human_count(number, rest),
                 rest == 1 ? "" : "s");
}
