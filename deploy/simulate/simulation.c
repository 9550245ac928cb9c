/* SPDX-License-Identifier: MIT */
/* Command line and preparation of a simulated run: see simulation.h. */
#include "deploy/simulate/simulation.h"

#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/os/files.h"
#include "common/sched/sched.h"
#include "common/util/list.h"
#include "common/util/number.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"
#include "worker/kernels/costs/profile.h"
#include "worker/kernels/model.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int simulation_take_dca(void *target, const char *value, struct error *error)
{
    struct simulation *simulation = target;
    simulation->dca = true;
    return option_take(options_find(worker_options(), "dca"), &simulation->dca_options, value, error);
}

#define SLOW_ACCEPTED "NODE:FACTOR@SECONDS or NODE:FACTOR@SECONDS-SECONDS, with commas between them"
#define FAIL_ACCEPTED "NODE@SECONDS, with commas between them"

static const struct option_row simulation_rows[] = {
    {"workers", 'j', "W", NULL, "simulate W workers (default 16)",
     TAKES_INTEGER(struct simulation, workers, 1, SIMULATION_RANKS_MAX)},
    {"masters", 0, "M", "an integer from 0 to the number of workers",
     "simulate M masters; with 0 the supermaster serves the workers itself (default 0)",
     TAKES_INTEGER(struct simulation, masters, 0, SIMULATION_RANKS_MAX)},
    {"platform", 0, "ranger|cluster|two-speeds|two-sites|FILE",
     "the name of a described platform, also NAME:nodes=N,cores=C,bandwidth=RATE,byte=TIME, or a file",
     "simulate this machine: a built-in one, changed by NAME:nodes=N,cores=C,bandwidth=RATE,byte=TIME, or one from "
     "FILE, for SimGrid also FILE.xml (default cluster)",
     TAKES_WORD(struct simulation, platform_name), .least = 1, .not_for = OPTION_STUDY},
    {"dca", 0, "rma|two-sided|node", "rma, rma:atomics=2, two-sided, two-sided:exchanges=2, node",
     "simulate only workers, which cut their chunks themselves: see worker(1)", simulation_take_dca,
     .not_for = OPTION_STUDY},
    {"node-technique", 0, "SPEC", "a technique with a closed form: NAME or NAME:PARAM=VALUE,...",
     "with --dca node: share the chunks of a node among its workers by this technique (default " WORKER_NODE_TECHNIQUE
     ")",
     TAKES_TECHNIQUE(struct simulation, dca_options.node_technique),
     .given = offsetof(struct simulation, dca_options.node_technique_given)},
    {"break-after", 0, "N", NULL,
     "let rank 0 (with --dca two-sided) or each master (with --masters-compute) look at messages every N iterations "
     "(default: about every 50 us)",
     TAKES_INTEGER(struct simulation, break_after, 1, SCHED_ITERATIONS_MAX)},
    {"backend", 0, "virtual|simgrid", NULL,
     "use the virtual time of HDSS, or SimGrid's MPI if HDSS was built with it (default virtual)",
     TAKES_CHOICE(struct simulation, backend)},
    {"costs", 0, "FILE|DISTRIBUTION", "a file of costs, or a distribution: NAME or NAME:PARAM=VALUE,...",
     "take the costs of iterations from a file (see --record-costs); a distribution, such as exponential:mean=100 "
     "(constant, uniform, normal, exponential, gamma, bimodal, increasing, decreasing, lognormal, pareto, phases); or "
     "a mixture, such as 0.9*normal:mean=10+0.1*pareto:mean=99 (default: the kernel's own model)",
     TAKES_WORD(struct simulation, costs_name), .least = 1},
    {"recorded-workers", 0, "separate|simulate|ignore", NULL,
     "if the file of --costs names the worker of each line: simulate workers as fast as these (simulate), remove their "
     "speeds from the costs (separate), or take the costs as recorded (ignore) (default simulate; separate with "
     "--platform)",
     TAKES_CHOICE(struct simulation, recorded), .given = offsetof(struct simulation, has_recorded)},
    {"slowdown", 0, "X1,X2,...", "numbers from 1 to 1000",
     "make each worker X times slower (X from 1 to 1000). Give one number for all workers, or one number per worker",
     TAKES_WORD(struct simulation, slowdown_text)},
    {"load", 0, "N1,N2,...", "integers from 0 to 64",
     "let N busy processes (N from 0 to 64) share the core of each worker. Give one number for all workers, or one "
     "number per worker",
     TAKES_WORD(struct simulation, load_text)},
    {"slow-nodes", 0, "N:X@S,...", SLOW_ACCEPTED,
     "make node N X times slower from second S on, or with N:X@S-E from second S to second E",
     TAKES_WORD(struct simulation, slow_text)},
    {"seed", 0, "N", NULL, "shuffle messages that arrive at the same time, by seed N (default: a fixed order)",
     TAKES_INTEGER(struct simulation, seed, 1, UINT32_MAX)},
    {"repetitions", 0, "R", NULL,
     "simulate R times, with --seed N, N + 1 and so on, and show the median run and the range",
     TAKES_INTEGER(struct simulation, repetitions, 1, SIMULATION_REPETITIONS_MAX)},
    {"fail-nodes", 0, "N@S,...", FAIL_ACCEPTED, "let node N fail S seconds after the start",
     TAKES_WORD(struct simulation, fail_text)},
    {"availability", 0, "FILE", "a file of lines NODE SECONDS up|down|leaves|SPEED",
     "let nodes come, fail, leave and change speed as FILE says", TAKES_WORD(struct simulation, availability_path),
     .least = 1},
    {"jobs", 0, "FILE", "a list of jobs, one a line: TIME [OPTION]... KERNEL [KEY=VALUE]...",
     "simulate a set with the jobs of FILE instead of one job", TAKES_WORD(struct simulation, jobs_path), .least = 1,
     .not_for = OPTION_STUDY},
    {"jobs-at-once", 0, "N", NULL, "with --jobs: run up to N jobs at once (default 8)",
     TAKES_INTEGER(struct simulation, jobs_at_once, 1, 1000), .not_for = OPTION_STUDY},
    {"format", 0, "text|json|csv", NULL, "with --jobs: print a table, JSON or CSV (default text)",
     TAKES_CHOICE(struct simulation, format), .given = offsetof(struct simulation, has_format),
     .not_for = OPTION_STUDY},
    {NULL},
};

