/* SPDX-License-Identifier: MIT */
/* A job as the supermaster leads it: see job.h. */
#include "supermaster/lead/job.h"

#include "common/config/description.h"
#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/job/journal_format.h"
#include "common/job/resume.h"
#include "common/job/status.h"
#include "common/job/surroundings.h"
#include "common/job/terminal.h"
#include "common/job/timings.h"
#include "common/metrics/pace.h"
#include "common/metrics/progress.h"
#include "common/metrics/report.h"
#include "common/mpi/link.h"
#include "common/os/say.h"
#include "common/results/results.h"
#include "common/os/clock.h"
#include "common/os/launched.h"
#include "common/sched/plugin.h"
#include "common/sched/sched.h"
#include "common/trace/join.h"
#include "common/trace/spool.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/ranges.h"
#include "common/util/text.h"
#include "hdss/kernel.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "supermaster/ledger.h"
#include "supermaster/ranks.h"
#include "supermaster/statistics.h"
#include "supermaster/supermaster.h"
#include "worker/helper/ask.h"
#include "worker/kernels/exec/exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time limit for each query of a kernel in a set. All jobs of the set stand still during a query. */
#define ASK_IN_SET_NS UINT64_C(10000000000)

struct share {
    unsigned rank, master;
    uint64_t iterations;
};

struct trace {
    unsigned *ranks;
    unsigned count;
    struct trace_worker *workers;
    unsigned worker_count;
};

#define PACE_LOOK_MS 1000

#define FAULT_KINDS 5

struct led_job {
    struct root root;
    struct runtime *runtime;
    const struct topology *topology;
    struct supermaster supermaster;
    bool supermaster_ready;
    struct effects effects;
    bool is_told_of_growth, is_elastic;
    int folder;
    mode_t mask;
    char **environment;
    struct asker *asker; /* only in a set; owned */
    struct led_number number;
    /* The option --output=FILE, which is added to the command line for the other ranks. Empty if these ranks find the
     * same name by themselves. */
    char output_word[sizeof "--output=" + JOB_PATH_MAX];
    int argc;
    char **argv;
    struct timespec list_changed;
    char technique_text[SCHED_SPEC_TEXT_MAX];
    uint64_t ended_ns;
    struct pace pace;
    unsigned said[FAULT_KINDS];
    bool failure_said;
    unsigned *costs_ranks; /* [costs_count] ranks of the workers that write files of costs; owned */
    unsigned costs_count;
    struct trace_spool spool;
    struct trace trace;
    struct share *shares;
    unsigned share_count;
};

struct led_job *led_job_new(const char *version)
{
    struct led_job *led = calloc(1, sizeof *led);
    if (led == NULL)
        return NULL;
    root_init(&led->root, "supermaster", version);
    led->folder = -1;
    return led;
}

struct root *led_job_root(struct led_job *led)
{
    return &led->root;
}

void led_job_place(struct led_job *led, int folder, mode_t mask, char **environment, bool is_patient)
{
    led->folder = folder;
    led->mask = mask;
    led->environment = environment;
    led->asker = ask_new(ASK_IN_SET_NS, is_patient ? ASK_IN_SET_NS : 0);
}

void led_job_number(struct led_job *led, const struct led_number *number)
{
    led->number = *number;
}

bool led_job_is_loading(const struct led_job *led)
{
    ask_use(led->asker);
    return ask_is_loading();
}

bool led_job_has_loaded(const struct led_job *led)
{
    ask_use(led->asker);
    return ask_has_loaded();
}

int led_job_loading_socket(const struct led_job *led)
{
    ask_use(led->asker);
    return ask_socket();
}

void led_job_take_kernel(struct led_job *led, struct led_job *other)
{
    struct asker *own = led->asker;
    led->asker = other->asker;
    other->asker = own;
}

void led_job_expect_more(struct led_job *led)
{
    led->is_told_of_growth = true;
}

void led_job_expect_pods(struct led_job *led)
{
    led->is_elastic = true;
    launched_note_joinable();
}

static int make_room_for_ranks(struct led_job *led, unsigned workers)
{
    struct trace *trace = &led->trace;
    const size_t all = (size_t)led->topology->workers + workers;
    unsigned *ranks = led->costs_ranks;
    if (ranks != NULL && (ranks = realloc(ranks, all * sizeof *ranks)) == NULL)
        return -1;
    led->costs_ranks = ranks;
    if (trace->ranks == NULL)
        return 0;
    return grow_to(&trace->ranks, trace->count, (size_t)trace->count + 1, sizeof *trace->ranks) == 0 &&
                   grow_to(&trace->workers, led->topology->workers, all, sizeof *trace->workers) == 0
               ? 0
               : -1;
}

