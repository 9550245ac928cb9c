/* SPDX-License-Identifier: MIT */
/* The parts of `hdss study` that start nothing: the file, the matrix and its order, the table of runs, the figures of a
 * cell, a report's scalars, and the page. */
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/study/cells.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/differences.h"
#include "deploy/cli/study/flatten.h"
#include "deploy/cli/study/least.h"
#include "deploy/cli/study/machine.h"
#include "deploy/cli/study/matrix.h"
#include "deploy/cli/study/measure.h"
#include "deploy/cli/study/plan.h"
#include "deploy/cli/study/report.h"
#include "deploy/cli/study/steps.h"
#include "deploy/cli/study/summary.h"
#include "deploy/cli/study/workers.h"
#include "tests/lib/suite.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define LOOP "kernel = synthetic iterations=9\n"

static void parse(struct study *study, const char *text)
{
    struct error error = {0};
    ck_assert_msg(study_parse(study, "a.study", text, &error) == 0, "%s", error.text);
}

static void check_words(const struct argv *words, const char *expected)
{
    struct argv list = {0};
    argv_add_split(&list, expected);
    ck_assert_uint_eq(words->count, list.count);
    for (unsigned i = 0; i < list.count; i++)
        ck_assert_str_eq(words->items[i], list.items[i]);
    argv_fini(&list);
}

START_TEST(what_a_file_says)
{
    struct study study;
    parse(&study,
          "# two levels\n title = A  title # here\n" LOOP "kernel=mandelbrot  width=64\n\ntechnique = gss css:chunk=5\n"
          "workers = 8 1 1e1\nmasters = 2 0\nrepetitions = 3\nseed = 7\ntimeout = 60\n"
          "options = --drain-time 3\npower = equal 1,0.8\nload = none 0,1\nmeasure = time chunks\nslowdown = 1 "
          "1,2\ndelay = none calculation:50");
    ck_assert_str_eq(study.title, "A title");
    ck_assert_uint_eq(study.values[AXIS_KERNEL].count, 2);
    ck_assert_str_eq(study.values[AXIS_KERNEL].items[1], "mandelbrot width=64");
    ck_assert_uint_eq(study.kernel_line[1], 4);
    check_words(&study.values[AXIS_TECHNIQUE], "gss css:chunk=5");
    check_words(&study.values[AXIS_WORKERS], "1 8 10"); /* numbers in their order */
    check_words(&study.values[AXIS_MASTERS], "0 2");
    check_words(&study.values[AXIS_SLOWDOWN], "1 1,2");
    check_words(&study.values[AXIS_DELAY], "none calculation:50");
    check_words(&study.values[AXIS_WEIGHTING], "none");
    check_words(&study.values[AXIS_POWER], "equal 1,0.8");
    check_words(&study.values[AXIS_LOAD], "none 0,1");
    check_words(&study.options, "--drain-time 3");
    ck_assert_uint_eq(study.repetitions, 3);
    ck_assert_uint_eq(study.seed, 7);
    ck_assert_uint_eq(study.timeout_s, 60);
    ck_assert(study.measured[MEASURE_CHUNKS] && !study.measured[MEASURE_SPEEDUP]);
    ck_assert_int_eq(study.x, AXIS_WORKERS);
    ck_assert_int_eq(study.series, AXIS_MASTERS);
    study_fini(&study);
}
END_TEST

/* Whatever the order of the file: masters as numbers, then the flat launches. */
START_TEST(topologies_and_masters_are_one_axis)
{
    static const char *const cases[][2] = {
        {"", "0"},
        {"masters = 4 0 2\n", "0 2 4"},
        {"masters = 0 2\ntopology = hierarchical\n", "2"},
        {"masters = 2 3\ntopology = dca-rma hierarchical central\n", "0 2 3 dca-rma"},
        {"topology = dca-node dca-rma:atomics=2\n", "dca-node dca-rma:atomics=2"},
    };
    struct study study;
    char text[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, LOOP "workers = 2\n%s", cases[i][0]);
        parse(&study, text);
        check_words(&study.values[AXIS_MASTERS], cases[i][1]);
        study_fini(&study);
    }
}
END_TEST

