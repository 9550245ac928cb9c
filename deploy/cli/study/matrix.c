/* SPDX-License-Identifier: MIT */
/* Cells, order and command lines: see matrix.h. */
#include "deploy/cli/study/matrix.h"
#include "common/util/number.h"
#include "common/util/random.h"
#include "deploy/cli/study/least.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_TEXT_MAX = 1100 };

/* The values as digits of a number. */
static void set_cell(const struct study *study, unsigned index, struct cell *cell)
{
    for (int axis = AXES - 1; axis >= 0; axis--) {
        unsigned count = study->values[axis].count;
        cell->at[axis] = (unsigned short)(index % count);
        index /= count;
    }
}

int matrix_init(struct matrix *matrix, const struct study *study, struct error *error)
{
    unsigned count = 1;
    for (int axis = 0; axis < AXES; axis++)
        count *= study->values[axis].count;
    *matrix = (struct matrix){study, calloc(count, sizeof *matrix->cells), count};
    if (matrix->cells == NULL)
        return error_set(error, "out of memory for %u cells", count);
    for (unsigned i = 0; i < count; i++)
        set_cell(study, i, &matrix->cells[i]);
    return 0;
}

void matrix_fini(struct matrix *matrix)
{
    free(matrix->cells);
    *matrix = (struct matrix){0};
}

const char *matrix_value(const struct matrix *matrix, unsigned cell, int axis)
{
    return matrix->study->values[axis].items[matrix->cells[cell].at[axis]];
}

unsigned matrix_find(const struct matrix *matrix, const struct cell *cell)
{
    unsigned index = 0;
    for (int axis = 0; axis < AXES; axis++)
        index = index * matrix->study->values[axis].count + cell->at[axis];
    return index;
}

static void shuffle(struct matrix_run *runs, unsigned count, struct random *random)
{
    for (unsigned i = count; i > 1; i--) {
        unsigned other = (unsigned)random_between(random, 0, i - 1);
        struct matrix_run kept = runs[i - 1];
        runs[i - 1] = runs[other];
        runs[other] = kept;
    }
}

struct matrix_run *matrix_order(const struct matrix *matrix, size_t *count)
{
    unsigned repetitions = matrix->study->repetitions;
    struct random random;
    *count = (size_t)matrix->count * repetitions;
    struct matrix_run *runs = calloc(*count, sizeof *runs);
    random_init(&random, matrix->study->seed);
    for (unsigned r = 0; runs != NULL && r < repetitions; r++) {
        struct matrix_run *block = runs + (size_t)r * matrix->count;
        for (unsigned i = 0; i < matrix->count; i++)
            block[i] = (struct matrix_run){i, r};
        shuffle(block, matrix->count, &random);
    }
    return runs;
}

void matrix_describe(const struct matrix *matrix, unsigned cell, char *text, size_t size)
{
    char value[VALUE_TEXT_MAX];
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < AXES && used < size; axis++) {
        if (!study_varies(matrix->study, axis) && axis != AXIS_WORKERS)
            continue;
        study_value_text(axis, matrix_value(matrix, cell, axis), value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", value);
    }
}

static void add_option(struct argv *line, const char *name, const char *value)
{
    argv_add_format(line, "--%s", name);
    argv_add(line, value);
}

/* The numbers of a list are dealt out again and again until each worker has one. */
static void add_list(struct argv *line, const char *option, const char *list, unsigned workers)
{
    const char *at = list;
    char *text = NULL;
    size_t size;
    FILE *file = strchr(list, ',') != NULL ? open_memstream(&text, &size) : NULL;
    for (unsigned i = 0; file != NULL && i < workers; i++) {
        size_t length = strcspn(at, ",");
        fprintf(file, "%s%.*s", i > 0 ? "," : "", (int)length, at);
        at = at[length] == ',' ? at + length + 1 : list;
    }
    if (file != NULL)
        fclose(file);
    add_option(line, option, text != NULL ? text : list);
    free(text);
}

static void add_masters(struct argv *line, const char *masters)
{
    if (strncmp(masters, DCA_PREFIX, strlen(DCA_PREFIX)) == 0)
        add_option(line, "dca", masters + strlen(DCA_PREFIX));
    else
        add_option(line, "masters", masters);
}

static unsigned matrix_workers_of(const struct matrix *matrix, unsigned cell)
{
    return (unsigned)strtoul(matrix_value(matrix, cell, AXIS_WORKERS), NULL, 10);
}

/* A value that follows from the loop is put in here; where it cannot be told, hdss run says why. */
static void add_axis(const struct matrix *matrix, unsigned cell, int axis, struct argv *line)
{
    const char *value = matrix_value(matrix, cell, axis);
    char number[24];
    uint64_t chunk;
    if (axis == AXIS_MIN_CHUNK && strcmp(value, LEAST_HALF_MFSC) == 0 &&
        least_half_mfsc(matrix_value(matrix, cell, AXIS_KERNEL), matrix_workers_of(matrix, cell), &chunk, NULL) == 0) {
        snprintf(number, sizeof number, "%" PRIu64, chunk);
        value = number;
    }
    if (study_axes[axis].dealt)
        add_list(line, study_axes[axis].option, value, matrix_workers_of(matrix, cell));
    else
        add_option(line, study_axes[axis].option, value);
}