const struct options simulation_own_options = {
    .usage = "hdss simulate [OPTION]... KERNEL [KEY=VALUE]...\n"
             "hdss simulate [OPTION]... --jobs FILE",
    .about =
        "Runs KERNEL on a simulated machine: the same supermaster, masters and workers exchange the same messages, in "
        "virtual time and in one process. Each iteration takes the time that --costs or the kernel's model says.",
    .sections = {{"Simulation", simulation_rows}, {"Help", options_common}},
    .notes = "All options that `supermaster --help` shows are accepted as well. No iteration is computed and no result "
             "is written; with --output, sending results to the masters takes simulated time.\n"
             "Example:\n"
             "    hdss simulate --platform ranger --masters 16 --workers 8192 adjoint n=800\n"
             "    hdss simulate --workers 64 --masters 4 --jobs day.txt\n"
             "Exit status: 0 done, 1 failed, 2 wrong use, 3 finished with failed tasks, 4 stopped by a drain.",
};

struct options simulation_options(void)
{
    struct options all = simulation_own_options;
    const struct option_section *section = job_options()->sections;
    for (unsigned i = 2; i + 1 < OPTIONS_SECTIONS_MAX && section->title != NULL; section++)
        if (section->rows != options_common)
            all.sections[i++] = *section;
    return all;
}

static int read_words(struct simulation *simulation, int argc, char **argv, struct error *error)
{
    const struct options all = simulation_options();
    struct options_reader reader;
    struct options_word word;
    int more, first;
    simulation->words = calloc((size_t)argc + 2, sizeof *simulation->words);
    if (simulation->words == NULL)
        return error_set(error, "out of memory");
    static char name[] = "supermaster";
    simulation->words[simulation->word_count++] = name;
    options_reader_init(&reader, &all, argc, argv);
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0) {
        if (word.row != NULL && (word.row->not_for & OPTION_SIMULATE) != 0)
            simulation->refused = word.row;
        if (word.row != NULL && options_find(&simulation_own_options, word.row->name) != NULL) {
            int result = option_apply(&word, simulation, error);
            if (result != 0)
                return result;
            continue;
        }
        for (int i = first; i < reader.at; i++)
            simulation->words[simulation->word_count++] = argv[i];
    }
    return more;
}

