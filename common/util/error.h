/* SPDX-License-Identifier: MIT */
/* Errors of one line for people.
 *
 * A function that can fail on what a user gave takes a `struct error *` last, writes one line into it
 * (what, where, what is accepted) and returns -1. Whoever reports it prints the line once. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#define ERROR_TEXT_MAX 480

struct error {
    char text[ERROR_TEXT_MAX]; /* NUL-terminated, no newline; empty when nothing failed */
};

/* Formats the line into `error` (may be NULL), cut at ERROR_TEXT_MAX, made safe by plain().
 * Always returns -1, so that a caller can write `return error_set(error, ...)`. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts words before the line that stands in `error`, or after it, which is cut for them where both are too long. NULL
 * is fine. Returns -1, as error_set(). */
int error_before(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_after(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a function that reads its error, which may be NULL. Returns it, or `unread` for NULL. Empties `unread`. */
static inline struct error *error_or(struct error *error, struct error *unread)
{
    unread->text[0] = '\0';
    return error != NULL ? error : unread;
}

/* The meaning of the exit status of every program of the suite. */
enum exit_status {
    EXIT_STATUS_DONE = 0,    /* everything is done */
    EXIT_STATUS_FAILED = 1,  /* the run failed */
    EXIT_STATUS_USAGE = 2,   /* wrong use: nothing was started */
    EXIT_STATUS_TASKS = 3,   /* finished, with failed tasks */
    EXIT_STATUS_DRAINED = 4, /* stopped by a signal after a clean drain */
};
