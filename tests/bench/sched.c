/* SPDX-License-Identifier: MIT */
/* What a chunk costs: nanoseconds for each technique and form, with few and with many workers. Every technique of the
 * registry is measured as it is, and again with everything given that it would otherwise measure.
 *
 * HDSS_BENCH_RUNS and HDSS_BENCH_JSON as in measure.py. Nothing here judges: a star marks what misses its target, on
 * this machine, at this moment. */
#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define ITERATIONS                                                                                                     \
    UINT64_C(1000000000) /* long enough for each series but static's to have far more chunks than workers */
#define CHUNKS             (UINT64_C(1) << 20) /* at least as many are timed in each run, of as many loops as that takes */
#define PACE_S             1e-6                /* of an iteration, and all that is given or measured beside */
#define SWR                0.5                 /* shortest over longest iteration */
#define TARGET_NS          20.0                /* of what learns nothing */
#define TARGET_LEARNING_NS 200.0               /* of what does, its feedback included */

enum { RUNS_DEFAULT = 5, RUNS_MAX = 99, WORKERS_MAX = 8192, ROWS_MAX = 128 };

static const unsigned worker_counts[] = {64, WORKERS_MAX};
enum { WORKER_COUNTS = sizeof worker_counts / sizeof *worker_counts };

/* The figures of one technique with one number of workers, nanoseconds for each chunk; 0 where there is none. */
enum figure { NEXT, FEEDBACK, BOTH, AT, START, SETUP, FIGURES };

static const char *const figure_names[FIGURES] = {"next", "feedback", "both", "at", "start", "set-up"};

struct row {
    char spec[SCHED_SPEC_TEXT_MAX];
    bool learns;
    double median[FIGURES];
};

static struct sched_feedback feedback[WORKERS_MAX];
static volatile uint64_t sink; /* keeps what is computed from being left out */
static unsigned runs = RUNS_DEFAULT;

static struct {
    char processor[200];
    long cores;
    struct utsname system;
    double load;
} machine = {.processor = "unknown processor", .load = NAN};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail(const struct error *error)
{
    fprintf(stderr, "sched: %s\n", error->text);
    exit(EXIT_FAILURE);
}

static void init(struct sched *sched, const struct sched_spec *spec, unsigned workers)
{
    struct sched_config config = {.iterations = ITERATIONS, .workers = workers, .overhead_s = PACE_S, .swr = SWR};
    struct error error;
    if (sched_init(sched, spec, &config, &error) < 0)
        fail(&error);
}

/* What the workers report of the chunks they have: iterations of PACE_S, give or take a fifth. */
static void fill_feedback(unsigned count, uint64_t step)
{
    for (unsigned j = 0; j < count; j++) {
        double noise = 0.8 + 0.4 * random_to_uniform(random_at(1, step + j));
        feedback[j].worker = j;
        feedback[j].chunks = 1;
        feedback[j].compute_s = (double)feedback[j].iterations * PACE_S * noise;
        feedback[j].wait_s = PACE_S;
        feedback[j].deviation_s = PACE_S / 5;
        feedback[j].samples = 16;
    }
}

/* Each worker asks once, then each has computed what it got. */
static unsigned time_round(struct sched *sched, bool learns, double *figures)
{
    unsigned count = 0;
    double start = now_ns();
    for (; count < sched->workers && sched->remaining > 0; count++)
        feedback[count].iterations = sched_next(sched, count);
    figures[NEXT] += now_ns() - start;
    if (learns) {
        fill_feedback(count, sched->step);
        start = now_ns();
        for (unsigned j = 0; j < count; j++)
            sched_feedback(sched, &feedback[j]);
        figures[FEEDBACK] += now_ns() - start;
    }
    return count;
}

static void time_recursive(const struct sched_spec *spec, unsigned workers, double *figures)
{
    uint64_t chunks = 0;
    struct sched sched;
    bool learns = sched_spec_learns(spec);
    while (chunks < CHUNKS) {
        init(&sched, spec, workers);
        while (chunks < CHUNKS && sched.remaining > 0)
            chunks += time_round(&sched, learns, figures);
        sched_fini(&sched);
    }
    figures[NEXT] /= (double)chunks;
    figures[FEEDBACK] /= (double)chunks;
    figures[BOTH] = learns ? figures[NEXT] + figures[FEEDBACK] : 0;
}

/* The mean time of `function` over the steps of the loop. */
static double time_steps(uint64_t (*function)(const void *, uint64_t), const void *subject, uint64_t steps)
{
    uint64_t done = 0, sum = 0;
    double start = now_ns();
    while (done < CHUNKS)
        for (uint64_t step = 0; step < steps && done < CHUNKS; step++, done++)
            sum += function(subject, step);
    double elapsed = now_ns() - start;
    sink = sum;
    return elapsed / (double)done;
}

static uint64_t call_at(const void *sched, uint64_t step)
{
    return sched_at(sched, step);
}

static uint64_t call_start(const void *bounds, uint64_t step)
{
    return sched_bounds_start(bounds, step);
}

