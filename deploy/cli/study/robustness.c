/* SPDX-License-Identifier: MIT */
/* Degradation and robustness radius: see robustness.h. */
#include "deploy/cli/study/robustness.h"
#include "deploy/cli/study/inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool robustness_is_axis(int axis)
{
    return axis == AXIS_SLOWDOWN || axis == AXIS_LOAD || axis == AXIS_FAIL_NODES;
}

/* The number of the list for the worker, whose numbers are dealt out again and again; `none` is 0. */
static double component_of(const char *list, unsigned worker)
{
    unsigned count = 1;
    for (const char *at = list; *at != '\0'; at++)
        count += *at == ',';
    for (unsigned i = worker % count; i > 0; i--)
        list = strchr(list, ',') + 1;
    return strtod(list, NULL);
}

static double count_of_nodes(const char *list)
{
    double count = strcmp(list, "none") != 0;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

double robustness_distance(int axis, const char *value, const char *nominal, unsigned workers)
{
    double sum = 0;
    if (axis == AXIS_FAIL_NODES)
        return fabs(count_of_nodes(value) - count_of_nodes(nominal));
    for (unsigned w = 0; w < workers; w++) {
        const double apart = component_of(value, w) - component_of(nominal, w);
        sum += apart * apart;
    }
    return sqrt(sum);
}

unsigned robustness_nominal(const struct summary *summary, unsigned index)
{
    const struct study *study = summary->matrix->study;
    struct cell cell = summary->matrix->cells[index];
    cell.at[study->nominal_axis] = (unsigned short)study->nominal;
    return matrix_find(summary->matrix, &cell);
}

/* Lists the cells that differ from the nominal one in the perturbation alone, and are done. */
static unsigned list_perturbed(const struct summary *summary, unsigned nominal, struct fepia_run *list)
{
    const struct matrix *matrix = summary->matrix;
    const int axis = matrix->study->nominal_axis;
    const unsigned workers = (unsigned)strtoul(matrix_value(matrix, nominal, AXIS_WORKERS), NULL, 10);
    struct cell cell = matrix->cells[nominal];
    unsigned count = 0;
    for (unsigned i = 0; i < matrix->study->values[axis].count; i++) {
        cell.at[axis] = (unsigned short)i;
        const unsigned other = matrix_find(matrix, &cell);
        const struct summary_value *elapsed = &summary->cells[other].values[MEASURE_ELAPSED];
        const double distance =
            robustness_distance(axis, matrix_value(matrix, other, axis), matrix_value(matrix, nominal, axis), workers);
        if (elapsed->count > 0 && distance > 0)
            list[count++] = (struct fepia_run){distance, elapsed->median};
    }
    return count;
}

int robustness_of(const struct summary *summary, unsigned nominal, struct fepia_radius *radius)
{
    const struct study *study = summary->matrix->study;
    const struct summary_value *elapsed = &summary->cells[nominal].values[MEASURE_ELAPSED];
    struct fepia_run *list = calloc(study->values[study->nominal_axis].count, sizeof *list);
    if (list == NULL)
        return -1;
    const unsigned count = list_perturbed(summary, nominal, list);
    *radius = fepia_radius_of(list, count, elapsed->count > 0 ? elapsed->median : 0, study->tolerance);
    free(list);
    return 0;
}

/* 100 (T / T_nominal - 1) of all runs of the cell, with the interval of the quotient: both cells vary. */
static void set_degradation(struct summary *summary, unsigned index)
{
    const unsigned nominal = robustness_nominal(summary, index);
    const struct summary_value *own = &summary->cells[index].values[MEASURE_ELAPSED];
    const struct summary_value *undisturbed = &summary->cells[nominal].values[MEASURE_ELAPSED];
    struct summary_value *value = &summary->cells[index].values[MEASURE_DEGRADATION];
    struct interval saving;
    if (own->count == 0 || undisturbed->count == 0 || undisturbed->median <= 0)
        return;
    double *values = summary_room(summary, index, MEASURE_DEGRADATION);
    for (unsigned i = 0; i < own->count; i++)
        values[i] = 100 * (own->values[i] / undisturbed->median - 1);
    summary_set(value, values, own->count);
    value->median = 100 * (own->median / undisturbed->median - 1);
    value->has_interval = index != nominal && own->has_interval && undisturbed->has_interval &&
                          bootstrap_saving(own->values, own->count, undisturbed->values, undisturbed->count, &saving);
    if (value->has_interval) {
        value->low = -saving.high;
        value->high = -saving.low;
    }
}

int robustness_find(struct summary *summary)
{
    if (summary->matrix->study->nominal_axis == AXIS_NONE)
        return 0;
    for (unsigned i = 0; i < summary->matrix->count; i++) {
        struct fepia_radius found;
        set_degradation(summary, i);
        if (robustness_nominal(summary, i) != i)
            continue;
        if (robustness_of(summary, i, &found) < 0)
            return -1;
        if (!found.is_known || found.is_beyond)
            continue;
        double *radius = summary_room(summary, i, MEASURE_RADIUS);
        *radius = found.radius;
        summary_set(&summary->cells[i].values[MEASURE_RADIUS], radius, 1);
    }
    return 0;
}
