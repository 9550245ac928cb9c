/* SPDX-License-Identifier: MIT */
/* The picture of the chunk sizes: see plot.h. This file makes the script that gnuplot runs: the lines of all
 * series, then, when their extent is known, the axes, and the markers at even distances along them. */
#include "deploy/cli/plot.h"

#include "common/os/files.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/axis.h"
#include "deploy/cli/curve.h"
#include "deploy/cli/gnuplot.h"
#include "deploy/cli/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1280, HEIGHT = 800 }; /* dots of the picture */

/* A line carries about as many markers as can be seen one by one. */
enum { MARKS_ACROSS = 12 };

/* Longer specs go below the picture: beside it they would leave too little of it. */
enum { LEGEND_LETTERS = 26 };

/* Steps: with a series more than so many times as long as another the shorter one is a stroke at the edge. Sizes: the
 * end of a series that begins so much larger lies on the axis. */
#define STEPS_RATIO 25.0
#define SIZES_RATIO 100.0

/* The eight colours of Okabe and Ito without their yellow, which white paper swallows, then those of Tol's muted scheme
 * that stay apart from them. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                      "#000000", "#882255", "#999933", "#332288", "#8c6d46", "#8a8a8a"};

/* Five and eleven share no divisor with each other or with the twelve colours: no two lines are alike. */
static const char *const dashes[] = {"1", "(14,5)", "(3,4)", "(14,4,3,4)", "(24,6)"};
static const int points[] = {6, 4, 8, 10, 12, 14, 7, 5, 9, 1, 2};

#define PICK(list, k) ((list)[(k) % (sizeof(list) / sizeof *(list))])

struct drawing {
    const struct plot *plot;
    FILE *script;
    struct curve *curves; /* curves, one for each spec */
    struct axis x, y;
};

bool plot_accepts(const char *path)
{
    return gnuplot_terminal(path) != NULL;
}

/* False where there are too many chunks. */
static bool take_chunks(struct curve *curve, struct series *series)
{
    struct chunk chunk;
    uint64_t iterations = series->sched.iterations, size;
    if (series_is_equal(series, &size)) {
        curve_take_equal(curve, size, iterations / size);
        if (iterations % size > 0)
            curve_take(curve, iterations % size);
        return true;
    }
    while (!ferror(curve->file) && series_next(series, &chunk)) {
        if (curve->chunks == PLOT_CHUNKS_MAX)
            return false;
        curve_take(curve, chunk.count);
    }
    return true;
}

static enum plot_result write_curve(const struct drawing *drawing, unsigned k, struct error *error)
{
    const struct plot *plot = drawing->plot;
    struct series series;
    if (series_init(&series, plot->setup, plot->specs[k], error) < 0)
        return PLOT_FAILED;
    fprintf(drawing->script, "$line%u << END\n", k);
    curve_begin(&drawing->curves[k], drawing->script);
    bool taken = take_chunks(&drawing->curves[k], &series);
    curve_end(&drawing->curves[k]);
    fputs("END\n", drawing->script);
    bool has_failed = series.sched.failure != NULL;
    if (has_failed)
        error_set(error, "%s", series.sched.failure);
    series_fini(&series);
    if (has_failed)
        return PLOT_FAILED;
    if (taken)
        return PLOT_DRAWN;
    error_set(error,
              "--plot of %s with %" PRIu64 " iterations is not accepted: it has more than %" PRIu64
              " chunks; fewer are, as with a larger --min-chunk",
              plot->specs[k], plot->setup->config.iterations, PLOT_CHUNKS_MAX);
    return PLOT_TOO_LONG;
}

