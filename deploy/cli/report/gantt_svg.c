/* SPDX-License-Identifier: MIT */
/* The Gantt chart as SVG: see gantt.h.
 *
 * All chunks of one look are one path, so that the file is small. The axis has CELLS cells; a chunk that is narrower
 * than one is no rectangle of its own: the cell then shows the busy share of its time by opacity, in the look of the
 * class that has most of it. A row of a node shows the share of its busy workers by height instead. */
#include "deploy/cli/report/gantt.h"

#include "common/util/grow.h"
#include "deploy/cli/report/markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 660, LEFT = 92, RIGHT = 16, TOP = 74, BOTTOM = 44, LEVELS = 8, LEGEND_COLUMNS = 3 };
#define GAP 0.4 /* between chunks that are wide enough */

/* The looks of the classes: the colours of Okabe and Ito, and a hatching for each but the commonest, which tell
 * the classes apart in print and to those who see colours differently. */
static const struct look {
    const char *colour, *hatching; /* hatching: lines of a tile of 6 by 6; "" for none */
} looks[GANTT_CLASSES] = {
    [GANTT_OWN] = {"#0072b2", ""},
    [GANTT_OTHER] = {"#56b4e9", ""},
    [GANTT_REQUEUED] = {"#e69f00", "M0 6L6 0M-1 1L1 -1M5 7L7 5"},
    [GANTT_RECALLED] = {"#009e73", "M0 0L6 6M-1 5L1 7M5 -1L7 1"},
    [GANTT_COPY] = {"#cc79a7", "M3 0V6"},
    [GANTT_VERIFY] = {"#999999", "M0 3H6"},
    [GANTT_IN_VAIN] = {"#d55e00", "M0 0L6 6M6 0L0 6"},
};

struct drawing {
    struct text *text;                            /* borrowed */
    struct text marks;                            /* owned: what stands before all rows */
    struct text paths[GANTT_CLASSES][LEVELS + 1]; /* by class and level of opacity; level 0 has nothing */
    double cells[GANTT_CLASSES][CELLS];           /* of the row at hand: the busy share of each */
    const struct run_trace *trace;                /* borrowed */
    double end_s;                                 /* at the right end of the axis */
    double row_height, y;                         /* y: of the row at hand */
};

