/* SPDX-License-Identifier: MIT */
/* The options of a command line, from one table for each program.
 *
 * The table says what there is, what each option accepts, who accepts it, where its value goes and what it is for.
 * Parsing, the errors, the refusals and --help are made from it, and completions and the manual are checked against it.
 * The conventions:
 *   --name VALUE, --name=VALUE; for those that have a letter -x, -x VALUE, -xVALUE, and -xy for -x -y; `--` ends the
 *   options.
 *   Options may stand before and after the operands (an operand of ours never begins with a dash).
 *   An option given twice: the last one counts, so that a wrapper's options can be overridden.
 *   A value that can be left out is shown in brackets, and there is one: --name, --name VALUE, --name=VALUE.
 *   A value may begin with dashes; one that is spelt like an option of the table must be written --name=VALUE. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_SECTIONS_MAX 10
#define OPTION_ACCEPTED_MAX  128

/* The beginning of the line for an option that the table does not have. */
#define OPTIONS_UNKNOWN "unknown option "

/* Results of parsing beside 0 (go on) and -1 (one line in `error`): the user asks for a page, nothing else counts. */
enum { OPTIONS_HELP = 1, OPTIONS_VERSION = 2 };

/* The way in which the value of an option is taken. */
enum option_kind {
    OPTION_PARSED,    /* by apply() */
    OPTION_FLAG,      /* no value: a bool becomes true */
    OPTION_INTEGER,   /* `least` to `most`, or the word `zero`: an unsigned or a uint64_t */
    OPTION_SECONDS,   /* a number from 0 to `most`: a uint64_t of nanoseconds */
    OPTION_CHOICE,    /* a word among those of `value`: its place, as an enum or a bool */
    OPTION_WORD,      /* a word of `least` characters: a const char *, borrowed */
    OPTION_PATH,      /* the name of a file: a char [] */
    OPTION_TECHNIQUE, /* a struct sched_spec */
};

/* Programs and modes that do not accept an option that others do: see `not_for`. */
enum option_scope {
    OPTION_DCA = 1,      /* workers alone, --dca: the option is for launches with a supermaster */
    OPTION_SIMULATE = 2, /* hdss simulate */
    OPTION_STUDY = 4,    /* the key `options` of a study, as the study sets the option itself */
    OPTION_COUNTERS = 8, /* workers alone that have no queue on their node, --dca rma and two-sided */
};

struct option_row {
    const char *name;     /* without the dashes; a NULL name ends the table */
    char letter;          /* the short form, 0 if none */
    const char *value;    /* name of the value in the help, and words for completion: "none|power", words as they are;
                             "FILE", "FILE.json", "PROGRAM": names of files; "SPEC": techniques, "PLUGIN": those of
                             shared objects; other capitals are for people alone; "[failed]" for a value that can be left
                             out, "[=PROGRAM]" for one that must follow an =; NULL for a flag */
    const char *accepted; /* the values, for errors: "none, power"; NULL for a flag, and where the kind says it */
    const char *summary;  /* for the help, with the default; no newline */
    /* Takes the value into `target`. Returns 0, one of OPTIONS_*, or -1; then with one line in `error`, or with an
     * empty one where `accepted` says it all. */
    int (*apply)(void *target, const char *value, struct error *error);
    enum option_kind kind;
    size_t offset, size; /* place of the member of the target that takes the value; not for OPTION_PARSED */
    uint64_t least, most;
    const char *zero; /* NULL: no word stands for 0 */
    size_t given;     /* offset of a bool of the target that becomes true; 0: there is none */
    unsigned not_for; /* set of enum option_scope; 0: every program whose table has the option accepts it */
};