static bool is_path(const char *name)
{
    char described[PLATFORM_NAME_MAX];
    snprintf(described, sizeof described, "%.*s", (int)strcspn(name, ":"), name);
    if (platform_described(described) != NULL)
        return false;
    return strchr(name, '/') != NULL || strchr(name, '.') != NULL;
}

static int read_platform_file(struct platform *platform, const char *path, struct error *error)
{
    struct error inner;
    char *text = file_read(path, &inner);
    if (text == NULL)
        return error_set(error, "--platform '%s': accepted: the name of a described platform or a readable file (%s)",
                         path, inner.text);
    int result = platform_parse(platform, text, &inner);
    free(text);
    const char *base = strrchr(path, '/');
    snprintf(platform->name, sizeof platform->name, "%s", base != NULL ? base + 1 : path);
    return result < 0 ? error_set(error, "--platform %s: %s", path, inner.text) : 0;
}

static bool is_of_simgrid(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".xml") == 0;
}

static int make_platform(struct simulation *simulation, simulation_reader *reader, void *context, struct error *error)
{
    struct error inner;
    const char *name = simulation->platform_name != NULL ? simulation->platform_name : "cluster";
    if (is_of_simgrid(name)) {
        if (reader == NULL)
            return error_set(error, "--platform %s: SimGrid's files are accepted with --backend simgrid only", name);
        if (reader(context, name, &simulation->platform, error) < 0)
            return -1;
    } else if (is_path(name)) {
        if (read_platform_file(&simulation->platform, name, error) < 0)
            return -1;
    } else if (platform_find(&simulation->platform, name, &inner) < 0) {
        return error_set(error, "--platform: %s", inner.text);
    }
    const unsigned with_leader = simulation->workers - simulation->dca - simulation_serving_workers(simulation);
    if (placement_init(&simulation->placement, &simulation->platform, simulation->masters, with_leader,
                       simulation->setup.job.spec.threads, &inner) < 0)
        return error_set(error, "--platform %s: %s", name, inner.text);
    return 0;
}

static int take_factor(const char *word, double *value, struct error *error)
{
    if (slowdown_parse(word, value) == 0)
        return 0;
    return error_set(error, "--slowdown '%s': accepted: numbers from 1 to %d", word, WORKER_SLOWDOWN_MAX);
}

static int take_count(const char *word, double *value, struct error *error)
{
    unsigned count = 0;
    int result = load_parse_count(word, &count);
    *value = 1 + count;
    return result == 0 ? 0 : error_set(error, "--load '%s': accepted: integers from 0 to %d", word, WORKER_LOAD_MAX);
}

static int simulation_read_list(const char *text, unsigned workers, const char *option,
                                int (*take)(const char *word, double *value, struct error *error), double *values,
                                struct error *error)
{
    unsigned count = 0;
    char word[32];
    while (list_next(&text, word, sizeof word)) {
        double value;
        if (take(word, &value, error) < 0)
            return -1;
        if (count < workers)
            values[count] = value;
        count++;
    }
    if (count > 1 && count != workers)
        return error_set(error, "--%s has %u numbers for %u workers: accepted: one for all, or one for each", option,
                         count, workers);
    for (unsigned w = 1; count == 1 && w < workers; w++)
        values[w] = values[0];
    return 0;
}

static int make_speeds(struct simulation *simulation, struct error *error)
{
    const struct placement *placement = &simulation->placement;
    simulation->worker_speeds = calloc(simulation->workers, sizeof *simulation->worker_speeds);
    simulation->worker_loads = calloc(simulation->workers, sizeof *simulation->worker_loads);
    simulation->rank_speeds = calloc(placement->ranks, sizeof *simulation->rank_speeds);
    if (simulation->worker_speeds == NULL || simulation->worker_loads == NULL || simulation->rank_speeds == NULL)
        return error_set(error, "out of memory for %u ranks", placement->ranks);
    for (unsigned i = 0; i < placement->ranks; i++)
        simulation->rank_speeds[i] = placement->speed[placement->node_of[i]];
    for (unsigned w = 0; w < simulation->workers; w++)
        simulation->worker_speeds[w] = simulation->worker_loads[w] = 1;
    if (simulation_read_list(simulation->slowdown_text, simulation->workers, "slowdown", take_factor,
                             simulation->worker_speeds, error) < 0 ||
        simulation_read_list(simulation->load_text, simulation->workers, "load", take_count, simulation->worker_loads,
                             error) < 0)
        return -1;
    for (unsigned w = 0; w < simulation->workers; w++)
        simulation->worker_speeds[w] =
            simulation->rank_speeds[simulation_worker_rank(simulation, w)] / simulation->worker_speeds[w];
    return 0;
}

