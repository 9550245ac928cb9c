/* SPDX-License-Identifier: MIT */
/* Simulates a set with the jobs of a file: see simulate_jobs.h.
 *
 * Jobs are prepared from the command line and their own lines. Before the set begins, each job is prepared once, so
 * that a wrong line is refused. For the simulation a job is prepared again when it begins, because all jobs together
 * may need too much memory. Each job is also simulated alone in a set, for comparison; jobs with the same words share
 * that simulation. */
#include "deploy/cli/simulate_jobs.h"

#include "common/config/options.h"
#include "common/job/job_setup.h"
#include "common/machine/machine.h"
#include "common/os/say.h"
#include "common/util/plain.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/jobs_file.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/virtual/set.h"
#include "supermaster/queue.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job computes for at least this time before another job may compute, as in a helper of a real set. If chunks take
 * longer, turns are longer: each switch between jobs is an event, so short turns would slow the simulation down. */
#define SET_TURN_NS  20000000u
#define SET_TURNS    16
#define NS_PER_S     1e9
#define NAME_BYTES   256
#define SET_LIMIT_NS (UINT64_MAX / 4)

struct ready_job {
    struct argv words;
    struct simulation simulation;
    struct simulation_run run;
    struct simulation_model model;
};

struct set_simulation {
    const struct simulation *asked;
    struct jobs_file file;
    struct argv common;
    /* The arrays are owned. `jobs`, `ready` and `alone_s` have file.count elements. */
    struct virtual_job *jobs;
    struct ready_job **ready;
    double *alone_s;
    struct virtual_loss *losses;
    unsigned loss_count;
    struct virtual_set_result result;
};

static void ready_job_free(struct ready_job *job)
{
    if (job == NULL)
        return;
    simulation_model_fini(&job->model);
    simulation_run_fini(&job->run);
    simulation_fini(&job->simulation);
    argv_fini(&job->words);
    free(job);
}

static int make_ready(const struct set_simulation *set, const struct listed_job *listed, struct ready_job *job,
                      struct error *error)
{
    argv_add(&job->words, "hdss simulate");
    argv_add_all(&job->words, &set->common);
    argv_add_all(&job->words, &listed->words);
    if (job->words.failed)
        return error_set(error, "out of memory");
    if (simulation_read(&job->simulation, (int)job->words.count, job->words.items, error) < 0 ||
        simulation_prepare(&job->simulation, NULL, NULL, error) < 0)
        return -1;
    if (job->simulation.setup.job.spec.masters_compute)
        return error_set(error, "--masters-compute: the masters of a set serve several jobs; accepted: without --jobs");
    if (job_setup_is_dependent(&job->simulation.setup))
        return error_set(error, "%s: its iterations depend on one another, which is not simulated beside other jobs",
                         job->simulation.setup.kernel->name);
    if (job->simulation.setup.job.spec.threads > 1)
        return error_set(error, "--threads: beside other jobs a simulated worker has one; accepted: 1");
    job->simulation.at_hand.order = job->simulation.seed;
    if (simulation_configure(&job->simulation, &job->run, error) < 0)
        return -1;
    job->run.config.fault_count = job->run.config.load_count = 0;
    return simulation_model_init(&job->model, &job->simulation, &job->run.config, error);
}

static struct ready_job *ready_job_new(const struct set_simulation *set, size_t number, struct error *error)
{
    const struct listed_job *listed = &set->file.jobs[number];
    struct ready_job *job = calloc(1, sizeof *job);
    struct error inner;
    if (job == NULL)
        error_set(error, "out of memory");
    else if (make_ready(set, listed, job, &inner) < 0) {
        error_set(error, "%s, line %u: %s", set->asked->jobs_path, listed->line, inner.text);
        ready_job_free(job);
        job = NULL;
    }
    return job;
}

