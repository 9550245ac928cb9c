/* SPDX-License-Identifier: MIT */
/* The time steps of the runs: see steps.h. Where one technique pays only behind a few steps, as one that learns does,
 * or only while the load is uneven, the loop time as a whole does not say so. */
#include "deploy/cli/study/steps.h"
#include "deploy/cli/axis.h"
#include "deploy/cli/gnuplot.h"
#include "deploy/cli/plot.h"
#include "deploy/cli/study/figure.h"
#include "deploy/cli/study/inference.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_TEXT_MAX = 1200 };

/* With so many curves the quartiles of each are a band; of more they would hide one another. */
enum { BANDS_MAX = 4 };

/* --- figures --- */

static unsigned read_seconds(const char *text, double seconds[STEPS_KEPT_MAX])
{
    unsigned count = 0;
    for (char *end; count < STEPS_KEPT_MAX; text = end, count++) {
        seconds[count] = strtod(text, &end);
        if (end == text)
            break;
    }
    return count;
}

/* The text of a run's steps; empty where it is not done, or has none. */
static const char *text_of_run(const struct csv *csv, size_t row)
{
    return row != MATRIX_NO_ROW && strcmp(csv_get(csv, row, "status"), STATUS_DONE) == 0
               ? csv_get(csv, row, STEPS_COLUMN)
               : "";
}

/* Reads the runs of a cell, whose rows these are. -1 when memory is out. */
static int read_steps(struct steps_of_cell *cell, const struct csv *csv, const size_t *rows, unsigned repetitions,
                      bool repeats)
{
    double seconds[STEPS_KEPT_MAX];
    unsigned runs = 0;
    for (unsigned r = 0; r < repetitions && cell->count == 0; r++)
        cell->count = read_seconds(text_of_run(csv, rows[r]), seconds);
    if (cell->count == 0)
        return 0;
    cell->values = calloc(cell->count, sizeof *cell->values);
    cell->figures = calloc((size_t)cell->count * repetitions, sizeof *cell->figures);
    if (cell->values == NULL || cell->figures == NULL)
        return -1;
    for (unsigned r = 0; r < repetitions; r++) {
        if (read_seconds(text_of_run(csv, rows[r]), seconds) != cell->count)
            continue;
        for (unsigned i = 0; i < cell->count; i++)
            cell->figures[(size_t)i * repetitions + runs] = seconds[i];
        runs++;
    }
    for (unsigned i = 0; i < cell->count; i++)
        summary_set_with_interval(&cell->values[i], cell->figures + (size_t)i * repetitions, runs, repeats);
    return 0;
}

/* The axes of which each pair of values has a curve in a picture: the techniques of both levels; where none varies what
 * the lines of other pictures are for, or what they run along. AXIS_NONE where there is no such axis. */
static void choose_curves(const struct study *study, int axes[2])
{
    axes[0] = study_varies(study, AXIS_TECHNIQUE) ? AXIS_TECHNIQUE : AXIS_NONE;
    axes[1] = study_varies(study, AXIS_THREAD_TECHNIQUE) ? AXIS_THREAD_TECHNIQUE : AXIS_NONE;
    if (axes[0] == AXIS_NONE && axes[1] == AXIS_NONE)
        axes[0] = study->series != AXIS_NONE ? study->series : study->x;
}

static unsigned count_along(const struct study *study, int axis)
{
    return axis != AXIS_NONE ? study->values[axis].count : 1;
}

/* The cell of a curve, those of one value of the first axis next to each other. */
static unsigned cell_of_curve(const struct matrix *matrix, const struct cell *panel, unsigned curve)
{
    int axes[2];
    struct cell cell = *panel;
    choose_curves(matrix->study, axes);
    const unsigned in_group = count_along(matrix->study, axes[1]);
    if (axes[0] != AXIS_NONE)
        cell.at[axes[0]] = (unsigned short)(curve / in_group);
    if (axes[1] != AXIS_NONE)
        cell.at[axes[1]] = (unsigned short)(curve % in_group);
    return matrix_find(matrix, &cell);
}

static unsigned count_curves(const struct study *study)
{
    int axes[2];
    choose_curves(study, axes);
    return count_along(study, axes[0]) * count_along(study, axes[1]);
}

/* Lists the panels that have something to be seen. A run with one step is a point, which is none. */
static void list_panels_of_steps(struct steps *steps)
{
    const struct matrix *matrix = steps->summary->matrix;
    int axes[2];
    choose_curves(matrix->study, axes);
    for (unsigned i = 0; i < matrix->count; i++) {
        const struct cell *cell = &matrix->cells[i];
        bool is_seen = false;
        if ((axes[0] != AXIS_NONE && cell->at[axes[0]] != 0) || (axes[1] != AXIS_NONE && cell->at[axes[1]] != 0))
            continue;
        for (unsigned k = 0; k < count_curves(matrix->study); k++)
            is_seen = is_seen || steps->cells[cell_of_curve(matrix, cell, k)].count > 1;
        if (is_seen)
            steps->panels[steps->panel_count++] = *cell;
    }
}

