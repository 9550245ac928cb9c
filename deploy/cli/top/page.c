/* SPDX-License-Identifier: MIT */
/* A page of lines: see page.h. */
#include "deploy/cli/top/page.h"

#include "common/metrics/human.h"
#include "common/util/grow.h"
#include "common/util/plain.h"
#include "common/util/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDED_MAX 1024 /* bytes of a text that is added at once */

void page_init(struct page *page, unsigned width, bool utf8)
{
    *page = (struct page){.width = width, .utf8 = utf8};
}

void page_fini(struct page *page)
{
    for (size_t i = 0; i < page->count; i++)
        free(page->lines[i].text);
    free(page->lines);
    *page = (struct page){0};
}

void page_line(struct page *page)
{
    struct page_line *lines = page->failed ? NULL : grow(page->lines, page->count, &page->room, sizeof *lines);
    if (lines == NULL) {
        page->failed = true;
        return;
    }
    page->lines = lines;
    page->lines[page->count++] = (struct page_line){0};
}

static struct page_line *line_at_hand(const struct page *page)
{
    return page->count > 0 && !page->failed ? &page->lines[page->count - 1] : NULL;
}

unsigned page_left(const struct page *page)
{
    const struct page_line *line = line_at_hand(page);
    return line != NULL && line->columns < page->width ? page->width - line->columns : 0;
}

/* Adds bytes to the line as they are. False when memory is out. */
static bool append_bytes(struct page_line *line, const char *bytes, size_t length)
{
    if (line->length + length + 1 > line->room) {
        const size_t room = 2 * (line->length + length) + 64;
        char *grown = realloc(line->text, room);
        if (grown == NULL)
            return false;
        line->text = grown;
        line->room = room;
    }
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
    line->text[line->length] = '\0';
    return true;
}

/* Notes how the last `length` bytes look. The last piece takes what no other has room for. */
static void note_look(struct page_line *line, enum look look, size_t length)
{
    struct page_piece *last = line->count > 0 ? &line->pieces[line->count - 1] : NULL;
    if (length == 0)
        return;
    if (last != NULL && (last->look == look || line->count == PAGE_PIECES_MAX))
        last->length += length;
    else
        line->pieces[line->count++] = (struct page_piece){look, length};
}

/* Adds up to `most` columns of the text. */
static void append_text(struct page *page, enum look look, const char *text, unsigned most)
{
    struct page_line *line = line_at_hand(page);
    const unsigned left = page_left(page);
    size_t added = line != NULL ? line->length : 0;
    if (line == NULL)
        return;
    for (unsigned columns = 0; *text != '\0' && columns < most && columns < left && !page->failed; columns++) {
        const size_t length = plain_length(text);
        const bool is_shown = length == 1 || (length > 1 && page->utf8);
        page->failed |= !append_bytes(line, is_shown ? text : "?", is_shown ? length : 1);
        line->columns++;
        text = plain_next(text);
    }
    if (line->length > added)
        note_look(line, look, line->length - added);
}

void page_add(struct page *page, enum look look, const char *format, ...)
{
    char text[ADDED_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    append_text(page, look, text, UINT_MAX);
}

void page_add_short(struct page *page, enum look look, const char *text, unsigned most)
{
    const unsigned left = page_left(page);
    most = most < left ? most : left;
    if (plain_columns(text) <= most)
        append_text(page, look, text, most);
    else if (most <= 2)
        append_text(page, look, "..", most);
    else {
        append_text(page, look, text, most - 2);
        append_text(page, look, "..", 2);
    }
}

void page_go_to(struct page *page, unsigned column)
{
    const struct page_line *line = line_at_hand(page);
    for (unsigned at = line != NULL ? line->columns : column; at < column; at++)
        append_text(page, LOOK_PLAIN, " ", 1);
}

void page_add_bar(struct page *page, double share, unsigned columns)
{
    char bar[3 * HUMAN_BAR_MAX + 1];
    human_bar(bar, share, columns, page->utf8);
    append_text(page, LOOK_BAR, bar, columns);
}

char *page_text(const struct page *page)
{
    struct text text;
    text_init(&text);
    for (size_t i = 0; i < page->count; i++) {
        const struct page_line *line = &page->lines[i];
        size_t length = line->length;
        while (length > 0 && line->text[length - 1] == ' ')
            length--;
        text_add(&text, "%.*s\n", (int)length, line->text != NULL ? line->text : "");
    }
    text.failed |= page->failed;
    return text_take(&text);
}
