/* SPDX-License-Identifier: MIT */
/* Parses Slurm's lists of nodes and counts: see node_list.h. */
#include "deploy/cli/node_list.h"
#include "deploy/cli/hosts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DIGITS     "0123456789"
#define DIGITS_MAX 9

struct expansion {
    const char *word;
    size_t length;
    char name[HOST_NAME_BYTES];
    size_t name_length;
    node_visitor *visit;
    void *context;
    struct error *error;
};

static int node_list_refuse(const struct expansion *expansion)
{
    return error_set(expansion->error,
                     "'%.*s': accepted: node names with ranges in brackets, separated by commas: n[01-04,7],gpu3",
                     (int)(expansion->length < 100 ? expansion->length : 100), expansion->word);
}

static bool node_list_take_number(const char **text, unsigned *number, unsigned *digits)
{
    size_t length = strspn(*text, DIGITS);
    if (length == 0 || length > DIGITS_MAX)
        return false;
    *number = 0;
    for (size_t i = 0; i < length; i++)
        *number = 10 * *number + (unsigned)((*text)[i] - '0');
    *digits = (unsigned)length;
    *text += length;
    return true;
}

static bool node_list_append(struct expansion *expansion, const char *text, size_t length)
{
    if (length >= sizeof expansion->name - expansion->name_length)
        return false;
    memcpy(expansion->name + expansion->name_length, text, length);
    expansion->name_length += length;
    expansion->name[expansion->name_length] = '\0';
    return true;
}

static int expand(struct expansion *expansion, const char *rest);

static int expand_range(struct expansion *expansion, const char **text, const char *behind)
{
    unsigned first, last, width, ignored;
    char number[DIGITS_MAX + 1];
    if (!node_list_take_number(text, &first, &width))
        return node_list_refuse(expansion);
    last = first;
    if (**text == '-' && (++*text, !node_list_take_number(text, &last, &ignored) || last < first))
        return node_list_refuse(expansion);
    size_t before = expansion->name_length;
    for (unsigned i = first; i <= last; i++) {
        int length = snprintf(number, sizeof number, "%0*u", (int)width, i);
        if (!node_list_append(expansion, number, (size_t)length))
            return node_list_refuse(expansion);
        if (expand(expansion, behind) < 0)
            return -1;
        expansion->name_length = before;
    }
    return 0;
}

static int expand_ranges(struct expansion *expansion, const char *text)
{
    const char *end = expansion->word + expansion->length, *close = memchr(text, ']', (size_t)(end - text));
    if (close == NULL)
        return node_list_refuse(expansion);
    for (;; text++) {
        if (expand_range(expansion, &text, close + 1) < 0)
            return -1;
        if (text == close)
            return 0;
        if (*text != ',')
            return node_list_refuse(expansion);
    }
}

static int expand(struct expansion *expansion, const char *rest)
{
    size_t left = (size_t)(expansion->word + expansion->length - rest), plain = strcspn(rest, "[]");
    size_t before = expansion->name_length;
    if (!node_list_append(expansion, rest, plain < left ? plain : left))
        return node_list_refuse(expansion);
    int result;
    if (plain >= left)
        result = expansion->visit(expansion->context, expansion->name, expansion->error);
    else
        result = rest[plain] == '[' ? expand_ranges(expansion, rest + plain + 1) : node_list_refuse(expansion);
    expansion->name_length = before;
    return result;
}

static size_t word_length(const char *list)
{
    size_t length = 0;
    for (bool inside = false; list[length] != '\0' && (inside || list[length] != ','); length++)
        inside = list[length] == '[' || (inside && list[length] != ']');
    return length;
}

int node_list_expand(const char *list, node_visitor *visit, void *context, struct error *error)
{
    struct expansion expansion = {.visit = visit, .context = context, .error = error};
    for (;; list++) {
        expansion.word = list;
        expansion.length = word_length(list);
        expansion.name_length = 0;
        if (expansion.length == 0)
            return node_list_refuse(&expansion);
        if (expand(&expansion, list) < 0)
            return -1;
        list += expansion.length;
        if (*list == '\0')
            return 0;
    }
}

static int refuse_counts(const char *list, unsigned count, struct error *error)
{
    return error_set(error, "'%.100s': accepted: a count for each of the %u nodes: 16(x2),8", list, count);
}

static bool node_list_take_repetitions(const char **text, unsigned *repetitions)
{
    unsigned ignored;
    *repetitions = 1;
    if (strncmp(*text, "(x", 2) != 0)
        return true;
    *text += 2;
    return node_list_take_number(text, repetitions, &ignored) && *(*text)++ == ')';
}

int node_counts_parse(const char *list, unsigned *counts, unsigned count, struct error *error)
{
    unsigned found = 0;
    for (const char *text = list;; text++) {
        unsigned value, repetitions, ignored;
        if (!node_list_take_number(&text, &value, &ignored) || !node_list_take_repetitions(&text, &repetitions) ||
            value == 0 || repetitions == 0 || repetitions > count - found)
            return refuse_counts(list, count, error);
        while (repetitions-- > 0)
            counts[found++] = value;
        if (*text == '\0' && found == count)
            return 0;
        if (*text != ',')
            return refuse_counts(list, count, error);
    }
}
