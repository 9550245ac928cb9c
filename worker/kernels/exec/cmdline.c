/* SPDX-License-Identifier: MIT */
/* Splits command lines: see cmdline.h. */
#include "worker/kernels/exec/cmdline.h"
#include "worker/kernels/exec/nesting.h"
#include "worker/kernels/exec/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Characters that a shell interprets unless they are quoted. A shell also interprets a tilde at the beginning of a
 * word. */
#define OPERATORS    "|&;<>()$`*?"
#define AFTER_DOLLAR "{(*@#?-$!_"
#define PLAIN        "%+,-./:=@_^"

enum quoting { QUOTING_NONE, QUOTING_SINGLE, QUOTING_DOUBLE };

struct scan {
    struct cmdline *words;
    const char *line;
    size_t length, at;
    enum quoting quoting;
    bool in_word;
    bool is_quoted;
    size_t opened;
    const struct places *places;
    bool is_fish;
    struct error *error;
};

void cmdline_init(struct cmdline *words)
{
    *words = (struct cmdline){0};
}

void cmdline_fini(struct cmdline *words)
{
    free(words->text);
    free(words->start);
    free(words->argv);
    cmdline_init(words);
}

void cmdline_clear(struct cmdline *words)
{
    words->length = 0;
    words->count = words->assignments = 0;
    words->is_for_shell = words->wants_shell = false;
}

static int cmdline_make_room(struct cmdline *words, size_t more, struct error *error)
{
    size_t needed = words->length + more;
    if (needed > CMDLINE_BYTES_MAX)
        return error_set(error, "the command is longer than %u bytes", CMDLINE_BYTES_MAX);
    if (needed <= words->capacity)
        return 0;
    size_t capacity = 2 * needed + 256;
    char *text = realloc(words->text, capacity);
    if (text == NULL)
        return error_set(error, "out of memory for a command of %zu bytes", needed);
    words->text = text;
    words->capacity = capacity;
    return 0;
}

static int cmdline_put(struct cmdline *words, const char *bytes, size_t count, struct error *error)
{
    if (cmdline_make_room(words, count, error) < 0)
        return -1;
    if (count > 0)
        memcpy(words->text + words->length, bytes, count);
    words->length += count;
    return 0;
}

static int begin_word(struct cmdline *words, struct error *error)
{
    if (words->count == CMDLINE_WORDS_MAX)
        return error_set(error, "the command has more than %d words", CMDLINE_WORDS_MAX);
    if (words->count == words->room) {
        unsigned room = 2 * words->room + 16;
        size_t *start = realloc(words->start, room * sizeof *start);
        if (start == NULL)
            return error_set(error, "out of memory for a command of %u words", room);
        words->start = start;
        words->room = room;
    }
    words->start[words->count++] = words->length;
    return 0;
}

static int cmdline_add(struct cmdline *words, const char *word, struct error *error)
{
    return begin_word(words, error) < 0 ? -1 : cmdline_put(words, word, strlen(word) + 1, error);
}

char **cmdline_argv(struct cmdline *words)
{
    unsigned count = words->count - words->assignments, needed = count + 2;
    if (needed > words->argv_room) {
        char **argv = realloc(words->argv, needed * sizeof *argv);
        if (argv == NULL)
            return NULL;
        words->argv = argv;
        words->argv_room = needed;
    }
    words->argv[0] = NULL;
    for (unsigned i = 0; i < count; i++)
        words->argv[1 + i] = words->text + words->start[words->assignments + i];
    words->argv[1 + count] = NULL;
    return words->argv + 1;
}

static size_t place_length(const struct scan *scan)
{
    const char *from = scan->line + scan->at;
    const char *end = *from == '{' ? memchr(from, '}', scan->length - scan->at) : NULL;
    return end != NULL ? (size_t)(end - from) + 1 : 0;
}

static int cmdline_find_place(struct scan *scan, struct values *values, size_t *length)
{
    *length = place_length(scan);
    if (*length == 0 || scan->places == NULL)
        return 0;
    return scan->places->find(scan->places->context, scan->line + scan->at + 1, *length - 2, values, scan->error);
}

static int cmdline_refuse(const struct scan *scan, size_t at, const char *what)
{
    return error_set(scan->error, "column %zu: %s", at + 1, what);
}

static int refuse_operator(const struct scan *scan, char c)
{
    scan->words->wants_shell = true;
    return error_set(scan->error,
                     "column %zu: '%c' is for a shell; accepted: a shell (no --no-shell, no shell=no), or '%c' in "
                     "quotes",
                     scan->at + 1, c, c);
}

static bool is_brace_expansion(const struct scan *scan)
{
    const size_t length = place_length(scan);
    const char *from = scan->line + scan->at;
    return length > 0 && memchr(from, ' ', length) == NULL &&
           (memchr(from, ',', length) != NULL || memmem(from, length, "..", 2) != NULL);
}

