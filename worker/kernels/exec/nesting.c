/* SPDX-License-Identifier: MIT */
/* Tracks a shell's quoting: see nesting.h. */
#include "worker/kernels/exec/nesting.h"

#include <ctype.h>
#include <string.h>

#define BEFORE_COMMENT " \t\n;&|()"

void nesting_init(struct nesting *nesting, bool is_large)
{
    *nesting = (struct nesting){.before = '\n', .solid = '\n', .is_large = is_large};
}

static struct nesting_level *top(struct nesting *nesting)
{
    return &nesting->level[nesting->depth];
}

static size_t nesting_enter(struct nesting *nesting, enum nesting_kind kind, size_t bytes)
{
    const struct nesting_level *outer = top(nesting);
    bool within_double = outer->quotes == NESTING_DOUBLE || (outer->kind == NESTING_BRACES && outer->within_double);
    nesting->is_lost |= nesting->depth + 1 == NESTING_MAX;
    if (!nesting->is_lost)
        nesting->level[++nesting->depth] = (struct nesting_level){.kind = kind, .within_double = within_double};
    return bytes;
}

static size_t nesting_leave(struct nesting *nesting, size_t bytes)
{
    nesting->depth -= nesting->depth > 0;
    return bytes;
}

static size_t read_backtick(struct nesting *nesting)
{
    for (unsigned i = nesting->depth; i > 0; i--)
        if (nesting->level[i].kind == NESTING_BACKTICKS) {
            nesting->depth = i - 1;
            return 1;
        }
    return nesting_enter(nesting, NESTING_BACKTICKS, 1);
}

static bool is_arithmetic(const struct nesting_level *level)
{
    return level->kind == NESTING_ARITHMETIC || level->kind == NESTING_BRACKETS;
}

/* True if single quotes certainly quote text at this level. In arithmetic, and in braces within double quotes, shells
 * differ about this. */
static bool has_single_quotes(const struct nesting_level *level)
{
    return !is_arithmetic(level) && !(level->kind == NESTING_BRACES && level->within_double);
}

static size_t read_ansi(struct nesting *nesting)
{
    nesting->is_lost |= !nesting->is_large;
    top(nesting)->quotes = NESTING_ANSI;
    return 2;
}

/* Shells read $$ followed by certain characters differently, so the state is then unknown. */
static size_t read_two_dollars(struct nesting *nesting, const char *text, size_t length)
{
    nesting->is_lost |= length > 2 && strchr("'({[", text[2]) != NULL;
    return 2;
}

static size_t read_dollar(struct nesting *nesting, const char *text, size_t length)
{
    const struct nesting_level *level = top(nesting);
    if (length > 2 && text[1] == '(' && text[2] == '(')
        return nesting_enter(nesting, NESTING_ARITHMETIC, 3);
    switch (length > 1 ? text[1] : '\0') {
    case '(': return nesting_enter(nesting, NESTING_COMMAND, 2);
    case '{': return nesting_enter(nesting, NESTING_BRACES, 2);
    case '[': nesting->is_lost |= !nesting->is_large; return nesting_enter(nesting, NESTING_BRACKETS, 2);
    case '$': return read_two_dollars(nesting, text, length);
    case '\'': return level->quotes == NESTING_PLAIN && has_single_quotes(level) ? read_ansi(nesting) : 1;
    default: return 1;
    }
}

/* If a command may begin here, "((" begins arithmetic. The arithmetic must end with "))". */
static size_t read_opening(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    const bool is_double = length > 1 && text[1] == '(' && !is_arithmetic(level) && level->kind != NESTING_BRACES &&
                           strchr(BEFORE_COMMENT, nesting->before) != NULL;
    if (is_double) {
        nesting->is_lost |= !nesting->is_large;
        return nesting_enter(nesting, NESTING_ARITHMETIC, 2);
    }
    level->parentheses++;
    return 1;
}

/* Within `case` a parenthesis may end a pattern instead of the $(..). So the state is then unknown. */
static size_t read_closing(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    if (level->parentheses > 0)
        level->parentheses--;
    else if (level->kind == NESTING_COMMAND) {
        nesting->is_lost |= level->of_case == NESTING_CASE_IN;
        return nesting_leave(nesting, 1);
    } else if (level->kind == NESTING_ARITHMETIC) {
        const bool is_double = length > 1 && text[1] == ')';
        /* A single ")" ends this level, so the level contained commands and not arithmetic. */
        nesting->is_lost |= !is_double;
        return nesting_leave(nesting, is_double ? 2 : 1);
    }
    return 1;
}

static size_t read_closing_bracket(struct nesting *nesting)
{
    struct nesting_level *level = top(nesting);
    if (level->kind != NESTING_BRACKETS)
        return 1;
    if (level->parentheses == 0)
        return nesting_leave(nesting, 1);
    level->parentheses--;
    return 1;
}