int led_job_reserve(struct led_job *led, unsigned workers)
{
    return make_room_for_ranks(led, workers) == 0 ? supermaster_reserve(&led->supermaster, workers) : -1;
}

void led_job_note_joined(struct led_job *led)
{
    const struct topology *topology = led->topology;
    if (led->trace.ranks != NULL)
        led->trace.ranks[led->trace.count++] = topology->master_rank[topology->masters - 1];
    for (; led->costs_ranks != NULL && led->costs_count < topology->workers; led->costs_count++)
        led->costs_ranks[led->costs_count] = topology->worker_rank[led->costs_count];
}

bool led_job_tell_unfit(const struct led_job *led, unsigned i, unsigned *rank)
{
    if (i >= supermaster_unfit_count(&led->supermaster))
        return false;
    *rank = supermaster_unfit_rank(&led->supermaster, i);
    return true;
}

void led_job_note_added(struct led_job *led, uint64_t added, bool is_complete)
{
    root_note_added(&led->root, added, is_complete);
}

static void enter(const struct led_job *led)
{
    ask_use(led->asker);
    if (led->folder < 0)
        return;
    if (fchdir(led->folder) < 0)
        say(led->root.err, "%s: cannot go to the job's folder: %m", led->root.name);
    umask(led->mask);
}

/* Sets the environment of the job. Returns the previous environment, which the caller must restore. */
static char **enter_environment(const struct led_job *led)
{
    char **before = environ;
    enter(led);
    if (led->environment != NULL)
        environ = led->environment;
    return before;
}

static int init_machine(struct led_job *led)
{
    const struct job_setup *setup = &led->root.setup;
    const struct topology *topology = led->topology;
    double *speeds;
    if (root_read_speeds(&led->root, topology->worker_rank, topology->workers, &speeds) < 0) {
        free(speeds);
        return -1;
    }
    const struct journal_content *earlier = &led->root.resume.earlier.content;
    const struct journal_point *point = earlier->point_count > 0 ? earlier->points : NULL;
    const struct supermaster_config config = {
        .topology = topology,
        .spec = &setup->job.spec,
        .first = setup->first,
        .count = setup->count,
        .grows = setup->loop.grows,
        .is_told_of_growth = led->is_told_of_growth,
        .is_elastic = led->is_elastic,
        .awaited = setup->job.await_pods,
        .step_iterations = setup->step_iterations,
        .steps_dependent = job_setup_has_dependent_steps(setup),
        .record_bytes = setup->collect ? setup->record_bytes : 0,
        .distance = job_setup_is_dependent(setup) ? setup->loop.distance : 0,
        .no_speculation = setup->loop.has_effects || job_setup_is_dependent(setup),
        .no_isolation = setup->kernel->descriptor != NULL || job_setup_is_dependent(setup),
        .is_patient = !status_may_lose_ranks(),
        .are_tasks = setup->loop.are_tasks,
        .speeds = speeds,
        .probe = run_spec_probes(&setup->job.spec),
        .probe_kills = !job_setup_is_isolated(setup),
        .journal = led->root.resume.path[0] != '\0',
        .records_at_once = setup->loop.has_effects && setup->job.durability == JOB_DURABILITY_PROCESS,
        .precedence = led->root.precedence.count > 0 ? &led->root.precedence : NULL,
        .done = &earlier->done,
        .done_failed = &led->root.done_failed,
        .done_digest = earlier->digest,
        .deaths = &earlier->deaths,
        .boundary_bytes = job_setup_is_dependent(setup) ? setup->loop.sync * setup->loop.boundary_bytes : 0,
        .point_at = point != NULL ? point->at : 0,
        .point = point != NULL ? point->data : NULL,
    };
    int result = supermaster_init(&led->supermaster, &config, &led->root.error);
    led->supermaster_ready = result == 0;
    free(speeds);
    return result;
}