static int enter_word(struct scan *scan)
{
    if (scan->in_word)
        return 0;
    scan->in_word = true;
    scan->is_quoted = false;
    return begin_word(scan->words, scan->error);
}

static bool is_assignment(const char *word)
{
    size_t length = 0;
    while (word[length] == '_' || isalpha((unsigned char)word[length]) ||
           (length > 0 && isdigit((unsigned char)word[length])))
        length++;
    return length > 0 && word[length] == '=';
}

static int end_word(struct scan *scan)
{
    struct cmdline *words = scan->words;
    if (!scan->in_word)
        return 0;
    scan->in_word = false;
    if (cmdline_put(words, "", 1, scan->error) < 0)
        return -1;
    if (words->assignments + 1 == words->count && !scan->is_quoted &&
        is_assignment(cmdline_at(words, words->assignments)))
        words->assignments++;
    return 0;
}

static int cmdline_append(struct scan *scan, char c)
{
    return enter_word(scan) < 0 ? -1 : cmdline_put(scan->words, &c, 1, scan->error);
}

static void open_quotes(struct scan *scan, enum quoting quoting)
{
    scan->quoting = quoting;
    scan->opened = scan->at;
}

/* Notes that the word is quoted. In an assignment the value may be quoted, but the name may not. */
static void note_quotes(struct scan *scan)
{
    struct cmdline *words = scan->words;
    size_t start = words->start[words->count - 1];
    if (words->length == start || memchr(words->text + start, '=', words->length - start) == NULL)
        scan->is_quoted = true;
}

static bool cmdline_is_variable(const struct scan *scan)
{
    if (scan->at + 1 == scan->length)
        return false;
    char next = scan->line[scan->at + 1];
    return isalnum((unsigned char)next) || strchr(AFTER_DOLLAR, next) != NULL;
}

static int take_backslash(struct scan *scan)
{
    if (scan->at + 1 == scan->length)
        return cmdline_refuse(scan, scan->at, "a backslash ends the line");
    scan->at++;
    if (enter_word(scan) < 0)
        return -1;
    note_quotes(scan);
    return cmdline_append(scan, scan->line[scan->at]);
}

static int cmdline_take_plain(struct scan *scan, char c)
{
    switch (c) {
    case ' ':
    case '\t': return end_word(scan);
    case '\\': return take_backslash(scan);
    case '\'':
    case '"':
        if (enter_word(scan) < 0)
            return -1;
        note_quotes(scan);
        open_quotes(scan, c == '"' ? QUOTING_DOUBLE : QUOTING_SINGLE);
        return 0;
    case '#':
        if (!scan->in_word)
            scan->at = scan->length - 1;
        return scan->in_word ? cmdline_append(scan, c) : 0;
    case '~': return scan->in_word ? cmdline_append(scan, c) : refuse_operator(scan, c);
    case '$': return cmdline_is_variable(scan) ? refuse_operator(scan, c) : cmdline_append(scan, c);
    case '{': return is_brace_expansion(scan) ? refuse_operator(scan, c) : cmdline_append(scan, c);
    default: return strchr(OPERATORS, c) != NULL ? refuse_operator(scan, c) : cmdline_append(scan, c);
    }
}

static int take_double_quoted(struct scan *scan, char c)
{
    if (c == '"') {
        scan->quoting = QUOTING_NONE;
        return 0;
    }
    if (c == '`' || (c == '$' && cmdline_is_variable(scan)))
        return refuse_operator(scan, c);
    if (c == '\\' && scan->at + 1 < scan->length && strchr("$`\"\\", scan->line[scan->at + 1]) != NULL)
        scan->at++;
    return cmdline_append(scan, scan->line[scan->at]);
}

static int take_single_quoted(struct scan *scan, char c)
{
    if (c != '\'')
        return cmdline_append(scan, c);
    scan->quoting = QUOTING_NONE;
    return 0;
}

static int cmdline_take_value(struct scan *scan, const char *value, size_t length)
{
    return enter_word(scan) < 0 ? -1 : cmdline_put(scan->words, value, length, scan->error);
}

/* Appends the values to the current word. Outside of quotes, each further value begins a new word. A value never
 * becomes the name of an assignment. */
static int cmdline_take_values(struct scan *scan, const struct values *values)
{
    for (unsigned i = 0; i < values->count; i++) {
        if (i > 0 &&
            (scan->quoting == QUOTING_NONE ? end_word(scan) : cmdline_put(scan->words, " ", 1, scan->error)) < 0)
            return -1;
        if (enter_word(scan) < 0)
            return -1;
        note_quotes(scan);
        if (cmdline_put(scan->words, values->items[i].text, values->items[i].length, scan->error) < 0)
            return -1;
    }
    return 0;
}