int steps_init(struct steps *steps, const struct summary *summary, const struct csv *csv, struct error *error)
{
    const unsigned count = summary->matrix->count, repetitions = summary->matrix->study->repetitions;
    size_t *rows = matrix_rows(summary->matrix, csv);
    *steps = (struct steps){.summary = summary,
                            .cells = calloc(count, sizeof *steps->cells),
                            .panels = calloc(count, sizeof *steps->panels)};
    int result = rows != NULL && steps->cells != NULL && steps->panels != NULL ? 0 : -1;
    for (unsigned i = 0; i < count && result == 0; i++)
        result = read_steps(&steps->cells[i], csv, rows + (size_t)i * repetitions, repetitions,
                            matrix_repeats(summary->matrix, i));
    free(rows);
    if (result < 0)
        return error_set(error, "out of memory for the time steps of %u cells", count);
    list_panels_of_steps(steps);
    return 0;
}

void steps_fini(struct steps *steps)
{
    for (unsigned i = 0; steps->cells != NULL && i < steps->summary->matrix->count; i++) {
        free(steps->cells[i].values);
        free(steps->cells[i].figures);
    }
    free(steps->cells);
    free(steps->panels);
    *steps = (struct steps){0};
}

/* --- the table --- */

static void set_seconds(struct csv *csv, size_t row, const char *column, bool is_known, double seconds)
{
    char text[32] = "";
    if (is_known)
        snprintf(text, sizeof text, "%.9g", seconds);
    csv_set(csv, row, column, text);
}

/* Names the columns: a table without a row has them, too, as programs do not read an empty file. */
static void name_step_columns(struct csv *csv)
{
    static const char *const others[] = {"step", "runs", "time", "time.low", "time.high", "time.least", "time.most"};
    const size_t row = csv_add(csv);
    for (int axis = 0; axis < AXES; axis++)
        csv_set(csv, row, study_axes[axis].name, "");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        csv_set(csv, row, others[i], "");
    if (!csv->failed)
        csv_remove(csv, row);
}

static void add_step(const struct steps *steps, unsigned cell, unsigned step, struct csv *csv)
{
    const struct summary_value *value = &steps->cells[cell].values[step];
    const size_t row = csv_add(csv);
    char number[24];
    for (int axis = 0; axis < AXES; axis++)
        csv_set(csv, row, study_axes[axis].name, matrix_value(steps->summary->matrix, cell, axis));
    snprintf(number, sizeof number, "%u", step + 1);
    csv_set(csv, row, "step", number);
    snprintf(number, sizeof number, "%u", value->count);
    csv_set(csv, row, "runs", number);
    set_seconds(csv, row, "time", true, value->median);
    set_seconds(csv, row, "time.low", value->has_interval, value->low);
    set_seconds(csv, row, "time.high", value->has_interval, value->high);
    set_seconds(csv, row, "time.least", true, value->least);
    set_seconds(csv, row, "time.most", true, value->most);
}

char *steps_csv(const struct steps *steps, size_t *length)
{
    struct csv csv = {0};
    name_step_columns(&csv);
    for (unsigned i = 0; i < steps->summary->matrix->count; i++)
        for (unsigned k = 0; k < steps->cells[i].count; k++)
            add_step(steps, i, k, &csv);
    char *text = csv_text(&csv, length);
    csv_fini(&csv);
    return text;
}

/* --- pictures --- */

void steps_name(const struct steps *steps, size_t panel, char *text, size_t size)
{
    if (steps->panel_count > 1)
        snprintf(text, size, "steps-%zu", panel + 1);
    else
        snprintf(text, size, "steps");
}

