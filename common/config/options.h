/* SPDX-License-Identifier: MIT */
/* Command-line options, described by one table per program.
 *
 * The table lists each option with the values it accepts, the programs that accept it, the member that receives the
 * value, and its help. Parsing, errors, --help, completion and the list of options in the manual are generated from it.
 * Conventions:
 *   --name VALUE, --name=VALUE; for those that have a letter -x, -x VALUE, -xVALUE, and -xy for -x -y; `--` ends the
 *   options.
 *   Options may stand before and after the operands (an operand of ours never begins with a dash).
 *   If an option is given twice the last one counts, so that a wrapper's options can be overridden.
 *   An optional value is shown in brackets: --name, --name VALUE, --name=VALUE.
 *   A value may begin with dashes; one that equals an option of the table must be written --name=VALUE. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_SECTIONS_MAX 10
#define OPTION_ACCEPTED_MAX  128

/* Start of the error for an option that is not in the table. */
#define OPTIONS_UNKNOWN "unknown option "

/* Results of parsing other than 0 and -1: the user asks for a page. */
enum { OPTIONS_HELP = 1, OPTIONS_VERSION = 2 };

enum option_kind {
    OPTION_PARSED,
    OPTION_FLAG,    /* no value: sets a bool */
    OPTION_INTEGER, /* `least` to `most`, or the word `zero`: unsigned or uint64_t */
    OPTION_SECONDS, /* 0 to `most`: uint64_t, in nanoseconds */
    OPTION_CHOICE,  /* index of the word in `value`: enum or bool */
    OPTION_WORD,    /* a word of at most `least` characters: const char *, borrowed */
    OPTION_PATH,
    OPTION_TECHNIQUE,
};

/* Programs and modes that do not accept certain options: see `not_for`. */
enum option_scope {
    OPTION_DCA = 1, /* workers without a supermaster, --dca */
    OPTION_SIMULATE = 2,
    OPTION_STUDY = 4,    /* the key `options` of a study, which sets the option itself */
    OPTION_COUNTERS = 8, /* --dca rma and two-sided, which have no queue on the node */
};

struct option_row {
    const char *name; /* without dashes; NULL ends the table */
    char letter;
    /* Name of the value in the help, also used for completion: "none|power" lists words; "FILE", "FILE.json", "PROGRAM"
     * are file names; "SPEC" is a technique, "PLUGIN" a shared object; "[failed]" is optional; "[=PROGRAM]" is optional
     * and must follow an =; NULL for flags. */
    const char *value;
    const char *accepted; /* accepted values for errors: "none, power"; NULL for flags, and if the kind implies them */
    const char *summary;  /* for the help and the manual: sentences, at the end "(default ..)"; no newline */
    /* Stores the value in `target`. Returns 0, one of OPTIONS_*, or -1, with an empty error if `accepted` suffices. */
    int (*apply)(void *target, const char *value, struct error *error);
    enum option_kind kind;
    size_t offset, size; /* of the member in the target; not for OPTION_PARSED */
    uint64_t least, most;
    const char *zero; /* word for 0; NULL: none */
    size_t given;     /* offset of a bool in the target that is set as well; 0: none */
    unsigned not_for;
};

/* Initializers for the kinds; FIELD is a member of TYPE. */
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
    const char *usage;
    const char *about;
    struct option_section sections[OPTIONS_SECTIONS_MAX];
    const char *notes; /* paragraphs after the options, separated by newlines; leading blanks are kept; may be NULL */
};

extern const struct option_row options_common[];

/* Iterates over a command line, which is borrowed. argv[0] is the program's name. */
struct options_reader {
    const struct options *options;
    int argc;
    char *const *argv;
    int at;
    const char *letters; /* rest of a word with several letters, before `at`; NULL: none */
    bool operands_only;
};

/* A word of a command line, or an option with its value. */
struct options_word {
    const struct option_row *row;
    const char *value; /* of the option, NULL for a flag; or the operand; borrowed from argv */
};

void options_reader_init(struct options_reader *reader, const struct options *options, int argc, char *const *argv);

/* Returns 1 with the next word, 0 at the end, or -1: unknown option, missing or unexpected value. */
int options_next(struct options_reader *reader, struct options_word *word, struct error *error);

/* Stores the value (NULL for a flag) in `target` according to the row's kind. Returns 0, one of OPTIONS_*, or -1, with
 * an empty error if the accepted values say enough. */
int option_take(const struct option_row *row, void *target, const char *value, struct error *error);

/* Copies a file name to path[size]. Fails if it is empty or too long. */
int option_take_path(char *path, size_t size, const char *value, struct error *error);

/* Returns the accepted values for errors: the text of the row, or one composed in `text`. */
const char *option_accepted(const struct option_row *row, char text[OPTION_ACCEPTED_MAX]);

/* Like option_take(), but the error is complete: option, value, accepted values. */
int option_apply(const struct options_word *word, void *target, struct error *error);

/* Parses the whole line. Operands are passed to operand(), which returns the same values; NULL: operands are errors. */
int options_parse(const struct options *options, int argc, char *const *argv, void *target,
                  int (*operand)(void *target, const char *word, struct error *error), struct error *error);

const struct option_row *options_find(const struct options *options, const char *name);

/* Returns the index of `value` in "none|power", or -1. */
int option_choice(const char *choices, const char *value);

/* Returns the page for --help, at most 80 columns wide. The caller frees it. */
char *options_help(const struct options *options);
