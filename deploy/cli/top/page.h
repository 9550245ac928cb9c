/* SPDX-License-Identifier: MIT */
/* A page as a screen shows it: lines of pieces of text, each with its look, of which none is wider than the page. Pure:
 * where it goes, a terminal or a file, is for others to know.
 *
 * A column is a character of UTF-8. What a terminal would obey becomes '?', and so does all beyond ASCII on a page that
 * is not of UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Pieces of a line. */
#define PAGE_PIECES_MAX 32

enum look { LOOK_PLAIN, LOOK_STRONG, LOOK_DIM, LOOK_GOOD, LOOK_WARN, LOOK_BAD, LOOK_BAR, LOOKS };

struct page_piece {
    enum look look;
    size_t length; /* bytes */
};

struct page_line {
    char *text; /* owned, with a NUL */
    size_t length, room;
    unsigned columns;
    struct page_piece pieces[PAGE_PIECES_MAX]; /* [count] */
    unsigned count;
    bool is_selected;
};

struct page {
    struct page_line *lines; /* [count]; owned */
    size_t count, room;
    unsigned width; /* columns */
    bool utf8;
    bool failed; /* memory was out; further additions do nothing */
};

void page_init(struct page *page, unsigned width, bool utf8);
void page_fini(struct page *page);

/* Begins a line. */
void page_line(struct page *page);

/* Columns that the line at hand has left. */
unsigned page_left(const struct page *page);

/* Adds to the line at hand, as far as there is room. */
void page_add(struct page *page, enum look look, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same of a text that may be too long: at most `most` columns, the last of which are ".." then. */
void page_add_short(struct page *page, enum look look, const char *text, unsigned most);

/* Blanks up to that column of the line, from 0. */
void page_go_to(struct page *page, unsigned column);

/* Adds `share` (0 to 1) of `columns` as a bar. */
void page_add_bar(struct page *page, double share, unsigned columns);

/* The page as plain text, a line each, without blanks at the ends. The caller frees it; NULL when memory is out. */
char *page_text(const struct page *page);
