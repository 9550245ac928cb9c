/* SPDX-License-Identifier: MIT */
/* Medians of what was measured: see summary.h. */
#include "deploy/cli/study/summary.h"
#include "common/util/number.h"
#include "deploy/cli/axis.h"
#include "deploy/cli/study/differences.h"
#include "deploy/cli/study/inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The runs of a cell. */
struct sample {
    size_t *rows;
    unsigned count;
};

static int study_summary_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void summary_set(struct summary_value *value, double *values, unsigned count)
{
    *value = (struct summary_value){.count = count, .values = values};
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, study_summary_compare);
    const struct quartiles quartiles = quartiles_of(values, count);
    value->least = quartiles.least;
    value->lower = quartiles.lower;
    value->median = quartiles.median;
    value->upper = quartiles.upper;
    value->most = quartiles.most;
}

void summary_set_with_interval(struct summary_value *value, double *values, unsigned count, bool repeats)
{
    struct interval interval;
    summary_set(value, values, count);
    value->has_interval = !repeats && bootstrap_median(value->values, value->count, &interval);
    if (value->has_interval) {
        value->low = interval.low;
        value->high = interval.high;
    }
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

bool summary_is_settled(const struct study *study, const struct summary_value *elapsed)
{
    const double below = elapsed->median - elapsed->low, above = elapsed->high - elapsed->median;
    if (study->until <= 0 || elapsed->count < STUDY_UNTIL_LEAST)
        return false;
    if (!elapsed->has_interval)
        return elapsed->most <= elapsed->least;
    return fmax(below, above) <= study->until / 100 * elapsed->median;
}

/* The room for the figures of a cell of one measure, of as many runs as it has at most. */
static double *summary_room(const struct summary *summary, unsigned cell, int measure)
{
    return summary->values + ((size_t)cell * MEASURES + (size_t)measure) * summary->matrix->study->repetitions;
}

static void measure_cell(struct summary *summary, unsigned index, const struct csv *csv, const struct sample *sample)
{
    struct summary_cell *cell = &summary->cells[index];
    for (int i = 0; i < MEASURES; i++) {
        unsigned count = 0;
        double *values = summary_room(summary, index, i);
        for (unsigned k = 0; k < sample->count; k++)
            count += read_figure(csv, sample->rows[k], &measures[i], &values[count]);
        if (summary->matrix->study->measured[i] || i == MEASURE_ELAPSED)
            summary_set_with_interval(&cell->values[i], values, count, matrix_repeats(summary->matrix, index));
        else
            summary_set(&cell->values[i], values, count);
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
    measure_cell(summary, index, csv, sample);
    if (!summary_is_settled(summary->matrix->study, &cell->values[MEASURE_ELAPSED]))
        summary->to_come += summary->matrix->study->repetitions - cell->done - cell->failed;
}

/* With all their threads; `auto` counts as one. */
static double study_summary_workers_of(const struct summary *summary, unsigned cell)
{
    double threads = strtod(matrix_value(summary->matrix, cell, AXIS_THREADS), NULL);
    return strtod(matrix_value(summary->matrix, cell, AXIS_WORKERS), NULL) * fmax(threads, 1);
}

double summary_serial_time(const struct summary *summary, unsigned kernel)
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

/* Values that only the figures of others tell. Both fall where the time rises, so that the order of the runs turns
 * round. Their medians follow from that of the time, as does the interval of the speedup, whose reference is taken as
 * it is. */
static struct summary_value follow(const struct summary_value *elapsed,
                                   double (*from)(double elapsed_s, double reference), double reference, double *values)
{
    struct summary_value value;
    for (unsigned i = 0; i < elapsed->count; i++)
        values[i] = from(elapsed->values[i], reference);
    summary_set(&value, values, elapsed->count);
    value.median = from(elapsed->median, reference);
    value.has_interval = elapsed->has_interval;
    if (value.has_interval) {
        value.low = from(elapsed->high, reference);
        value.high = from(elapsed->low, reference);
    }
    return value;
}

static double speedup_from(double elapsed_s, double serial_s)
{
    return serial_s / elapsed_s;
}

static double saving_from(double elapsed_s, double baseline_s)
{
    return 100 * (1 - elapsed_s / baseline_s);
}

static void set_speedup(struct summary *summary, unsigned index, double serial)
{
    struct summary_value *values = summary->cells[index].values;
    const struct summary_value *elapsed = &values[MEASURE_ELAPSED];
    if (elapsed->count > 0 && serial > 0 && elapsed->least > 0)
        values[MEASURE_SPEEDUP] = follow(elapsed, speedup_from, serial, summary_room(summary, index, MEASURE_SPEEDUP));
}

/* The baseline varies, too: the interval is that of the difference. */
static void set_improvement(struct summary *summary, unsigned index)
{
    struct summary_cell *cell = &summary->cells[index];
    const unsigned against = summary_baseline(summary, index);
    const struct summary_value *elapsed = &cell->values[MEASURE_ELAPSED];
    const struct summary_value *baseline = &summary->cells[against].values[MEASURE_ELAPSED];
    if (elapsed->count == 0 || baseline->count == 0 || baseline->median <= 0)
        return;
    struct summary_value *value = &cell->values[MEASURE_IMPROVEMENT];
    *value = follow(elapsed, saving_from, baseline->median, summary_room(summary, index, MEASURE_IMPROVEMENT));
    value->has_interval = cell->difference.is_known && cell->difference.has_interval;
    value->low = cell->difference.low;
    value->high = cell->difference.high;
}

static unsigned reference_of(const struct summary *summary, unsigned index, const struct study_reference *reference)
{
    struct cell cell = summary->matrix->cells[index];
    for (int axis = 0; axis < AXES; axis++)
        if (reference->at[axis] >= 0)
            cell.at[axis] = (unsigned short)reference->at[axis];
    return matrix_find(summary->matrix, &cell);
}

unsigned summary_baseline(const struct summary *summary, unsigned index)
{
    return reference_of(summary, index, &summary->matrix->study->baseline);
}

/* The loop time of one worker, as the speedup of the cell takes it. 0: it is not known. */
static double serial_time_of(const struct summary *summary, unsigned index, double serial)
{
    const struct study_reference *base = &summary->matrix->study->speedup_base;
    if (!base->given)
        return serial;
    const unsigned cell = reference_of(summary, index, base);
    const struct summary_value *elapsed = &summary->cells[cell].values[MEASURE_ELAPSED];
    return elapsed->count > 0 ? elapsed->median * study_summary_workers_of(summary, cell) : 0;
}

static void compare_cells(struct summary *summary)
{
    const struct study *study = summary->matrix->study;
    for (unsigned kernel = 0; kernel < study->values[AXIS_KERNEL].count; kernel++) {
        double serial = summary_serial_time(summary, kernel);
        for (unsigned i = 0; i < summary->matrix->count; i++)
            if (summary->matrix->cells[i].at[AXIS_KERNEL] == kernel)
                set_speedup(summary, i, serial_time_of(summary, i, serial));
    }
    for (unsigned i = 0; study->baseline.given && i < summary->matrix->count; i++)
        set_improvement(summary, i);
}

int summary_init(struct summary *summary, const struct matrix *matrix, const struct csv *csv, struct error *error)
{
    unsigned most = matrix->study->repetitions;
    struct sample sample = {calloc(most, sizeof *sample.rows), 0};
    size_t *rows = matrix_rows(matrix, csv);
    *summary = (struct summary){.matrix = matrix,
                                .cells = calloc(matrix->count, sizeof *summary->cells),
                                .values = calloc((size_t)matrix->count * MEASURES * most, sizeof *summary->values)};
    bool ready = sample.rows != NULL && summary->values != NULL && summary->cells != NULL && rows != NULL;
    for (unsigned i = 0; ready && i < matrix->count; i++)
        study_summary_take_cell(summary, i, csv, rows + (size_t)i * most, &sample);
    ready = ready && differences_find(summary) == 0;
    if (ready)
        compare_cells(summary);
    free(rows);
    free(sample.rows);
    return ready ? 0 : error_set(error, "out of memory for the figures of %u cells", matrix->count);
}

void summary_fini(struct summary *summary)
{
    free(summary->cells);
    free(summary->values);
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
