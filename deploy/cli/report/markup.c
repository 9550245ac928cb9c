/* SPDX-License-Identifier: MIT */
/* Words from outside in markup: see markup.h. */
#include "deploy/cli/report/markup.h"

#include "common/util/plain.h"

#include <stdbool.h>
#include <string.h>

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
        const size_t length = plain_utf8(words);
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
        const size_t length = plain_utf8(words);
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
