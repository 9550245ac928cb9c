/* Cells, order and command lines: see matrix.h. */
#include "deploy/cli/study/matrix.h"
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

static void add_option(struct words *line, const char *name, const char *value)
{
    words_add_format(line, "--%s", name);
    words_add(line, value);
}

/* The numbers of a list are dealt out again and again until each worker has one. */
static void add_slowdown(struct words *line, const char *list, unsigned workers)
{
    const char *at = list;
    if (strcmp(list, "1") == 0)
        return;
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
    add_option(line, "slowdown", text != NULL ? text : list);
    free(text);
}

static void add_masters(struct words *line, const char *masters)
{
    if (strncmp(masters, DCA_PREFIX, strlen(DCA_PREFIX)) == 0)
        add_option(line, "dca", masters + strlen(DCA_PREFIX));
    else
        add_option(line, "masters", masters);
}

static unsigned workers_of(const struct matrix *matrix, unsigned cell)
{
    return (unsigned)strtoul(matrix_value(matrix, cell, AXIS_WORKERS), NULL, 10);
}

/* What follows from the loop is put in here; where it cannot be told, hdss run says why. */
static void add_axis(const struct matrix *matrix, unsigned cell, int axis, struct words *line)
{
    const char *value = matrix_value(matrix, cell, axis);
    char number[24];
    uint64_t chunk;
    if (axis == AXIS_MIN_CHUNK && strcmp(value, LEAST_HALF_MFSC) == 0 &&
        least_half_mfsc(matrix_value(matrix, cell, AXIS_KERNEL), workers_of(matrix, cell), &chunk, NULL) == 0) {
        snprintf(number, sizeof number, "%" PRIu64, chunk);
        value = number;
    }
    add_option(line, study_axes[axis].option, value);
}

void matrix_compose(const struct matrix *matrix, unsigned cell, const char *report, struct words *line)
{
    words_add(line, "run");
    for (int axis = 0; axis < AXES; axis++) {
        const char *value = matrix_value(matrix, cell, axis), *standard = study_axes[axis].standard;
        bool shown = axis == AXIS_TECHNIQUE || (axis == AXIS_THREADS && matrix->study->line[axis] != 0);
        bool left_out = !shown && standard != NULL && strcmp(value, standard) == 0;
        if (study_axes[axis].option != NULL && !left_out)
            add_axis(matrix, cell, axis, line);
    }
    add_masters(line, matrix_value(matrix, cell, AXIS_MASTERS));
    add_slowdown(line, matrix_value(matrix, cell, AXIS_SLOWDOWN), workers_of(matrix, cell));
    add_option(line, "progress", "never");
    add_option(line, "report", report);
    words_add_all(line, &matrix->study->options);
    words_add_split(line, matrix_value(matrix, cell, AXIS_KERNEL));
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

/* Calls `use` with each name and value by which a run is told from others, until it says no. */
static bool each_field(const struct matrix *matrix, const struct matrix_run *run,
                       bool (*use)(void *context, const char *name, const char *value), void *context)
{
    char number[24];
    const char *masters = matrix_value(matrix, run->cell, AXIS_MASTERS);
    bool go_on = true;
    for (int axis = 0; axis < AXES && go_on; axis++)
        if (axis != AXIS_MASTERS)
            go_on = use(context, study_axes[axis].name, matrix_value(matrix, run->cell, axis));
    go_on = go_on && use(context, "topology", study_topology(masters)) &&
            use(context, "masters", study_topology(masters) == masters ? "0" : masters);
    snprintf(number, sizeof number, "%u", run->repetition + 1);
    go_on = go_on && use(context, "repetition", number);
    char *options = options_text(matrix->study);
    go_on = go_on && options != NULL && use(context, "options", options);
    free(options);
    return go_on;
}

struct place {
    struct csv *csv;
    const struct csv *read;
    size_t row;
};

static bool write_field(void *context, const char *name, const char *value)
{
    struct place *place = context;
    csv_set(place->csv, place->row, name, value);
    return true;
}

/* A table that is older than an axis has no column for it: its runs had what is usual. */
static bool is_field(void *context, const char *name, const char *value)
{
    const struct place *place = context;
    const char *found = csv_get(place->read, place->row, name);
    int axis = study_axis_find(name);
    if (*found == '\0' && axis != AXIS_NONE && study_axes[axis].standard != NULL)
        found = study_axes[axis].standard;
    return strcmp(found, value) == 0;
}

void matrix_write(const struct matrix *matrix, const struct matrix_run *run, struct csv *csv, size_t row)
{
    struct place place = {csv, csv, row};
    each_field(matrix, run, write_field, &place);
}

bool matrix_is_row(const struct matrix *matrix, const struct matrix_run *run, const struct csv *csv, size_t row)
{
    struct place place = {NULL, csv, row};
    return each_field(matrix, run, is_field, &place);
}