/* Draws both axes, from the extent of all lines. */
static void plot_measure(struct drawing *drawing)
{
    double longest = 0, shortest = INFINITY, least = INFINITY, most = 0;
    for (unsigned k = 0; k < drawing->plot->count; k++) {
        const struct curve *curve = &drawing->curves[k];
        if (curve->chunks == 0)
            continue;
        longest = fmax(longest, (double)curve->chunks);
        shortest = fmin(shortest, (double)curve->chunks);
        least = fmin(least, (double)curve->least);
        most = fmax(most, (double)curve->most);
    }
    if (longest > shortest * STEPS_RATIO)
        axis_logarithmic(&drawing->x, 0.5, longest * 1.05);
    else
        axis_linear(&drawing->x, longest + 1);
    if (most > least * SIZES_RATIO)
        axis_logarithmic(&drawing->y, least / 1.3, most * 1.3);
    else
        axis_linear(&drawing->y, most * 1.05);
}

/* Markers at even distances along the axis, those of each line a little further than those of the one before, so that
 * lines which coincide still show whose they are. */
static void write_marks(const struct drawing *drawing, unsigned k)
{
    const struct curve *curve = &drawing->curves[k];
    double shift = (k + 0.5) / drawing->plot->count, due = 0;
    fprintf(drawing->script, "$mark%u << END\n", k);
    for (unsigned i = 0; i < curve->mark_count; i++) {
        const struct curve_mark *mark = &curve->marks[i];
        double x = (double)mark->step + 0.5 + shift, at = axis_place(&drawing->x, x);
        if (at < due)
            continue;
        fprintf(drawing->script, "%.17g %" PRIu64 "\n", x, mark->size);
        due = (floor(at * MARKS_ACROSS - shift) + 1 + shift) / MARKS_ACROSS;
    }
    fputs("END\n", drawing->script);
}

static size_t longest_spec(const struct plot *plot)
{
    size_t longest = 0;
    for (unsigned k = 0; k < plot->count; k++)
        longest = strlen(plot->specs[k]) > longest ? strlen(plot->specs[k]) : longest;
    return longest;
}

static void plot_write_title(const struct drawing *drawing)
{
    const struct sched_config *config = &drawing->plot->setup->config;
    char text[120], iterations[32], workers[32];
    axis_group_digits(config->iterations, iterations, sizeof iterations);
    axis_group_digits(config->workers, workers, sizeof workers);
    snprintf(text, sizeof text, "Chunk sizes for N = %s iterations and P = %s worker%s", iterations, workers,
             config->workers == 1 ? "" : "s");
    fputs("set title ", drawing->script);
    gnuplot_quote(drawing->script, text);
    fputs(" font ',15' offset 0,0.8\n", drawing->script);
}

static bool any_grouped(const struct drawing *drawing)
{
    for (unsigned k = 0; k < drawing->plot->count; k++)
        if (drawing->curves[k].grouped)
            return true;
    return false;
}

/* Writes settings that are not the default, and what is drawn in another way than chunk by chunk. */
static void plot_write_caption(const struct drawing *drawing)
{
    const struct series_setup *setup = drawing->plot->setup;
    FILE *script = drawing->script;
    fputs("set label 1 '", script);
    fputs(setup->form == SCHED_FORM_CLOSED ? "closed form" : "recursive form", script);
    if (setup->config.min_chunk > 1)
        fprintf(script, "; no chunk but the last below %" PRIu64, setup->config.min_chunk);
    if (setup->config.weighting != SCHED_WEIGHTING_NONE)
        fprintf(script, "; weighted by %s", sched_weighting_name(setup->config.weighting));
    if (setup->config.powers != NULL)
        fputs("; workers of the given powers", script);
    if (any_grouped(drawing))
        fprintf(script, "; after chunk %u neighbouring chunks are drawn as the range of their sizes", CURVE_EXACT);
    fputs("' at graph 0.5, graph 1.028 center font ',10' textcolor rgb '#606060'\n", script);
}