START_TEST(what_is_wrong_has_a_line)
{
    static const char *const cases[][3] = {
        {LOOP "workers = 2\n\nworker = 3\n", "line 4", "workers"},
        {LOOP "zzzzzzz = 3\n", "line 2", "thread_technique, delay"},
        {LOOP "zzzzzzz = 3\n", "line 2", "timeout, options"},
        {"technique\n", "line 1", "KEY = VALUE"},
        {LOOP "workers =  # none\n", "line 2", "no value"},
        {LOOP "workers = two\n", "line 2", "'two'"},
        {LOOP "workers = 0\n", "line 2", "--workers"},
        {LOOP "workers = 2 2\n", "line 2", "twice"},
        {LOOP "workers = 2\nworkers = 3\n", "line 3", "second time"},
        {LOOP "workers = 2\ntechnique = gss gsss\n", "line 3", "gsss"},
        {LOOP "workers = 2\nslowdown = 0.5\n", "line 3", "0.5"},
        {LOOP "workers = 2\ndelay = soon\n", "line 3", "soon"},
        {LOOP "workers = 2\nload = 0,65\n", "line 3", "65"},
        {LOOP "workers = 2\noptions = --load 2\n", "line 3", "--load"},
        {LOOP "workers = 2\nbackend = simulat\n", "line 3", "mpirun, simulate"},
        {LOOP "workers = 2\nplatform = cluster\n", "line 3", "backend = simulate"},
        {LOOP "workers = 2\nplatform = cluster ranger\nbackend = mpirun simulate\n", "line 3", "several platforms"},
        {LOOP "workers = 2\nbackend = simulate\nthreads = 1 auto\n", "line 4", "threads = auto cannot be simulated"},
        {LOOP "workers = 2\nweighting = acp\nbackend = simulate\ntopology = dca-node central\n", "line 3", "acp"},
        {LOOP "workers = 2\ntopology = ring\n", "line 3", "dca-rma"},
        {LOOP "workers = 2\nmasters = 0\ntopology = hierarchical\n", "line 4", "masters"},
        {LOOP "workers = 2\noptions = --technique gss\n", "line 3", "--technique"},
        {LOOP "workers = 2\noptions = --report=a.json\n", "line 3", "--report"},
        {LOOP "workers = 2\nmeasure = time speed\n", "line 3", "speedup"},
        {LOOP "workers = 2\nrepetitions = 0\n", "line 3", "10000"},
        {LOOP "workers = 2\nthread_technique = gss\n", "line 3", "threads"},
        {LOOP "workers = 2\nx = cores\n", "line 3", "workers"},
        {LOOP "workers = 2\nx = workers\nseries = workers\n", "line 4", "series"},
        {LOOP "workers = 2\nheat = workers\n", "line 3", "two axes"},
        {LOOP "workers = 2\nbaseline = technique=gss\n", "line 3", "no such value"},
        {LOOP "workers = 2\nspeedup_base = masters=0 workers=4\n", "line 3", "speedup_base = 'workers=4'"},
        {LOOP "workers = 2\nspeedup_base = cores=2\n", "line 3", "AXIS=VALUE"},
        {LOOP "workers = 2\nmeasure = improvement\n", "a.study: ", "baseline"},
        {LOOP "workers = 2\nmeasure = thread_imbalance\n", "line 3", "threads = T"},
        {LOOP "workers = 2\nthreads = 1\nmeasure = thread_imbalance\n", "line 4", "threads = T"},
        {LOOP "workers = 2\nfail_nodes = none 0@1\n", "line 3", "backend = simulate"},
        {LOOP "workers = 2\nbackend = simulate\noptions = --fail-nodes 0@1\nfail_nodes = none 0@2\n", "line 5",
         "among the options"},
        {LOOP "workers = 2\ncosts = gamma:mean=10\n", "line 3", "backend = simulate"},
        {LOOP "workers = 2\nbackend = simulate\noptions = --costs=gamma\ncosts = model pareto\n", "line 5",
         "costs is among the options already"},
        {LOOP "workers = 2\nuntil = 0 %\n", "line 3", "a percentage"},
        {LOOP "workers = 2\nuntil = 2 percent\n", "line 3", "a percentage"},
        {LOOP "workers = 2\nuntil = 2% %\n", "line 3", "a percentage"},
        {LOOP "workers = 2\nuntil = 2 %\nrepetitions = 5\n", "line 3", "6 or more"},
        {LOOP "workers = 2\nseeds = yes\n", "line 3", "backend = simulate"},
        {LOOP "workers = 2\nbackend = simulate\noptions = --seed 4\nseeds = yes\n", "line 5", "--seed"},
        {LOOP "workers = 2\nsteps = maybe\n", "line 3", "yes, no"},
        {LOOP "workers = 2\nsteps = yes no\n", "line 3", "yes, no"},
        {LOOP "workers = 2\ntraces = maybe\n", "line 3", "yes, no"},
        {LOOP, "a.study: ", "empty: there is no line workers"},
        {"workers = 2\n", "a.study: ", "empty: there is no line kernel"},
        {LOOP "workers = 1 2 3 4 5 6 7 8 9 10 11\nmasters = 0 1 2 3 4 5 6 7 8 9\nrepetitions = 10000\n",
         "a.study: ", "1000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct study study;
        struct error error = {0};
        ck_assert_int_eq(study_parse(&study, "a.study", cases[i][0], &error), -1);
        ck_assert_msg(strstr(error.text, cases[i][1]) != NULL && strstr(error.text, cases[i][2]) != NULL, "%s: %s",
                      cases[i][0], error.text);
        study_fini(&study);
    }
}
END_TEST

/* What help and errors list is what the tables have. */
START_TEST(names_are_those_of_the_tables)
{
    char axes[400] = "", of_measures[400] = "";
    struct argv others = {0};
    for (int i = 0; i < AXES; i++)
        snprintf(axes + strlen(axes), sizeof axes - strlen(axes), "%s%s", i > 0 ? ", " : "", study_axes[i].name);
    ck_assert_str_eq(STUDY_AXIS_NAMES, axes);
    for (int i = 0; i < MEASURES; i++)
        snprintf(of_measures + strlen(of_measures), sizeof of_measures - strlen(of_measures), "%s%s", i > 0 ? ", " : "",
                 measures[i].name);
    ck_assert_str_eq(MEASURE_NAMES, of_measures);
    argv_add_split(&others, STUDY_OTHER_KEYS);
    for (unsigned i = 0; i < others.count; i++) {
        struct study study;
        struct error error = {0};
        char text[80];
        snprintf(text, sizeof text, "%.*s =\n", (int)strcspn(others.items[i], ","), others.items[i]);
        ck_assert_int_eq(study_parse(&study, "a.study", text, &error), -1);
        ck_assert_msg(strstr(error.text, "has no value") != NULL, "%s", error.text);
        study_fini(&study);
    }
    argv_fini(&others);
}
END_TEST

START_TEST(kernels_and_options_are_checked_where_they_stand)
{
    static const char *const cases[][3] = {
        {"workers = 2\nkernel = synthetic\nkernel = syntetic\n", "line 3", "synthetic"},
        {"workers = 2\nkernel = synthetic mean=x\n", "line 2", "mean"},
        {LOOP "workers = 2\n\noptions = --powr equal\n", "line 4", "--power"},
        {LOOP "workers = 2\nthreads = 1\nthread_technique = gss fsc\n", "line 4", "fsc"},
        {LOOP "workers = 2\nbackend = simulate\nplatform = cluster moon\n", "line 4", "moon"},
        {LOOP "workers = 9\nbackend = simulate\nplatform = cluster:nodes=1,cores=4\n", "line 4", "10 ranks"},
        {LOOP "backend = simulate\nworkers = 1e6\nmasters = 0 100000\n", "line 3", "1100001 ranks"},
        {LOOP "workers = 2\nbackend = simulate\noptions = --fail-nodes soon\n", "line 4", "soon"},
        {LOOP "workers = 5\nbackend = simulate\ntopology = dca-rma\nplatform = cluster:nodes=1,cores=4\n", "line 5",
         "5 ranks"},
        {LOOP "kernel = hydro\nworkers = 2\nbackend = simulate\ntopology = dca-two-sided\n", "line 2", "hydro"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct study study;
        struct error error = {0};
        parse(&study, cases[i][0]);
        ck_assert_int_eq(study_check(&study, "a.study", &error), -1);
        ck_assert_msg(strstr(error.text, cases[i][1]) != NULL && strstr(error.text, cases[i][2]) != NULL, "%s",
                      error.text);
        study_fini(&study);
    }
}
END_TEST

static void check_order(const struct matrix *matrix, const struct matrix_run *runs, size_t count)
{
    unsigned cells = matrix->count, seen[64] = {0};
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(runs[i].repetition, i / cells);
        ck_assert_uint_eq(seen[runs[i].cell]++, runs[i].repetition);
    }
}

static bool is_sorted(const struct matrix_run *runs, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        if (runs[i].cell < runs[i - 1].cell)
            return false;
    return true;
}

/* A repetition of all cells after the other, each in an order of its own, which the seed says. */
START_TEST(the_order_is_shuffled_by_the_seed)
{
    static const char text[] = LOOP "workers = 1 2 3 4\ntechnique = gss fac2 tss\nrepetitions = 3\n";
    struct study study;
    struct matrix matrix;
    struct error error;
    size_t count;
    parse(&study, text);
    ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
    ck_assert_uint_eq(matrix.count, 12);
    struct matrix_run *runs = matrix_order(&matrix, &count), *same = matrix_order(&matrix, &count);
    study.seed++;
    struct matrix_run *other = matrix_order(&matrix, &count);
    ck_assert_uint_eq(count, 36);
    check_order(&matrix, runs, count);
    check_order(&matrix, other, count);
    ck_assert(memcmp(runs, same, count * sizeof *runs) == 0);
    ck_assert(memcmp(runs, other, count * sizeof *runs) != 0);
    ck_assert(!is_sorted(runs, 12));
    free(runs);
    free(same);
    free(other);
    matrix_fini(&matrix);
    study_fini(&study);
}
END_TEST

START_TEST(a_cell_becomes_a_command_line)
{
    static const char *const expected[] = {
        "run --technique gss --power 1,0.8,1 --refill-chunks 4 --refill when-empty --sync-points 6 --workers 3 "
        "--threads 1 "
        "--thread-technique tss --slowdown "
        "1,4,1 "
        "--load 0,1,0 --masters 2 --progress never --report r.json --drain-time 3 "
        "synthetic iterations=9",
        "run --technique gss --power 1,0.8,1 --refill-chunks 4 --refill when-empty --sync-points 6 --workers 3 "
        "--threads 1 "
        "--thread-technique tss --slowdown "
        "1,4,1 "
        "--load 0,1,0 --dca rma --progress never --report r.json --drain-time 3 "
        "synthetic iterations=9",
    };
    struct study study;
    struct matrix matrix;
    struct error error;
    parse(&study, LOOP "workers = 3\ntechnique = gss\nmasters = 2\ntopology = dca-rma hierarchical\nslowdown = "
                       "1,4\nthreads = 1\nthread_technique = tss\n"
                       "power = 1,0.8\nload = 0,1\nrefill_chunks = 4\nrefill = when-empty\nsync_points = 6\noptions = "
                       "--drain-time 3\n");
    ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct argv line = {0};
        matrix_compose(&matrix, i, "r.json", &line);
        check_words(&line, expected[i]);
        argv_fini(&line);
    }
    matrix_fini(&matrix);
    study_fini(&study);
}
END_TEST

