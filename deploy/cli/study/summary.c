/* SPDX-License-Identifier: MIT */
/* Medians of what was measured: see summary.h. */
#include "deploy/cli/study/summary.h"
#include "common/util/number.h"
#include "deploy/cli/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The runs of a cell. */
struct sample {
    size_t *rows;
    double *values;
    unsigned count;
};

static int study_summary_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void summary_set(struct summary_value *value, double *values, unsigned count)
{
    *value = (struct summary_value){.count = count};
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, study_summary_compare);
    value->least = values[0];
    value->most = values[count - 1];
    value->median = (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Takes the values of a run; false where it has none. */
static bool read_figure(const struct csv *csv, size_t row, const struct measure_row *measure, double *figure)
{
    double over;
    if (measure->column == NULL || number_parse_real(csv_get(csv, row, measure->column), figure) < 0)
        return false;
    if (measure->over == NULL)
        return true;
    if (number_parse_real(csv_get(csv, row, measure->over), &over) < 0 || over == 0)
        return false;
    *figure /= over;
    return true;
}

static void measure_cell(struct summary_cell *cell, const struct csv *csv, const struct sample *sample)
{
    for (int i = 0; i < MEASURES; i++) {
        unsigned count = 0;
        for (unsigned k = 0; k < sample->count; k++)
            count += read_figure(csv, sample->rows[k], &measures[i], &sample->values[count]);
        summary_set(&cell->values[i], sample->values, count);
    }
}

static void study_summary_take_row(struct summary *summary, struct summary_cell *cell, const struct csv *csv,
                                   size_t row, struct sample *sample)
{
    const char *status = csv_get(csv, row, "status");
    if (strcmp(status, STATUS_DONE) == 0) {
        sample->rows[sample->count++] = row;
        cell->done++;
        summary->done++;
        return;
    }
    cell->failed++;
    cell->status = status;
    cell->reason = csv_get(csv, row, "reason");
    summary->failed++;
}

static void study_summary_take_cell(struct summary *summary, unsigned index, const struct csv *csv, const size_t *rows,
                                    struct sample *sample)
{
    struct summary_cell *cell = &summary->cells[index];
    sample->count = 0;
    for (unsigned r = 0; r < summary->matrix->study->repetitions; r++)
        if (rows[r] != MATRIX_NO_ROW)
            study_summary_take_row(summary, cell, csv, rows[r], sample);
    measure_cell(cell, csv, sample);
}

/* With all their threads; `auto` counts as one. */
static double study_summary_workers_of(const struct summary *summary, unsigned cell)
{
    double threads = strtod(matrix_value(summary->matrix, cell, AXIS_THREADS), NULL);
    return strtod(matrix_value(summary->matrix, cell, AXIS_WORKERS), NULL) * fmax(threads, 1);
}

/* The quickest case with the fewest workers, times these: what one worker would take. 0: there is none. */
static double serial_time(const struct summary *summary, unsigned kernel)
{
    double fewest = INFINITY, time = 0;
    for (unsigned i = 0; i < summary->matrix->count; i++) {
        const struct summary_value *elapsed = &summary->cells[i].values[MEASURE_ELAPSED];
        double workers = study_summary_workers_of(summary, i), sum = elapsed->median * workers;
        if (summary->matrix->cells[i].at[AXIS_KERNEL] != kernel || elapsed->count == 0 || workers > fewest)
            continue;
        time = workers < fewest ? sum : fmin(time, sum);
        fewest = workers;
    }
    return time;
}

/* Values that only the figures of others tell. Both fall where the time rises. */
static void set_speedup(struct summary_cell *cell, double serial)
{
    const struct summary_value *elapsed = &cell->values[MEASURE_ELAPSED];
    if (elapsed->count > 0 && serial > 0 && elapsed->least > 0)
        cell->values[MEASURE_SPEEDUP] = (struct summary_value){elapsed->count, serial / elapsed->median,
                                                               serial / elapsed->most, serial / elapsed->least};
}

static void set_improvement(struct summary_cell *cell, double baseline)
{
    const struct summary_value *elapsed = &cell->values[MEASURE_ELAPSED];
    if (elapsed->count > 0 && baseline > 0)
        cell->values[MEASURE_IMPROVEMENT] =
            (struct summary_value){elapsed->count, 100 * (1 - elapsed->median / baseline),
                                   100 * (1 - elapsed->most / baseline), 100 * (1 - elapsed->least / baseline)};
}

static double baseline_of(const struct summary *summary, unsigned index)
{
    const struct study *study = summary->matrix->study;
    struct cell cell = summary->matrix->cells[index];
    for (int axis = 0; axis < AXES; axis++)
        if (study->baseline[axis] >= 0)
            cell.at[axis] = (unsigned short)study->baseline[axis];
    const struct summary_value *elapsed = &summary->cells[matrix_find(summary->matrix, &cell)].values[MEASURE_ELAPSED];
    return elapsed->count > 0 ? elapsed->median : 0;
}

static void compare_cells(struct summary *summary)
{
    const struct study *study = summary->matrix->study;
    for (unsigned kernel = 0; kernel < study->values[AXIS_KERNEL].count; kernel++) {
        double serial = serial_time(summary, kernel);
        for (unsigned i = 0; i < summary->matrix->count; i++)
            if (summary->matrix->cells[i].at[AXIS_KERNEL] == kernel)
                set_speedup(&summary->cells[i], serial);
    }
    for (unsigned i = 0; study->baseline_given && i < summary->matrix->count; i++)
        set_improvement(&summary->cells[i], baseline_of(summary, i));
}

int summary_init(struct summary *summary, const struct matrix *matrix, const struct csv *csv, struct error *error)
{
    unsigned most = matrix->study->repetitions;
    struct sample sample = {calloc(most, sizeof *sample.rows), calloc(most, sizeof *sample.values), 0};
    size_t *rows = matrix_rows(matrix, csv);
    *summary = (struct summary){matrix, calloc(matrix->count, sizeof *summary->cells)};
    bool ready = sample.rows != NULL && sample.values != NULL && summary->cells != NULL && rows != NULL;
    for (unsigned i = 0; ready && i < matrix->count; i++)
        study_summary_take_cell(summary, i, csv, rows + (size_t)i * most, &sample);
    if (ready)
        compare_cells(summary);
    free(rows);
    free(sample.rows);
    free(sample.values);
    return ready ? 0 : error_set(error, "out of memory for the figures of %u cells", matrix->count);
}

void summary_fini(struct summary *summary)
{
    free(summary->cells);
    *summary = (struct summary){0};
}

void summary_number(double value, char *text, size_t size)
{
    double magnitude = fabs(value);
    if (magnitude >= 1000 && magnitude < 1e15) {
        size_t sign = value < 0 && size > 1;
        text[0] = '-';
        axis_group_digits((uint64_t)(magnitude + 0.5), text + sign, size - sign);
    } else {
        int digits = magnitude >= 100 || magnitude == 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
        if (magnitude > 0 && magnitude < 0.1)
            digits = magnitude < 0.01 ? 5 : 4;
        bool whole = magnitude < 1000 && fabs(magnitude - round(magnitude)) < 1e-12 * magnitude;
        snprintf(text, size, "%.*f", whole ? 0 : digits, value);
    }
}

void summary_figure(int measure, double value, char *text, size_t size)
{
    if (strcmp(measures[measure].unit, "%") == 0)
        snprintf(text, size, "%.1f", fabs(value) < 0.05 ? 0 : value);
    else
        summary_number(value, text, size);
}
