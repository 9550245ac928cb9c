/* SPDX-License-Identifier: MIT */
/* Iterations with a given cost distribution, for tests and studies.
 *
 * busy: an iteration does real work, a number of work units. It does not work until a time is over, because that would
 * be less work on a shared core. The number of units per microsecond is measured once, at open(), by the thread's CPU
 * clock. If rate= gives this number instead, unequal cores take unequal time for the same work. sleep: synthetic_run()
 * sleeps once per call. If it has slept too long, the next calls sleep less. A rest below one unit is carried over to
 * the next call, so costs add up exactly. If the mean is 0, an iteration costs only the hash. */
#include "worker/kernels/kernels.h"

#include "worker/kernels/synthetic.h"
#include "common/os/clock.h"
#include "hdss/kernel.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum param {
    ITERATIONS,
    STEPS,
    DISTRIBUTION,
    MEAN,
    SPREAD,
    FILE_NAME,
    MODE,
    RATE,
    SEED,
    FAIL,
    CRASH,
    WRONG,
    WRONG_RANK
};
enum mode { MODE_BUSY, MODE_SLEEP };

static const struct hdss_param params[] = {
    [ITERATIONS] = {"iterations", HDSS_PARAM_INTEGER, "10000", 0, 1e15, NULL, "", "length of the loop"},
    [STEPS] = {"steps", HDSS_PARAM_INTEGER, "1", 1, 1e6, NULL, "",
               "time steps: how many such loops run one after the other, with the same costs"},
    [DISTRIBUTION] = {"distribution", HDSS_PARAM_CHOICE, "constant", 0, 0,
                      "constant|increasing|decreasing|gaussian|exponential|bimodal|file", "",
                      "how the costs of the iterations are distributed"},
    [MEAN] = {"mean", HDSS_PARAM_REAL, "100", 0, SYNTHETIC_COST_MAX_US, NULL, "us",
              "mean cost of an iteration; 0: none"},
    [SPREAD] = {"spread", HDSS_PARAM_REAL, "0.5", 0, 1, NULL, "",
                "half range, deviation (gaussian, cut off at 0) or distance of the modes, in parts of the mean"},
    [FILE_NAME] = {"file", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file", "costs in us, one line per iteration"},
    [MODE] = {"mode", HDSS_PARAM_CHOICE, "busy", 0, 0, "busy|sleep", "", "busy: use CPU time; sleep: only wait"},
    [RATE] = {"rate", HDSS_PARAM_REAL, "0", 0, 1e6, NULL, "units/us",
              "busy: work units per us; 0 measures each worker's own core"},
    [SEED] = {"seed", HDSS_PARAM_INTEGER, "1", 0, 0x1p53, NULL, "", "seed of the costs and of the results"},
    [FAIL] = {"fail", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "for studies of faults: iterations that fail, as 5,20-29"},
    [CRASH] = {"crash", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "likewise: iterations that kill their process"},
    [WRONG] = {"wrong", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "likewise: iterations that one worker computes wrongly"},
    [WRONG_RANK] = {"wrong_rank", HDSS_PARAM_INTEGER, "1", 0, 0xffffffff, NULL, "", "with wrong: rank of that worker"},
    {NULL},
};

#define NAMED_MAX 64

/* If a sleep is longer than requested by more than this, the process was stopped. The next sleeps are then not
 * shortened. */
#define OVERSLEPT_MAX_NS 100e6
/* A timer is normally late by at most this much. A longer delay means that the core is shared. The next sleeps make up
 * for it only gradually. Otherwise a worker could seem thousands of times faster during its probe. */
#define TIMER_LATE_NS 200e3

struct named {
    struct {
        uint64_t first, last;
    } item[NAMED_MAX];
    unsigned count;
};

struct synthetic {
    struct synthetic_costs costs;
    double *file_us;
    enum mode mode;
    double units_per_us;
    double rest;    /* work carried over to the next call, in units or nanoseconds; negative after too long a sleep */
    uint64_t state; /* result of the work; it is kept so that the compiler does not remove the work */
    struct named fail, crash, wrong;
};

/* Does `units` units of work. A unit is a chain of dependent multiplications and shifts, and takes some tens of
 * nanoseconds. */
static uint64_t work(uint64_t state, uint64_t units)
{
    for (; units > 0; units--)
        for (int i = 0; i < 16; i++) {
            state ^= state >> 29;
            state *= 0xbf58476d1ce4e5b9u;
        }
    return state;
}

static double calibrate(uint64_t *state)
{
    enum { ROUNDS = 8, UNITS = 10000 };
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start = (double)clock_ns(CLOCK_THREAD_CPUTIME_ID);
        *state = work(*state, UNITS);
        double rate = UNITS / fmax(1, (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) * 1e3;
        best = fmax(best, rate);
    }
    return best;
}

static bool synthetic_read_number(const char **text, uint64_t *number)
{
    const char *begin = *text;
    for (*number = 0; **text >= '0' && **text <= '9' && *text - begin < 16; ++*text)
        *number = *number * 10 + (uint64_t)(**text - '0');
    return *text > begin;
}

static bool read_named(const char *text, struct named *named)
{
    named->count = 0;
    if (*text == '\0')
        return true;
    for (;; text++) {
        if (named->count == NAMED_MAX || !synthetic_read_number(&text, &named->item[named->count].first))
            return false;
        uint64_t *last = &named->item[named->count].last;
        *last = named->item[named->count].first;
        if (*text == '-' && (text++, !synthetic_read_number(&text, last) || *last < named->item[named->count].first))
            return false;
        named->count++;
        if (*text != ',')
            return *text == '\0';
    }
}

static uint64_t first_named(const struct named *named, uint64_t first, uint64_t count)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < named->count; i++) {
        uint64_t at = named->item[i].first > first ? named->item[i].first : first;
        if (at <= named->item[i].last && at < first + count && at < least)
            least = at;
    }
    return least;
}