/* 1,000 rows, or 5 steps of 1,000 iterations each, for 4 workers: mfsc cuts as many chunks as fac2. */
START_TEST(half_of_mfsc)
{
    static const struct {
        const char *kernel, *same;
        unsigned workers;
        uint64_t chunk;
    } cases[] = {{"mandelbrot height=1000 width=8", "synthetic iterations=1000 steps=5", 4, 0},
                 {"synthetic iterations=3", "synthetic iterations=2", 2, 1},
                 {"synthetic iterations=1000 --costs gamma:mean=5 --output a.npy", "synthetic iterations=1000", 4, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t chunk = 0, same = 0;
        struct error error;
        ck_assert_int_eq(least_half_mfsc(cases[i].kernel, cases[i].workers, &chunk, &error), 0);
        ck_assert_int_eq(least_half_mfsc(cases[i].same, cases[i].workers, &same, &error), 0);
        ck_assert_uint_eq(chunk, same);
        ck_assert_uint_ge(chunk, cases[i].chunk > 0 ? cases[i].chunk : 10);
    }
    struct error error = {0};
    uint64_t chunk;
    ck_assert_int_eq(least_half_mfsc("nothing", 2, &chunk, &error), -1);
    ck_assert(error.text[0] != '\0');
}
END_TEST

START_TEST(a_table_comes_back)
{
    struct csv csv = {0}, again;
    struct error error = {0};
    size_t length;
    size_t row = csv_add(&csv);
    csv_set(&csv, row, "a", "plain");
    csv_set(&csv, row, "b", "a \"quote\", a comma\nand a line");
    row = csv_add(&csv);
    csv_set(&csv, row, "c", "new");
    ck_assert_str_eq(csv_get(&csv, 0, "c"), "");
    ck_assert_str_eq(csv_get(&csv, 1, "none"), "");
    char *text = csv_text(&csv, &length);
    ck_assert_str_eq(text, "a,b,c\nplain,\"a \"\"quote\"\", a comma\nand a line\",\n,,new\n");
    ck_assert_msg(csv_parse(&again, "a.csv", text, &error) == 0, "%s", error.text);
    ck_assert_str_eq(csv_get(&again, 0, "b"), csv_get(&csv, 0, "b"));
    csv_remove(&again, 0);
    ck_assert_uint_eq(again.count, 1);
    ck_assert_str_eq(csv_get(&again, 0, "c"), "new");
    free(text);
    csv_fini(&csv);
    csv_fini(&again);
}
END_TEST

START_TEST(a_table_that_is_none)
{
    static const char *const cases[][2] = {
        {"a,b\n1,2\n1\n", "line 3"}, {"a\n\"1\n", "line 2"}, {"a,a\n", "line 1"}, {"a\n\"x\ny\"\n\"1\"2\n", "line 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv csv;
        struct error error = {0};
        ck_assert_int_eq(csv_parse(&csv, "a.csv", cases[i][0], &error), -1);
        ck_assert_msg(strstr(error.text, cases[i][1]) != NULL, "%s", error.text);
        csv_fini(&csv);
    }
}
END_TEST

static void add_run(const struct matrix *matrix, struct csv *csv, struct matrix_run run, const char *time)
{
    size_t row = csv_add(csv);
    matrix_write(matrix, &run, csv, row);
    csv_set(csv, row, "status", time != NULL ? STATUS_DONE : STATUS_FAILED);
    csv_set(csv, row, "reason", time != NULL ? "" : "a worker was lost");
    if (time != NULL)
        csv_set(csv, row, "elapsed_s", time);
}

static bool is_row(const struct matrix *matrix, struct matrix_run run, const struct csv *csv, size_t row)
{
    struct matrix_run found;
    return matrix_read(matrix, csv, row, &found) && found.cell == run.cell && found.repetition == run.repetition;
}

/* What is in the table is the run's, and no other's: of another repetition, cell or options. */
START_TEST(rows_are_found_again)
{
    struct study study;
    struct matrix matrix;
    struct csv csv = {0};
    struct error error;
    parse(&study, LOOP "workers = 1 2\nmasters = 0 1\ntopology = central hierarchical dca-rma\nrepetitions = 2\n");
    ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
    for (unsigned i = 0; i < matrix.count; i++)
        for (unsigned r = 0; r < 2; r++)
            add_run(&matrix, &csv, (struct matrix_run){i, r}, "1");
    ck_assert_uint_eq(csv.count, 12);
    for (unsigned i = 0; i < csv.count; i++)
        for (unsigned k = 0; k < csv.count; k++) {
            struct matrix_run run = {k / 2, k % 2};
            ck_assert_int_eq(is_row(&matrix, run, &csv, i), i == k);
        }
    csv_set(&csv, 0, "threads", ""); /* as in a table from before there was that axis */
    ck_assert(is_row(&matrix, (struct matrix_run){0, 0}, &csv, 0));
    argv_add(&study.options, "--drain-time");
    argv_add(&study.options, "3");
    ck_assert(!is_row(&matrix, (struct matrix_run){0, 0}, &csv, 0));
    csv_fini(&csv);
    matrix_fini(&matrix);
    study_fini(&study);
}
END_TEST

static void check_value(const struct summary_value *value, unsigned count, double median, double least, double most)
{
    ck_assert_uint_eq(value->count, count);
    ck_assert_double_eq_tol(value->median, median, 1e-9);
    ck_assert_double_eq_tol(value->least, least, 1e-9);
    ck_assert_double_eq_tol(value->most, most, 1e-9);
}

static char *table_text(const struct summary *summary)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    report_table(summary, file);
    fclose(file);
    return text;
}

/* A study of which some runs are done. */
struct example {
    struct study study;
    struct matrix matrix;
    struct csv csv;
    struct summary summary;
};

/* `times` are those of all repetitions of each cell in turn; NULL: the run has failed. */
static void example_init(struct example *example, const char *text, const char *const *times)
{
    struct error error = {0};
    *example = (struct example){0};
    parse(&example->study, text);
    ck_assert_int_eq(matrix_init(&example->matrix, &example->study, &error), 0);
    for (unsigned i = 0; i < example->matrix.count; i++)
        for (unsigned r = 0; r < example->study.repetitions; r++)
            add_run(&example->matrix, &example->csv, (struct matrix_run){i, r}, *times++);
    ck_assert_int_eq(summary_init(&example->summary, &example->matrix, &example->csv, &error), 0);
}

static void example_fini(struct example *example)
{
    summary_fini(&example->summary);
    csv_fini(&example->csv);
    matrix_fini(&example->matrix);
    study_fini(&example->study);
}

static char *page_text(const struct example *example)
{
    const struct study_report report = {
        .name = "a", .file = "a.study", .summary = &example->summary, .csv = &example->csv};
    char *text = report_page(&report);
    ck_assert_ptr_nonnull(text);
    return text;
}

static void page_has(const char *page, const char *part)
{
    ck_assert_msg(strstr(page, part) != NULL, "no '%s' in\n%s", part, page);
}

/* With a baseline each cell is compared with the one that has its value: one comparison for each number of workers. */
START_TEST(differences_from_a_baseline)
{
    static const char *const times[] = {"9", "8", "8", "7", "6", "6", "6", "6", "5", "7", "8", "10"};
    struct example example;
    example_init(&example,
                 LOOP "workers = 2\ntechnique = static gss tss\nrepetitions = 4\nbaseline = technique=static\n"
                      "measure = time improvement\n",
                 times);
    const struct summary_cell *cells = example.summary.cells;
    ck_assert(!cells[0].difference.is_known && cells[1].difference.is_known);
    ck_assert_double_eq_tol(cells[1].difference.p, 2.0 / 70, 1e-9); /* all four are quicker than all four */
    ck_assert_double_eq_tol(cells[1].difference.p_corrected, 4.0 / 70, 1e-9);
    ck_assert_int_eq(cells[1].difference.verdict, VERDICT_FEW); /* 2 * 2 / 70 is all that four runs can show */
    ck_assert_uint_eq(differences_runs_needed(&example.summary), 5);
    char *page = page_text(&example);
    page_has(page, "| gss | 2 | static | 25.0 [14.3, 33.3] | 0.029 | 0.057 | too few runs to tell |\n");
    page_has(page, "## Quartiles");
    page_has(page, "| 4 | 7 .. 7.75 .. 8 .. 8.25 .. 9 |");
    page_has(page, "of 4 runs lies the median with 88 %");
    page_has(page, "5 of each cell can.\n");
    free(page);
    example_fini(&example);
}
END_TEST

/* Without one with the quickest of those that differ in the technique alone. */
START_TEST(differences_from_the_quickest)
{
    static const char *const times[] = {"9", "8", "8", "7", "8.5", "6", "6", "6", "6", "6.1",
                                        "9", "8", "8", "7", "8.5", "8", "9", "7", "8", "8.4"};
    struct example example;
    example_init(&example, LOOP "technique = static gss\nworkers = 2 4\nrepetitions = 5\nmeasure = time\n", times);
    /* cells: static 2, static 4, gss 2, gss 4 */
    const struct summary_cell *cells = example.summary.cells;
    ck_assert_int_eq(differences_axis(&example.study), AXIS_TECHNIQUE);
    ck_assert(cells[3].difference.is_known && cells[3].difference.against == 1);
    ck_assert_int_eq(cells[3].difference.verdict, VERDICT_SLOWER);
    ck_assert_double_eq_tol(cells[3].difference.p, 2.0 / 252, 1e-9);
    ck_assert(!cells[0].difference.is_known && !cells[1].difference.is_known); /* the quickest are compared with none */
    ck_assert_int_eq(cells[2].difference.verdict, VERDICT_UNCLEAR);            /* its times are the same */
    ck_assert_double_eq_tol(cells[2].difference.p, 1, 1e-9);
    ck_assert_uint_eq(differences_runs_needed(&example.summary), 0);
    char *page = page_text(&example);
    page_has(page, "the quickest of the cells that differ in nothing but technique");
    page_has(page, "| gss | 4 | static | -33.3 [");
    page_has(page, " | 0.008 | 0.008 | slower |\n");
    free(page);
    example_fini(&example);
}
END_TEST

/* Two runs have no interval and show no difference, and one shows nothing at all: the page says so. */
START_TEST(few_runs_have_no_interval)
{
    static const char *const times[] = {"9", "8", "6", "7"};
    struct example example;
    example_init(&example, LOOP "technique = static gss\nworkers = 2\nrepetitions = 2\nmeasure = time\n", times);
    char *page = page_text(&example);
    page_has(page, "There is no interval of confidence: that takes 3 runs of a cell at least, and `repetitions` is 2.");
    page_has(page, "| static | 2 | 2 | 8.50 (8 .. 9) |\n");
    page_has(page, "| static | 2 | gss | -30.8 | 0.33 | 0.33 | too few runs to tell |\n");
    ck_assert_ptr_null(strstr(page, "## Quartiles"));
    free(page);
    example_fini(&example);
    example_init(&example, LOOP "technique = static gss\nworkers = 2\nmeasure = time\n", times);
    page = page_text(&example);
    page_has(page, "and `repetitions` is 1.");
    page_has(page, "| static | 2 | 1 | 9 |\n");
    ck_assert_ptr_null(strstr(page, "## Differences"));
    free(page);
    example_fini(&example);
}
END_TEST

/* gss varies by 1 % to either side, ss by 10 %, tfss by 2 % to one side alone; tss has too few runs for any interval to
 * be sure. */
START_TEST(cells_are_settled_by_their_interval)
{
    static const char *const times[] = {"99",  "101", "99",  "101", "99", "101", NULL,  "90", "110", "90",
                                        "110", "90",  "110", NULL,  "99", "99",  "99",  "99", "99",  NULL,
                                        NULL,  "99",  "99",  "99",  "99", "101", "101", NULL};
    struct example example;
    example_init(&example,
                 LOOP "technique = gss ss tss tfss\nworkers = 2\nrepetitions = 7\nuntil = 1.5%\nmeasure = time\n",
                 times);
    ck_assert_double_eq(example.study.until, 1.5);
    const struct summary_cell *cells = example.summary.cells;
    const struct summary_value *gss = &cells[0].values[MEASURE_ELAPSED], *ss = &cells[1].values[MEASURE_ELAPSED];
    ck_assert(summary_is_settled(&example.study, gss) && !summary_is_settled(&example.study, ss));
    ck_assert(!summary_is_settled(&example.study, &cells[2].values[MEASURE_ELAPSED]));
    const struct summary_value *tfss = &cells[3].values[MEASURE_ELAPSED];
    ck_assert((tfss->high - tfss->low) / 2 < 0.015 * tfss->median && !summary_is_settled(&example.study, tfss));
    example.study.until = 0;
    ck_assert(!summary_is_settled(&example.study, gss));
    example.study.until = 1.5;
    ck_assert_uint_eq(example.summary.to_come, 0); /* a failed run is one, too */
    char *page = page_text(&example);
    page_has(page, "at most 1.5 % of the median to either side, 6 times at least and 7 times at most");
    page_has(page, "| gss | 2 | 6, **1 failed** |");
    page_has(page, "| ss | 2 | 6, **1 failed**, **too wide** |");
    free(page);
    example_fini(&example);
}
END_TEST

/* Where some run has them. */
START_TEST(measures_of_some_runs_are_accepted)
{
    static const char *const texts[] = {
        LOOP "workers = 2\nbackend = mpirun simulate\nthreads = 1 2\nmeasure = thread_imbalance\n",
        LOOP "workers = 2\nthreads = auto\nmeasure = thread_imbalance\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct study study;
        parse(&study, texts[i]);
        study_fini(&study);
    }
}
END_TEST

START_TEST(until_has_a_most)
{
    struct study study;
    parse(&study, LOOP "workers = 2\nuntil = 2 %\n");
    ck_assert_uint_eq(study.repetitions, STUDY_UNTIL_MOST);
    ck_assert_double_eq(study.until, 2);
    study_fini(&study);
}
END_TEST

/* The times of a simulated cell tell nothing of chance, unless each repetition has a seed of its own; nor do those that
 * are compared with them. Such a cell needs no interval to be settled. */
START_TEST(the_same_run_again_has_no_interval)
{
    static const char *const times[] = {"8", "8", "8", "8", "8", "8", "6", "6", "6", "6", "6", "6"};
    static const char *const columns[] = {"time.low", "time.high", "saved.low", "saved.high", "p", "p.corrected"};
    struct example example;
    struct csv table;
    struct error error = {0};
    size_t length;
    example_init(&example,
                 LOOP "workers = 2\ntechnique = static gss\nbackend = simulate\nrepetitions = 6\nuntil = 1 %\n"
                      "baseline = technique=static\nmeasure = time improvement\n",
                 times);
    ck_assert(summary_is_settled(&example.study, &example.summary.cells[0].values[MEASURE_ELAPSED]));
    ck_assert_uint_eq(differences_runs_needed(&example.summary), 0);
    char *text = cells_csv(&example.summary, &length);
    ck_assert_int_eq(csv_parse(&table, "a-cells.csv", text, &error), 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        ck_assert_str_eq(csv_get(&table, 1, columns[i]), "");
    ck_assert_str_eq(csv_get(&table, 1, "saved"), "25");
    ck_assert_str_eq(csv_get(&table, 1, "verdict"), "the same run each time");
    csv_fini(&table);
    free(text);
    text = cells_json(&example.summary);
    json_t *object = json_loads(text, 0, NULL), *cell = json_array_get(json_object_get(object, "cells"), 1);
    json_t *difference = json_object_get(cell, "difference");
    ck_assert(json_is_null(json_object_get(json_object_get(json_object_get(cell, "measures"), "time"), "interval")));
    ck_assert(json_is_null(json_object_get(difference, "interval")) && json_is_null(json_object_get(difference, "p")) &&
              json_is_null(json_object_get(difference, "p_corrected")));
    ck_assert_str_eq(json_string_value(json_object_get(difference, "verdict")), "the same run each time");
    json_decref(object);
    free(text);
    text = page_text(&example);
    page_has(text, "| gss | 2 | 6 | 6 (6 .. 6) | 25.0 (25.0 .. 25.0), the same run each time |\n");
    page_has(text, "| gss | 2 | static | 25.0 | - | - | the same run each time |\n");
    ck_assert_ptr_null(strstr(text, "in square brackets its"));
    free(text);
    example_fini(&example);
    example_init(&example,
                 LOOP "workers = 2\ntechnique = gss\nbackend = mpirun simulate\nrepetitions = 6\n"
                      "baseline = backend=mpirun\nmeasure = time improvement\n",
                 times);
    ck_assert(example.summary.cells[0].values[MEASURE_ELAPSED].has_interval);
    ck_assert(example.summary.cells[1].difference.is_known && !example.summary.cells[1].difference.has_p);
    example_fini(&example);
    example_init(&example,
                 LOOP "workers = 2\ntechnique = static gss\nbackend = simulate\nrepetitions = 6\nseeds = yes\n", times);
    ck_assert(example.summary.cells[0].values[MEASURE_ELAPSED].has_interval);
    ck_assert(example.summary.cells[0].difference.has_p);
    example_fini(&example);
}
END_TEST

START_TEST(noise_is_what_quanta_lose)
{
    static const uint64_t calm[] = {10, 10, 10, 10}, one_is_late[] = {10, 10, 70, 10}, none[] = {0, 0};
    ck_assert_double_eq(machine_noise_of(calm, 4), 0);
    ck_assert_double_eq_tol(machine_noise_of(one_is_late, 4), 60, 1e-12); /* 100 for work of 40 */
    ck_assert_double_eq(machine_noise_of(none, 2), 0);
}
END_TEST

START_TEST(cells_are_there_for_programs)
{
    static const char *const times[] = {"9", "8", "8", "7", "6", "6", "6", NULL};
    struct example example;
    size_t length;
    example_init(&example,
                 LOOP "workers = 2\ntechnique = static gss\nrepetitions = 4\nbaseline = technique=static\n"
                      "measure = time\n",
                 times);
    char *text = cells_csv(&example.summary, &length);
    struct csv table;
    struct error error = {0};
    ck_assert_msg(csv_parse(&table, "a-cells.csv", text, &error) == 0, "%s", error.text);
    static const char *const expected[][3] = {
        {"technique", "static", "gss"},
        {"runs", "4", "3"},
        {"failed", "0", "1"},
        {"time", "8", "6"},
        {"time.low", "7", "6"},
        {"time.high", "9", "6"},
        {"time.least", "7", "6"},
        {"time.q1", "7.75", "6"},
        {"time.q3", "8.25", "6"},
        {"time.most", "9", "6"},
        {"saved", "", "25"},
        {"p", "", "0.0571428571"},
        {"p.corrected", "", "0.0571428571"},
        {"verdict", "", "too few runs to tell"},
        {"against", "", "static, 2 workers"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (size_t row = 0; row < 2; row++)
            ck_assert_str_eq(csv_get(&table, row, expected[i][0]), expected[i][row + 1]);
    csv_fini(&table);
    free(text);
    text = cells_json(&example.summary);
    json_t *object = json_loads(text, 0, NULL), *cell = json_array_get(json_object_get(object, "cells"), 1);
    json_t *time = json_object_get(json_object_get(cell, "measures"), "time");
    ck_assert_double_eq(json_number_value(json_object_get(time, "median")), 6);
    ck_assert_uint_eq(json_array_size(json_object_get(time, "quartiles")), 5);
    ck_assert_uint_eq(json_array_size(json_object_get(time, "interval")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(cell, "difference"), "verdict")),
                     "too few runs to tell");
    ck_assert(json_is_null(json_object_get(json_array_get(json_object_get(object, "cells"), 0), "difference")));
    json_decref(object);
    free(text);
    example_fini(&example);
}
END_TEST

START_TEST(medians_speedups_and_failures)
{
    struct study study;
    struct matrix matrix;
    struct csv csv = {0};
    struct summary summary;
    struct error error;
    parse(&study, LOOP "workers = 2 4\ntechnique = static gss\nrepetitions = 4\nbaseline = technique=static\n"
                       "measure = time speedup improvement\n");
    ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
    /* cells: static 2, static 4, gss 2, gss 4 */
    const char *const times[4][4] = {{"9", "8", "8", "7"}, {"4", "5", "6", NULL}, {"6", "6", "6", "6"}, {NULL}};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned r = 0; r < 4; r++)
            add_run(&matrix, &csv, (struct matrix_run){i, r}, times[i][r]);
    add_run(&matrix, &csv, (struct matrix_run){3, 1}, NULL);
    ck_assert_int_eq(summary_init(&summary, &matrix, &csv, &error), 0);
    check_value(&summary.cells[0].values[MEASURE_ELAPSED], 4, 8, 7, 9);
    check_value(&summary.cells[1].values[MEASURE_ELAPSED], 3, 5, 4, 6);
    check_value(&summary.cells[1].values[MEASURE_SPEEDUP], 3, 12.0 / 5, 12.0 / 6, 12.0 / 4);
    check_value(&summary.cells[2].values[MEASURE_IMPROVEMENT], 4, 25, 25, 25);
    check_value(&summary.cells[0].values[MEASURE_IMPROVEMENT], 4, 0, -12.5, 12.5);
    ck_assert_uint_eq(summary.cells[3].values[MEASURE_ELAPSED].count, 0);
    ck_assert_uint_eq(summary.done, 11);
    ck_assert_uint_eq(summary.failed, 2);
    ck_assert_str_eq(summary.cells[3].reason, "a worker was lost");
    char *text = table_text(&summary);
    ck_assert_ptr_nonnull(
        strstr(text, "| technique | workers | runs | loop time, s | speedup | improvement over the baseline, % |\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "| static | 4 | 3, **1 failed** | 5 [4, 6] | 2.40 [2, 3] | 0.0 (-20.0 .. 20.0) |\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "| gss | 2 | 4 | 6 [6, 6] | 2 [2, 2] | 25.0 [14.3, 33.3], p 0.029: quicker |\n"));
    ck_assert_ptr_nonnull(strstr(text, "| gss | 4 | 0, **1 failed**, 3 to come | - | - | - |\n"));
    free(text);
    check_value(&summary.cells[1].values[MEASURE_ELAPSED], 3, 5, 4, 6);
    ck_assert_double_eq_tol(summary.cells[0].values[MEASURE_ELAPSED].lower, 7.75, 1e-9);
    ck_assert_double_eq_tol(summary.cells[0].values[MEASURE_ELAPSED].upper, 8.25, 1e-9);
    summary_fini(&summary);
    csv_fini(&csv);
    matrix_fini(&matrix);
    study_fini(&study);
}
END_TEST

/* The quickest with the fewest workers is gss; a base says that it is to be of the cell's own technique. */
START_TEST(a_speedup_has_the_base_that_is_given)
{
    struct study study;
    struct matrix matrix;
    struct csv csv = {0};
    struct summary summary;
    struct error error;
    static const char *const texts[] = {"", "speedup_base = workers=2\n", "speedup_base = workers=4\n"};
    static const double expected[][2] = {{4, 2}, {8 * 2 / 3.0, 2}, {4, 4}};
    for (unsigned i = 0; i < 3; i++) {
        char text[200];
        snprintf(text, sizeof text, LOOP "workers = 2 4\ntechnique = static gss\nmeasure = speedup\n%s", texts[i]);
        csv = (struct csv){0};
        parse(&study, text);
        ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
        static const char *const times[] = {"8", "3", "6", "6"}; /* static 2, static 4, gss 2, gss 4 */
        for (unsigned k = 0; k < 4; k++)
            add_run(&matrix, &csv, (struct matrix_run){k, 0}, times[k]);
        ck_assert_int_eq(summary_init(&summary, &matrix, &csv, &error), 0);
        ck_assert_double_eq_tol(summary.cells[1].values[MEASURE_SPEEDUP].median, expected[i][0], 1e-9);
        ck_assert_double_eq_tol(summary.cells[3].values[MEASURE_SPEEDUP].median, expected[i][1], 1e-9);
        summary_fini(&summary);
        csv_fini(&csv);
        matrix_fini(&matrix);
        study_fini(&study);
    }
}
END_TEST

/* Of three runs the medians; one that lacks the figures is left out, and so is a cell without any. */
START_TEST(each_worker_has_its_time)
{
    struct study study;
    struct matrix matrix;
    struct csv csv = {0};
    struct summary summary;
    struct error error;
    char *text;
    size_t size;
    parse(&study, LOOP "workers = 2\nweighting = none acp\ntechnique = css gss\nrepetitions = 4\nmeasure = compute\n");
    ck_assert_int_eq(matrix_init(&matrix, &study, &error), 0);
    const char *const times[] = {"3 1", "5 1.5", "4 2", ""};
    for (unsigned r = 0; r < 4; r++) {
        add_run(&matrix, &csv, (struct matrix_run){0, r}, "1");
        csv_set(&csv, r, WORKERS_COLUMN, times[r]);
    }
    add_run(&matrix, &csv, (struct matrix_run){1, 0}, "1");
    csv_set(&csv, 4, WORKERS_COLUMN, "0 0");
    add_run(&matrix, &csv, (struct matrix_run){1, 1}, NULL);
    csv_set(&csv, 5, WORKERS_COLUMN, "7 7"); /* it was cut off */
    ck_assert_int_eq(summary_init(&summary, &matrix, &csv, &error), 0);
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(workers_table(&summary, &csv, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "| technique | weighting | 1 | 2 | most / mean |\n|---|---|---|---|---|\n"
                                       "| css | none | 4 | 1.50 | 1.45 |\n| css | acp | 0 | 0 | 1.00 |\n\n"));
    free(text);
    summary_fini(&summary);
    csv_fini(&csv);
    matrix_fini(&matrix);
    study_fini(&study);
}
END_TEST

/* Of three runs; one with another number of steps, and a cell whose only run failed, are left out. */
START_TEST(time_steps_have_medians)
{
    static const char *const times[] = {"1", "1", "1", "1", NULL, NULL, NULL, NULL};
    static const char *const seconds[] = {"0.5 0.1 0.3", "0.4 0.1 0.2", "0.6 0.4 0.3", "0.5 0.5"};
    struct example example;
    struct steps steps;
    struct error error = {0};
    size_t length;
    example_init(&example, LOOP "workers = 2\ntechnique = gss ss\nrepetitions = 4\nmeasure = time\nsteps = yes\n",
                 times);
    ck_assert(example.study.keeps_steps);
    for (unsigned r = 0; r < 4; r++)
        csv_set(&example.csv, r, STEPS_COLUMN, seconds[r]);
    csv_set(&example.csv, 4, STEPS_COLUMN, "7 7 7"); /* it was cut off */
    ck_assert_msg(steps_init(&steps, &example.summary, &example.csv, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(steps.cells[0].count, 3);
    ck_assert_uint_eq(steps.cells[1].count, 0);
    ck_assert_uint_eq(steps.panel_count, 1);
    check_value(&steps.cells[0].values[0], 3, 0.5, 0.4, 0.6);
    check_value(&steps.cells[0].values[1], 3, 0.1, 0.1, 0.4);
    char *text = steps_csv(&steps, &length);
    struct csv table;
    ck_assert_msg(csv_parse(&table, "a-steps.csv", text, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(table.count, 3);
    static const char *const expected[][2] = {{"technique", "gss"},  {"step", "2"},       {"runs", "3"},
                                              {"time", "0.1"},       {"time.low", "0.1"}, {"time.high", "0.4"},
                                              {"time.least", "0.1"}, {"time.most", "0.4"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_str_eq(csv_get(&table, 1, expected[i][0]), expected[i][1]);
    csv_fini(&table);
    free(text);
    char name[16], panel[200];
    steps_name(&steps, 0, name, sizeof name);
    steps_panel_text(&steps, 0, panel, sizeof panel);
    ck_assert_str_eq(name, "steps");
    ck_assert_str_eq(panel, "synthetic iterations=9, 2 workers");
    steps_fini(&steps);
    example_fini(&example);
}
END_TEST

/* Programs read no file without columns. */
START_TEST(a_table_of_no_time_steps_names_its_columns)
{
    static const char *const times[] = {"1"};
    struct example example;
    struct steps steps;
    struct error error = {0};
    size_t length;
    example_init(&example, LOOP "workers = 2\ntechnique = gss\nmeasure = time\nsteps = yes\n", times);
    ck_assert_msg(steps_init(&steps, &example.summary, &example.csv, &error) == 0, "%s", error.text);
    char *text = steps_csv(&steps, &length);
    ck_assert_ptr_nonnull(strstr(text, "kernel,technique,"));
    ck_assert_ptr_nonnull(strstr(text, ",step,runs,time,time.low,time.high,time.least,time.most\n"));
    ck_assert_uint_eq(strlen(text), strcspn(text, "\n") + 1);
    free(text);
    steps_fini(&steps);
    example_fini(&example);
}
END_TEST

START_TEST(a_reports_time_steps_become_a_column)
{
    struct csv csv = {0};
    struct error error = {0};
    const size_t row = csv_add(&csv);
    ck_assert_int_eq(flatten_steps(&csv, row, "{\"elapsed_s\": 1}", &error), 0);
    ck_assert_str_eq(csv_get(&csv, row, STEPS_COLUMN), "");
    ck_assert_int_eq(
        flatten_steps(&csv, row, "{\"steps\": [{\"elapsed_s\": 0.5, \"chunks\": 3}, {\"elapsed_s\": 2}]}", &error), 0);
    ck_assert_str_eq(csv_get(&csv, row, STEPS_COLUMN), "0.5 2");
    ck_assert_int_eq(flatten_steps(&csv, row, "{", &error), -1);
    csv_fini(&csv);
}
END_TEST

START_TEST(a_reports_scalars_become_columns)
{
    static const char report[] =
        "{\"hdss\": \"1\", \"workers\": 4, \"elapsed_s\": 0.125, \"imbalance\": {\"cov\": 2}, "
        "\"worker_stats\": [{\"rank\": 1}], \"measured\": {\"deep\": {\"er\": true}}, \"none\": null}";
    struct csv csv = {0};
    struct error error = {0};
    size_t length, row = csv_add(&csv);
    csv_set(&csv, row, "workers", "3");
    ck_assert_int_eq(flatten_report(&csv, row, report, &error), 0);
    char *text = csv_text(&csv, &length);
    ck_assert_str_eq(text, "workers,hdss,elapsed_s,imbalance.cov,measured.deep.er\n3,1,0.125,2,true\n");
    free(text);
    ck_assert_int_eq(flatten_report(&csv, row,
                                    "{\"elapsed_s\": 1, \"worker_stats\": [{\"compute_s\": 0.5}, {\"compute_s\": 2}]}",
                                    &error),
                     0);
    ck_assert_str_eq(csv_get(&csv, row, WORKERS_COLUMN), "0.5 2");
    ck_assert_int_eq(flatten_report(&csv, row, "{\"elapsed_s\": 1", &error), -1);
    ck_assert_int_eq(flatten_report(&csv, row, "{}", &error), -1);
    csv_fini(&csv);
}
END_TEST

START_TEST(figures_read_well)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {0.00123, "0.00123"}, {0.0123, "0.0123"}, {0.123, "0.123"},    {1.234, "1.23"},
                 {12.34, "12.3"},  {123.4, "123"},       {1234.5, "1,235"},  {-1234.4, "-1,234"}, {7, "7"},
                 {-12.54, "-12.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        summary_number(cases[i].value, text, sizeof text);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("study");
    TCase *tests = tcase_create("parts");
    tcase_add_test(tests, what_a_file_says);
    tcase_add_test(tests, topologies_and_masters_are_one_axis);
    tcase_add_test(tests, what_is_wrong_has_a_line);
    tcase_add_test(tests, names_are_those_of_the_tables);
    tcase_add_test(tests, kernels_and_options_are_checked_where_they_stand);
    tcase_add_test(tests, the_order_is_shuffled_by_the_seed);
    tcase_add_test(tests, a_cell_becomes_a_command_line);
    tcase_add_test(tests, half_of_mfsc);
    tcase_add_test(tests, a_table_comes_back);
    tcase_add_test(tests, a_table_that_is_none);
    tcase_add_test(tests, rows_are_found_again);
    tcase_add_test(tests, medians_speedups_and_failures);
    tcase_add_test(tests, a_speedup_has_the_base_that_is_given);
    tcase_add_test(tests, differences_from_a_baseline);
    tcase_add_test(tests, differences_from_the_quickest);
    tcase_add_test(tests, few_runs_have_no_interval);
    tcase_add_test(tests, cells_are_settled_by_their_interval);
    tcase_add_test(tests, until_has_a_most);
    tcase_add_test(tests, measures_of_some_runs_are_accepted);
    tcase_add_test(tests, the_same_run_again_has_no_interval);
    tcase_add_test(tests, noise_is_what_quanta_lose);
    tcase_add_test(tests, cells_are_there_for_programs);
    tcase_add_test(tests, each_worker_has_its_time);
    tcase_add_test(tests, time_steps_have_medians);
    tcase_add_test(tests, a_table_of_no_time_steps_names_its_columns);
    tcase_add_test(tests, a_reports_time_steps_become_a_column);
    tcase_add_test(tests, a_reports_scalars_become_columns);
    tcase_add_test(tests, figures_read_well);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
