/* SPDX-License-Identifier: MIT */
/* Splits a command line into words as a POSIX shell does, and replaces {..}.
 *
 * Quotes, backslashes, a comment at the end and assignments before the command have their shell meaning. What only a
 * shell can do, such as pipes, variables and file name patterns, is refused if unquoted, and `wants_shell` is set: the
 * caller then passes the line to a shell or reports the error. The value of a {..} becomes part of its word, whatever
 * it contains; several values become several words, or are joined with spaces inside quotes. An unknown {..} is kept,
 * as is
 * \{..}. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/row.h"

#include <stdbool.h>
#include <stddef.h>

/* Limits of a command, similar to the system's. */
#define CMDLINE_WORDS_MAX 100000
#define CMDLINE_BYTES_MAX (2u << 20)

/* Values for a {..}. */
struct values {
    const struct piece *items; /* borrowed until the next look-up */
    unsigned count;
};

/* Looks up the text between the braces. 1 and the values; 0: unknown; -1: error. */
struct places {
    int (*find)(void *context, const char *name, size_t length, struct values *values, struct error *error);
    void *context;
};

/* Reusable for many lines. */
struct cmdline {
    char *text; /* the words, each with its NUL; owned */
    size_t length, capacity;
    size_t *start; /* beginning of each word in the text; owned */
    unsigned count, room;
    unsigned assignments; /* leading NAME=value words */
    char **argv;          /* made by cmdline_argv(); owned */
    unsigned argv_room;
    bool is_for_shell; /* made by cmdline_for_shell() */
    bool wants_shell;  /* cmdline_split() has refused something that a shell would accept */
};

void cmdline_init(struct cmdline *words);
void cmdline_fini(struct cmdline *words);
void cmdline_clear(struct cmdline *words);

/* Splits the line; it may have no words. Errors begin with the column. */
int cmdline_split(struct cmdline *words, const char *line, size_t length, const struct places *places,
                  struct error *error);

/* Makes the words `shell` (a path), -c and the whole line, with values quoted so that the shell takes each as part of
 * one word: see nesting.h. Refuses NULs, and a {..} where quoting does not help. Errors begin with the column. */
int cmdline_for_shell(struct cmdline *words, const char *shell, const char *line, size_t length,
                      const struct places *places, struct error *error);

/* Makes one word of the whole line, in which only {..} is special. Errors begin with the column. */
int cmdline_fill(struct cmdline *words, const char *line, size_t length, const struct places *places,
                 struct error *error);

/* True if the line has a replaceable {..}. */
bool cmdline_has_place(const char *line, size_t length, const struct places *places);

/* The words after the assignments, ends with NULL, with a free entry before the first. Valid until the words change;
 * NULL if memory runs out. */
char **cmdline_argv(struct cmdline *words);

static inline const char *cmdline_at(const struct cmdline *words, unsigned i)
{
    return words->text + words->start[i];
}

/* True if a shell takes the unquoted word literally. */
bool cmdline_is_plain(const char *word);