static int parse_seconds(const char *text, uint64_t *ns)
{
    double seconds;
    if (number_parse_real(text, &seconds) < 0 || seconds < 0 || seconds > 1e9)
        return -1;
    *ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static int parse_event(char *word, bool fails, struct simulation_event *event)
{
    uint64_t node;
    char *at = strchr(word, '@'), *colon = strchr(word, ':'), *dash;
    *event = (struct simulation_event){.until_ns = UINT64_MAX};
    if (at == NULL || (colon == NULL) != fails)
        return -1;
    *at++ = '\0';
    if (colon != NULL) {
        *colon++ = '\0';
        if (number_parse_real(colon, &event->factor) < 0 || event->factor < 1 || event->factor > 1e6)
            return -1;
    }
    dash = fails ? NULL : strchr(at, '-');
    if (dash != NULL)
        *dash++ = '\0';
    if (number_parse_u64(word, &node) < 0 || node > UINT32_MAX || parse_seconds(at, &event->at_ns) < 0)
        return -1;
    if (dash != NULL && (parse_seconds(dash, &event->until_ns) < 0 || event->until_ns <= event->at_ns))
        return -1;
    event->node = (unsigned)node;
    return 0;
}

static int take_events(struct simulation *simulation, const char *text, bool fails, struct error *error)
{
    const char *option = fails ? "--fail-nodes" : "--slow-nodes";
    char word[64], parsed[64];
    while (list_next(&text, word, sizeof word)) {
        memcpy(parsed, word, sizeof word);
        struct simulation_event *event = &simulation->events[simulation->event_count];
        if (simulation->event_count == SIMULATION_NODES_MAX)
            return error_set(error, "%s: accepted: up to %d nodes", option, SIMULATION_NODES_MAX);
        if (parse_event(parsed, fails, event) < 0)
            return error_set(error, "%s '%s': accepted: %s", option, word, fails ? FAIL_ACCEPTED : SLOW_ACCEPTED);
        if (event->node >= simulation->placement.nodes)
            return error_set(error, "%s '%s': accepted: the nodes that the run uses, from 0 to %u", option, word,
                             simulation->placement.nodes - 1);
        simulation->event_count++;
    }
    return 0;
}

static int make_events(struct simulation *simulation, struct error *error)
{
    simulation->events = calloc(SIMULATION_NODES_MAX, sizeof *simulation->events);
    if (simulation->events == NULL)
        return error_set(error, "out of memory");
    return take_events(simulation, simulation->slow_text, false, error) < 0
               ? -1
               : take_events(simulation, simulation->fail_text, true, error);
}

static char *read_profile(void *context, const char *name, struct error *error)
{
    const char *trace = context, *slash = strrchr(trace, '/');
    char path[PATH_MAX];
    const int folder = name[0] != '/' && slash != NULL ? (int)(slash + 1 - trace) : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, trace, name) >= (int)sizeof path) {
        error_set(error, "the name of the file is too long");
        return NULL;
    }
    return file_read(path, error);
}

static int read_availability(struct simulation *simulation, struct error *error)
{
    const char *path = simulation->availability_path;
    struct error inner;
    char *text = path != NULL ? file_read(path, &inner) : NULL;
    if (path == NULL)
        return 0;
    if (text == NULL)
        return error_set(error, "--availability '%s': accepted: a readable file (%s)", path, inner.text);
    const int result = availability_parse(&simulation->availability, text, simulation->placement.nodes, read_profile,
                                          (void *)path, &inner);
    free(text);
    if (result < 0)
        return error_set(error, "--availability %s: %s", path, inner.text);
    if (simulation->masters == 0 && availability_has_arrivals(&simulation->availability))
        return error_set(
            error, "--availability: nodes join as masters with their workers; accepted: with --masters 1 or more");
    return 0;
}

