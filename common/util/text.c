/* SPDX-License-Identifier: MIT */
/* Growing text: see text.h. */
#include "common/util/text.h"

#include "common/util/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters that need no quotes in a shell command. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

void text_init(struct text *text)
{
    *text = (struct text){0};
}

void text_fini(struct text *text)
{
    free(text->data);
    text_init(text);
}

static bool text_reserve(struct text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->length + more < text->capacity)
        return true;
    size_t capacity = 2 * (text->length + more) + 256;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_add_plain(struct text *text, const char *word, unsigned most)
{
    for (; *word != '\0' && most > 0; word = plain_next(word), most--)
        if (plain_length(word) > 0)
            text_add(text, "%.*s", (int)plain_length(word), word);
        else
            text_add(text, "?");
}

void text_add_quoted(struct text *text, const char *word)
{
    text_add(text, "'");
    for (; *word != '\0'; word++)
        text_add(text, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(text, "'");
}

void text_add_word(struct text *text, const char *word)
{
    if (*word != '\0' && strspn(word, PLAIN) == strlen(word))
        text_add(text, "%s", word);
    else
        text_add_quoted(text, word);
}

void text_repeat(struct text *text, const char *piece, size_t count)
{
    while (count-- > 0)
        text_add(text, "%s", piece);
}

char *text_take(struct text *text)
{
    text_add(text, "%s", "");
    char *data = text->failed ? NULL : text->data;
    if (text->failed)
        free(text->data);
    text_init(text);
    return data;
}