static int cmdline_take(struct scan *scan)
{
    struct values values;
    size_t length;
    int found = cmdline_find_place(scan, &values, &length);
    if (found < 0)
        return -1;
    if (found > 0) {
        scan->at += length - 1;
        return cmdline_take_values(scan, &values);
    }
    char c = scan->line[scan->at];
    switch (scan->quoting) {
    case QUOTING_NONE: return cmdline_take_plain(scan, c);
    case QUOTING_SINGLE: return take_single_quoted(scan, c);
    case QUOTING_DOUBLE: return take_double_quoted(scan, c);
    }
    return -1;
}

static size_t ordinary_length(const struct scan *scan)
{
    size_t end = scan->at;
    while (end < scan->length && (isalnum((unsigned char)scan->line[end]) ||
                                  (scan->line[end] != '\0' && strchr(PLAIN, scan->line[end]) != NULL)))
        end++;
    return end - scan->at;
}

int cmdline_split(struct cmdline *words, const char *line, size_t length, const struct places *places,
                  struct error *error)
{
    struct scan scan = {.words = words, .line = line, .length = length, .places = places, .error = error};
    cmdline_clear(words);
    while (scan.at < length) {
        size_t ordinary = ordinary_length(&scan);
        if (ordinary > 0 && cmdline_take_value(&scan, line + scan.at, ordinary) < 0)
            return -1;
        scan.at += ordinary;
        if (scan.at == length)
            break;
        if (line[scan.at] == '\0')
            return cmdline_refuse(&scan, scan.at, "a NUL byte");
        if (cmdline_take(&scan) < 0)
            return -1;
        scan.at++;
    }
    if (scan.quoting != QUOTING_NONE)
        return cmdline_refuse(&scan, scan.opened, "quotes that do not end");
    return end_word(&scan);
}

static int put_quoted(struct scan *scan, enum nesting_place place, char c)
{
    const char *special = place == NESTING_DOUBLE ? (scan->is_fish ? "$\"\\" : "$`\"\\") : scan->is_fish ? "\\" : "";
    const bool escape = c != '\0' && strchr(special, c) != NULL;
    if (place != NESTING_DOUBLE && c == '\'')
        return cmdline_put(scan->words, "'\\''", 4, scan->error);
    return (escape && cmdline_put(scan->words, "\\", 1, scan->error) < 0)
               ? -1
               : cmdline_put(scan->words, &c, 1, scan->error);
}

static int put_value(struct scan *scan, enum nesting_place place, const char *value, size_t length)
{
    const bool is_plain = place == NESTING_PLAIN || place == NESTING_COMMENT;
    const char *before = is_plain                ? "'"
                         : place == NESTING_ANSI ? "''"
                                                 : "",
               *behind = is_plain                ? "'"
                         : place == NESTING_ANSI ? "'$'"
                                                 : "";
    if (cmdline_put(scan->words, before, strlen(before), scan->error) < 0)
        return -1;
    for (size_t i = 0; i < length; i++)
        if (put_quoted(scan, place, value[i]) < 0)
            return -1;
    return cmdline_put(scan->words, behind, strlen(behind), scan->error);
}

/* A shell evaluates values in arithmetic, even quoted ones. So only characters are accepted that cannot form a
 * command. */
static bool is_number(const char *value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)value[i]) && strchr("_+-.", value[i]) == NULL)
            return false;
    return length > 0;
}

static int put_at(struct scan *scan, enum nesting_place place, size_t place_bytes, const char *value, size_t length)
{
    const char *name = scan->line + scan->at;
    int shown = place_bytes < 60 ? (int)place_bytes : 60;
    if (place == NESTING_NOWHERE)
        return error_set(scan->error,
                         "column %zu: nothing can be put in for %.*s here; accepted: not in `..`, ${..} or a "
                         "here-document, $(..) instead, or V={}; at the beginning and $V there",
                         scan->at + 1, shown, name);
    if (place == NESTING_COMMENT && memchr(value, '\n', length) != NULL)
        return error_set(scan->error,
                         "column %zu: the value for %.*s has a newline, which ends the comment; accepted: not in "
                         "comments",
                         scan->at + 1, shown, name);
    if (place == NESTING_NUMBER && !is_number(value, length))
        return error_set(scan->error, "column %zu: '%.*s' for %.*s; accepted: a number, in $((..))", scan->at + 1,
                         length < 60 ? (int)length : 60, value, shown, name);
    return place == NESTING_NUMBER ? cmdline_put(scan->words, value, length, scan->error)
                                   : put_value(scan, place, value, length);
}

