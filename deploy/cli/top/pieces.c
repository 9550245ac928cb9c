/* SPDX-License-Identifier: MIT */
/* Pieces of the pages of `hdss top`: see pieces.h. */
#include "deploy/cli/top/pieces.h"

#include "common/metrics/human.h"
#include "common/util/plain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY_S 86400.0

const char *top_whole(char text[HUMAN_MAX], double number)
{
    return number < 1e18 ? human_count(text, (uint64_t)number) : human_si(text, number);
}

enum look top_look_of_state(const char *state)
{
    return strcmp(state, "failed") == 0 ? LOOK_BAD
           : strcmp(state, "draining") == 0 || strcmp(state, TOP_SILENT) == 0 || strcmp(state, TOP_OUT_OF_SIGHT) == 0
               ? LOOK_WARN
           : strcmp(state, "cancelled") == 0 ? LOOK_WARN
           : strcmp(state, "done") == 0      ? LOOK_GOOD
                                             : LOOK_PLAIN;
}

void top_add_label(struct page *page, const char *label)
{
    page_line(page);
    page_add(page, LOOK_DIM, "  %s", label);
    page_go_to(page, TOP_LABEL_COLUMNS);
}

/* The title, and the time behind it, on a screen at the right where there is room for it. */
void top_add_title(struct page *page, const struct top_model *model, bool is_screen, const char *state,
                   const char *title)
{
    const unsigned columns = plain_columns(model->clock);
    page_line(page);
    page_add_short(page, LOOK_STRONG, title, page->width);
    if (state[0] != '\0')
        page_add(page, top_look_of_state(state), ", %s", state);
    if (columns == 0 || page_left(page) < columns + 2)
        return;
    if (is_screen)
        page_go_to(page, page->width - columns);
    else
        page_add(page, LOOK_PLAIN, ", ");
    page_add(page, is_screen ? LOOK_DIM : LOOK_PLAIN, "%s", model->clock);
}

void top_add_plural(struct page *page, enum look look, double count, const char *one, const char *many)
{
    char number[HUMAN_MAX];
    page_add(page, look, "%s %s", top_whole(number, count), count == 1 ? one : many);
}

void top_set_cell(struct table_row *row, unsigned column, enum look look, const char *text)
{
    snprintf(row->cells[column].text, TABLE_CELL_MAX, "%s", text);
    row->cells[column].look = look;
}
/* A time as a clock shows it, "3:16" and "2:05:09", from a day on "3 d 04 h". */
static const char *clock_text(char text[HUMAN_MAX], double seconds)
{
    if (!(seconds < DAY_S))
        return human_duration(text, seconds);
    const unsigned whole = (unsigned)lround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0)
        snprintf(text, HUMAN_MAX, "%u:%02u:%02u", hours, minutes, whole % 60);
    else
        snprintf(text, HUMAN_MAX, "%u:%02u", minutes, whole % 60);
    return text;
}

/* "3:16 to 3:19", of short times "4.5 to 19 s", or what is known of it. */
void top_band_text(char text[TABLE_CELL_MAX], const struct job_view *view)
{
    const double soonest_s = view->soonest_s, latest_s = view->latest_s;
    char soonest[HUMAN_MAX], latest[HUMAN_MAX];
    text[0] = '\0';
    if (soonest_s < 0)
        return;
    if (latest_s < 0)
        snprintf(text, TABLE_CELL_MAX, "%s or later", clock_text(soonest, soonest_s));
    else if (latest_s < 99.5)
        snprintf(text, TABLE_CELL_MAX, "%.*f to %.*f s", soonest_s < 9.95, soonest_s, latest_s < 9.95, latest_s);
    else
        snprintf(text, TABLE_CELL_MAX, "%s to %s", clock_text(soonest, soonest_s), clock_text(latest, latest_s));
}