static struct virtual_set_config set_config(const struct simulation *asked)
{
    return (struct virtual_set_config){
        .masters = asked->masters,
        .workers = asked->workers,
        .at_once = asked->jobs_at_once > 0 ? asked->jobs_at_once : QUEUE_AT_ONCE,
        .turn_ns = SET_TURN_NS,
        .turns_max = SET_TURNS,
        .stop_at_ns = NEVER,
        .limit_ns = SET_LIMIT_NS,
    };
}

static bool are_same(const struct argv *words, const struct argv *others)
{
    bool are = words->count == others->count;
    for (unsigned i = 0; are && i < words->count; i++)
        are = strcmp(words->items[i], others->items[i]) == 0;
    return are;
}

static int run_alone(struct set_simulation *set, size_t number, struct error *error)
{
    for (size_t i = 0; i < number; i++)
        if (are_same(&set->file.jobs[i].words, &set->file.jobs[number].words)) {
            set->alone_s[number] = set->alone_s[i];
            return 0;
        }
    struct ready_job *ready = ready_job_new(set, number, error);
    if (ready == NULL)
        return -1;
    struct virtual_job job = {.cancel_at_ns = NEVER, .began_ns = NEVER, .ended_ns = NEVER, .weight = 1};
    struct virtual_set_config config = set_config(set->asked);
    job.config = ready->run.config;
    config.jobs = &job;
    config.job_count = 1;
    const struct virtual_set_result result = virtual_set_run(&config);
    ready_job_free(ready);
    if (result.outcome != SET_IS_OVER)
        return error_set(error, "%s, line %u: alone the job does not come to its end: %s", set->asked->jobs_path,
                         set->file.jobs[number].line, result.error.text);
    set->alone_s[number] = (double)job.ended_ns / NS_PER_S;
    return 0;
}

static int begin_job(void *context, unsigned number, struct virtual_config *config, struct error *error)
{
    struct set_simulation *set = context;
    set->ready[number] = ready_job_new(set, number, error);
    if (set->ready[number] == NULL)
        return -1;
    *config = set->ready[number]->run.config;
    return 0;
}

static void end_job(void *context, unsigned number, const struct virtual_config *config,
                    const struct virtual_result *result)
{
    struct set_simulation *set = context;
    (void)config;
    (void)result;
    ready_job_free(set->ready[number]);
    set->ready[number] = NULL;
}

static int compare_losses(const void *a, const void *b)
{
    const struct virtual_loss *first = a, *second = b;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return (first->rank > second->rank) - (first->rank < second->rank);
}

static int list_losses(struct set_simulation *set, struct error *error)
{
    struct ready_job *any = ready_job_new(set, 0, error);
    if (any == NULL)
        return -1;
    const struct placement *placement = &any->simulation.placement;
    set->losses = calloc((size_t)any->simulation.event_count * placement->ranks + 1, sizeof *set->losses);
    for (unsigned i = 0; set->losses != NULL && i < any->simulation.event_count; i++)
        for (unsigned rank = 0; rank < placement->ranks; rank++)
            if (placement->node_of[rank] == any->simulation.events[i].node)
                set->losses[set->loss_count++] = (struct virtual_loss){any->simulation.events[i].at_ns, rank};
    ready_job_free(any);
    if (set->losses == NULL)
        return error_set(error, "out of memory");
    qsort(set->losses, set->loss_count, sizeof *set->losses, compare_losses);
    return 0;
}

static void run_all(struct set_simulation *set)
{
    struct virtual_set_config config = set_config(set->asked);
    for (size_t i = 0; i < set->file.count; i++) {
        const struct listed_job *listed = &set->file.jobs[i];
        set->jobs[i] = (struct virtual_job){
            .at_ns = listed->at_ns,
            .cancel_at_ns = listed->cancel_at_ns,
            .priority = listed->priority,
            .weight = listed->weight,
            .after = listed->before,
            .after_count = listed->after.count,
            .began_ns = NEVER,
            .ended_ns = NEVER,
        };
    }
    config.jobs = set->jobs;
    config.job_count = (unsigned)set->file.count;
    config.losses = set->losses;
    config.loss_count = set->loss_count;
    config.context = set;
    config.on_begin = begin_job;
    config.on_run = end_job;
    set->result = virtual_set_run(&config);
}

