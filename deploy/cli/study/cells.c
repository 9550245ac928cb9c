/* SPDX-License-Identifier: MIT */
/* The figures of all cells: see cells.h. Numbers have all their digits here: who reads them rounds them. */
#include "deploy/cli/study/cells.h"
#include "common/metrics/json_text.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/differences.h"
#include "deploy/cli/study/inference.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* --- as a table --- */

static void set_number(struct csv *csv, size_t row, const char *column, bool is_known, double value)
{
    char text[32] = "";
    if (is_known)
        snprintf(text, sizeof text, "%.9g", value);
    csv_set(csv, row, column, text);
}

static void set_measure(struct csv *csv, size_t row, const char *name, const struct summary_value *value)
{
    const struct {
        const char *ending;
        bool is_known;
        double value;
    } columns[] = {
        {"", value->count > 0, value->median},       {".low", value->has_interval, value->low},
        {".high", value->has_interval, value->high}, {".least", value->count > 0, value->least},
        {".q1", value->count > 0, value->lower},     {".q3", value->count > 0, value->upper},
        {".most", value->count > 0, value->most},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char column[64];
        snprintf(column, sizeof column, "%s%s", name, columns[i].ending);
        set_number(csv, row, column, columns[i].is_known, columns[i].value);
    }
}

static void set_difference(const struct summary *summary, struct csv *csv, size_t row,
                           const struct difference *difference)
{
    const bool is_known = difference->is_known;
    char against[1200] = "";
    if (is_known)
        matrix_describe(summary->matrix, difference->against, against, sizeof against);
    csv_set(csv, row, "against", against);
    set_number(csv, row, "saved", is_known, difference->saved);
    set_number(csv, row, "saved.low", is_known && difference->has_interval, difference->low);
    set_number(csv, row, "saved.high", is_known && difference->has_interval, difference->high);
    set_number(csv, row, "p", difference->has_p, difference->p);
    set_number(csv, row, "p.corrected", difference->has_p, difference->p_corrected);
    csv_set(csv, row, "verdict", is_known ? verdict_text(difference->verdict) : "");
}

char *cells_csv(const struct summary *summary, size_t *length)
{
    const struct study *study = summary->matrix->study;
    struct csv csv = {0};
    for (unsigned i = 0; i < summary->matrix->count; i++) {
        const struct summary_cell *cell = &summary->cells[i];
        const size_t row = csv_add(&csv);
        for (int axis = 0; axis < AXES; axis++)
            csv_set(&csv, row, study_axes[axis].name, matrix_value(summary->matrix, i, axis));
        set_number(&csv, row, "runs", true, cell->done);
        set_number(&csv, row, "failed", true, cell->failed);
        for (int k = 0; k < MEASURES; k++)
            if (study->measured[k])
                set_measure(&csv, row, measures[k].name, &cell->values[k]);
        set_difference(summary, &csv, row, &cell->difference);
    }
    char *text = csv_text(&csv, length);
    csv_fini(&csv);
    return text;
}

/* --- as JSON --- */

static json_t *interval_json(bool is_known, double low, double high)
{
    return is_known ? json_pack("[f, f]", low, high) : json_null();
}

static json_t *number_json(bool is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *measure_json(int measure, const struct summary_value *value)
{
    if (value->count == 0)
        return json_null();
    return json_pack("{s:s, s:i, s:f, s:o, s:[f, f, f, f, f]}", "unit", measures[measure].unit, "runs",
                     (int)value->count, "median", value->median, "interval",
                     interval_json(value->has_interval, value->low, value->high), "quartiles", value->least,
                     value->lower, value->median, value->upper, value->most);
}

static json_t *axes_json(const struct matrix *matrix, unsigned cell)
{
    json_t *object = json_object();
    for (int axis = 0; axis < AXES; axis++)
        json_object_set_new(object, study_axes[axis].name, json_of_text(matrix_value(matrix, cell, axis)));
    return object;
}

static json_t *difference_json(const struct summary *summary, const struct difference *difference)
{
    if (!difference->is_known)
        return json_null();
    return json_pack(
        "{s:o, s:f, s:o, s:o, s:o, s:s}", "against", axes_json(summary->matrix, difference->against), "saved",
        difference->saved, "interval", interval_json(difference->has_interval, difference->low, difference->high), "p",
        number_json(difference->has_p, difference->p), "p_corrected",
        number_json(difference->has_p, difference->p_corrected), "verdict", verdict_text(difference->verdict));
}

static json_t *cell_json(const struct summary *summary, unsigned index)
{
    const struct summary_cell *cell = &summary->cells[index];
    json_t *figures = json_object();
    for (int k = 0; k < MEASURES; k++)
        if (summary->matrix->study->measured[k])
            json_object_set_new(figures, measures[k].name, measure_json(k, &cell->values[k]));
    return json_pack("{s:o, s:i, s:i, s:o, s:o}", "axes", axes_json(summary->matrix, index), "runs", (int)cell->done,
                     "failed", (int)cell->failed, "measures", figures, "difference",
                     difference_json(summary, &cell->difference));
}

char *cells_json(const struct summary *summary)
{
    json_t *cells = json_array();
    for (unsigned i = 0; i < summary->matrix->count; i++)
        json_array_append_new(cells, cell_json(summary, i));
    json_t *object = json_pack("{s:f, s:s, s:s, s:s, s:f, s:o}", "confidence", CONFIDENCE, "interval",
                               "exact bootstrap of the median, percentile method", "test", "Mann-Whitney, two-sided",
                               "correction", "Holm", "level", DIFFERENCE_LEVEL, "cells", cells);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(object);
    return text;
}