static int check_named(const union hdss_value *values, enum param param, char error[HDSS_ERROR_MAX])
{
    struct named named;
    if (read_named(values[param].text, &named))
        return 0;
    snprintf(error, HDSS_ERROR_MAX,
             "%s=%.60s: accepted: up to %d iterations or ranges of them with commas between them, like 5,20-29",
             params[param].name, values[param].text, NAMED_MAX);
    return -1;
}

static int synthetic_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    bool from_file = values[DISTRIBUTION].integer == SYNTHETIC_FILE, file_given = values[FILE_NAME].text[0] != '\0';
    if (from_file != file_given) {
        snprintf(error, HDSS_ERROR_MAX, "distribution=file and file=PATH go together: %s is missing",
                 from_file ? "file=PATH" : "distribution=file");
        return -1;
    }
    if (check_named(values, FAIL, error) < 0 || check_named(values, CRASH, error) < 0 ||
        check_named(values, WRONG, error) < 0)
        return -1;
    uint64_t n = (uint64_t)values[ITERATIONS].integer, steps = (uint64_t)values[STEPS].integer;
    if (n > INT64_MAX / 8 / steps) {
        snprintf(error, HDSS_ERROR_MAX, "%llu iterations in each of %llu steps are too many: accepted are 2^60 in all",
                 (unsigned long long)n, (unsigned long long)steps);
        return -1;
    }
    *loop = (struct hdss_loop){.iterations = n, .type = HDSS_UINT64, .record_length = 1, .dims = 1, .shape = {n}};
    if (steps > 1) {
        loop->iterations = n * steps;
        loop->steps = loop->shape[0] = steps;
        loop->shape[1] = n;
        loop->dims = 2;
    }
    loop->waits = values[MODE].integer == MODE_SLEEP;
    return 0;
}