/* Times are in seconds. Negative: there is no such value. */
struct job_times {
    double submitted_s, began_s, ended_s, waited_s, share, slowdown;
};

struct set_times {
    double makespan_s, utilisation, slowdown; /* slowdown: mean of the jobs that have finished; 0: none has */
    unsigned by_state[QUEUE_CANCELLED + 1];
};

static struct job_times times_of(const struct set_simulation *set, size_t number)
{
    const struct virtual_job *job = &set->jobs[number];
    struct job_times times = {(double)job->at_ns / NS_PER_S, -1, -1, -1, -1, -1};
    times.ended_s = job->ended_ns != NEVER ? (double)job->ended_ns / NS_PER_S : -1;
    if (job->began_ns == NEVER)
        return times;
    times.began_s = (double)job->began_ns / NS_PER_S;
    times.waited_s = times.began_s - times.submitted_s;
    if (job->ended_ns == NEVER)
        return times;
    const double took_s = times.ended_s - times.began_s;
    times.share = took_s > 0 ? (double)job->used_ns / NS_PER_S / set->asked->workers / took_s : 0;
    if (set->alone_s[number] > 0 && job->state != QUEUE_CANCELLED)
        times.slowdown = (times.ended_s - times.submitted_s) / set->alone_s[number];
    return times;
}

static struct set_times sum_up(const struct set_simulation *set)
{
    struct set_times sum = {0};
    double computed_s = 0, last_s = 0;
    unsigned ran = 0;
    for (size_t i = 0; i < set->file.count; i++) {
        const struct job_times times = times_of(set, i);
        sum.by_state[set->jobs[i].state]++;
        computed_s += (double)set->jobs[i].used_ns / NS_PER_S;
        last_s = times.ended_s > last_s ? times.ended_s : last_s;
        if (times.slowdown < 0)
            continue;
        sum.slowdown += times.slowdown;
        ran++;
    }
    sum.makespan_s = last_s - (double)set->jobs[0].at_ns / NS_PER_S;
    sum.utilisation = sum.makespan_s > 0 ? computed_s / set->asked->workers / sum.makespan_s : 0;
    sum.slowdown = ran > 0 ? sum.slowdown / ran : 0;
    return sum;
}

static const char *state_name(enum queue_state state)
{
    static const char *const names[] = {"waiting", "running", "done", "failed", "cancelled"};
    return names[state];
}

static const char *name_of(const struct set_simulation *set, size_t number)
{
    return set->file.jobs[number].name != NULL ? set->file.jobs[number].name : "";
}

static void print_number(const char *before, double number, int digits, int width, const char *none)
{
    if (number < 0)
        printf("%s%*s", before, width, none);
    else
        printf("%s%*.*f", before, width, digits, number);
}

static void print_text(const struct set_simulation *set, const struct set_times *sum)
{
    say(stdout, "%5s %-16s %12s %12s %12s %12s %6s %9s  %s", "job", "name", "submitted s", "waited s", "began s",
        "ended s", "share", "slowdown", "state");
    for (size_t i = 0; i < set->file.count; i++) {
        const struct job_times times = times_of(set, i);
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s", name_of(set, i));
        printf("%5zu %-16s", i + 1, plain(name));
        print_number(" ", times.submitted_s, 3, 12, "-");
        print_number(" ", times.waited_s, 3, 12, "-");
        print_number(" ", times.began_s, 3, 12, "-");
        print_number(" ", times.ended_s, 3, 12, "-");
        print_number(" ", times.share, 3, 6, "-");
        print_number(" ", times.slowdown, 2, 9, "-");
        say(stdout, "  %s", state_name(set->jobs[i].state));
    }
    const unsigned open = sum->by_state[QUEUE_WAITING] + sum->by_state[QUEUE_RUNNING];
    printf("%zu jobs: %u done, %u failed, %u cancelled", set->file.count, sum->by_state[QUEUE_DONE],
           sum->by_state[QUEUE_FAILED], sum->by_state[QUEUE_CANCELLED]);
    printf(open > 0 ? ", %u left open\n" : "\n", open);
    printf("makespan %.3f s, utilisation %.3f, mean slowdown %.2f\n", sum->makespan_s, sum->utilisation, sum->slowdown);
}