void plot_write_canvas(const char *path, FILE *script)
{
    fprintf(script,
            "set terminal %s noenhanced size %d,%d font 'sans,12' background '#ffffff'\n"
            "set encoding utf8\n"
            "set border 3 lc rgb '#404040'\n"
            "set tics nomirror out\n"
            "set grid xtics ytics lt 1 lw 1 lc rgb '#e4e4e4'\n"
            "set tmargin 5\n",
            gnuplot_terminal(path), WIDTH, HEIGHT);
}

void plot_write_line_of_group(unsigned group, unsigned k, FILE *script)
{
    fprintf(script, "lc rgb '%s' dt %s lw 2 pt %d ps 1.2", PICK(colours, group), PICK(dashes, k), PICK(points, k));
}

void plot_write_line(unsigned k, FILE *script)
{
    plot_write_line_of_group(k, k, script);
}

const char *plot_colour(unsigned k)
{
    return PICK(colours, k);
}

static void write_settings(const struct drawing *drawing)
{
    bool below = longest_spec(drawing->plot) > LEGEND_LETTERS;
    plot_write_canvas(drawing->plot->path, drawing->script);
    fprintf(drawing->script,

            "set bmargin %d\n"
            "set key %s samplen 4 spacing 1.25 font ',12'\n"
            "set xlabel 'scheduling step'\n"
            "set ylabel 'chunk size, iterations'\n",
            below ? -1 : 4, below ? "below left Left reverse height 1.5" : "outside right top vertical Left reverse");
    plot_write_title(drawing);
    plot_write_caption(drawing);
    axis_write(&drawing->x, "x", drawing->script);
    axis_write(&drawing->y, "y", drawing->script);
}

/* The lines, on top of them the markers, and the legend, which shows both together. */
static void write_plot(const struct drawing *drawing)
{
    FILE *script = drawing->script;
    fputs("plot ", script);
    for (unsigned k = 0; k < drawing->plot->count; k++)
        fprintf(script, "$line%u with steps lc rgb '%s' dt %s lw 2 notitle, \\\n", k, PICK(colours, k),
                PICK(dashes, k));
    for (unsigned k = 0; k < drawing->plot->count; k++)
        fprintf(script, "$mark%u with points lc rgb '%s' pt %d ps 1.2 lw 1.5 notitle, \\\n", k, PICK(colours, k),
                PICK(points, k));
    for (unsigned k = 0; k < drawing->plot->count; k++) {
        fputs("NaN with linespoints ", script);
        plot_write_line(k, script);
        fputs(" title ", script);
        gnuplot_quote(script, drawing->plot->specs[k]);
        fputs(k + 1 < drawing->plot->count ? ", \\\n" : "\n", script);
    }
}

static enum plot_result write_script(struct drawing *drawing, struct error *error)
{
    for (unsigned k = 0; k < drawing->plot->count; k++) {
        enum plot_result result = write_curve(drawing, k, error);
        if (result != PLOT_DRAWN)
            return result;
    }
    plot_measure(drawing);
    for (unsigned k = 0; k < drawing->plot->count; k++)
        write_marks(drawing, k);
    write_settings(drawing);
    write_plot(drawing);
    return PLOT_DRAWN;
}

enum plot_result plot_draw(const struct plot *plot, struct error *error)
{
    if (gnuplot_check(error) < 0 || file_check_writable(plot->path, error) < 0)
        return PLOT_FAILED;
    struct drawing drawing = {plot, .script = tmpfile(), .curves = calloc(plot->count, sizeof *drawing.curves)};
    enum plot_result result = PLOT_FAILED;
    if (drawing.script == NULL)
        error_set(error, "cannot make a temporary file: %s", strerror(errno));
    else if (drawing.curves == NULL)
        error_set(error, "out of memory for %u lines", plot->count);
    else
        result = write_script(&drawing, error);
    if (result == PLOT_DRAWN && gnuplot_draw(drawing.script, plot->path, error) < 0)
        result = PLOT_FAILED;
    if (drawing.script != NULL)
        fclose(drawing.script);
    free(drawing.curves);
    return result;
}