/* Opens the trace. Copies the ranks, because the topology is released before the trace is written. */
static int open_trace(struct led_job *led)
{
    const struct topology *topology = led->topology;
    struct root *root = &led->root;
    if (root->setup.job.trace[0] == '\0')
        return 0;
    led->trace.ranks = calloc(topology->masters + 1, sizeof *led->trace.ranks);
    led->trace.workers = calloc((size_t)topology->workers + 1, sizeof *led->trace.workers);
    if (led->trace.ranks == NULL || led->trace.workers == NULL)
        return error_set(&root->error, "out of memory for a trace");
    led->trace.ranks[0] = topology->supermaster;
    for (unsigned m = 0; m < topology->masters; m++)
        led->trace.ranks[m + 1] = topology->master_rank[m];
    led->trace.count = topology->masters + 1;
    const struct trace_clock clock = {runtime_now(), clock_ns(CLOCK_REALTIME)};
    return trace_spool_open(&led->spool, root->setup.job.trace, topology->supermaster, &clock, &root->error);
}

/* Returns 0, -1 if the command line is wrong, or RESULTS_NO_ROOM. */
static int open_files(struct led_job *led)
{
    int created = root_create_files(&led->root);
    if (created == 0)
        created = open_trace(led);
    return created != 0 || led->topology->masters > 0 ? created : root_open_sink(&led->root);
}

static unsigned count_launched_workers(const struct topology *topology)
{
    unsigned launched = topology->workers;
    for (unsigned m = topology->launched; m < topology->masters; m++)
        launched -= topology_count(topology, m);
    return launched;
}

/* For verification each master needs two workers. Pods are exempt: if a pod has only one worker, the report counts the
 * iterations of this pod as unverified. */
static int check_verify_lineup(struct led_job *led)
{
    const struct topology *topology = led->topology;
    const unsigned launched = count_launched_workers(topology);
    struct error *error = &led->root.error;
    if (led->root.setup.job.spec.verify == 0 || (led->is_elastic && launched == 0))
        return 0;
    if (launched < 2)
        return error_set(error,
                         "--verify: another worker computes what is verified; accepted: with two workers or more");
    for (unsigned m = 0; m < topology->launched; m++)
        if (topology_count(topology, m) == 1)
            return error_set(error,
                             "--verify: master rank %u has one worker, and no other to verify it; accepted: fewer "
                             "masters, or --group-by even",
                             topology->master_rank[m]);
    return 0;
}

static void note_costs_ranks(struct led_job *led)
{
    const struct topology *topology = led->topology;
    const size_t bytes = topology->workers * sizeof *led->costs_ranks;
    if (led->root.setup.job.costs[0] != '\0' && (led->costs_ranks = malloc(bytes + 1)) != NULL) {
        memcpy(led->costs_ranks, topology->worker_rank, bytes);
        led->costs_count = topology->workers;
    }
}

static struct timespec time_of_list(const struct job_setup *setup)
{
    struct stat file;
    const char *list = setup->loop.are_tasks ? resume_list(setup) : NULL;
    return list != NULL && stat(list, &file) == 0 ? file.st_mtim : (struct timespec){0};
}

static bool is_output_there(const char *output)
{
    static const char *const endings[] = {"", JOB_JOURNAL_ENDING, ".parts"};
    char path[JOB_PATH_MAX + 16];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (snprintf(path, sizeof path, "%s%s", output, endings[i]) > 0 && access(path, F_OK) == 0)
            return true;
    return false;
}

/* Inserts the number of the job before the ending of the default output name. If there is already a file with the
 * resulting name, it may belong to another set; then the name of the set is inserted, too. */
static void number_output(struct led_job *led)
{
    struct job *job = &led->root.setup.job;
    const struct led_number *number = &led->number;
    const char *given = number->default_name != NULL ? number->default_name : job->output;
    const char *slash = strrchr(given, '/'), *ending = strrchr(slash != NULL ? slash : given, '.');
    const int stem = (int)(ending != NULL ? (size_t)(ending - given) : strlen(given));
    char name[JOB_PATH_MAX], name_with_set[JOB_PATH_MAX];
    snprintf(name, sizeof name, "%.*s-%" PRIu32 "%s", stem, given, number->id, given + stem);
    snprintf(name_with_set, sizeof name_with_set, "%.*s-%s-%" PRIu32 "%s", stem, given, number->set, number->id,
             given + stem);
    const bool has_set = is_output_there(name_with_set) || (!number->has_run && is_output_there(name));
    snprintf(job->output, sizeof job->output, "%s", has_set ? name_with_set : name);
    snprintf(led->output_word, sizeof led->output_word, "--output=%s", job->output);
}

