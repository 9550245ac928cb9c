/* SPDX-License-Identifier: MIT */
/* Tracks a shell's quoting: see nesting.h. */
#include "worker/kernels/exec/nesting.h"

#include <string.h>

/* After one of these, # begins a comment. */
#define BEFORE_COMMENT " \t\n;&|()"

void nesting_init(struct nesting *nesting)
{
    *nesting = (struct nesting){.before = '\n'};
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

/* Backticks end at the next backtick, whatever was opened inside. */
static size_t read_backtick(struct nesting *nesting)
{
    for (unsigned i = nesting->depth; i > 0; i--)
        if (nesting->level[i].kind == NESTING_BACKTICKS) {
            nesting->depth = i - 1;
            return 1;
        }
    return nesting_enter(nesting, NESTING_BACKTICKS, 1);
}

static size_t read_dollar(struct nesting *nesting, const char *text, size_t length)
{
    if (length > 2 && text[1] == '(' && text[2] == '(')
        return nesting_enter(nesting, NESTING_ARITHMETIC, 3);
    if (length > 1 && text[1] == '(')
        return nesting_enter(nesting, NESTING_COMMAND, 2);
    return length > 1 && text[1] == '{' ? nesting_enter(nesting, NESTING_BRACES, 2) : 1;
}

static size_t read_closing(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    if (level->parentheses > 0)
        level->parentheses--;
    else if (level->kind == NESTING_COMMAND)
        return nesting_leave(nesting, 1);
    else if (level->kind == NESTING_ARITHMETIC)
        return nesting_leave(nesting, length > 1 && text[1] == ')' ? 2 : 1);
    return 1;
}

static size_t read_newline(struct nesting *nesting)
{
    nesting->in_document |= nesting->begins_document;
    return 1;
}

static size_t read_less(struct nesting *nesting, const char *text, size_t length)
{
    bool is_double = length > 1 && text[1] == '<' && top(nesting)->kind != NESTING_ARITHMETIC;
    nesting->begins_document |= is_double;
    return is_double ? 2 : 1;
}

/* In arithmetic, and in braces inside double quotes, single quotes are literal. */
static bool has_single_quotes(const struct nesting_level *level)
{
    return level->kind != NESTING_ARITHMETIC && !(level->kind == NESTING_BRACES && level->within_double);
}

static size_t read_plain(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    switch (*text) {
    case '\'': level->quotes = has_single_quotes(level) ? NESTING_SINGLE : level->quotes; return 1;
    case '"': level->quotes = NESTING_DOUBLE; return 1;
    case '(': level->parentheses++; return 1;
    case ')': return read_closing(nesting, text, length);
    case '}': return level->kind == NESTING_BRACES ? nesting_leave(nesting, 1) : 1;
    case '<': return read_less(nesting, text, length);
    case '\n': return read_newline(nesting);
    case '#':
        nesting->in_comment = level->kind != NESTING_BRACES && level->kind != NESTING_ARITHMETIC &&
                              strchr(BEFORE_COMMENT, nesting->before) != NULL;
        return 1;
    default: return 1;
    }
}

static size_t nesting_read_any(struct nesting *nesting, const char *text, size_t length)
{
    struct nesting_level *level = top(nesting);
    char c = *text;
    if (level->quotes == NESTING_SINGLE) {
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
    nesting->in_comment &= *text != '\n';
    if (!nesting->in_comment && !nesting->in_document)
        bytes = nesting_read_any(nesting, text, length);
    bool goes_on = bytes > 1 || nesting->depth < depth; /* a following # belongs to the same word */
    nesting->before = nesting->depth > depth ? '(' : goes_on ? 'x' : *text;
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
    return level->kind == NESTING_ARITHMETIC ? NESTING_NUMBER : level->quotes;
}