bool matrix_simulates(const struct matrix *matrix, unsigned cell)
{
    return strcmp(matrix_value(matrix, cell, AXIS_BACKEND), BACKEND_SIMULATE) == 0;
}

bool matrix_repeats(const struct matrix *matrix, unsigned cell)
{
    return matrix_simulates(matrix, cell) && !matrix->study->has_seeds;
}

static void add_command(const struct matrix *matrix, unsigned cell, struct argv *line)
{
    const char *platform = matrix_value(matrix, cell, AXIS_PLATFORM);
    argv_add(line, matrix_simulates(matrix, cell) ? "simulate" : "run");
    if (matrix_simulates(matrix, cell) && strcmp(platform, PLATFORM_NONE) != 0)
        add_option(line, "platform", platform);
}

void matrix_compose(const struct matrix *matrix, unsigned cell, const char *report, struct argv *line)
{
    add_command(matrix, cell, line);
    for (int axis = 0; axis < AXES; axis++) {
        const char *value = matrix_value(matrix, cell, axis), *standard = study_axes[axis].standard;
        bool shown = axis == AXIS_TECHNIQUE || (axis == AXIS_THREADS && matrix->study->line[axis] != 0);
        bool left_out = !shown && standard != NULL && strcmp(value, standard) == 0;
        if (study_axes[axis].option != NULL && !left_out)
            add_axis(matrix, cell, axis, line);
    }
    add_masters(line, matrix_value(matrix, cell, AXIS_MASTERS));
    add_option(line, "progress", "never");
    add_option(line, "report", report);
    argv_add_all(line, &matrix->study->options);
    argv_add_split(line, matrix_value(matrix, cell, AXIS_KERNEL));
}

static char *options_text(const struct study *study)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    for (unsigned i = 0; i < study->options.count; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", study->options.items[i]);
    fclose(file);
    return text;
}

void matrix_write(const struct matrix *matrix, const struct matrix_run *run, struct csv *csv, size_t row)
{
    char number[24];
    const char *masters = matrix_value(matrix, run->cell, AXIS_MASTERS), *topology = study_topology(masters);
    for (int axis = 0; axis < AXES; axis++)
        if (axis != AXIS_MASTERS)
            csv_set(csv, row, study_axes[axis].name, matrix_value(matrix, run->cell, axis));
    csv_set(csv, row, "topology", topology);
    csv_set(csv, row, "masters", topology == masters ? "0" : masters);
    snprintf(number, sizeof number, "%u", run->repetition + 1);
    csv_set(csv, row, "repetition", number);
    char *options = options_text(matrix->study);
    csv_set(csv, row, "options", options != NULL ? options : "");
    csv->failed = csv->failed || options == NULL;
    free(options);
}

/* The value of the axis. A table that is older than an axis has no column for it: its runs had what is usual. */
static const char *read_value(const struct csv *csv, size_t row, int axis)
{
    const char *value = csv_get(csv, row, study_axes[axis].name), *topology = csv_get(csv, row, "topology");
    if (axis == AXIS_MASTERS && study_topology(topology) == topology)
        return topology;
    return *value == '\0' && study_axes[axis].standard != NULL ? study_axes[axis].standard : value;
}

static bool matrix_read_run(const struct matrix *matrix, const struct csv *csv, size_t row, const char *options,
                            struct matrix_run *run)
{
    struct cell cell;
    uint64_t repetition;
    for (int axis = 0; axis < AXES; axis++) {
        const struct argv *values = &matrix->study->values[axis];
        const char *value = read_value(csv, row, axis);
        unsigned i = 0;
        while (i < values->count && strcmp(values->items[i], value) != 0)
            i++;
        if (i == values->count)
            return false;
        cell.at[axis] = (unsigned short)i;
    }
    if (number_parse_u64(csv_get(csv, row, "repetition"), &repetition) < 0 || repetition < 1 ||
        repetition > matrix->study->repetitions || strcmp(csv_get(csv, row, "options"), options) != 0)
        return false;
    *run = (struct matrix_run){matrix_find(matrix, &cell), (unsigned)repetition - 1};
    return true;
}

bool matrix_read(const struct matrix *matrix, const struct csv *csv, size_t row, struct matrix_run *run)
{
    char *options = options_text(matrix->study);
    bool is_run = options != NULL && matrix_read_run(matrix, csv, row, options, run);
    free(options);
    return is_run;
}

size_t *matrix_rows(const struct matrix *matrix, const struct csv *csv)
{
    size_t count = (size_t)matrix->count * matrix->study->repetitions;
    size_t *rows = malloc(count * sizeof *rows);
    char *options = options_text(matrix->study);
    struct matrix_run run;
    for (size_t i = 0; rows != NULL && i < count; i++)
        rows[i] = MATRIX_NO_ROW;
    for (size_t row = 0; rows != NULL && options != NULL && row < csv->count; row++)
        if (matrix_read_run(matrix, csv, row, options, &run))
            rows[(size_t)run.cell * matrix->study->repetitions + run.repetition] = row;
    if (options == NULL) {
        free(rows);
        rows = NULL;
    }
    free(options);
    return rows;
}