int led_job_read(struct led_job *led, int argc, char **argv)
{
    led->argc = argc;
    led->argv = argv;
    if (led->folder >= 0 && led->asker == NULL)
        return error_set(&led->root.error, "out of memory");
    char **before = enter_environment(led);
    const int result = job_setup_make(&led->root.setup, &asking_loader, argc, argv, &led->root.error);
    environ = before;
    if (result == 0)
        led->list_changed = time_of_list(&led->root.setup);
    if (result == 0 && led->number.id > 0 && led->root.setup.job.output_is_default)
        number_output(led);
    return result;
}

static int make_ready(struct led_job *led)
{
    if (root_read_precedence(&led->root) < 0 || init_machine(led) < 0)
        return -1;
    note_costs_ranks(led);
    return open_files(led);
}

static int prepare(struct led_job *led)
{
    struct root *root = &led->root;
    int result = check_verify_lineup(led) < 0 || root_check(root, true) < 0 ? -1 : 0;
    if (result == 0 && root->resume.is_over)
        return HELLO_STATUS_HELP;
    if (result == 0)
        result = make_ready(led);
    if (result != 0)
        say(root->err, "%s: %s", root->name, root->error.text);
    return result == 0 ? EXIT_STATUS_DONE : result == RESULTS_NO_ROOM ? EXIT_STATUS_FAILED : EXIT_STATUS_USAGE;
}

int led_job_prepare(struct led_job *led, struct runtime *runtime, const struct topology *topology)
{
    struct root *root = &led->root;
    char **before = enter_environment(led);
    led->runtime = runtime;
    led->topology = topology;
    const int status = prepare(led);
    environ = before;
    if (!root->setup.loop.grows || root->setup.job.found.is_counted)
        ask_end();
    root_print_notes(root, status);
    return status;
}

static double elapsed_s(const struct led_job *led, uint64_t now_ns)
{
    uint64_t first = led->supermaster.cut.first_ns;
    return first == NEVER || now_ns < first ? 0 : (double)(now_ns - first) / 1e9;
}

static const struct {
    unsigned (*count)(const struct supermaster *supermaster);
    void (*text)(const struct supermaster *supermaster, unsigned i, struct error *text);
} fault_lines[FAULT_KINDS] = {
    {supermaster_failure_count, supermaster_failure_text}, {supermaster_mismatch_count, supermaster_mismatch_text},
    {supermaster_aside_count, supermaster_aside_text},     {supermaster_unfit_count, supermaster_unfit_text},
    {supermaster_loss_count, supermaster_loss_text},
};

static void print_faults(struct led_job *led)
{
    struct error text;
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
        for (; led->said[kind] < fault_lines[kind].count(&led->supermaster); led->said[kind]++) {
            fault_lines[kind].text(&led->supermaster, led->said[kind], &text);
            root_print_failure(&led->root, text.text, led->root.rank);
        }
}

static void print_failure(void *context)
{
    struct led_job *led = context;
    const struct supermaster *supermaster = &led->supermaster;
    print_faults(led);
    if (supermaster->failure.text[0] != '\0' && !led->failure_said)
        root_print_failure(&led->root, supermaster->failure.text, supermaster->failed_rank);
    led->failure_said = supermaster->failure.text[0] != '\0';
}

static struct progress measure_progress(const struct led_job *led, uint64_t now_ns)
{
    const struct supermaster *supermaster = &led->supermaster;
    return (struct progress){
        .name = led->root.setup.kernel->name,
        .done = supermaster->ledger.done,
        .total = supermaster->ledger.loop.count,
        .resumed = supermaster->resumed,
        .elapsed_s = elapsed_s(led, now_ns),
        .busy = supermaster_busy(supermaster),
        .lost = supermaster_loss_count(supermaster),
        .workers = led->topology->workers,
        .grows = supermaster->ledger.grows,
        .draining = supermaster->state == SUPERMASTER_ENDING && !ledger_is_complete(&supermaster->ledger),
    };
}

static void show_progress(void *context, uint64_t now_ns)
{
    struct led_job *led = context;
    print_faults(led);
    const struct progress progress = measure_progress(led, now_ns);
    pace_note(&led->pace, &progress);
    if (terminal_look_ms(&led->root.terminal) > 0)
        root_show_progress(&led->root, &progress);
}