static int synthetic_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                   const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop;
    struct synthetic *s = calloc(1, sizeof *s);
    if (s == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory");
        return -1;
    }
    s->costs = (struct synthetic_costs){(enum synthetic_distribution)values[DISTRIBUTION].integer,
                                        (uint64_t)values[ITERATIONS].integer,
                                        values[MEAN].real,
                                        values[SPREAD].real,
                                        (uint64_t)values[SEED].integer,
                                        NULL};
    s->mode = (enum mode)values[MODE].integer;
    s->state = s->costs.seed | 1;
    read_named(values[FAIL].text, &s->fail);
    read_named(values[CRASH].text, &s->crash);
    if (worker->rank == values[WRONG_RANK].integer)
        read_named(values[WRONG].text, &s->wrong);
    if (s->costs.distribution == SYNTHETIC_FILE) {
        s->file_us = synthetic_read_costs(values[FILE_NAME].text, s->costs.iterations, error, HDSS_ERROR_MAX);
        s->costs.file_us = s->file_us;
        if (s->file_us == NULL) {
            free(s);
            return -1;
        }
    }
    s->units_per_us = values[RATE].real;
    bool is_empty = s->costs.distribution != SYNTHETIC_FILE && s->costs.mean_us == 0;
    if (s->mode == MODE_BUSY && s->units_per_us == 0 && !is_empty)
        s->units_per_us = calibrate(&s->state);
    *instance = s;
    return 0;
}

static int synthetic_check(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)loop;
    if (values[DISTRIBUTION].integer != SYNTHETIC_FILE)
        return 0;
    double *costs =
        synthetic_read_costs(values[FILE_NAME].text, (uint64_t)values[ITERATIONS].integer, error, HDSS_ERROR_MAX);
    free(costs);
    return costs == NULL ? -1 : 0;
}

static void synthetic_close_instance(void *instance)
{
    struct synthetic *s = instance;
    free(s->file_us);
    free(s);
}

static void be_busy(struct synthetic *s, double cost_us)
{
    double units = cost_us * s->units_per_us + s->rest, whole = floor(units);
    s->rest = units - whole;
    s->state = work(s->state, (uint64_t)whole);
}

static void synthetic_sleep_until(double deadline_ns)
{
    double seconds = floor(deadline_ns / 1e9);
    struct timespec deadline = {(time_t)seconds, (long)(deadline_ns - seconds * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        continue;
}

static void be_asleep(struct synthetic *s, double cost_us)
{
    double cost_ns = cost_us * 1e3, start = (double)clock_ns(CLOCK_MONOTONIC), due = start + cost_ns + s->rest;
    double deadline = s->rest < -TIMER_LATE_NS ? fmax(due, start + cost_ns / 2) : due;
    if (deadline > start)
        synthetic_sleep_until(deadline);
    double late = (double)clock_ns(CLOCK_MONOTONIC) - due;
    s->rest = late > OVERSLEPT_MAX_NS ? 0 : -late;
}

static int synthetic_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    struct synthetic *s = instance;
    uint64_t *results = records, bad;
    if (s->crash.count > 0 && first_named(&s->crash, first, count) != UINT64_MAX)
        raise(SIGSEGV);
    if (s->fail.count > 0 && (bad = first_named(&s->fail, first, count)) != UINT64_MAX) {
        snprintf(error, HDSS_ERROR_MAX, "fail= names iteration %llu", (unsigned long long)bad);
        return -1;
    }
    for (uint64_t i = 0; i < count; i++)
        results[i] = synthetic_record(s->costs.seed, first + i);
    for (uint64_t i = 0; s->wrong.count > 0 && i < count; i++)
        if (first_named(&s->wrong, first + i, 1) != UINT64_MAX)
            results[i] ^= 1;
    if (s->costs.mean_us == 0 && s->costs.distribution != SYNTHETIC_FILE)
        return 0;
    double cost_us = 0;
    for (uint64_t i = 0; i < count; i++)
        cost_us += synthetic_cost_us(&s->costs, (first + i) % s->costs.iterations);
    if (s->mode == MODE_SLEEP)
        be_asleep(s, cost_us);
    else
        be_busy(s, cost_us);
    return 0;
}

const struct hdss_kernel synthetic_kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "synthetic",
    .version = "1",
    .summary = "iterations with a given distribution of cost, busy or sleeping: for tests and studies",
    .params = params,
    .describe = synthetic_describe,
    .check = synthetic_check,
    .open = synthetic_open_instance,
    .run = synthetic_run,
    .close = synthetic_close_instance,
};