static void print_quoted(const char *text)
{
    const bool is_quoted = strpbrk(text, ",\"") != NULL;
    for (fputs(is_quoted ? "\"" : "", stdout); *text != '\0'; text++)
        printf(*text == '"' ? "\"%c" : "%c", *text);
    fputs(is_quoted ? "\"" : "", stdout);
}

static void print_csv(const struct set_simulation *set)
{
    puts("job,name,state,submitted_s,waited_s,began_s,ended_s,alone_s,share,slowdown");
    for (size_t i = 0; i < set->file.count; i++) {
        const struct job_times times = times_of(set, i);
        printf("%zu,", i + 1);
        print_quoted(name_of(set, i));
        printf(",%s", state_name(set->jobs[i].state));
        print_number(",", times.submitted_s, 6, 0, "");
        print_number(",", times.waited_s, 6, 0, "");
        print_number(",", times.began_s, 6, 0, "");
        print_number(",", times.ended_s, 6, 0, "");
        print_number(",", set->alone_s[i], 6, 0, "");
        print_number(",", times.share, 6, 0, "");
        print_number(",", times.slowdown, 6, 0, "");
        putchar('\n');
    }
}

static json_t *number_or_null(double number)
{
    return number < 0 ? json_null() : json_real(number);
}

static json_t *job_json(const struct set_simulation *set, size_t number)
{
    const struct job_times times = times_of(set, number);
    const char *name = set->file.jobs[number].name;
    return json_pack("{s:I, s:s?, s:s, s:f, s:o, s:o, s:o, s:f, s:o, s:o}", "job", (json_int_t)number + 1, "name", name,
                     "state", state_name(set->jobs[number].state), "submitted_s", times.submitted_s, "waited_s",
                     number_or_null(times.waited_s), "began_s", number_or_null(times.began_s), "ended_s",
                     number_or_null(times.ended_s), "alone_s", set->alone_s[number], "share",
                     number_or_null(times.share), "slowdown", number_or_null(times.slowdown));
}

static int print_json(const struct set_simulation *set, const struct set_times *sum, struct error *error)
{
    json_t *jobs = json_array();
    int failed = 0;
    for (size_t i = 0; i < set->file.count; i++)
        failed |= json_array_append_new(jobs, job_json(set, i));
    const struct virtual_set_config config = set_config(set->asked);
    json_t *all =
        json_pack("{s:i, s:i, s:i, s:f, s:f, s:f, s:o}", "workers", (int)set->asked->workers, "masters",
                  (int)set->asked->masters, "jobs_at_once", (int)config.at_once, "makespan_s", sum->makespan_s,
                  "utilisation", sum->utilisation, "mean_slowdown", sum->slowdown, "jobs", jobs);
    failed |= all == NULL || json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0;
    putchar('\n');
    json_decref(all);
    return failed ? error_set(error, "out of memory for the report, or it cannot be written") : 0;
}