static void write_technique(struct led_job *led)
{
    const struct supermaster *supermaster = &led->supermaster;
    const bool is_choosing = led->root.setup.job.spec.technique_auto && !supermaster->technique.is_ready;
    const struct sched_spec *spec =
        supermaster->technique.is_ready ? &supermaster->technique.sched.spec : &supermaster->config.spec->technique;
    snprintf(led->technique_text, sizeof led->technique_text, RUN_TECHNIQUE_AUTO);
    if (!is_choosing)
        sched_spec_format(spec, led->technique_text, sizeof led->technique_text);
}

void led_job_tell(struct led_job *led, struct control_job *job)
{
    const struct supermaster *supermaster = &led->supermaster;
    const struct job_setup *setup = &led->root.setup;
    write_technique(led);
    job->kernel = setup->kernel->name;
    job->command = led->argv + 1;
    job->words = led->argc - 1;
    job->progress = measure_progress(led, led->ended_ns > 0 ? led->ended_ns : runtime_now());
    job->band = pace_foresee(&led->pace, &job->progress);
    job->state = job->progress.draining               ? CONTROL_DRAINING
                 : supermaster->cut.first_ns == NEVER ? CONTROL_WAITING
                                                      : CONTROL_RUNNING;
    job->failed = ranges_total(&supermaster->ledger.failed);
    job->counts = (struct control_counts){
        .free = ranges_total(&supermaster->ledger.free),
        .chunks = supermaster->cut.chunks,
        .refills = supermaster->refilling.count,
        .recalls = supermaster->recalls.count + supermaster->service.recall.fruitful,
        .reissued = supermaster->losses.reissued,
        .messages_sent = supermaster->traffic.messages_sent,
        .bytes_sent = supermaster->traffic.bytes_sent,
    };
    job->technique = led->technique_text;
    job->topology = report_topology_name(led->topology->masters > 0 ? REPORT_HIERARCHICAL : REPORT_CENTRAL);
    job->output = setup->job.output;
}

#define COMMAND_TOLD_MAX 200

bool led_job_tell_rank(const struct led_job *led, uint64_t place, struct rank_figures *rank)
{
    const uint64_t now_ns = led->ended_ns > 0 ? led->ended_ns : runtime_now();
    if (place >= led->topology->ranks || !supermaster_tell_rank(&led->supermaster, (unsigned)place, now_ns, rank))
        return false;
    static char command[COMMAND_TOLD_MAX];
    const struct job_setup *setup = &led->root.setup;
    rank->host = runtime_host_of(led->runtime, rank->rank);
    if (rank->has_chunk && setup->kernel == &exec_kernel &&
        exec_text_known(setup->values, rank->first, command, sizeof command) == 0)
        rank->command = command;
    return true;
}

bool led_job_tell_failure(const struct led_job *led, uint64_t place, struct failure_figures *failure)
{
    return supermaster_tell_given_up(&led->supermaster, place, failure);
}

uint64_t led_job_failures(const struct led_job *led)
{
    return led->supermaster.given_up.total;
}

unsigned led_job_busy(const struct led_job *led)
{
    return supermaster_busy(&led->supermaster);
}

char *led_job_reason(const struct led_job *led, char text[LED_REASON_MAX])
{
    struct text lines;
    text_init(&lines);
    reasons_add_text(&led->root.reasons, &lines, "", "", LED_REASON_MAX);
    char *made = text_take(&lines);
    snprintf(text, LED_REASON_MAX, "%.*s", made != NULL ? (int)strcspn(made, "\n") : 0, made != NULL ? made : "");
    free(made);
    return text;
}

struct given_up led_job_take_given_up(struct led_job *led)
{
    const struct given_up given_up = led->supermaster.given_up;
    led->supermaster.given_up = (struct given_up){0};
    return given_up;
}

static void begun(void *context)
{
    if (((struct led_job *)context)->root.has_launcher)
        status_tell_begun();
}

static void tell_asked(void *context)
{
    if (((struct led_job *)context)->root.has_launcher)
        status_tell_draining();
}

static int store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct led_job *led = context;
    struct root *root = &led->root;
    enter(led);
    /* If there are masters, they write most results. The supermaster then opens the file only when it must write
     * results itself: those of pods, or of workers whose master was lost. */
    if (!root->sink_open && root_open_sink(root) < 0) {
        *error = root->error;
        return -1;
    }
    return results_write(&root->sink, part->first, part->count, data, bytes, error);
}

