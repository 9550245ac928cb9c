/* SPDX-License-Identifier: MIT */
/* One-line errors for people.
 *
 * A function that can fail because of user input has a last parameter `struct error *error`. If the function fails, it
 * writes one line there (what, where, what is accepted) and returns -1, or NULL if it returns a pointer. Otherwise it
 * returns 0, unless its comment says more. The caller that reports the error prints the line once.
 *
 * A function without that parameter fails only if memory runs out, unless its comment gives other reasons. It then
 * returns -1, or NULL if it returns a pointer. Comments do not repeat these two rules. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#define ERROR_TEXT_MAX 480

struct error {
    char text[ERROR_TEXT_MAX]; /* one line with a final NUL and without a newline; empty: there is no error */
};

/* Formats the line, truncates it, and makes it safe by plain(). `error` may be NULL. Always returns -1, so that callers
 * can write `return error_set(..)`. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

int error_before(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_after(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns `error`; if `error` is NULL, returns `unread` and empties it. For functions that read the error themselves.
 */
static inline struct error *error_or(struct error *error, struct error *unread)
{
    unread->text[0] = '\0';
    return error != NULL ? error : unread;
}

enum exit_status {
    EXIT_STATUS_DONE = 0,
    EXIT_STATUS_FAILED = 1,
    EXIT_STATUS_USAGE = 2, /* the program was used wrongly; nothing was started */
    EXIT_STATUS_TASKS = 3,
    EXIT_STATUS_DRAINED = 4,
};