static int separate_recorded_workers(struct simulation *simulation, struct error *error)
{
    struct recorded_speeds *speeds = &simulation->recorded_speeds;
    if (costs_separate_workers(simulation->costs, speeds, error) < 0)
        return -1;
    for (unsigned w = 0; simulation->recorded == RECORDED_SIMULATE && w < simulation->workers; w++)
        simulation->worker_speeds[w] *= speeds->speed[w % speeds->workers];
    return 0;
}

static int read_costs_file(struct simulation *simulation, struct error *error)
{
    const struct job_setup *setup = &simulation->setup;
    const char *path = simulation->costs_name;
    struct error inner;
    char *text = file_read(path, &inner);
    const char *meant = text == NULL ? costs_nearest_distribution(path) : NULL;
    if (text == NULL)
        return error_set(
            error, "--costs '%s': %s%s%saccepted: a distribution (" COSTS_DISTRIBUTIONS ") or a readable file (%s)",
            path, meant != NULL ? "did you mean " : "", meant != NULL ? meant : "", meant != NULL ? "? " : "",
            inner.text);
    simulation->costs = costs_parse(text, setup->first, setup->count, &inner);
    free(text);
    if (simulation->costs == NULL)
        return error_set(error, "--costs %s: %s", path, inner.text);
    return simulation->recorded != RECORDED_IGNORE && costs_have_workers(simulation->costs)
               ? separate_recorded_workers(simulation, error)
               : 0;
}

static int read_profile_of_lb4omp(struct simulation *simulation, struct error *error)
{
    const struct job_setup *setup = &simulation->setup;
    struct profile_request request;
    struct error inner;
    if (profile_request_parse(&request, simulation->costs_name, &inner) < 0)
        return error_set(error, "--costs: %s", inner.text);
    char *text = file_read(request.file, &inner);
    if (text == NULL)
        return error_set(error, "--costs: %s", inner.text);
    simulation->costs = costs_of_profile(&request, text, setup->first, setup->count, &inner);
    free(text);
    return simulation->costs == NULL ? error_set(error, "--costs: %.200s: %s", request.file, inner.text) : 0;
}

static int make_costs_by_name(struct simulation *simulation, struct error *error)
{
    const struct job_setup *setup = &simulation->setup;
    const char *name = simulation->costs_name;
    struct error inner;
    if (name == NULL) {
        simulation->costs =
            kernel_model_costs(setup->kernel, setup->values, &setup->loop, setup->first, setup->count, error);
        return simulation->costs == NULL ? -1 : 0;
    }
    if (costs_is_profile(name))
        return read_profile_of_lb4omp(simulation, error);
    if (!costs_is_distribution(name))
        return read_costs_file(simulation, error);
    simulation->costs = costs_distributed(name, setup->first, setup->count, &inner);
    return simulation->costs == NULL ? error_set(error, "--costs: %s", inner.text) : 0;
}

static int make_costs(struct simulation *simulation, struct error *error)
{
    static const char *const words[] = {"separate", "simulate", "ignore"};
    if (!simulation->has_recorded && simulation->platform_name == NULL)
        simulation->recorded = RECORDED_SIMULATE;
    if (make_costs_by_name(simulation, error) < 0)
        return -1;
    if (!simulation->has_recorded || costs_have_workers(simulation->costs))
        return 0;
    return error_set(error,
                     "--recorded-workers %s: the costs name no workers; accepted: with --costs FILE, each line of "
                     "which has the rank of a worker, as --record-costs writes it",
                     words[simulation->recorded]);
}

static int simulation_check_dca(const struct simulation *simulation, struct error *error)
{
    if (!simulation->dca)
        return 0;
    if (job_setup_is_dependent(&simulation->setup))
        return error_set(error, "%s: its iterations depend on one another, which is not simulated with --dca",
                         simulation->setup.kernel->name);
    if (simulation->setup.job.trace[0] != '\0')
        return error_set(error, "--trace: workers alone (--dca) write none in a simulation; accepted: without --dca");
    return 0;
}