static bool fits(void *context, const struct part *part, uint64_t bytes)
{
    const struct job_setup *setup = &((struct led_job *)context)->root.setup;
    const uint64_t end = setup->first + setup->count;
    if (!setup->collect || setup->job.results != JOB_RESULTS_HERE || part->first < setup->first || part->first >= end ||
        part->count > end - part->first)
        return false;
    if (setup->loop.streams > 0)
        return true;
    return bytes / setup->record_bytes == part->count && bytes % setup->record_bytes == 0;
}

static int record(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    struct led_job *led = context;
    enter(led);
    print_faults(led);
    return root_record(&led->root, ranges, count, digest, error);
}

static int record_deaths_in_journal(void *context, const struct poison *deaths, struct error *error)
{
    struct led_job *led = context;
    enter(led);
    print_faults(led);
    return root_record_deaths(&led->root, deaths, error);
}

static int record_point_in_journal(void *context, const struct action *action, struct error *error)
{
    struct led_job *led = context;
    const struct journal_point part = {action->point.at, action->point.bytes, action->point.data};
    enter(led);
    return root_record_point(&led->root, &part, action->point.offset, action->point.all, error);
}

static int grow_loop(void *context, struct growth *growth, struct error *error)
{
    struct led_job *led = context;
    char **before = enter_environment(led);
    const int result = root_grow(&led->root, growth, error);
    environ = before;
    return result;
}

static void note_workers(struct trace *trace, const struct report_worker *rows, unsigned count)
{
    if (trace->workers == NULL)
        return;
    for (unsigned w = 0; w < count; w++)
        trace->workers[w] = (struct trace_worker){rows[w].rank, rows[w].node, rows[w].master, rows[w].power};
    trace->worker_count = count;
}

static void note_shares(struct led_job *led, const struct report_worker *rows, unsigned count)
{
    led->shares = calloc((size_t)count + 1, sizeof *led->shares);
    led->share_count = led->shares != NULL ? count : 0;
    for (unsigned w = 0; w < led->share_count; w++)
        led->shares[w] = (struct share){rows[w].rank, rows[w].master, rows[w].iterations};
}

static int supermaster_print_outcome(struct led_job *led, int status)
{
    const struct job *job = &led->root.setup.job;
    struct report report = {
        .carrier = runtime_carrier(),
        .cores = runtime_cores(led->runtime),
        .sync_points = job_setup_is_dependent(&led->root.setup)
                           ? job_setup_sync_points(&led->root.setup, led->topology->workers)
                           : 0,
        .thread_technique = job->spec.threads != 1 ? &job->spec.thread_technique : NULL,
    };
    struct report_worker *rows = calloc((size_t)led->topology->workers + 1, sizeof *rows);
    if (rows == NULL) {
        root_print_failure(&led->root, "out of memory for the report", led->root.rank);
        return EXIT_STATUS_FAILED;
    }
    supermaster_fill_report(&led->supermaster, &report, rows);
    note_workers(&led->trace, rows, led->topology->workers);
    note_shares(led, rows, led->topology->workers);
    status = root_print_report(&led->root, &report, led->supermaster.cut.first_ns, status);
    free(rows);
    return status;
}

struct machine led_job_machine(struct led_job *led)
{
    const struct machine machine = supermaster_machine(&led->supermaster);
    if (led->spool.records != NULL)
        machine.trace(machine.self, &led->spool.sink);
    return machine;
}

static uint64_t tick_ns(const struct root *root)
{
    const unsigned look_ms = terminal_look_ms(&root->terminal);
    if (root->setup.job.control_off || (look_ms > 0 && look_ms <= PACE_LOOK_MS))
        return look_ms * UINT64_C(1000000);
    return PACE_LOOK_MS * UINT64_C(1000000);
}

const struct effects *led_job_effects(struct led_job *led)
{
    led->effects = (struct effects){
        .context = led,
        .store = store,
        .fits = fits,
        .journal = record,
        .deaths = record_deaths_in_journal,
        .point = record_point_in_journal,
        .grow = grow_loop,
        .begun = begun,
        .asked = tell_asked,
        .parting = print_failure,
        .tick = show_progress,
        .tick_ns = tick_ns(&led->root),
        .calculation_ns = led->root.setup.job.spec.calculation_ns,
        .assignment_ns = led->root.setup.job.spec.assignment_ns,
    };
    return &led->effects;
}