/* The kinds, as the rows of a table have them behind the summary: FIELD is a member of the target's TYPE. */
#define OPTION_FIELD(TYPE, FIELD)        .offset = offsetof(TYPE, FIELD), .size = sizeof((TYPE *)NULL)->FIELD
#define TAKES_FLAG(TYPE, FIELD)          .kind = OPTION_FLAG, OPTION_FIELD(TYPE, FIELD)
#define TAKES_CHOICE(TYPE, FIELD)        .kind = OPTION_CHOICE, OPTION_FIELD(TYPE, FIELD)
#define TAKES_WORD(TYPE, FIELD)          .kind = OPTION_WORD, OPTION_FIELD(TYPE, FIELD)
#define TAKES_PATH(TYPE, FIELD)          .kind = OPTION_PATH, OPTION_FIELD(TYPE, FIELD)
#define TAKES_TECHNIQUE(TYPE, FIELD)     .kind = OPTION_TECHNIQUE, OPTION_FIELD(TYPE, FIELD)
#define TAKES_SECONDS(TYPE, FIELD, MOST) .kind = OPTION_SECONDS, OPTION_FIELD(TYPE, FIELD), .most = (MOST)
#define TAKES_INTEGER(TYPE, FIELD, LEAST, MOST)                                                                        \
    .kind = OPTION_INTEGER, OPTION_FIELD(TYPE, FIELD), .least = (LEAST), .most = (MOST)

struct option_section {
    const char *title; /* NULL ends the sections */
    const struct option_row *rows;
};

struct options {
    const char *usage; /* text that follows "Usage: "; more lines are separated by newlines */
    const char *about; /* a paragraph about the program */
    struct option_section sections[OPTIONS_SECTIONS_MAX];
    const char
        *notes; /* paragraphs after the options, separated by newlines, blanks before a first word stay; NULL if none */
};

/* --help and --version, for every program; their apply() returns OPTIONS_HELP and OPTIONS_VERSION. */
extern const struct option_row options_common[];

/* Walks over a command line. argv[0] is the program's name. */
struct options_reader {
    const struct options *options; /* borrowed */
    int argc;
    char *const *argv; /* borrowed */
    int at;
    const char *letters; /* the rest of a word of several letters, in the word before `at`; NULL: none */
    bool operands_only;  /* `--` was seen */
};

/* A word, or an option with its value, of a command line. */
struct options_word {
    const struct option_row *row; /* NULL: an operand */
    const char *value;            /* value of the option, NULL for a flag; or the operand; borrowed from argv */
};

void options_reader_init(struct options_reader *reader, const struct options *options, int argc, char *const *argv);

/* 1: `word` is the next one; 0: there is none; -1 with one line: an unknown option, a missing or needless value. */
int options_next(struct options_reader *reader, struct options_word *word, struct error *error);

/* Takes the value into `target` by the row's kind. Returns 0, one of OPTIONS_*, or -1, then with one line in `error`,
 * or with an empty one where what is accepted says it all. `value` is NULL for a flag. */
int option_take(const struct option_row *row, void *target, const char *value, struct error *error);

/* The name of a file into `path` of `size` bytes. -1 with one line where it is empty or too long. */
int option_take_path(char *path, size_t size, const char *value, struct error *error);

/* The values that are accepted, as errors list them: the row's own text, or one that is made in `text`. */
const char *option_accepted(const struct option_row *row, char text[OPTION_ACCEPTED_MAX]);

/* Takes the value and completes the error with the option, the value and what is accepted. */
int option_apply(const struct options_word *word, void *target, struct error *error);

/* Reads the whole line. Operands go to `operand` (same returns as apply); NULL refuses them. */
int options_parse(const struct options *options, int argc, char *const *argv, void *target,
                  int (*operand)(void *target, const char *word, struct error *error), struct error *error);

/* The row of that name, or NULL. */
const struct option_row *options_find(const struct options *options, const char *name);

/* Index of `value` in "none|power", or -1. */
int option_choice(const char *choices, const char *value);

/* The page for --help, at most 80 columns wide. The caller frees it; NULL when memory is out. */
char *options_help(const struct options *options);
