/* SPDX-License-Identifier: MIT */
/* Words from outside in markup: see markup.h. */
#include "deploy/cli/report/markup.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence at `at`, 0 where there is none: too short, overlong, a surrogate, or beyond Unicode. */
static unsigned utf8_length(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    const unsigned length = byte[0] < 0x80 ? 1 : byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    uint32_t character = byte[0] & (0x7fu >> length);
    if (length < 2 || byte[0] > 0xf4)
        return length == 1 ? 1 : 0;
    for (unsigned i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (byte[i] & 0x3f);
    }
    const uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    const bool is_none = character < least || character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ||
                         (character & 0xfffe) == 0xfffe;
    return is_none ? 0 : length;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\t' && c != '\n') || c == 0x7f;
}

/* The entity that stands for a character, or NULL. */
static const char *entity_of(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void markup_add(struct text *text, const char *words)
{
    while (*words != '\0') {
        const unsigned length = utf8_length(words);
        const char *entity = entity_of(*words);
        if (length == 0 || is_control(*words))
            text_add(text, "?");
        else if (entity != NULL)
            text_add(text, "%s", entity);
        else
            text_add(text, "%.*s", (int)length, words);
        words += length > 0 ? length : 1;
    }
}

void markup_add_json(struct text *text, const char *words)
{
    text_add(text, "\"");
    while (*words != '\0') {
        const unsigned length = utf8_length(words);
        if (length == 0)
            text_add(text, "?");
        else if (length == 1 && (strchr("\"\\<>&'", *words) != NULL || (unsigned char)*words < ' ' || *words == 0x7f))
            text_add(text, "\\u%04x", (unsigned)(unsigned char)*words);
        else
            text_add(text, "%.*s", (int)length, words);
        words += length > 0 ? length : 1;
    }
    text_add(text, "\"");
}
