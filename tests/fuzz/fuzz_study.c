/* SPDX-License-Identifier: MIT */
/* A study's file and its table of runs: the first byte says which (odd: the table). The file is refused with one line,
 * or every axis has a value and each run of the matrix comes once in every order; the table is refused with one line,
 * or it is the same after it was written and read again. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/least.h"
#include "deploy/cli/study/matrix.h"
#include "deploy/cli/study/plan.h"

#include <string.h>

enum { RUNS_MAX = 5000 };

static void check_matrix(const struct study *study, struct error *error)
{
    struct matrix matrix;
    size_t count;
    REQUIRE(matrix_init(&matrix, study, error) == 0);
    struct matrix_run *runs = matrix_order(&matrix, &count);
    REQUIRE(runs != NULL && count == (size_t)matrix.count * study->repetitions);
    unsigned char *seen = calloc(count, 1);
    for (size_t i = 0; i < count; i++) {
        size_t place = (size_t)runs[i].repetition * matrix.count + runs[i].cell;
        REQUIRE(place < count && !seen[place]++);
        REQUIRE(matrix_find(&matrix, &matrix.cells[runs[i].cell]) == runs[i].cell);
    }
    for (unsigned i = 0; i < matrix.count && i < 4; i++) {
        struct argv line = {0};
        char text[80];
        if (strtoul(matrix_value(&matrix, i, AXIS_WORKERS), NULL, 10) > 1000)
            break; /* a list of as many slowdowns takes its time */
        if (strcmp(matrix_value(&matrix, i, AXIS_MIN_CHUNK), LEAST_HALF_MFSC) == 0)
            continue; /* loads what the kernel names */
        matrix_compose(&matrix, i, "report.json", &line);
        matrix_describe(&matrix, i, text, sizeof text);
        REQUIRE(line.count > 4 && !line.failed);
        argv_fini(&line);
    }
    free(seen);
    free(runs);
    matrix_fini(&matrix);
}

static void check_study(const char *text)
{
    struct study study;
    struct error error = {0};
    if (study_parse(&study, "a.study", text, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(strncmp(error.text, "a.study", 7) == 0);
    } else {
        uint64_t runs = study.repetitions;
        for (int axis = 0; axis < AXES; axis++)
            runs *= study.values[axis].count;
        REQUIRE(runs > 0 && runs <= STUDY_RUNS_MAX);
        if (runs <= RUNS_MAX)
            check_matrix(&study, &error);
    }
    study_fini(&study);
}

static void check_table(const char *text)
{
    struct csv csv, again;
    struct error error = {0};
    size_t length, again_length;
    if (csv_parse(&csv, "a.csv", text, &error) < 0) {
        require_one_line(error.text);
        csv_fini(&csv);
        return;
    }
    char *written = csv_text(&csv, &length);
    REQUIRE(written != NULL && csv_parse(&again, "a.csv", written, &error) == 0);
    REQUIRE(again.count == csv.count && again.columns.count == csv.columns.count);
    char *rewritten = csv_text(&again, &again_length);
    REQUIRE(rewritten != NULL && again_length == length && memcmp(written, rewritten, length) == 0);
    free(written);
    free(rewritten);
    csv_fini(&csv);
    csv_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    char *text = fuzz_text(bytes + 1, size - 1);
    if (bytes[0] & 1)
        check_table(text);
    else
        check_study(text);
    free(text);
    return 0;
}