static void time_closed(const struct sched_spec *spec, unsigned workers, double *figures)
{
    struct sched sched;
    struct sched_bounds bounds;
    struct error error;
    init(&sched, spec, workers);
    if (sched_check_closed(&sched, &error) == 0) {
        double start = now_ns();
        if (sched_bounds_init(&bounds, &sched, &error) < 0)
            fail(&error);
        figures[SETUP] = now_ns() - start;
        figures[AT] = time_steps(call_at, &sched, bounds.count);
        figures[START] = time_steps(call_start, &bounds, bounds.count);
        sched_bounds_fini(&bounds);
    }
    sched_fini(&sched);
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The fields of measure.py's record(). */
static void record(const char *spec, unsigned workers, const char *figure, const double *values, double median)
{
    const char *path = getenv("HDSS_BENCH_JSON");
    FILE *file = path != NULL && *path != '\0' ? fopen(path, "ae") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "{\"benchmark\": \"sched\", \"name\": \"%s %s, %u workers\", \"values\": [", spec, figure, workers);
    for (unsigned run = 0; run < runs; run++)
        fprintf(file, "%s%.4g", run > 0 ? ", " : "", values[run]);
    fprintf(file,
            "], \"median\": %.4g, \"unit\": \"ns\", \"machine\": {\"processor\": \"%s\", \"cores\": %ld, \"system\": "
            "\"%s-%s\", "
            "\"load\": %.2f}}\n",
            median, machine.processor, machine.cores, machine.system.sysname, machine.system.release, machine.load);
    fclose(file);
}

static void measure(struct row *row, const struct sched_spec *spec, unsigned workers)
{
    static double values[FIGURES][RUNS_MAX];
    sched_spec_format(spec, row->spec, sizeof row->spec);
    row->learns = sched_spec_learns(spec);
    for (unsigned run = 0; run < runs; run++) {
        double figures[FIGURES] = {0};
        time_recursive(spec, workers, figures);
        time_closed(spec, workers, figures);
        for (unsigned f = 0; f < FIGURES; f++)
            values[f][run] = figures[f];
    }
    for (unsigned f = 0; f < FIGURES; f++) {
        qsort(values[f], runs, sizeof values[f][0], by_size);
        row->median[f] = (values[f][(runs - 1) / 2] + values[f][runs / 2]) / 2;
        if (row->median[f] > 0)
            record(row->spec, workers, figure_names[f], values[f], row->median[f]);
    }
}

static void look_at_machine(void)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "model name : %199[^\n]", machine.processor) == 1)
            break;
    if (file != NULL)
        fclose(file);
    machine.cores = sysconf(_SC_NPROCESSORS_ONLN);
    uname(&machine.system);
    getloadavg(&machine.load, 1);
}

static void print_header(void)
{
    printf("Nanoseconds per chunk, loops of %" PRIu64
           " iterations; * is above the target: %g, or %g with feedback (both)\n"
           "  %s, %ld cores, %s-%s, compiler %s, load %.2f, medians of %u\n",
           ITERATIONS, TARGET_NS, TARGET_LEARNING_NS, machine.processor, machine.cores, machine.system.sysname,
           machine.system.release, __VERSION__, machine.load, runs);
}

static void print_titles(unsigned workers)
{
    char title[40];
    snprintf(title, sizeof title, "%u workers", workers);
    printf("\n%-32s %8s %8s %8s %8s %8s %9s\n", title, "next", "feedback", "both", "at", "start", "set-up/us");
}

static void print_figure(double value, double target)
{
    char text[32] = "-";
    if (value > 0)
        snprintf(text, sizeof text, "%.1f%s", value, value > target ? "*" : "");
    printf(" %8s", text);
}

static void print_row(const struct row *row)
{
    printf("%-32s", row->spec);
    print_figure(row->median[NEXT], row->learns ? INFINITY : TARGET_NS);
    print_figure(row->median[FEEDBACK], INFINITY);
    print_figure(row->median[BOTH], TARGET_LEARNING_NS);
    print_figure(row->median[AT], TARGET_NS);
    print_figure(row->median[START], INFINITY);
    putchar(' ');
    print_figure(row->median[SETUP] / 1000, INFINITY);
    putchar('\n');
    fflush(stdout);
}

/* Gives a value for each parameter that is measured otherwise. False where there is none left. */
static bool give_measured(struct sched_spec *spec)
{
    const struct technique_param *params = spec->technique->params;
    bool any = false;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++) {
        if (params[i].measured == SCHED_NOT_MEASURED || spec->given[i])
            continue;
        spec->given[i] = any = true;
        spec->values[i].real = strcmp(params[i].name, "swr") == 0 ? SWR : PACE_S;
    }
    return any;
}

static void measure_all(unsigned workers)
{
    size_t count;
    struct row row;
    const struct technique *const *techniques = sched_techniques(&count);
    print_titles(workers);
    for (size_t i = 0; i < count; i++) {
        struct sched_spec spec = {.technique = techniques[i]};
        do {
            measure(&row, &spec, workers);
            print_row(&row);
        } while (give_measured(&spec));
    }
}

int main(void)
{
    const char *wanted = getenv("HDSS_BENCH_RUNS");
    if (wanted != NULL && atoi(wanted) > 0)
        runs = atoi(wanted) < RUNS_MAX ? (unsigned)atoi(wanted) : RUNS_MAX;
    look_at_machine();
    print_header();
    for (unsigned p = 0; p < WORKER_COUNTS; p++)
        measure_all(worker_counts[p]);
    return EXIT_SUCCESS;
}