static int put_all_at(struct scan *scan, enum nesting_place place, size_t place_bytes, const struct values *values)
{
    for (unsigned i = 0; i < values->count; i++) {
        const struct piece *value = &values->items[i];
        if ((i > 0 && cmdline_put(scan->words, " ", 1, scan->error) < 0) ||
            put_at(scan, place, place_bytes, value->text, value->length) < 0)
            return -1;
    }
    return 0;
}

/* True if a literal backslash precedes a brace here. Such a backslash must not come directly before the quote that
 * begins a value. */
static bool is_lone_backslash(const struct scan *scan, enum nesting_place place)
{
    const char *from = scan->line + scan->at;
    const bool is_literal = place == NESTING_DOUBLE || (place == NESTING_SINGLE && scan->is_fish);
    return is_literal && scan->at + 1 < scan->length && from[0] == '\\' && from[1] == '{';
}

static int take_for_shell(struct scan *scan, struct nesting *nesting)
{
    const char *from = scan->line + scan->at;
    struct values values;
    size_t length;
    int found = cmdline_find_place(scan, &values, &length);
    if (found <= 0) {
        if (found == 0 && is_lone_backslash(scan, nesting_place(nesting)) &&
            cmdline_put(scan->words, from, 1, scan->error) < 0)
            return -1;
        length = nesting_read(nesting, from, scan->length - scan->at);
        scan->at += length;
        return found < 0 ? -1 : cmdline_put(scan->words, from, length, scan->error);
    }
    if (put_all_at(scan, nesting_place(nesting), length, &values) < 0)
        return -1;
    nesting->before = '}';
    scan->at += length;
    return 0;
}

int cmdline_for_shell(struct cmdline *words, const char *shell, const char *line, size_t length,
                      const struct places *places, struct error *error)
{
    struct scan scan = {.words = words,
                        .line = line,
                        .length = length,
                        .places = places,
                        .is_fish = shell_is_fish(shell),
                        .error = error};
    struct nesting nesting;
    cmdline_clear(words);
    words->is_for_shell = true;
    if (cmdline_add(words, shell, error) < 0 || cmdline_add(words, "-c", error) < 0 || begin_word(words, error) < 0)
        return -1;
    const char *nul = memchr(line, '\0', length);
    if (nul != NULL)
        return cmdline_refuse(&scan, (size_t)(nul - line), "a NUL byte");
    nesting_init(&nesting, shell_is_large(shell));
    nesting.is_fish = scan.is_fish;
    while (scan.at < length)
        if (take_for_shell(&scan, &nesting) < 0)
            return -1;
    return cmdline_put(words, "", 1, error);
}

static int fill_at(struct scan *scan)
{
    struct values values;
    size_t length;
    int found = cmdline_find_place(scan, &values, &length);
    if (found < 0)
        return -1;
    scan->at += found > 0 ? length : 1;
    return found > 0 ? cmdline_take_values(scan, &values)
                     : cmdline_put(scan->words, scan->line + scan->at - 1, 1, scan->error);
}

int cmdline_fill(struct cmdline *words, const char *line, size_t length, const struct places *places,
                 struct error *error)
{
    struct scan scan = {
        .words = words, .line = line, .length = length, .quoting = QUOTING_DOUBLE, .places = places, .error = error};
    cmdline_clear(words);
    if (enter_word(&scan) < 0)
        return -1;
    while (scan.at < length)
        if (fill_at(&scan) < 0)
            return -1;
    return cmdline_put(words, "", 1, error);
}

struct search_for_place {
    const struct places *places;
    bool found;
};

static int note_place(void *context, const char *name, size_t length, struct values *values, struct error *error)
{
    struct search_for_place *search = context;
    search->found = search->places->find(search->places->context, name, length, values, error) != 0;
    return search->found ? -1 : 0;
}

bool cmdline_has_place(const char *line, size_t length, const struct places *places)
{
    struct search_for_place search = {places, false};
    const struct places noting = {note_place, &search};
    struct cmdline words;
    cmdline_init(&words);
    cmdline_for_shell(&words, "", line, length, &noting, NULL);
    cmdline_fini(&words);
    return search.found;
}

const char *cmdline_assigned(const struct cmdline *words, const char *name)
{
    const size_t length = strlen(name);
    for (unsigned i = words->assignments; i > 0; i--)
        if (strncmp(cmdline_at(words, i - 1), name, length) == 0 && cmdline_at(words, i - 1)[length] == '=')
            return cmdline_at(words, i - 1) + length + 1;
    return NULL;
}

bool cmdline_is_plain(const char *word)
{
    if (*word == '\0')
        return false;
    for (; *word != '\0'; word++)
        if (!isalnum((unsigned char)*word) && strchr(PLAIN, *word) == NULL && (unsigned char)*word < 0x80)
            return false;
    return true;
}
