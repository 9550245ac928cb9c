/* SPDX-License-Identifier: MIT */
/* The progress line: see progress.h.
 *
 * The line consists of pieces with known widths in columns (not bytes). If the line is too wide, pieces are omitted
 * one by one until the others fit. Pieces of fixed width come first in the line, because then they do not move. */
#include "common/metrics/progress.h"
#include "common/metrics/human.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME, BAR, PERCENT, COUNT, RATE, TIME, BUSY, PIECES };
enum { BAR_MIN = 10, BAR_MAX = 30, GAP = 2 };

/* The order in which pieces are omitted. Before any piece is omitted, the bar shrinks. */
static const int dispensable[] = {NAME, BAR, BUSY, RATE, COUNT, TIME, PERCENT};

struct piece {
    char text[3 * HUMAN_BAR_MAX + 8];
    unsigned columns;
};

static double share_done(const struct progress *progress)
{
    return progress->total > 0 ? (double)progress->done / (double)progress->total : 1;
}

static void make_name(struct piece *piece, const struct progress *progress)
{
    snprintf(piece->text, sizeof piece->text, "%.24s", progress->name != NULL ? progress->name : "");
}

static void make_bar(struct piece *piece, const struct progress *progress, unsigned columns, bool utf8)
{
    char bar[3 * HUMAN_BAR_MAX + 1];
    human_bar(bar, share_done(progress), columns, utf8);
    snprintf(piece->text, sizeof piece->text, utf8 ? "│%s│" : "[%s]", bar);
    piece->columns = columns + 2;
}

/* Writes the percentage, rounded down, so that 100 % means complete. A growing loop has no percentage. */
static void make_percent(struct piece *piece, const struct progress *progress)
{
    if (progress->grows)
        return;
    unsigned percent = (unsigned)(100 * share_done(progress));
    if (progress->done < progress->total && percent > 99)
        percent = 99;
    snprintf(piece->text, sizeof piece->text, "%3u %%", percent);
}

static void make_count(struct piece *piece, const struct progress *progress)
{
    char done[HUMAN_MAX], total[HUMAN_MAX];
    snprintf(piece->text, sizeof piece->text, "%s of %s%s", human_count(done, progress->done),
             human_count(total, progress->total), progress->grows ? " so far" : "");
}

double progress_rate(const struct progress *progress)
{
    if (progress->elapsed_s <= 0 || progress->done <= progress->resumed)
        return 0;
    return (double)(progress->done - progress->resumed) / progress->elapsed_s;
}

static void make_rate(struct piece *piece, const struct progress *progress)
{
    char text[HUMAN_MAX];
    if (progress_rate(progress) > 0)
        strcpy(piece->text, human_rate(text, progress_rate(progress)));
}

double progress_left_s(const struct progress *progress)
{
    return progress_rate(progress) > 0 ? (double)(progress->total - progress->done) / progress_rate(progress) : -1;
}

static void make_time(struct piece *piece, const struct progress *progress)
{
    char text[HUMAN_MAX];
    double left_s = progress_left_s(progress);
    if (progress->grows && progress->done >= progress->total)
        snprintf(piece->text, sizeof piece->text, progress->draining ? "draining" : "waits for more");
    else if (progress->total == 0)
        snprintf(piece->text, sizeof piece->text, "nothing to do");
    else if (progress->done >= progress->total)
        snprintf(piece->text, sizeof piece->text, "took %s", human_duration(text, progress->elapsed_s));
    else if (progress->draining)
        snprintf(piece->text, sizeof piece->text, "draining");
    else if (left_s > 99 * 86400.0)
        snprintf(piece->text, sizeof piece->text, "over 99 d left");
    else if (left_s > 59)
        snprintf(piece->text, sizeof piece->text, "%s left", human_duration(text, left_s));
    else if (left_s > 0)
        snprintf(piece->text, sizeof piece->text, "%.0f s left", ceil(left_s));
}

static void make_busy(struct piece *piece, const struct progress *progress)
{
    snprintf(piece->text, sizeof piece->text, "%u of %u busy", progress->busy, progress->workers);
}

static unsigned columns_of(const struct piece pieces[PIECES])
{
    unsigned columns = 0;
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].columns > 0)
            columns += pieces[i].columns + (columns > 0 ? GAP : 0);
    return columns;
}

static void make_pieces(struct piece pieces[PIECES], const struct progress *progress)
{
    make_name(&pieces[NAME], progress);
    make_percent(&pieces[PERCENT], progress);
    make_count(&pieces[COUNT], progress);
    make_rate(&pieces[RATE], progress);
    make_time(&pieces[TIME], progress);
    make_busy(&pieces[BUSY], progress);
    for (int i = 0; i < PIECES; i++)
        pieces[i].columns = (unsigned)strlen(pieces[i].text);
}

/* Returns the width of the bar. The width does not depend on the name, because the name may be omitted. It stays the
 * same as long as the other texts keep their lengths. */
static unsigned bar_columns(const struct piece pieces[PIECES], unsigned width)
{
    unsigned others = columns_of(pieces) - pieces[NAME].columns + 2;
    unsigned room = width > others ? width - others : 0;
    unsigned wanted = width / 4 < BAR_MAX ? width / 4 : BAR_MAX;
    unsigned columns = room < wanted ? room : wanted;
    return columns < BAR_MIN ? BAR_MIN : columns;
}

static void leave_out(struct piece pieces[PIECES], unsigned width)
{
    for (int i = 0; i < PIECES && columns_of(pieces) > width; i++)
        pieces[dispensable[i]].columns = 0;
}

const char *progress_line(const struct progress *progress, unsigned width, bool utf8, char line[PROGRESS_LINE_MAX])
{
    struct piece pieces[PIECES] = {0};
    make_pieces(pieces, progress);
    make_bar(&pieces[BAR], progress, bar_columns(pieces, width), utf8);
    leave_out(pieces, width);
    size_t used = 0;
    line[0] = '\0';
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].columns > 0)
            used += (size_t)snprintf(line + used, PROGRESS_LINE_MAX - used, "%*s%s", used > 0 ? GAP : 0, "",
                                     pieces[i].text);
    return line;
}

__attribute__((format(printf, 2, 3))) static void add_part(char line[PROGRESS_LINE_MAX], const char *format, ...)
{
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, PROGRESS_LINE_MAX - used, format, arguments);
    va_end(arguments);
}

const char *progress_log(const struct progress *progress, const char *end, char line[PROGRESS_LINE_MAX])
{
    struct piece percent, count;
    char text[HUMAN_MAX];
    make_percent(&percent, progress);
    make_count(&count, progress);
    snprintf(line, PROGRESS_LINE_MAX, "%s: %s (%s)", progress->name, count.text,
             percent.text + strspn(percent.text, " "));
    if (progress_rate(progress) > 0)
        add_part(line, ", %s", human_rate(text, progress_rate(progress)));
    if (progress->draining)
        add_part(line, ", draining");
    else if (end != NULL && progress->done < progress->total)
        add_part(line, ", end expected %s", end);
    add_part(line, ", %u of %u busy", progress->busy, progress->workers);
    if (progress->lost > 0)
        add_part(line, ", %u lost", progress->lost);
    return line;
}