static int print_all(const struct set_simulation *set, struct error *error)
{
    if (set->result.outcome == SET_CANNOT_RUN)
        return error_set(error, "%s", set->result.error.text);
    const struct set_times sum = sum_up(set);
    switch (set->asked->format) {
    case SIMULATION_TEXT: print_text(set, &sum); break;
    case SIMULATION_CSV: print_csv(set); break;
    case SIMULATION_JSON:
        if (print_json(set, &sum, error) < 0)
            return -1;
    }
    fflush(stdout);
    if (set->result.outcome == SET_IS_LOST)
        say_error("hdss simulate", "the node of the supermaster failed, and the set with it");
    if (set->result.outcome == SET_HANGS)
        say_error("hdss simulate", "the simulated set hangs");
    return sum.by_state[QUEUE_FAILED] > 0 || set->result.outcome != SET_IS_OVER ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}

static int check_asked(const struct simulation *asked, struct error *error)
{
    if (asked->dca)
        return error_set(error, "--dca: a set has a supermaster; accepted: without --jobs");
    if (asked->backend != SIMULATION_VIRTUAL)
        return error_set(error, "--backend simgrid: one job is simulated there; accepted: without --jobs");
    if (asked->load_text != NULL || asked->slow_text != NULL)
        return error_set(error, "--%s: accepted without --jobs", asked->load_text != NULL ? "load" : "slow-nodes");
    if (asked->availability_path != NULL)
        return error_set(error, "--availability: no nodes join a set; accepted: without --jobs");
    if (asked->repetitions > 0)
        return error_set(error, "--repetitions: accepted without --jobs");
    return 0;
}

static int take_common(struct argv *common, int argc, char **argv, struct error *error)
{
    const struct options all = simulation_options();
    struct options_reader reader;
    struct options_word word;
    int more, first;
    options_reader_init(&reader, &all, argc, argv);
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0) {
        if (word.row == NULL)
            return error_set(error, "%s: with --jobs the kernels are those of the file", word.value);
        if (strcmp(word.row->name, "jobs") == 0 || strcmp(word.row->name, "jobs-at-once") == 0 ||
            strcmp(word.row->name, "format") == 0)
            continue;
        for (int i = first; i < reader.at; i++)
            argv_add(common, argv[i]);
    }
    return more;
}

static int set_simulation_init(struct set_simulation *set, const struct simulation *asked, int argc, char **argv,
                               struct error *error)
{
    *set = (struct set_simulation){.asked = asked};
    if (check_asked(asked, error) < 0 || take_common(&set->common, argc, argv, error) < 0 ||
        jobs_file_read(&set->file, asked->jobs_path, error) < 0)
        return -1;
    set->jobs = calloc(set->file.count, sizeof *set->jobs);
    set->ready = (struct ready_job **)calloc(set->file.count, sizeof *set->ready);
    set->alone_s = calloc(set->file.count, sizeof *set->alone_s);
    if (set->jobs == NULL || set->ready == NULL || set->alone_s == NULL || set->common.failed)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < set->file.count; i++) {
        struct ready_job *job = ready_job_new(set, i, error);
        if (job == NULL)
            return -1;
        ready_job_free(job);
    }
    return list_losses(set, error);
}

static void set_simulation_fini(struct set_simulation *set)
{
    jobs_file_fini(&set->file);
    argv_fini(&set->common);
    free(set->jobs);
    free((void *)set->ready);
    free(set->alone_s);
    free(set->losses);
}

int simulate_jobs(const struct simulation *asked, int argc, char **argv, struct error *error)
{
    struct set_simulation set;
    int result = set_simulation_init(&set, asked, argc, argv, error);
    for (size_t i = 0; result == 0 && i < set.file.count; i++)
        result = run_alone(&set, i, error);
    if (result == 0) {
        run_all(&set);
        result = print_all(&set, error);
    }
    set_simulation_fini(&set);
    return result;
}

int simulate_jobs_check(const struct simulation *asked, int argc, char **argv, struct error *error)
{
    struct set_simulation set;
    const int result = set_simulation_init(&set, asked, argc, argv, error);
    set_simulation_fini(&set);
    return result;
}
