/* SPDX-License-Identifier: MIT */
/* Lists of words: see argv.h. */
#include "deploy/cli/argv.h"

#include "common/util/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void argv_fini(struct argv *words)
{
    for (unsigned i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct argv){0};
}

static void argv_take(struct argv *words, char *word)
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

void argv_add(struct argv *words, const char *word)
{
    argv_take(words, strdup(word));
}

void argv_add_format(struct argv *words, const char *format, ...)
{
    char *word;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&word, format, arguments);
    va_end(arguments);
    argv_take(words, length < 0 ? NULL : word);
}

void argv_add_split(struct argv *words, const char *text)
{
    for (text += strspn(text, " \t\n"); *text != '\0'; text += strspn(text, " \t\n")) {
        size_t length = strcspn(text, " \t\n");
        argv_take(words, strndup(text, length));
        text += length;
    }
}

void argv_add_all(struct argv *words, const struct argv *others)
{
    for (unsigned i = 0; i < others->count; i++)
        argv_add(words, others->items[i]);
}

void argv_insert(struct argv *words, unsigned place, const char *word)
{
    argv_add(words, word);
    if (words->failed)
        return;
    char *last = words->items[words->count - 1];
    memmove(words->items + place + 1, words->items + place, (words->count - 1 - place) * sizeof *words->items);
    words->items[place] = last;
}

bool argv_contain(const struct argv *words, const char *word)
{
    for (unsigned i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

char *argv_text(const struct argv *words)
{
    struct text text;
    text_init(&text);
    for (unsigned w = 0; w < words->count; w++) {
        text_add(&text, "%s", w > 0 ? " " : "");
        text_add_word(&text, words->items[w]);
    }
    return text_take(&text);
}

void argv_print(const struct argv *words, FILE *file)
{
    char *line = argv_text(words);
    fprintf(file, "%s\n", line != NULL ? line : "");
    free(line);
}