bool led_job_is_deserted(const struct led_job *led, bool *keeps_journal)
{
    *keeps_journal = led->root.resume.path[0] != '\0';
    return supermaster_is_deserted(&led->supermaster);
}

bool led_job_is_interrupted(const struct led_job *led)
{
    return supermaster_is_interrupted(&led->supermaster);
}

int led_job_end(struct led_job *led, int status)
{
    const struct supermaster *supermaster = &led->supermaster;
    enter(led);
    led->ended_ns = runtime_now();
    status_tell_over();
    print_failure(led);
    if (supermaster->losses.of_launch > 0)
        runtime_note_loss(led->runtime);
    led->root.done_failed_now = &supermaster->done_failed;
    status = root_finish_output(&led->root, status);
    return supermaster_print_outcome(led, supermaster_is_in_doubt(supermaster) ? EXIT_STATUS_FAILED : status);
}

char **led_job_words(const struct led_job *led, int *count)
{
    const struct job_setup *setup = &led->root.setup;
    struct findings found = {
        .grows = setup->loop.grows,
        .is_counted = setup->job.found.is_counted,
        .added = setup->job.found.added,
        .unprobed = supermaster_is_unprobed(&led->supermaster),
        .plugin_traits = setup->job.plugin != NULL ? technique_traits(setup->job.spec.technique.technique) : 0,
    };
    char **before = enter_environment(led);
    /* If `has_inputs` is false, each rank computes the digest of its inputs itself. */
    found.has_inputs = job_setup_inputs(setup, &found.inputs, NULL) == 0 && found.inputs != 0;
    environ = before;
    char *loop = job_setup_is_foreign(setup) ? description_text(setup->kernel, &setup->loop) : NULL;
    found.loop = loop;
    char *text = findings_text(&found), **words = NULL;
    const int added = led->output_word[0] != '\0';
    const size_t array = (size_t)(led->argc + added) * sizeof *words, bytes = text != NULL ? strlen(text) + 1 : 0;
    if (text != NULL && (words = malloc(array + bytes)) != NULL) {
        words[0] = memcpy((char *)words + array, text, bytes);
        words[added] = added ? (char *)led->output_word : words[0];
        memcpy(words + 1 + added, led->argv + 1, (size_t)(led->argc - 1) * sizeof *words);
        *count = led->argc + added;
    }
    free(text);
    free(loop);
    return words;
}

static int fail_to_announce(const struct led_job *led, int status, const char *text)
{
    say(led->root.err, "%s: %s", led->root.name, text);
    return status;
}

static char *session_setting(void)
{
    static char setting[sizeof SESSION_VARIABLE + 17];
    uint64_t number;
    if (setting[0] == '\0' && getrandom(&number, sizeof number, 0) == sizeof number)
        snprintf(setting, sizeof setting, SESSION_VARIABLE "=%016" PRIx64, number);
    return setting;
}

/* Adds this process's session variable to the environment of the job. An inherited variable of that name is replaced.
 * Returns the new array, which the caller frees; NULL if memory runs out. */
static char **add_session(struct announcement *about)
{
    static const char name[] = SESSION_VARIABLE "=";
    char **variables = calloc((size_t)about->variable_count + 2, sizeof *variables);
    unsigned count = 0;
    if (variables == NULL)
        return NULL;
    for (unsigned i = 0; i < about->variable_count; i++)
        if (strncmp(about->environment[i], name, strlen(name)) != 0)
            variables[count++] = about->environment[i];
    if (session_setting()[0] != '\0')
        variables[count++] = session_setting();
    about->environment = variables;
    about->variable_count = count;
    return variables;
}

int led_job_announce(struct led_job *led, struct link *link, uint32_t number, struct announcement *about,
                     bool is_for_pods)
{
    int count = 0;
    char **words = led_job_words(led, &count);
    about->words = words;
    about->word_count = (unsigned)count;
    char **variables = add_session(about);
    const size_t size = announcement_size(about);
    unsigned char *bytes = words != NULL && variables != NULL && size <= ANNOUNCEMENT_MAX ? malloc(size) : NULL;
    int result = -1;
    if (bytes != NULL) {
        announcement_pack(about, bytes);
        result = link_announce(link, number, bytes, size, is_for_pods);
    }
    free(bytes);
    free(variables);
    free(words);
    if (size > ANNOUNCEMENT_MAX)
        return fail_to_announce(led, EXIT_STATUS_USAGE,
                                "its words and its environment are too long to be sent to the workers");
    return result == 0 ? EXIT_STATUS_DONE : fail_to_announce(led, EXIT_STATUS_FAILED, "out of memory");
}