/* A unit of time that gives the axis readable numbers. */
static const struct time_unit {
    double seconds;
    const char *name;
} units[] = {{3600, "h"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};

static const struct time_unit *unit_for(double end_s)
{
    return end_s >= 7200 ? &units[0] : end_s >= 0.5 ? &units[1] : end_s >= 5e-4 ? &units[2] : &units[3];
}

static double place_of_time(const struct drawing *drawing, double time_s)
{
    return time_s / drawing->end_s * CELLS;
}

/* Adds a rectangle to a path; x in cells. */
static void add_rectangle(struct text *path, double x, double width, double y, double height)
{
    text_add(path, "M%.4g %.5gh%.3gv%.3gh-%.3gz", LEFT + x, y, width, height, width);
}

/* Adds the time from `from` to `to`, in cells, to the busy share of its class; `weight` is that of one worker. */
static void fill_cells(double cells[CELLS], double from, double to, double weight)
{
    for (unsigned i = (unsigned)from; i < CELLS && i < to; i++)
        cells[i] += weight * (fmin(to, i + 1.0) - fmax(from, i));
}

/* --- a worker a row --- */

/* Draws the cells in which chunks were too narrow: neighbours that look alike at once. */
static void draw_shares(struct drawing *drawing)
{
    unsigned begun = 0, last_class = 0, last_level = 0;
    for (unsigned i = 0; i <= CELLS; i++) {
        double sum = 0;
        unsigned class = 0;
        for (unsigned k = 0; i < CELLS && k < GANTT_CLASSES; k++) {
            sum += drawing->cells[k][i];
            class = drawing->cells[k][i] > drawing->cells[class][i] ? k : class;
        }
        const unsigned level = (unsigned)ceil(fmin(sum, 1) * LEVELS - 1e-3);
        if (i > 0 && i < CELLS && class == last_class && level == last_level)
            continue;
        if (last_level > 0)
            add_rectangle(&drawing->paths[last_class][last_level], begun, i - begun, drawing->y, drawing->row_height);
        begun = i;
        last_class = class;
        last_level = level;
    }
}

static void draw_worker(struct drawing *drawing, const struct run_worker *worker)
{
    const double gap = drawing->row_height >= 5 ? 1 : 0.5, height = drawing->row_height;
    memset(drawing->cells, 0, sizeof drawing->cells);
    drawing->row_height = height - gap;
    for (size_t i = worker->first; i < worker->first + worker->count; i++) {
        const struct run_chunk *chunk = &drawing->trace->chunks[i];
        const enum gantt_class class = gantt_class_of(chunk->reason, chunk->fate);
        double from_s, to_s;
        if (!run_chunk_span(drawing->trace, chunk, drawing->end_s, &from_s, &to_s))
            continue;
        const double from = place_of_time(drawing, from_s), to = fmin(place_of_time(drawing, to_s), CELLS);
        if (to - from >= 1)
            add_rectangle(&drawing->paths[class][LEVELS], from, to - from - (to - from > 2 ? GAP : 0), drawing->y,
                          drawing->row_height);
        else
            fill_cells(drawing->cells[class], from, to, 1);
    }
    draw_shares(drawing);
    drawing->row_height = height;
}

/* --- a node a row --- */

/* Draws the busy share of a node's workers, the classes on one another. */
static void draw_node(struct drawing *drawing, const struct run_worker *first, size_t count)
{
    const double height = drawing->row_height - 1;
    memset(drawing->cells, 0, sizeof drawing->cells);
    for (size_t i = first->first; i < first[count - 1].first + first[count - 1].count; i++) {
        const struct run_chunk *chunk = &drawing->trace->chunks[i];
        double from_s, to_s;
        if (run_chunk_span(drawing->trace, chunk, drawing->end_s, &from_s, &to_s))
            fill_cells(drawing->cells[gantt_class_of(chunk->reason, chunk->fate)], place_of_time(drawing, from_s),
                       place_of_time(drawing, to_s), 1.0 / (double)count);
    }
    for (unsigned i = 0; i < CELLS; i++) {
        double below = 0;
        for (unsigned k = 0; k < GANTT_CLASSES; k++) {
            const double share = fmin(drawing->cells[k][i], 1 - below);
            if (share * height >= 0.05)
                add_rectangle(&drawing->paths[k][LEVELS], i, 1, drawing->y + height * (1 - below - share),
                              share * height);
            below += share;
        }
    }
}

/* --- around the rows --- */

static void draw_axis(const struct drawing *drawing, double bottom)
{
    const struct time_unit *unit = unit_for(drawing->end_s);
    const double end = drawing->end_s / unit->seconds, power = pow(10, floor(log10(end / 6)));
    const double step = end / 6 <= 2 * power ? 2 * power : end / 6 <= 5 * power ? 5 * power : 10 * power;
    const int digits = (int)fmax(0, -floor(log10(step) + 1e-9));
    text_add(drawing->text, "<g class=\"axis\"><path d=\"M%d %.1fH%d", LEFT, bottom, LEFT + CELLS);
    for (int i = 0; i * step <= end * (1 + 1e-9); i++)
        text_add(drawing->text, "M%.1f %.1fv4", LEFT + i * step / end * CELLS, bottom);
    text_add(drawing->text, "\"/>");
    for (int i = 0; i * step <= end * (1 + 1e-9); i++)
        text_add(drawing->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f</text>",
                 LEFT + i * step / end * CELLS, bottom + 16, digits, i * step);
    text_add(drawing->text,
             "<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">time since the beginning of the trace (%s)</text></g>\n",
             LEFT + CELLS / 2, bottom + 34, unit->name);
}

/* The hatchings, and how the classes use them. */
static void write_looks(struct text *text)
{
    text_add(text, "<style>text{font:11px sans-serif;fill:#000}.title{font-size:14px;font-weight:bold}"
                   ".axis path,.between{fill:none;stroke:#000;stroke-width:.8}.between{stroke:#bbb;stroke-width:.5}"
                   ".lost{stroke:#000;stroke-width:1.4;fill:none}</style>\n<defs>");
    for (unsigned k = 0; k < GANTT_CLASSES; k++)
        if (looks[k].hatching[0] != '\0')
            text_add(text,
                     "<pattern id=\"hatching%u\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                     "<rect width=\"6\" height=\"6\" fill=\"%s\"/><path d=\"%s\" stroke=\"#fff\" "
                     "stroke-width=\"1.1\"/></pattern>",
                     k, looks[k].colour, looks[k].hatching);
    text_add(text, "</defs>\n");
}

static void write_fill(struct text *text, unsigned class)
{
    if (looks[class].hatching[0] != '\0')
        text_add(text, "fill=\"url(#hatching%u)\"", class);
    else
        text_add(text, "fill=\"%s\"", looks[class].colour);
}

/* The classes that there are. */
static void write_chart_legend(const struct drawing *drawing)
{
    bool is_there[GANTT_CLASSES] = {0};
    unsigned shown = 0;
    for (size_t i = 0; i < drawing->trace->chunk_count; i++)
        is_there[gantt_class_of(drawing->trace->chunks[i].reason, drawing->trace->chunks[i].fate)] = true;
    for (unsigned k = 0; k < GANTT_CLASSES; k++) {
        if (!is_there[k])
            continue;
        const int x = LEFT + (int)(shown % LEGEND_COLUMNS) * (CELLS / LEGEND_COLUMNS),
                  y = 32 + (int)(shown / LEGEND_COLUMNS) * 15;
        text_add(drawing->text, "<rect x=\"%d\" y=\"%d\" width=\"16\" height=\"9\" ", x, y);
        write_fill(drawing->text, k);
        text_add(drawing->text, "/><text x=\"%d\" y=\"%d\">%s</text>\n", x + 21, y + 8, gantt_class_label(k));
        shown++;
    }
}

static void write_paths(struct drawing *drawing)
{
    for (unsigned k = 0; k < GANTT_CLASSES; k++)
        for (unsigned level = 1; level <= LEVELS; level++) {
            char *path = drawing->paths[k][level].length > 0 ? text_take(&drawing->paths[k][level]) : NULL;
            drawing->text->failed |= drawing->paths[k][level].failed;
            text_fini(&drawing->paths[k][level]);
            if (path == NULL)
                continue;
            text_add(drawing->text, "<path ");
            write_fill(drawing->text, k);
            if (level < LEVELS)
                text_add(drawing->text, " fill-opacity=\"%.3g\"", (double)level / LEVELS);
            text_add(drawing->text, " d=\"%s\"/>\n", path);
            free(path);
        }
}

static void write_loss(struct drawing *drawing, const struct run_worker *worker)
{
    if (isnan(worker->lost_s))
        return;
    const double x = LEFT + fmin(place_of_time(drawing, worker->lost_s), CELLS),
                 y = drawing->y + drawing->row_height / 2;
    text_add(&drawing->marks,
             "<path class=\"lost\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\"><title>worker %u was lost</title></path>\n", x - 3,
             y - 3, (unsigned)worker->rank);
}

/* "node 3" at the first row of each node, and the worker's rank where there is room for it. */
static void write_row_label(const struct drawing *drawing, const struct run_worker *worker, bool begins_node,
                            bool is_node)
{
    const double y = drawing->y + fmin(drawing->row_height, 9);
    if (begins_node)
        text_add(drawing->text, "<path class=\"between\" d=\"M%d %.1fH%d\"/><text x=\"4\" y=\"%.1f\">node %u</text>\n",
                 4, drawing->y - 0.7, LEFT + CELLS, y, (unsigned)worker->node);
    if (!is_node && drawing->row_height >= 10)
        text_add(drawing->text, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%u</text>\n", LEFT - 6, y,
                 (unsigned)worker->rank);
}

/* --- the document --- */

static size_t count_of_node(const struct run_trace *trace, size_t first)
{
    size_t count = 1;
    while (first + count < trace->worker_count && trace->workers[first + count].node == trace->workers[first].node)
        count++;
    return count;
}

static size_t count_chart_nodes(const struct run_trace *trace)
{
    size_t nodes = 0;
    for (size_t i = 0; i < trace->worker_count; i += count_of_node(trace, i))
        nodes++;
    return nodes;
}

static void draw_rows(struct drawing *drawing, bool by_node)
{
    const struct run_trace *trace = drawing->trace;
    for (size_t i = 0; i < trace->worker_count;) {
        const struct run_worker *worker = &trace->workers[i];
        const size_t count = by_node ? count_of_node(trace, i) : 1;
        write_row_label(drawing, worker, i == 0 || worker[-1].node != worker->node, by_node);
        if (by_node)
            draw_node(drawing, worker, count);
        else
            draw_worker(drawing, worker);
        for (size_t k = 0; k < count; k++)
            write_loss(drawing, &worker[k]);
        drawing->y += drawing->row_height;
        i += count;
    }
}

static void write_document(struct drawing *drawing, const char *title)
{
    const struct run_trace *trace = drawing->trace;
    const bool by_node = trace->worker_count > GANTT_ROWS_MAX;
    const size_t rows = by_node ? count_chart_nodes(trace) : trace->worker_count;
    drawing->row_height = rows <= 16 ? 16 : rows <= 50 ? 11 : rows <= 100 ? 7 : 4;
    drawing->y = TOP;
    const double bottom = TOP + (double)rows * drawing->row_height + 2;
    text_add(drawing->text,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
             "role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">",
             LEFT + CELLS + RIGHT, bottom + BOTTOM, LEFT + CELLS + RIGHT, bottom + BOTTOM);
    markup_add(drawing->text, title);
    text_add(drawing->text,
             "</title>\n<desc id=\"description\">A row for each %s, time from left to right. Chunks: %zu. Workers: %zu."
             "%s</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
             by_node ? "node" : "worker", trace->chunk_count, trace->worker_count,
             by_node ? " The height is the share of the node's workers that are busy." : "");
    write_looks(drawing->text);
    text_add(drawing->text, "<text class=\"title\" x=\"4\" y=\"18\">");
    markup_add(drawing->text, title);
    text_add(drawing->text, "</text>\n");
    write_chart_legend(drawing);
    draw_rows(drawing, by_node);
    write_paths(drawing);
    if (drawing->marks.data != NULL)
        text_add(drawing->text, "%s", drawing->marks.data);
    drawing->text->failed |= drawing->marks.failed;
    text_fini(&drawing->marks);
    draw_axis(drawing, bottom);
    text_add(drawing->text, "</svg>\n");
}

void gantt_svg(struct text *text, const struct run_trace *trace, const char *title)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (drawing == NULL) {
        text->failed = true;
        return;
    }
    const double end_s = run_trace_end(trace);
    drawing->text = text;
    drawing->trace = trace;
    drawing->end_s = end_s > 0 ? end_s : 1;
    write_document(drawing, title);
    free(drawing);
}