static int simulation_check_job(const struct simulation *simulation, struct error *error)
{
    const struct job *job = &simulation->setup.job;
    if (job->spec.threads == 0)
        return error_set(error,
                         "--threads auto: a simulated worker is bound to no cores; accepted: a number of threads");
    if (job->spec.threads > 1 && simulation->dca)
        return error_set(error, "--threads: with --dca a worker has one; accepted: 1");
    if (job->spec.threads > 1 && simulation->availability_path != NULL)
        return error_set(error, "--threads: with --availability a worker has one; accepted: 1");
    if (simulation->refused != NULL)
        return error_set(error, "--%s: in a simulated run nothing hangs, and there is nothing to go on from",
                         simulation->refused->name);
    if (worker_options_check(&simulation->dca_options, error) < 0)
        return -1;
    if (simulation->backend == SIMULATION_SIMGRID && (simulation->seed > 0 || simulation->repetitions > 0))
        return error_set(error, "--%s: SimGrid has an order of its own; accepted: with --backend virtual",
                         simulation->seed > 0 ? "seed" : "repetitions");
    if (simulation->availability_path != NULL && (simulation->backend == SIMULATION_SIMGRID || simulation->dca))
        return error_set(error, "--availability: accepted: with --backend virtual, and without --dca");
    if (simulation->availability_path != NULL && job->spec.masters_compute)
        return error_set(error,
                         "--masters-compute: nodes that join are pods, whose masters only serve; accepted: without "
                         "--availability");
    if (simulation->dca && simulation->masters > 0)
        return error_set(error, "--masters %u: there are none with --dca", simulation->masters);
    if (simulation_check_dca(simulation, error) < 0)
        return -1;
    if (simulation->masters > simulation->workers)
        return error_set(error, "--masters %u: accepted: up to the number of workers, %u", simulation->masters,
                         simulation->workers);
    return 0;
}

int simulation_read(struct simulation *simulation, int argc, char **argv, struct error *error)
{
    *simulation = (struct simulation){.workers = 16, .at_hand.supermaster_busy_s = -1, .at_hand.master_busy_s = -1};
    worker_options_init(&simulation->dca_options);
    return read_words(simulation, argc, argv, error);
}

static int simulation_pass_break_after(struct simulation *simulation, struct error *error)
{
    if (simulation->break_after == 0)
        return 0;
    if (simulation->dca) {
        simulation->dca_options.break_after = simulation->break_after;
        return 0;
    }
    if (snprintf(simulation->break_word, sizeof simulation->break_word, "--break-after=%" PRIu64,
                 simulation->break_after) < 0)
        return error_set(error, "--break-after: out of memory");
    memmove(simulation->words + 2, simulation->words + 1, (size_t)(simulation->word_count - 1) * sizeof(char *));
    simulation->words[1] = simulation->break_word;
    simulation->word_count++;
    return 0;
}

int simulation_prepare(struct simulation *simulation, simulation_reader *reader, void *context, struct error *error)
{
    int result = simulation_pass_break_after(simulation, error);
    if (result == 0)
        result = job_setup_make(&simulation->setup, &asking_loader, simulation->word_count, simulation->words, error);
    if (result != 0)
        return result;
    if (simulation_check_job(simulation, error) < 0 || make_platform(simulation, reader, context, error) < 0 ||
        make_speeds(simulation, error) < 0 || make_events(simulation, error) < 0 ||
        read_availability(simulation, error) < 0)
        return -1;
    return make_costs(simulation, error);
}

int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error)
{
    unsigned *ranks = calloc(simulation->workers, sizeof *ranks);
    if (ranks == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    for (unsigned w = 0; w < simulation->workers; w++)
        ranks[w] = simulation_worker_rank(simulation, w);
    int result = job_setup_read_speeds(&simulation->setup, ranks, simulation->workers, powers, error);
    free(ranks);
    return result;
}

void simulation_fini(struct simulation *simulation)
{
    ask_end();
    placement_fini(&simulation->placement);
    costs_free(simulation->costs);
    recorded_speeds_fini(&simulation->recorded_speeds);
    free(simulation->worker_speeds);
    free(simulation->worker_loads);
    free(simulation->rank_speeds);
    free(simulation->events);
    availability_fini(&simulation->availability);
    free(simulation->words);
    *simulation = (struct simulation){.workers = 0};
}