static void warn_of_missing(struct led_job *led, const char *option, const char *path, bool of_master,
                            bool (*is_there)(const char *path, unsigned rank))
{
    uint64_t iterations = 0;
    unsigned ranks = 0, last = 0;
    struct error text;
    for (unsigned w = 0; w < led->share_count; w++) {
        const struct share *share = &led->shares[w];
        const unsigned rank = of_master ? share->master : share->rank;
        if (share->iterations == 0 || is_there(path, rank))
            continue;
        iterations += share->iterations;
        ranks += ranks == 0 || rank != last;
        last = rank;
    }
    if (iterations == 0)
        return;
    error_set(&text,
              "%s: %" PRIu64 " iteration%s missing in %.200s: %u rank%s, such as rank %u, left no file beside it, for "
              "want of the folder or as it was lost",
              option, iterations, iterations == 1 ? " is" : "s are", path, ranks, ranks == 1 ? "" : "s", last);
    root_print_failure(&led->root, text.text, led->root.rank);
}

static int join_costs(struct led_job *led, int status)
{
    struct root *root = &led->root;
    if (root->setup.job.costs[0] == '\0' || led->costs_ranks == NULL)
        return status;
    warn_of_missing(led, "--record-costs", root->setup.job.costs, false, timings_has_part);
    if (timings_join(root->setup.job.costs, led->costs_ranks, led->costs_count, &root->error) == 0)
        return status;
    root_print_failure(root, root->error.text, root->rank);
    return EXIT_STATUS_FAILED;
}

/* Joins the traces of all ranks. If this fails, prints an error, but the run does not fail. */
static void join_trace(struct led_job *led)
{
    struct root *root = &led->root;
    const struct job *job = &root->setup.job;
    const struct trace_about about = {
        .version = root->version,
        .kernel = root->setup.kernel->name,
        .technique = led->technique_text,
        .iterations = root->setup.count,
        .masters = led->trace.count - 1,
        .workers = led->trace.worker_count,
        .worker = led->trace.workers,
    };
    if (led->spool.records == NULL)
        return;
    write_technique(led);
    warn_of_missing(led, "--trace", job->trace, true, trace_spool_is_there);
    if (trace_spool_close(&led->spool, &root->error) == 0 &&
        trace_join(job->trace, led->trace.ranks, led->trace.count, &about, &root->error) == 0)
        return;
    say(root->err, "%s: --trace: %s", root->name, root->error.text);
}

/* Warns of tasks that were added to the list during the run, because these were not run. Does not read the file again
 * if it has not changed since the start. */
static void tell_added_tasks(struct led_job *led, int status)
{
    struct root *root = &led->root;
    const struct job_setup *setup = &root->setup;
    const struct timespec changed = time_of_list(setup);
    const uint64_t known = setup->loop.iterations;
    struct hdss_loop now;
    struct error unused;
    const bool has_changed = changed.tv_sec != led->list_changed.tv_sec || changed.tv_nsec != led->list_changed.tv_nsec;
    if (!has_changed || setup->loop.grows || (status != EXIT_STATUS_DONE && status != EXIT_STATUS_TASKS) ||
        kernel_describe(setup->kernel, setup->values, &now, &unused) < 0 || now.iterations <= known)
        return;
    say(root->err, "%s: %.200s has %" PRIu64 " tasks more than when the run began, which were not run: %s", root->name,
        resume_list(setup), now.iterations - known,
        root->resume.path[0] != '\0' ? "the same line with --resume runs them"
                                     : "put them into a list of their own, or use follow=yes list=FILE");
}

int led_job_settle(struct led_job *led, int status)
{
    enter(led);
    join_trace(led);
    tell_added_tasks(led, status);
    return join_costs(led, status);
}

void led_job_clear_away(struct led_job *led, int status)
{
    enter(led);
    root_clear_away(&led->root, status);
}

void led_job_free(struct led_job *led)
{
    if (led == NULL)
        return;
    enter(led);
    struct error unused;
    trace_spool_close(&led->spool, &unused);
    free(led->trace.ranks);
    free(led->trace.workers);
    free(led->costs_ranks);
    free(led->shares);
    if (led->supermaster_ready)
        supermaster_fini(&led->supermaster);
    root_fini(&led->root);
    ask_free(led->asker);
    free(led);
}
