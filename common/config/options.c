/* SPDX-License-Identifier: MIT */
/* The option parser: see options.h. */
#include "common/config/options.h"
#include "common/util/suggest.h"

#include <stdio.h>
#include <string.h>

static int ask_help(void *target, const char *value, struct error *error)
{
    (void)target, (void)value, (void)error;
    return OPTIONS_HELP;
}

static int ask_version(void *target, const char *value, struct error *error)
{
    (void)target, (void)value, (void)error;
    return OPTIONS_VERSION;
}

const struct option_row options_common[] = {
    {"help", 'h', NULL, NULL, "show this page", ask_help, .not_for = OPTION_STUDY},
    {"version", 'V', NULL, NULL, "show the version", ask_version, .not_for = OPTION_STUDY},
    {NULL},
};

void options_reader_init(struct options_reader *reader, const struct options *options, int argc, char *const *argv)
{
    *reader = (struct options_reader){.options = options, .argc = argc, .argv = argv, .at = 1};
}

static const struct option_row *options_find_row(const struct options *options, const char *name, size_t length,
                                                 char letter)
{
    for (const struct option_section *section = options->sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            if (length > 0 ? strlen(row->name) == length && strncmp(row->name, name, length) == 0
                           : row->letter != 0 && row->letter == letter)
                return row;
    return NULL;
}

const struct option_row *options_find(const struct options *options, const char *name)
{
    return options_find_row(options, name, strlen(name), 0);
}

static int unknown_option(const struct options *options, const char *word, size_t length, struct error *error)
{
    char name[64];
    struct suggestion nearest;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    suggest_init(&nearest, name + strspn(name, "-"));
    for (const struct option_section *section = options->sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            suggest_offer(&nearest, row->name);
    if (nearest.name != NULL)
        return error_set(error, OPTIONS_UNKNOWN "%s; did you mean --%s?", name, nearest.name);
    return error_set(error, OPTIONS_UNKNOWN "%s; --help shows what there is", name);
}

static bool is_option(const struct options *options, const char *word)
{
    return strncmp(word, "--", 2) == 0 && options_find_row(options, word + 2, strcspn(word + 2, "="), 0) != NULL;
}

static int options_take_value(struct options_reader *reader, const char *after, struct options_word *word,
                              struct error *error)
{
    const struct option_row *row = word->row;
    if (row->value == NULL)
        return *after == '=' ? error_set(error, "--%s takes no value", row->name) : 0;
    if (*after == '=') {
        word->value = after + 1;
        return 0;
    }
    /* Without an equals sign, an optional value is taken only if the next word equals `accepted`. */
    if (row->value[0] == '[') {
        bool given = reader->at < reader->argc && strcmp(reader->argv[reader->at], row->accepted) == 0;
        word->value = given ? reader->argv[reader->at++] : NULL;
        return 0;
    }
    if (reader->at >= reader->argc || is_option(reader->options, reader->argv[reader->at])) {
        char accepted[OPTION_ACCEPTED_MAX];
        return error_set(error, "--%s needs a value: accepted: %s", row->name, option_accepted(row, accepted));
    }
    word->value = reader->argv[reader->at++];
    return 0;
}

static int take_long_option(struct options_reader *reader, const char *text, struct options_word *word,
                            struct error *error)
{
    size_t length = strcspn(text, "=");
    word->row = length > 2 ? options_find_row(reader->options, text + 2, length - 2, 0) : NULL;
    if (word->row == NULL)
        return unknown_option(reader->options, text, length, error);
    return options_take_value(reader, text + length, word, error);
}

/* `letters`: the letters of a word such as -xyz that are not read yet. Takes the first of these letters as an option.
 * If this option takes a value, the remaining letters are the value. Otherwise the next call reads the remaining
 * letters. */
static int take_letter(struct options_reader *reader, const char *letters, struct options_word *word,
                       struct error *error)
{
    const char *rest = letters[1] != '\0' ? letters + 1 : NULL;
    reader->letters = NULL;
    word->row = options_find_row(reader->options, NULL, 0, letters[0]);
    if (word->row == NULL) {
        const char *text = reader->argv[reader->at - 1];
        const char *shown = letters == text + 1 ? text : (char[]){'-', letters[0], '\0'};
        return unknown_option(reader->options, shown, strcspn(shown, "="), error);
    }
    if (rest == NULL || word->row->value == NULL) {
        reader->letters = rest;
        return options_take_value(reader, "", word, error);
    }
    word->value = rest;
    return 0;
}

int options_next(struct options_reader *reader, struct options_word *word, struct error *error)
{
    *word = (struct options_word){0};
    if (!reader->operands_only && reader->at < reader->argc && strcmp(reader->argv[reader->at], "--") == 0) {
        reader->operands_only = true;
        reader->at++;
    }
    if (reader->letters != NULL)
        return take_letter(reader, reader->letters, word, error) < 0 ? -1 : 1;
    if (reader->at >= reader->argc)
        return 0;
    const char *text = reader->argv[reader->at++];
    if (!reader->operands_only && text[0] == '-' && text[1] == '-')
        return take_long_option(reader, text, word, error) < 0 ? -1 : 1;
    if (!reader->operands_only && text[0] == '-' && text[1] != '\0')
        return take_letter(reader, text + 1, word, error) < 0 ? -1 : 1;
    word->value = text;
    return 1;
}

int option_apply(const struct options_word *word, void *target, struct error *error)
{
    const struct option_row *row = word->row;
    struct error reason = {0};
    char accepted[OPTION_ACCEPTED_MAX];
    int result = option_take(row, target, word->value, &reason);
    if (result >= 0)
        return result;
    if (reason.text[0] == '\0')
        return error_set(error, "--%s '%.100s': accepted: %s", row->name, word->value, option_accepted(row, accepted));
    return error_set(error, "--%s: %s", row->name, reason.text);
}

int options_parse(const struct options *options, int argc, char *const *argv, void *target,
                  int (*operand)(void *target, const char *word, struct error *error), struct error *error)
{
    struct options_reader reader;
    struct options_word word;
    int more, result = 0;
    options_reader_init(&reader, options, argc, argv);
    while ((more = options_next(&reader, &word, error)) > 0) {
        if (word.row != NULL)
            result = option_apply(&word, target, error);
        else if (operand != NULL)
            result = operand(target, word.value, error);
        else
            result = error_set(error, "unexpected word '%.100s'; --help shows what is accepted", word.value);
        if (result != 0)
            return result;
    }
    return more;
}