void steps_panel_text(const struct steps *steps, size_t panel, char *text, size_t size)
{
    const struct study *study = steps->summary->matrix->study;
    char value[STEPS_TEXT_MAX];
    int axes[2];
    size_t used = 0;
    choose_curves(study, axes);
    text[0] = '\0';
    for (int axis = 0; axis < AXES && used < size; axis++) {
        const bool is_shown = study_varies(study, axis) || axis == AXIS_KERNEL || axis == AXIS_WORKERS;
        if (axis == axes[0] || axis == axes[1] || !is_shown)
            continue;
        study_value_text(axis, study->values[axis].items[steps->panels[panel].at[axis]], value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", value);
    }
}

/* "gss", "gss, ss on threads": what a curve is for. */
static void name_curve(const struct steps *steps, unsigned cell, char *text, size_t size)
{
    const struct matrix *matrix = steps->summary->matrix;
    int axes[2];
    choose_curves(matrix->study, axes);
    text[0] = '\0';
    for (int i = 0; i < 2; i++) {
        const size_t used = strlen(text);
        if (axes[i] == AXIS_NONE || used + 2 >= size)
            continue;
        if (used > 0)
            snprintf(text + used, size - used, ", ");
        study_value_text(axes[i], matrix_value(matrix, cell, axes[i]), text + strlen(text), size - strlen(text));
    }
}

/* True where a panel has bands beside its curves. */
static bool has_bands(const struct study *study)
{
    return study->repetitions >= BOOTSTRAP_LEAST && count_curves(study) <= BANDS_MAX;
}

/* The extent of what is drawn of a panel. */
struct extent {
    unsigned steps;
    double least, most;
};

static struct extent measure_curves(const struct steps *steps, const struct cell *panel)
{
    const struct matrix *matrix = steps->summary->matrix;
    const bool has_quartiles = has_bands(matrix->study);
    struct extent extent = {.least = INFINITY};
    for (unsigned k = 0; k < count_curves(matrix->study); k++) {
        const struct steps_of_cell *cell = &steps->cells[cell_of_curve(matrix, panel, k)];
        extent.steps = cell->count > extent.steps ? cell->count : extent.steps;
        for (unsigned i = 0; i < cell->count; i++) {
            const struct summary_value *value = &cell->values[i];
            extent.least = fmin(extent.least, has_quartiles ? value->lower : value->median);
            extent.most = fmax(extent.most, has_quartiles ? value->upper : value->median);
        }
    }
    return extent;
}

static void write_curve_data(const struct steps_of_cell *cell, unsigned curve, FILE *script)
{
    fprintf(script, "$curve%u << END\n", curve);
    for (unsigned i = 0; i < cell->count; i++) {
        const struct summary_value *value = &cell->values[i];
        fprintf(script, "%u %.9g %.9g %.9g\n", i + 1, value->median, value->lower, value->upper);
    }
    fputs("END\n", script);
}

static void write_settings_of_steps(const struct steps *steps, size_t panel, const struct extent *extent, FILE *script)
{
    const struct study *study = steps->summary->matrix->study;
    char text[STEPS_TEXT_MAX];
    struct axis axis;
    steps_panel_text(steps, panel, text, sizeof text - 60);
    if (study->repetitions > 1)
        snprintf(text + strlen(text), 60, ", median%s of %s%u runs", has_bands(study) ? " and quartiles" : "",
                 study->until > 0 ? "up to " : "", study->repetitions);
    figure_write_caption(text, script);
    fputs("set title 'Time of each time step' font ',15' offset 0,1.2\n"
          "set key outside right top vertical Left reverse samplen 4 spacing 1.25 font ',12'\n"
          "set xlabel 'time step'\nset ylabel 'time of the step, s'\n",
          script);
    fprintf(script, "set xrange [%g:%g]\n", 1 - 0.02 * extent->steps, 1.02 * extent->steps);
    axis_linear(&axis, extent->most + 0.08 * (extent->most - extent->least));
    if (extent->least > extent->most / 2)
        axis.low = extent->least - 0.08 * (extent->most - extent->least);
    axis.real = true;
    axis_write(&axis, "y", script);
}

/* Bands below, curves above them; markers of long curves stand apart from each other. */
static void write_curves(const struct steps *steps, const struct cell *panel, const struct extent *extent, FILE *script)
{
    const struct matrix *matrix = steps->summary->matrix;
    const unsigned curves = count_curves(matrix->study);
    char text[STEPS_TEXT_MAX];
    const char *comma = "";
    int axes[2];
    choose_curves(matrix->study, axes);
    const unsigned in_group = count_along(matrix->study, axes[1]);
    fputs("plot ", script);
    for (unsigned k = 0; k < curves && has_bands(matrix->study); k++)
        if (steps->cells[cell_of_curve(matrix, panel, k)].count > 1) {
            fprintf(script, "%s$curve%u using 1:3:4 with filledcurves lc rgb '%s' fill solid 0.2 noborder notitle",
                    comma, k, plot_colour(in_group > 1 ? k / in_group : k));
            comma = ", \\\n";
        }
    for (unsigned k = 0; k < curves; k++) {
        const unsigned cell = cell_of_curve(matrix, panel, k);
        if (steps->cells[cell].count < 2)
            continue;
        fprintf(script, "%s$curve%u using 1:2 with linespoints ", comma, k);
        if (in_group > 1)
            plot_write_line_of_group(k / in_group, k % in_group, script);
        else
            plot_write_line(k, script);
        name_curve(steps, cell, text, sizeof text);
        fprintf(script, " pointinterval %u title ", extent->steps / 25 + 1);
        gnuplot_quote(script, text);
        comma = ", \\\n";
    }
    putc('\n', script);
}

int steps_draw(const struct steps *steps, size_t panel, const char *path, struct error *error)
{
    const struct matrix *matrix = steps->summary->matrix;
    const struct extent extent = measure_curves(steps, &steps->panels[panel]);
    FILE *script = tmpfile();
    if (script == NULL)
        return error_set(error, "cannot make a temporary file: %s", strerror(errno));
    plot_write_canvas(path, script);
    for (unsigned k = 0; k < count_curves(matrix->study); k++)
        write_curve_data(&steps->cells[cell_of_curve(matrix, &steps->panels[panel], k)], k, script);
    write_settings_of_steps(steps, panel, &extent, script);
    write_curves(steps, &steps->panels[panel], &extent, script);
    const int result = gnuplot_draw(script, path, error);
    fclose(script);
    return result;
}
