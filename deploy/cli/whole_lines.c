/* SPDX-License-Identifier: MIT */
/* Writes whole lines: see whole_lines.h. */
#include "deploy/cli/whole_lines.h"
#include "deploy/cli/colour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Additional room for the codes that clear the terminal line and colour the name. */
enum { EXTRA = 64 };

int whole_lines_init(struct whole_lines *lines, bool is_coloured,
                     void (*write)(void *context, const char *bytes, size_t count), void *context)
{
    *lines = (struct whole_lines){.is_coloured = is_coloured, .write = write, .context = context};
    lines->line = malloc(WHOLE_LINES_MAX);
    return lines->line != NULL ? 0 : -1;
}

void whole_lines_fini(struct whole_lines *lines)
{
    free(lines->line);
    lines->line = NULL;
}

bool whole_lines_hold(const struct whole_lines *lines)
{
    return lines->line_length + lines->place_length > 0;
}

static size_t name_length(const char *line, size_t length)
{
    static const char *const names[] = {
        "hdss:", "supermaster:", "master:", "worker:", "hdss-supermaster:", "hdss-master:", "hdss-worker:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) < length && strncmp(line, names[i], strlen(names[i])) == 0)
            return strlen(names[i]);
    return 0;
}

static void whole_lines_write(struct whole_lines *lines)
{
    const size_t name = lines->is_coloured ? name_length(lines->line, lines->line_length) : 0;
    char *text = malloc(lines->line_length + EXTRA);
    if (text == NULL || lines->line_length == 0) {
        lines->write(lines->context, lines->line, lines->line_length);
    } else {
        int used = sprintf(text, "%s", lines->is_in_place ? "\r" WHOLE_LINES_CLEAR : "");
        if (name > 0)
            used += sprintf(text + used, COLOUR_NAME "%.*s" COLOUR_END, (int)name, lines->line);
        memcpy(text + used, lines->line + name, lines->line_length - name);
        lines->write(lines->context, text, (size_t)used + lines->line_length - name);
    }
    free(text);
    lines->is_in_place = false;
    lines->line_length = 0;
}

static void add_to_line(struct whole_lines *lines, char c)
{
    lines->line[lines->line_length++] = c;
    if (c == '\n' || lines->line_length == WHOLE_LINES_MAX)
        whole_lines_write(lines);
}

static void give_place_up(struct whole_lines *lines)
{
    const size_t length = lines->place_length;
    lines->place_length = 0;
    for (size_t i = 0; i < length; i++)
        add_to_line(lines, lines->place[i]);
}

static void add_to_place(struct whole_lines *lines, char c)
{
    static const char clear[] = WHOLE_LINES_CLEAR;
    const size_t end = sizeof clear - 1;
    lines->place[lines->place_length++] = c;
    if (lines->place_length > end && memcmp(lines->place + lines->place_length - end, clear, end) == 0) {
        lines->write(lines->context, lines->place, lines->place_length);
        lines->is_in_place = lines->place_length > 1 + end; /* otherwise the line was only cleared */
        lines->shown_length = lines->is_in_place ? lines->place_length : 0;
        memcpy(lines->shown, lines->place, lines->shown_length);
        lines->place_length = 0;
    } else if (c == '\n' || lines->place_length == sizeof lines->place) {
        give_place_up(lines);
    }
}

void whole_lines_take(struct whole_lines *lines, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\r' && lines->place_length > 0)
            give_place_up(lines);
        if (bytes[i] == '\r' || lines->place_length > 0)
            add_to_place(lines, bytes[i]);
        else
            add_to_line(lines, bytes[i]);
    }
}

void whole_lines_redraw(struct whole_lines *lines)
{
    if (lines->shown_length == 0)
        return;
    lines->write(lines->context, lines->shown, lines->shown_length);
    lines->is_in_place = true;
}

void whole_lines_flush(struct whole_lines *lines, bool ends)
{
    give_place_up(lines);
    if (lines->line_length > 0)
        whole_lines_write(lines);
    if (ends && lines->is_in_place)
        lines->write(lines->context, "\r" WHOLE_LINES_CLEAR, strlen("\r" WHOLE_LINES_CLEAR));
    lines->is_in_place = lines->is_in_place && !ends;
}
