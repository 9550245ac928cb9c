/* SPDX-License-Identifier: MIT */
/* Command-line options. Each program has one table. For each option, the table says which values the option accepts,
 * which programs accept the option, which member receives the value, and what --help prints. Parsing, errors, --help,
 * completion and the manual's list of options use this table.
 *
 * Conventions: a value is given as --name VALUE or --name=VALUE. If an option has a letter x, it can also be written
 * -x, -x VALUE or -xVALUE, and -xy means -x -y. `--` ends the options. Options may stand before and after the operands.
 * If an option is given twice, the last one counts, so a user can override the options of a wrapper. Brackets mark an
 * optional value. A value may begin with dashes, but a value that equals an option of the table must be written
 * --name=VALUE. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_SECTIONS_MAX 10
#define OPTION_ACCEPTED_MAX  128

#define OPTIONS_UNKNOWN "unknown option "

/* The command line contains --help or --version. Parsing functions return one of these values in this case. */
enum { OPTIONS_HELP = 1, OPTIONS_VERSION = 2 };

enum option_kind {
    OPTION_PARSED,
    OPTION_FLAG,
    OPTION_INTEGER, /* an integer from `least` to `most`, or the word `zero`; the member is an unsigned or a uint64_t */
    OPTION_SECONDS, /* a number of seconds from 0 to `most`; the member is a uint64_t in nanoseconds */
    OPTION_CHOICE,  /* a word of the list `value`; the member, an enum or a bool, gets the index of this word */
    OPTION_WORD,    /* a text of at least `least` characters; the member is a const char *, borrowed */
    OPTION_PATH,
    OPTION_TECHNIQUE,
};

enum option_scope {
    OPTION_DCA = 1,
    OPTION_SIMULATE = 2,
    OPTION_STUDY = 4,
    OPTION_COUNTERS = 8,
};

struct option_row {
    const char *name; /* name without dashes; NULL ends the table */
    char letter;
    /* The value as --help and completion use it. "none|power" is a list of words. "FILE", "FILE.json" and "PROGRAM" are
     * file names. "SPEC" is a technique, and "PLUGIN" is a shared object. "[failed]" is an optional value. "[=PROGRAM]"
     * is an optional value that must follow an equals sign. NULL for flags. */
    const char *value;
    /* the accepted values as error lines name them, for example "none, power"; NULL for flags and for kinds whose
     * values follow from the kind */
    const char *accepted;
    const char *summary;
    /* Stores the value in `target`. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. If it leaves the error empty, the
     * error line consists of `accepted`. */
    int (*apply)(void *target, const char *value, struct error *error);
    enum option_kind kind;
    size_t offset, size;
    uint64_t least, most;
    const char *zero; /* a word that may be given instead of 0; NULL: there is no such word */
    /* offset in the target of a bool that becomes true if the option is given; 0: there is no such bool */
    size_t given;
    unsigned not_for;
};

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
    const char *title;
    const struct option_row *rows;
};

struct options {
    const char *usage;
    const char *about;
    struct option_section sections[OPTIONS_SECTIONS_MAX];
    /* paragraphs that --help shows after the options, separated by newlines; leading blanks are kept; may be NULL */
    const char *notes;
};

extern const struct option_row options_common[];

/* Iterates over a command line, which is borrowed. argv[0] is the program's name. */
struct options_reader {
    const struct options *options;
    int argc;
    char *const *argv;
    int at;
    const char *letters; /* letters of argv[at - 1] that are not read yet; NULL: there are none */
    bool operands_only;
};

struct options_word {
    const struct option_row *row;
    const char *value; /* the operand, or the value of the option (NULL for a flag); borrowed from argv */
};

void options_reader_init(struct options_reader *reader, const struct options *options, int argc, char *const *argv);

/* Returns 1 after it has read an option or operand, and 0 at the end of the command line. Returns -1 if an option is
 * unknown, if its value is missing, or if it has a value but takes none. */
int options_next(struct options_reader *reader, struct options_word *word, struct error *error);

/* Stores `value` (NULL for a flag) in `target` as the row says. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. If it
 * leaves the error empty, the error line consists of option_accepted(). */
int option_take(const struct option_row *row, void *target, const char *value, struct error *error);

int option_take_path(char *path, size_t size, const char *value, struct error *error);

/* Returns the accepted values for error lines. If the row has no such text, composes it in `text`. */
const char *option_accepted(const struct option_row *row, char text[OPTION_ACCEPTED_MAX]);

/* Like option_take(), but the error always names the option and what is accepted. */
int option_apply(const struct options_word *word, void *target, struct error *error);

/* Parses the whole command line. operand() takes each operand and returns the same values as option_take(). If
 * `operand` is NULL, operands are errors. */
int options_parse(const struct options *options, int argc, char *const *argv, void *target,
                  int (*operand)(void *target, const char *word, struct error *error), struct error *error);

const struct option_row *options_find(const struct options *options, const char *name);

/* Returns the index of `value` in a list such as "none|power", or -1. */
int option_choice(const char *choices, const char *value);

/* Returns the page for --help, with lines of at most 79 columns. The caller frees it. */
char *options_help(const struct options *options);
