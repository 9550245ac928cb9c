/* SPDX-License-Identifier: MIT */
/* Splits a command line into words as a POSIX shell does, and replaces {..}.
 *
 * Quotes, backslashes, a comment at the end and assignments before the command mean what they mean to a shell. If the
 * line needs a shell, splitting fails and sets `wants_shell`. Unquoted pipes, variables and file name patterns, for
 * example, need a shell. The caller then passes the line to a shell, or reports the error.
 *
 * The value of a {..} becomes part of the word around it, whatever the value contains. Several values become several
 * words; within quotes they are joined with spaces. An unknown {..} is left as it is. So is \{..}. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/row.h"

#include <stdbool.h>
#include <stddef.h>

#define CMDLINE_WORDS_MAX 100000
#define CMDLINE_BYTES_MAX (2u << 20)

struct values {
    const struct piece *items; /* borrowed until the next call of find() */
    unsigned count;
};

/* Looks up the text between the braces. find() returns 1 after it has set `values`, 0 if the text is unknown, or -1. */
struct places {
    int (*find)(void *context, const char *name, size_t length, struct values *values, struct error *error);
    void *context;
};

struct cmdline {
    char *text;
    size_t length, capacity;
    size_t *start;
    unsigned count, room;
    unsigned assignments;
    char **argv;
    unsigned argv_room;
    bool is_for_shell;
    bool wants_shell;
};

void cmdline_init(struct cmdline *words);
void cmdline_fini(struct cmdline *words);
void cmdline_clear(struct cmdline *words);

/* Splits the line. The result may have no words. Errors begin with the column. */
int cmdline_split(struct cmdline *words, const char *line, size_t length, const struct places *places,
                  struct error *error);

/* Makes three words: the path `shell`, -c, and the whole line. Values in the line are quoted, so that the shell takes
 * each value as part of one word (nesting.h). Refuses NULs. Also refuses a {..} at a place where quotes cannot protect
 * the value. Errors begin with the column. */
int cmdline_for_shell(struct cmdline *words, const char *shell, const char *line, size_t length,
                      const struct places *places, struct error *error);

int cmdline_fill(struct cmdline *words, const char *line, size_t length, const struct places *places,
                 struct error *error);

bool cmdline_has_place(const char *line, size_t length, const struct places *places);

/* Returns the words after the assignments, ended by NULL. The caller may use the entry before the first word. The
 * result is valid until the words change. Returns NULL if memory runs out. */
char **cmdline_argv(struct cmdline *words);

static inline const char *cmdline_at(const struct cmdline *words, unsigned i)
{
    return words->text + words->start[i];
}

/* The value that the assignments before the command give to a variable, or NULL. */
const char *cmdline_assigned(const struct cmdline *words, const char *name);

bool cmdline_is_plain(const char *word);
