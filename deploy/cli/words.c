/* SPDX-License-Identifier: MIT */
/* Word lists: see words.h. */
#include "deploy/cli/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

void words_fini(struct words *words)
{
    for (unsigned i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct words){0};
}

/* Takes over `word`, which is NULL where memory was out. */
static void take(struct words *words, char *word)
{
    if (word != NULL && !words->failed && words->count + 1 >= words->capacity) {
        unsigned capacity = 2 * words->capacity + 16;
        char **items = realloc(words->items, capacity * sizeof *items);
        words->failed = items == NULL;
        if (items != NULL) {
            words->items = items;
            words->capacity = capacity;
        }
    }
    if (word == NULL || words->failed) {
        words->failed = true;
        free(word);
        return;
    }
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

void words_add(struct words *words, const char *word)
{
    take(words, strdup(word));
}

void words_add_format(struct words *words, const char *format, ...)
{
    char *word;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&word, format, arguments);
    va_end(arguments);
    take(words, length < 0 ? NULL : word);
}

void words_add_split(struct words *words, const char *text)
{
    for (text += strspn(text, " \t\n"); *text != '\0'; text += strspn(text, " \t\n")) {
        size_t length = strcspn(text, " \t\n");
        take(words, strndup(text, length));
        text += length;
    }
}

void words_add_all(struct words *words, const struct words *others)
{
    for (unsigned i = 0; i < others->count; i++)
        words_add(words, others->items[i]);
}

void words_insert(struct words *words, unsigned place, const char *word)
{
    words_add(words, word);
    if (words->failed)
        return;
    char *last = words->items[words->count - 1];
    memmove(words->items + place + 1, words->items + place, (words->count - 1 - place) * sizeof *words->items);
    words->items[place] = last;
}

bool words_contain(const struct words *words, const char *word)
{
    for (unsigned i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

static void print_word(const char *word, FILE *file)
{
    if (*word != '\0' && strspn(word, PLAIN) == strlen(word)) {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", file);
        else
            fputc(*word, file);
    }
    fputc('\'', file);
}

void words_print(const struct words *words, FILE *file)
{
    for (unsigned i = 0; i < words->count; i++) {
        if (i > 0)
            fputc(' ', file);
        print_word(words->items[i], file);
    }
    fputc('\n', file);
}
