/* SPDX-License-Identifier: MIT */
/* Makes the page for --help from the option table. */
#include "common/config/options.h"
#include "common/util/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The page does not show bounds above BOUND_SHOWN_MAX, because these are only limits of the implementation. */
enum { WIDTH = 79, SUMMARY_COLUMN = 25, SUMMARY_MAX = 1024, BOUND_SHOWN_MAX = 1000000 };

/* Adds a paragraph and wraps its lines. The paragraph begins at `words`, and ends at a newline or at the end of the
 * text. Its first line begins at `column`, the others begin at `indent`. If the paragraph begins with blanks, all its
 * lines are moved to the right by the number of these blanks. Returns the start of the next paragraph. */
static const char *add_paragraph(struct text *text, const char *words, size_t column, size_t indent)
{
    size_t lead = strspn(words, " ");
    bool first = true;
    text_repeat(text, " ", lead);
    words += lead;
    column += lead;
    indent += lead;
    while (*words != '\0' && *words != '\n') {
        size_t length = strcspn(words, " \n");
        if (!first && column + 1 + length > WIDTH) {
            text_add(text, "\n");
            text_repeat(text, " ", indent);
            column = indent;
            first = true;
        }
        text_add(text, "%s%.*s", first ? "" : " ", (int)length, words);
        column += length + !first;
        first = false;
        words += length;
        words += strspn(words, " ");
    }
    text_add(text, "\n");
    return *words == '\n' ? words + 1 : words;
}

static void copy_summary(char text[SUMMARY_MAX], const struct option_row *row)
{
    const char *fallback = strstr(row->summary, "(default");
    if ((row->kind != OPTION_INTEGER && row->kind != OPTION_SECONDS) || row->most > BOUND_SHOWN_MAX)
        snprintf(text, SUMMARY_MAX, "%s", row->summary);
    else if (fallback == NULL)
        snprintf(text, SUMMARY_MAX, "%s (%" PRIu64 " to %" PRIu64 ")", row->summary, row->least, row->most);
    else
        snprintf(text, SUMMARY_MAX, "%.*s(%" PRIu64 " to %" PRIu64 "; %s", (int)(fallback - row->summary), row->summary,
                 row->least, row->most, fallback + 1);
}

static void add_row(struct text *text, const struct option_row *row)
{
    char letter[8] = "", head[64], summary[SUMMARY_MAX];
    if (row->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    int length = snprintf(head, sizeof head, "  %s--%s%s%s", letter, row->name,
                          row->value != NULL && strncmp(row->value, "[=", 2) != 0 ? " " : "",
                          row->value != NULL ? row->value : "");
    text_add(text, "%s", head);
    if (length > SUMMARY_COLUMN - 2) {
        text_add(text, "\n");
        length = 0;
    }
    text_repeat(text, " ", SUMMARY_COLUMN - (size_t)length);
    copy_summary(summary, row);
    add_paragraph(text, summary, SUMMARY_COLUMN, SUMMARY_COLUMN);
}

static void add_usage(struct text *text, const char *usage)
{
    for (const char *head = "Usage: "; *usage != '\0'; head = "       ") {
        size_t length = strcspn(usage, "\n");
        text_add(text, "%s%.*s\n", head, (int)length, usage);
        usage += length;
        usage += *usage == '\n';
    }
}

/* Adds the paragraphs, separated by empty lines. Consecutive indented paragraphs are one example, so no empty line
 * separates them. */
static void add_notes(struct text *text, const char *notes)
{
    bool was_indented = false;
    while (notes != NULL && *notes != '\0') {
        bool is_indented = *notes == ' ';
        text_add(text, "%s", is_indented && was_indented ? "" : "\n");
        notes = add_paragraph(text, notes, 0, 0);
        was_indented = is_indented;
    }
}

char *options_help(const struct options *options)
{
    struct text text;
    text_init(&text);
    add_usage(&text, options->usage);
    text_add(&text, "\n");
    add_paragraph(&text, options->about, 0, 0);
    for (const struct option_section *section = options->sections; section->title != NULL; section++) {
        text_add(&text, "\n%s:\n", section->title);
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            add_row(&text, row);
    }
    add_notes(&text, options->notes);
    return text_take(&text);
}