/* In NAME[..]= and NAME[..]+= the subscript is arithmetic. */
static size_t read_opening_bracket(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    const char *end = nesting->in_name ? memchr(text, ']', length) : NULL, *behind = text + length;
    if (level->kind == NESTING_BRACKETS)
        level->parentheses++;
    else if (end != NULL &&
             ((end + 1 < behind && end[1] == '=') || (end + 2 < behind && end[1] == '+' && end[2] == '=')))
        return nesting_enter(nesting, NESTING_BRACKETS, 1);
    return 1;
}

static size_t read_newline(struct nesting *nesting)
{
    nesting->in_document |= nesting->begins_document;
    return 1;
}

static size_t read_less(struct nesting *nesting, const char *text, size_t length)
{
    const bool is_double = length > 1 && text[1] == '<' && !is_arithmetic(top(nesting)),
               is_word = is_double && length > 2 && text[2] == '<';
    nesting->begins_document |= is_double && !is_word;
    return is_word ? 3 : is_double ? 2 : 1;
}

static size_t read_single(struct nesting *nesting)
{
    struct nesting_level *level = top(nesting);
    if (has_single_quotes(level))
        level->quotes = NESTING_SINGLE;
    else
        nesting->is_lost = true;
    return 1;
}

static bool is_word(const char *text, size_t length, const char *word, const char *ends)
{
    const size_t bytes = strlen(word);
    return length >= bytes && memcmp(text, word, bytes) == 0 && (length == bytes || strchr(ends, text[bytes]) != NULL);
}

static size_t read_letter(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    if (strchr(BEFORE_COMMENT, nesting->before) == NULL)
        return 1;
    if (is_word(text, length, "case", " \t\n"))
        level->of_case = NESTING_CASE;
    else if (level->of_case == NESTING_CASE && is_word(text, length, "in", " \t\n"))
        level->of_case = NESTING_CASE_IN;
    else if (strchr(";\n", nesting->solid) != NULL && is_word(text, length, "esac", " \t\n;&|)"))
        level->of_case = NESTING_NO_CASE;
    return 1;
}

static size_t read_plain(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    switch (*text) {
    case '\'': return read_single(nesting);
    case '"': level->quotes = NESTING_DOUBLE; return 1;
    case '(': return read_opening(nesting, text, length);
    case ')': return read_closing(nesting, text, length);
    case '[': return read_opening_bracket(nesting, text, length);
    case ']': return read_closing_bracket(nesting);
    case '}': return level->kind == NESTING_BRACES ? nesting_leave(nesting, 1) : 1;
    case '<': return read_less(nesting, text, length);
    case '\n': return read_newline(nesting);
    case '#':
        nesting->in_comment =
            level->kind != NESTING_BRACES && !is_arithmetic(level) && strchr(BEFORE_COMMENT, nesting->before) != NULL;
        return 1;
    default: return read_letter(nesting, text, length);
    }
}

static size_t nesting_read_any(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    char c = *text;
    const bool may_escape = c == '\\' && length > 1,
               escapes_in_single = nesting->is_fish && level->quotes == NESTING_SINGLE && may_escape &&
                                   (text[1] == '\\' || text[1] == '\'');
    if ((level->quotes == NESTING_ANSI && may_escape) || escapes_in_single)
        return 2;
    if (level->quotes == NESTING_SINGLE || level->quotes == NESTING_ANSI) {
        level->quotes = c == '\'' ? NESTING_PLAIN : level->quotes;
        return 1;
    }
    if (c == '\\' && length > 1 && (level->quotes == NESTING_PLAIN || strchr("$`\"\\\n", text[1]) != NULL))
        return 2;
    if (c == '`')
        return read_backtick(nesting);
    if (c == '$')
        return read_dollar(nesting, text, length);
    if (level->quotes == NESTING_PLAIN)
        return read_plain(nesting, text, length);
    level->quotes = c == '"' ? NESTING_PLAIN : level->quotes;
    return 1;
}

size_t nesting_read(struct nesting *nesting, const char *text, size_t length)
{
    unsigned depth = nesting->depth;
    size_t bytes = 1;
    const bool begins = strchr(BEFORE_COMMENT, nesting->before) != NULL;
    nesting->in_comment &= *text != '\n';
    if (!nesting->in_comment && !nesting->in_document)
        bytes = nesting_read_any(nesting, text, length);
    bool goes_on = bytes > 1 || nesting->depth < depth;
    nesting->before = nesting->depth > depth ? '(' : goes_on ? 'x' : *text;
    nesting->solid = strchr(" \t", nesting->before) != NULL ? nesting->solid : nesting->before;
    nesting->in_name = bytes == 1 && (isalnum((unsigned char)*text) || *text == '_') && (begins || nesting->in_name);
    return bytes;
}

enum nesting_place nesting_place(const struct nesting *nesting)
{
    const struct nesting_level *level = &nesting->level[nesting->depth];
    bool nowhere = nesting->is_lost || nesting->in_document;
    for (unsigned i = 0; i <= nesting->depth; i++)
        nowhere |= nesting->level[i].kind == NESTING_BRACES || nesting->level[i].kind == NESTING_BACKTICKS;
    if (nowhere)
        return NESTING_NOWHERE;
    if (nesting->in_comment)
        return NESTING_COMMENT;
    return is_arithmetic(level) ? NESTING_NUMBER : level->quotes;
}
