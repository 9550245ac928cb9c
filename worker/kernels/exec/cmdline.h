/* SPDX-License-Identifier: MIT */
/* The words of a command line, as a POSIX shell takes them apart, and what is put in for {..}.
 *
 * Quotes, backslashes, a comment at the end and assignments before the command mean what they mean to a shell. What
 * only a shell can do, such as pipes, variables and file name patterns, is refused if it is not quoted, and
 * `wants_shell` says so: the caller then hands the line to a shell, or tells the user. What is put in for a {..}
 * becomes part of its word, whatever it contains; where it is several values each is a word, or joined by blanks within
 * quotes. A {..} that is none stays as it is, and so does \{..}. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/row.h"

#include <stdbool.h>
#include <stddef.h>

/* A command may have so many words and bytes; the system's limit is about the same. */
#define CMDLINE_WORDS_MAX 100000
#define CMDLINE_BYTES_MAX (2u << 20)

/* Put in for a {..}. */
struct values {
    const struct piece *items; /* borrowed until the next place is looked up */
    unsigned count;
};

/* Looks up what is between the braces. 1 with what to put in, 0 where it is nothing that can be, -1 with one line. */
struct places {
    int (*find)(void *context, const char *name, size_t length, struct values *values, struct error *error);
    void *context;
};

/* Reused from line to line. */
struct cmdline {
    char *text; /* the words, each with its NUL; owned */
    size_t length, capacity;
    size_t *start; /* beginning of each word in the text; owned */
    unsigned count, room;
    unsigned assignments; /* leading words that are assignments: NAME=value */
    char **argv;          /* made by cmdline_argv(); owned */
    unsigned argv_room;
    bool is_for_shell; /* cmdline_for_shell() has made the words */
    bool wants_shell;  /* cmdline_split() has refused something that a shell would take */
};

void cmdline_init(struct cmdline *words);
void cmdline_fini(struct cmdline *words);
void cmdline_clear(struct cmdline *words);

/* Takes the line apart. No word at all is no error. -1 with one line that begins with the column. */
int cmdline_split(struct cmdline *words, const char *line, size_t length, const struct places *places,
                  struct error *error);

/* Makes the words `shell` (a path), -c and the whole line. Each value is quoted so that the shell takes it for a part
 * of one word: see nesting.h. A NUL is refused, and a {..} where quotes would not help. -1 with one line that begins
 * with the column. */
int cmdline_for_shell(struct cmdline *words, const char *shell, const char *line, size_t length,
                      const struct places *places, struct error *error);

/* Makes one word of the whole line, in which nothing but {..} has a meaning. -1 with one line that begins with the
 * column. */
int cmdline_fill(struct cmdline *words, const char *line, size_t length, const struct places *places,
                 struct error *error);

/* True if the line has a {..} that something is put in for. */
bool cmdline_has_place(const char *line, size_t length, const struct places *places);

/* The words from the first that is no assignment, ended by NULL and with a free place before the first. Valid until the
 * words change; NULL when memory is out. */
char **cmdline_argv(struct cmdline *words);

static inline const char *cmdline_at(const struct cmdline *words, unsigned i)
{
    return words->text + words->start[i];
}

/* True if a shell takes the word as it stands, without quotes. */
bool cmdline_is_plain(const char *word);
