/* SPDX-License-Identifier: MIT */
/* Computing times of single workers: see workers.h. */
#include "deploy/cli/study/workers.h"

#include <stdlib.h>
#include <string.h>

struct workers {
    unsigned count;
    double median[WORKERS_SHOWN_MAX];
};

static unsigned read_times(const char *text, double times[WORKERS_SHOWN_MAX])
{
    unsigned count = 0;
    for (char *end; count < WORKERS_SHOWN_MAX; text = end, count++) {
        times[count] = strtod(text, &end);
        if (end == text)
            break;
    }
    return count;
}

/* For the runs of a cell; their figures are in `sample`, worker after worker. */
static void workers_take_cell(struct workers *workers, const struct csv *csv, const size_t *rows, unsigned repetitions,
                              double *sample)
{
    unsigned runs = 0;
    *workers = (struct workers){0};
    for (unsigned r = 0; r < repetitions; r++) {
        double times[WORKERS_SHOWN_MAX];
        bool is_done = rows[r] != MATRIX_NO_ROW && strcmp(csv_get(csv, rows[r], "status"), STATUS_DONE) == 0;
        unsigned count = is_done ? read_times(csv_get(csv, rows[r], WORKERS_COLUMN), times) : 0;
        if (count == 0 || (runs > 0 && count != workers->count))
            continue;
        workers->count = count;
        for (unsigned w = 0; w < count; w++)
            sample[w * repetitions + runs] = times[w];
        runs++;
    }
    for (unsigned w = 0; w < workers->count; w++) {
        struct summary_value value;
        summary_set(&value, &sample[w * repetitions], runs);
        workers->median[w] = value.median;
    }
}

static void workers_write_head(const struct study *study, unsigned workers, FILE *file)
{
    unsigned columns = 1;
    for (int axis = 0; axis < AXES; axis++)
        if (study_varies(study, axis))
            columns += (unsigned)(fprintf(file, "| %s ", study_axes[axis].title) > 0);
    for (unsigned w = 1; w <= workers; w++)
        columns += (unsigned)(fprintf(file, "| %u ", w) > 0);
    fputs("| most / mean |\n", file);
    for (unsigned i = 0; i < columns; i++)
        fputs("|---", file);
    fputs("|\n", file);
}

static void workers_write_row(const struct summary *summary, unsigned cell, const struct workers *workers,
                              unsigned columns, FILE *file)
{
    double most = 0, sum = 0;
    for (int axis = 0; axis < AXES; axis++)
        if (study_varies(summary->matrix->study, axis))
            fprintf(file, "| %s ", matrix_value(summary->matrix, cell, axis));
    for (unsigned w = 0; w < columns; w++) {
        char number[32] = "";
        if (w < workers->count) {
            summary_number(workers->median[w], number, sizeof number);
            most = workers->median[w] > most ? workers->median[w] : most;
            sum += workers->median[w];
        }
        fprintf(file, "| %s ", number);
    }
    fprintf(file, "| %.2f |\n", sum > 0 ? most * workers->count / sum : 1);
}

static void workers_write_table(const struct summary *summary, const struct workers *cells, FILE *file)
{
    unsigned columns = 0;
    for (unsigned i = 0; i < summary->matrix->count; i++)
        columns = cells[i].count > columns ? cells[i].count : columns;
    if (columns == 0)
        return;
    fputs("## Computing time of each worker\n\nSeconds inside the kernel, the median of the runs that are done; the "
          "workers in the order of their ranks.\n\n",
          file);
    workers_write_head(summary->matrix->study, columns, file);
    for (unsigned i = 0; i < summary->matrix->count; i++)
        if (cells[i].count > 0)
            workers_write_row(summary, i, &cells[i], columns, file);
    putc('\n', file);
}

int workers_table(const struct summary *summary, const struct csv *csv, FILE *file)
{
    unsigned repetitions = summary->matrix->study->repetitions;
    struct workers *cells = calloc(summary->matrix->count, sizeof *cells);
    double *sample = calloc((size_t)repetitions * WORKERS_SHOWN_MAX, sizeof *sample);
    size_t *rows = matrix_rows(summary->matrix, csv);
    bool ready = cells != NULL && sample != NULL && rows != NULL;
    for (unsigned i = 0; ready && i < summary->matrix->count; i++)
        workers_take_cell(&cells[i], csv, rows + (size_t)i * repetitions, repetitions, sample);
    if (ready)
        workers_write_table(summary, cells, file);
    free(rows);
    free(sample);
    free(cells);
    return ready ? 0 : -1;
}
