/* SPDX-License-Identifier: MIT */
/* The table of a job's options, and their checks: see job.h. */
#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/run_spec.h"
#include "common/config/serve_options.h"
#include "common/sched/plugin.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "hdss/kernel.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PODS_MAX 65536

static int job_take_technique(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    job->plugin = sched_spec_is_plugin(value) ? value : NULL;
    if (job->plugin == NULL)
        return run_spec_set_technique(&job->spec, value, error);
    job->spec.technique_auto = false;
    return 0;
}

static int take_candidate(void *target, const char *value, struct error *error)
{
    struct run_spec *spec = &((struct job *)target)->spec;
    if (!sched_spec_is_plugin(value))
        return -1;
    if (spec->candidates == RUN_CANDIDATES_MAX)
        return error_set(error, "'%.100s' is one too many: accepted are up to %d", value, RUN_CANDIDATES_MAX);
    spec->candidate[spec->candidates] = (struct sched_spec){.technique = technique_elsewhere(0)};
    spec->candidate_text[spec->candidates++] = value;
    return 0;
}

static int job_take_iterations(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    char first_text[40];
    uint64_t first, count;
    size_t length = strcspn(value, ":");
    if (value[length] == '\0' || length >= sizeof first_text)
        return -1;
    snprintf(first_text, sizeof first_text, "%.*s", (int)length, value);
    if (number_parse_u64(first_text, &first) < 0 || number_parse_u64(value + length + 1, &count) < 0)
        return -1;
    if (first > SCHED_ITERATIONS_MAX || count > SCHED_ITERATIONS_MAX - first)
        return error_set(error, "'%.100s' reaches beyond iteration 2^63", value);
    job->first = first;
    job->count = count;
    return 0;
}

#define DELAY_MAX_US 1e6

static int take_inject_delay(void *target, const char *value, struct error *error)
{
    (void)error;
    struct job *job = target;
    char kind[16];
    double us;
    size_t length = strcspn(value, ":");
    snprintf(kind, sizeof kind, "%.*s", (int)(length < sizeof kind ? length : sizeof kind - 1), value);
    int index = option_choice("calculation|assignment", kind);
    if (index < 0 || value[length] == '\0' || number_parse_real(value + length + 1, &us) < 0 || us < 0 ||
        us > DELAY_MAX_US)
        return -1;
    *(index == 0 ? &job->spec.calculation_ns : &job->spec.assignment_ns) = (uint64_t)(us * 1e3);
    return 0;
}

static int job_take_power(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    int index = option_choice("measure|equal", value);
    if (index < 0 && option_take_path(job->power_file, JOB_PATH_MAX, value, error) < 0)
        return -1;
    bool list = index < 0 && strchr(value, ',') != NULL && strspn(value, "0123456789.,eE+-") == strlen(value);
    job->spec.power = index == 0   ? RUN_POWER_MEASURE
                      : index == 1 ? RUN_POWER_EQUAL
                      : list       ? RUN_POWER_LIST
                                   : RUN_POWER_FILE;
    return 0;
}

static int job_take_http(void *target, const char *value, struct error *error)
{
    return address_parse(&((struct job *)target)->http, value, error);
}

static int job_take_listen(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    job->listens = true;
    return serve_parse_listen(value, &job->listen, error);
}

static int take_ask_ahead(void *target, const char *value, struct error *error)
{
    (void)error;
    struct job *job = target;
    uint64_t chunks = 0;
    int index = option_choice("auto|off", value);
    if (index < 0 && (number_parse_u64(value, &chunks) < 0 || chunks < 1 || chunks > RUN_ASK_AHEAD_MAX))
        return -1;
    job->spec.ask_ahead = index == 0 ? ASK_AHEAD_AUTO : index == 1 ? ASK_AHEAD_OFF : ASK_AHEAD_FIXED;
    job->spec.ask_ahead_chunks = (unsigned)chunks;
    return 0;
}

#define STANDARD_OUTPUT "/dev/stdout"

static bool has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), size = strlen(ending);
    return length > size && strcmp(name + length - size, ending) == 0;
}

/* Accepts names that end in .json or begin with /dev/. Other names are rejected, because the user probably meant
 * --output. */
static int job_take_report(void *target, const char *value, struct error *error)
{
    if (strcmp(value, "-") == 0)
        value = STANDARD_OUTPUT;
    if (!has_ending(value, ".json") && strncmp(value, "/dev/", 5) != 0)
        return -1;
    return option_take_path(((struct job *)target)->report, JOB_PATH_MAX, value, error);
}

static int take_trace(void *target, const char *value, struct error *error)
{
    return has_ending(value, ".csv") || has_ending(value, ".pftrace")
               ? option_take_path(((struct job *)target)->trace, JOB_PATH_MAX, value, error)
               : -1;
}

static int take_journal(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    job->journal_off = strcmp(value, "off") == 0;
    job->journal[0] = '\0';
    return job->journal_off ? 0 : option_take_path(job->journal, JOB_PATH_MAX, value, error);
}

static int take_resume(void *target, const char *value, struct error *error)
{
    (void)error;
    if (value != NULL && strcmp(value, "failed") != 0)
        return -1;
    ((struct job *)target)->earlier = value == NULL ? JOB_EARLIER_RESUME : JOB_EARLIER_RESUME_FAILED;
    return 0;
}

static int take_overwrite(void *target, const char *value, struct error *error)
{
    (void)value, (void)error;
    ((struct job *)target)->earlier = JOB_EARLIER_OVERWRITE;
    return 0;
}

static int take_max_output(void *target, const char *value, struct error *error)
{
    struct job *job = target;
    int length = snprintf(job->max_output, sizeof job->max_output, "max_output=%s", value);
    return length < (int)sizeof job->max_output ? 0 : error_set(error, "'%.100s' is no number of bytes", value);
}

static const struct option_row scheduling[] = {
    {"technique", 0, RUN_TECHNIQUE_AUTO "|SPEC|PLUGIN",
     "auto, NAME or NAME:PARAM=VALUE,...; `hdss techniques` lists them",
     "cut chunks by this rule: NAME or NAME:PARAM=VALUE,... (`hdss techniques` lists them). ./FILE.so or "
     "python:MODULE.CLASS is a plug-in. " RUN_TECHNIQUE_AUTO
     ": the technique that is predicted to be the quickest (default " RUN_TECHNIQUE "; " RUN_TECHNIQUE_SINGLE
     " if iterations sleep or have side effects)",
     job_take_technique, .given = offsetof(struct job, technique_given)},
    {"candidate", 0, "PLUGIN", "./FILE.so or python:MODULE.CLASS, with :PARAM=VALUE,... or without; up to 8 times",
     "let --technique " RUN_TECHNIQUE_AUTO " also choose this plug-in; may be given up to 8 times", take_candidate,
     .not_for = OPTION_DCA},
    {"weighting", 0, "none|power|acp", NULL,
     "power: multiply each chunk by the power of its worker, unless the technique does so itself. acp: also divide "
     "each chunk by the load of the worker's core (default none)",
     TAKES_CHOICE(struct job, spec.weighting)},
    {"min-chunk", 0, "K", NULL, "cut no chunk smaller than K, except the last (default 1)",
     TAKES_INTEGER(struct job, spec.min_chunk, 1, SCHED_ITERATIONS_MAX)},
    {"max-chunk", 0, "K", NULL, "limit each chunk to K iterations before it is weighted (default: no limit)",
     TAKES_INTEGER(struct job, spec.max_chunk, 1, SCHED_ITERATIONS_MAX), .not_for = OPTION_DCA},
    {"refill-chunks", 0, "K", NULL, "let masters ask for K chunks for each worker at a time (default 1)",
     TAKES_INTEGER(struct job, spec.refill_chunks, 1, RUN_REFILL_CHUNKS_MAX), .not_for = OPTION_DCA},
    {"refill", 0, "ahead|when-empty", NULL,
     "ahead: a master asks for more chunks early enough that no worker waits. when-empty: a master asks when it has "
     "none, as in published hierarchical techniques (default ahead)",
     TAKES_CHOICE(struct job, spec.refill), .not_for = OPTION_DCA},
    {"iterations", 0, "FIRST:COUNT", "FIRST:COUNT, two integers from 0, such as 0:100",
     "run only COUNT iterations of the loop, from FIRST on (default: all)", job_take_iterations},
    {"power", 0, "measure|equal|P1,P2,...|FILE", "measure, equal, a power for each worker, the name of a file",
     "take the workers' powers from a short probe of the kernel (measure), a list, or a file of lines \"RANK POWER\". "
     "equal: all powers are equal (default measure)",
     job_take_power},
    {"sync-points", 0, "N|auto", "auto, an integer from 1",
     "if iterations depend on each other: let workers exchange boundary data N times in each chunk. auto: N is three "
     "times the number of workers (default auto)",
     TAKES_INTEGER(struct job, spec.sync_points, 1, SCHED_ITERATIONS_MAX), .zero = "auto",
     .given = offsetof(struct job, sync_points_given), .not_for = OPTION_DCA},
    {"inject-delay", 0, "WHERE:MICROSECONDS", "calculation:MICROSECONDS or assignment:MICROSECONDS, up to 1000000",
     "for studies: delay the calculation or the assignment of each chunk by 0 to 1000000 microseconds; may be given "
     "once for each (default 0)",
     take_inject_delay},
    {NULL},
};

static int take_verify(void *target, const char *value, struct error *error)
{
    (void)error;
    struct run_spec *spec = &((struct job *)target)->spec;
    char share_text[40];
    double share;
    uint64_t seed = RUN_VERIFY_SEED;
    size_t length = strcspn(value, ":");
    if (length >= sizeof share_text)
        return -1;
    snprintf(share_text, sizeof share_text, "%.*s", (int)length, value);
    if (number_parse_real(share_text, &share) < 0 || share <= 0 || share > 1 ||
        (value[length] == ':' && number_parse_u64(value + length + 1, &seed) < 0))
        return -1;
    spec->verify = share;
    spec->verify_seed = seed;
    return 0;
}

static int take_iteration_timeout(void *target, const char *value, struct error *error)
{
    (void)error;
    struct run_spec *spec = &((struct job *)target)->spec;
    double seconds = 0;
    int index = option_choice("none|auto", value);
    if (index < 0 &&
        (number_parse_real(value, &seconds) < 0 || !(seconds >= RUN_TIMEOUT_MIN_S && seconds <= RUN_TIMEOUT_MAX_S)))
        return -1;
    spec->timeout = index == 0 ? RUN_TIMEOUT_NONE : index == 1 ? RUN_TIMEOUT_AUTO : RUN_TIMEOUT_GIVEN;
    spec->timeout_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static const struct option_row workers[] = {
    {"group-by", 0, "node|even", NULL,
     "node: workers and their master share a node. even: all masters serve about equally many workers (default node)",
     TAKES_CHOICE(struct job, spec.group_by), .not_for = OPTION_DCA},
    {"masters-compute", 0, NULL, NULL,
     "let masters compute chunks too and look at messages between iterations; without masters the supermaster does so "
     "(default: they only serve)",
     TAKES_FLAG(struct job, spec.masters_compute), .not_for = OPTION_DCA},
    {"break-after", 0, "N", NULL,
     "with --masters-compute: look at messages every N iterations, and at least every 2 ms (default: about every 50 "
     "us)",
     TAKES_INTEGER(struct job, spec.break_after, 1, SCHED_ITERATIONS_MAX), .not_for = OPTION_DCA},
    {"ask-ahead", 0, "auto|off|N", "auto, off, an integer from 1 to 8",
     "auto: workers ask for their next chunk early enough not to wait. off: workers ask when a chunk is done. N: "
     "workers ask N chunks ahead (1 to 8; default auto)",
     take_ask_ahead, .not_for = OPTION_DCA},
    {"recall", 0, "on|off", NULL,
     "on: if nothing else is left, give idle workers iterations that other workers have not begun. off: chunks stay "
     "with their workers (default on)",
     TAKES_CHOICE(struct job, spec.recall), .not_for = OPTION_COUNTERS},
    {"copies", 0, "on|off", NULL,
     "on: let an idle worker also compute another worker's overdue chunk, unless iterations have side effects (default "
     "on)",
     TAKES_CHOICE(struct job, spec.copies), .not_for = OPTION_DCA},
    {"isolate", 0, "auto|on|off", NULL,
     "on: let a helper process of each worker run the kernel, so that a crash costs only one iteration. auto: on for "
     "shared objects and Python functions (default auto)",
     TAKES_CHOICE(struct job, spec.isolate), .not_for = OPTION_DCA},
    {"iteration-timeout", 0, "SECONDS|auto|none", "auto, none, a number of seconds from 0.001 to 1000000",
     "end an isolated iteration that runs longer than SECONDS (0.001 to 1000000), and count it as crashed. auto: the "
     "limit is 100 times the worker's longest iteration so far, at least 60 s (default none)",
     take_iteration_timeout, .not_for = OPTION_DCA | OPTION_SIMULATE},
    {"threads", 0, "T|auto", "an integer from 1 to 1024, auto",
     "compute with T threads in each worker. auto: one thread for each core that the worker is bound to (default 1)",
     TAKES_INTEGER(struct job, spec.threads, 1, RUN_THREADS_MAX), .zero = "auto",
     .given = offsetof(struct job, threads_given), .not_for = OPTION_DCA},
    {"thread-technique", 0, "SPEC", "NAME or NAME:PARAM=VALUE,... (see hdss techniques)",
     "with --threads: share each chunk among the threads by this technique (default " RUN_THREAD_TECHNIQUE ")",
     TAKES_TECHNIQUE(struct job, spec.thread_technique), .given = offsetof(struct job, thread_technique_given),
     .not_for = OPTION_DCA},
    {"retries", 0, "N", NULL, "retry an iteration up to N times if the kernel fails at it (default 2)",
     TAKES_INTEGER(struct job, spec.retries, 0, RUN_RETRIES_MAX), .not_for = OPTION_DCA},
    {"node-failures", 0, "N|off", "off, an integer from 1 to 100",
     "for tasks: stop using a node if N tasks in a row fail there while neighbouring tasks succeed on other nodes "
     "(default 10)",
     TAKES_INTEGER(struct job, spec.node_failures, 1, RUN_NODE_FAILURES_MAX), .zero = "off",
     .not_for = OPTION_DCA | OPTION_SIMULATE},
    {"verify", 0, "SHARE[:SEED]", "a number above 0, up to 1, and an integer from 0 as seed",
     "compute a random SHARE of the iterations (above 0, up to 1), drawn with SEED, again on another worker, and "
     "compare the results (default: none; seed 1)",
     take_verify, .not_for = OPTION_DCA},
    {"verify-action", 0, "fail|drop-worker", NULL,
     "with --verify, if results differ: finish the loop and exit with status 1 (fail), or drop the worker with which "
     "two others disagree (drop-worker; default fail)",
     TAKES_CHOICE(struct job, spec.verify_action), .given = offsetof(struct job, verify_action_given),
     .not_for = OPTION_DCA},
    {NULL},
};

static const struct option_row results[] = {
    {"output", 0, "FILE",
     "a file name that ends in .npy, .png, .csv, .bin or .raw, or any for a kernel without records",
     "write the results to this file; for records its name ends in .npy, .png, .csv, .bin or .raw (default: keep only "
     "a checksum, unless the kernel names a file)",
     TAKES_PATH(struct job, output)},
    {"max-output", 0, "BYTES", "a number of bytes from 0 to 536870912",
     "for exec: keep at most BYTES of each stream of a task, as max_output= does (default 64 MiB, and a task that "
     "writes more fails)",
     take_max_output},
    {"results", 0, "there|here", NULL,
     "there: pods write their results into a folder shared with the set. here: pods send their results to the set "
     "(default there)",
     TAKES_CHOICE(struct job, results), .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"join", 0, "no|yes", NULL,
     "no: leave variable output in the folder FILE.parts, for a program that reads and removes it during the run "
     "(default yes)",
     TAKES_CHOICE(struct job, joins), .given = offsetof(struct job, join_given)},
    {"report", 0, "FILE.json", "the name of a file that ends in .json, a device, or - for standard output",
     "write the run's figures as JSON. -: write them to standard output, the summary to standard error",
     job_take_report, .not_for = OPTION_STUDY},
    {"record-costs", 0, "FILE", "the name of a file in a folder that all nodes share",
     "record how long the iterations of each chunk took, for `hdss simulate --costs`; not with --threads",
     TAKES_PATH(struct job, costs), .not_for = OPTION_DCA},
    {"trace", 0, "FILE", "a file name that ends in " JOB_TRACE_ENDINGS ", in a folder that all nodes share",
     "write what happened to each chunk, and when: FILE.csv is a table, FILE.pftrace is for Perfetto (ui.perfetto.dev)",
     take_trace, .not_for = OPTION_DCA | OPTION_STUDY},
    {"progress", 0, "auto|always|never", NULL,
     "show a progress line on a terminal, and log lines elsewhere. auto: log at once in a batch job, else after a "
     "minute (default auto)",
     TAKES_CHOICE(struct job, progress), .not_for = OPTION_STUDY},
    {"log-every", 0, "SECONDS", NULL, "if standard error is no terminal: write a log line every SECONDS (default 60)",
     TAKES_SECONDS(struct job, log_every_ns, JOB_LOG_EVERY_MAX_S), .given = offsetof(struct job, log_every_given),
     .not_for = OPTION_STUDY | OPTION_SIMULATE},
    {"control", 0, "auto|off", NULL,
     "auto: `hdss jobs` and other commands find the run by a socket that only its user can open. off: there is no "
     "socket (default auto)",
     TAKES_CHOICE(struct job, control_off), .not_for = OPTION_DCA | OPTION_SIMULATE},
    {"http", 0, "ADDRESS", ADDRESS_ACCEPTED,
     "also answer at a TCP port, but only clients with the run's token. PORT: for this machine. HOST:PORT: also for "
     "other machines, not encrypted (default: no port)",
     job_take_http, .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"metrics-file", 0, "FILE", "the name of a file",
     "write figures for Prometheus's textfile collector to this file every 10 s and at the end; its name should end in "
     ".prom (default: none)",
     TAKES_PATH(struct job, metrics_file), .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"listen", 0, "ADDRESS", SERVE_LISTEN_TEXT,
     "let pods of more workers join the run by `hdss join`. local: from this machine. HOST:PORT: also from other "
     "machines, encrypted (default: no pods)",
     job_take_listen, .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"pods-file", 0, "FILE", "the name of a file",
     "with --listen: write the addresses and the key for pods to this file, and remove it at the end (default of `hdss "
     "run`: hdss/run-PID/pods in XDG_STATE_HOME or ~/.local/state)",
     TAKES_PATH(struct job, pods_file), .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"await-pods", 0, "N", NULL,
     "with --listen: fail if no worker is left after N pods have joined (default: wait for other pods)",
     TAKES_INTEGER(struct job, await_pods, 1, PODS_MAX), .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"summary", 0, "text|json|none", NULL, "print at the end a summary, the report as JSON, or nothing (default text)",
     TAKES_CHOICE(struct job, summary), .not_for = OPTION_STUDY},
    {NULL},
};

static const struct option_row interruptions[] = {
    {"resume", 0, "[failed]", "failed",
     "continue a run that ended early, and skip the iterations that its journal records as done. failed: repeat those "
     "that failed",
     take_resume, .not_for = OPTION_DCA | OPTION_SIMULATE | OPTION_STUDY},
    {"overwrite", 0, NULL, NULL,
     "start over if the output or the journal of an unfinished run exists (default: refuse)", take_overwrite},
    {"journal", 0, "FILE|off", "a file name, off",
     "record the finished iterations in this file (default: FILE" JOB_JOURNAL_ENDING
     " beside --output FILE; off without an output)",
     take_journal, .not_for = OPTION_DCA},
    {"durability", 0, "process|node", NULL,
     "process: the journal survives if processes die. node: it also survives if a node or the power fails (default "
     "process)",
     TAKES_CHOICE(struct job, durability), .not_for = OPTION_DCA},
    {"drain-time", 0, "SECONDS", NULL,
     "after a signal asks the run to stop, let running iterations continue for SECONDS, then give them up (default 20)",
     TAKES_SECONDS(struct job, spec.drain_ns, RUN_DRAIN_MAX_S), .not_for = OPTION_DCA},
    {NULL},
};

static const struct options options = {
    .usage = "supermaster [OPTION]... KERNEL [KEY=VALUE]...",
    .about = "Distributes the loop of KERNEL to the masters and workers that were launched beside it, so that all of "
             "them finish together.",
    .sections = {{"Scheduling", scheduling},
                 {"Workers", workers},
                 {"Results", results},
                 {"Interrupted runs", interruptions},
                 {"Help", options_common}},
    .notes = "If an option is given twice, the last one counts. `hdss kernels` lists the kernels and their parameters. "
             "`hdss run` composes launch lines such as:\n"
             "    mpirun -n 1 supermaster mandelbrot width=4096 : -n 4 master : -n 64 worker\n"
             "With --serve as its first word, supermaster serves a set: see `supermaster --serve --help`.\n"
             "Exit status: 0 done, 1 failed, 2 wrong use, 3 finished with failed tasks, 4 stopped by a signal after a "
             "clean drain.",
};

const struct options *job_options(void)
{
    return &options;
}

char *job_help_text(void)
{
    return options_help(&options);
}

void job_init(struct job *job)
{
    *job = (struct job){.count = UINT64_MAX, .joins = true, .log_every_ns = JOB_LOG_EVERY_S * UINT64_C(1000000000)};
    run_spec_init(&job->spec);
}

static int add_param(struct job *job, const char *word, struct error *error)
{
    if (job->kernel_params == JOB_KERNEL_PARAMS_MAX)
        return error_set(error, "kernel %.60s has more than %d parameters", job->kernel, JOB_KERNEL_PARAMS_MAX);
    job->kernel_param[job->kernel_params++] = word;
    return 0;
}

static int take_operand(void *target, const char *word, struct error *error)
{
    struct job *job = target;
    bool assignment = strchr(word, '=') != NULL;
    if (job->kernel == NULL && assignment)
        return error_set(error, "'%.100s' stands before the kernel; accepted: KERNEL [KEY=VALUE]...", word);
    if (job->kernel == NULL) {
        job->kernel = word;
        return 0;
    }
    if (!assignment)
        return error_set(error, "'%.100s' after kernel %.60s: accepted: KEY=VALUE", word, job->kernel);
    return add_param(job, word, error);
}

int job_check_technique(const struct job *job, const char *option, const struct sched_spec *spec, struct error *error)
{
    struct sched sched;
    struct error reason;
    const struct sched_config trial = {
        .iterations = 1, .workers = 1, .min_chunk = job->spec.min_chunk, .overhead_s = 1e-6, .swr = 1};
    if (sched_init(&sched, spec, &trial, &reason) < 0)
        return error_set(error, "%s: %s", option, reason.text);
    sched_fini(&sched);
    return 0;
}

static void list_measured(const struct sched_spec *spec, char *text, size_t size)
{
    size_t length = 0;
    const struct technique_param *params = spec->technique->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL && length < size; i++)
        if (params[i].measured != SCHED_NOT_MEASURED && !spec->given[i])
            length += (size_t)snprintf(text + length, size - length, "%s%s=", length > 0 ? ", " : "", params[i].name);
}

/* Threads draw chunks by the closed form of the technique, or step by step if it has none. HDSS usually measures some
 * parameters of a closed form, but threads measure nothing. So the command line must give these parameters. */
static int check_thread_technique(const struct job *job, struct error *error)
{
    struct sched sched;
    struct error reason;
    char missing[64] = "";
    const struct sched_config trial = {.iterations = 1, .workers = 1};
    if (!job->thread_technique_given)
        return 0;
    if (!job->threads_given)
        return error_set(error, "--thread-technique is for --threads T");
    if (job->spec.thread_technique.technique->places != NULL)
        return error_set(error,
                         "--thread-technique: %s says where its chunks lie, and threads draw a chunk from its "
                         "beginning to its end; accepted: a technique that does not",
                         job->spec.thread_technique.technique->name);
    if (sched_init(&sched, &job->spec.thread_technique, &trial, &reason) < 0)
        return error_set(error, "--thread-technique: %s", reason.text);
    int result = sched.technique->at != NULL ? sched_check_closed(&sched, &reason) : 0;
    sched_fini(&sched);
    if (result == 0)
        return 0;
    list_measured(&job->spec.thread_technique, missing, sizeof missing);
    return error_set(error, "--thread-technique: %s measures %s which threads do not; accepted: %s with a number",
                     job->spec.thread_technique.technique->name, missing, missing);
}

const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX])
{
    bool beside = job->journal[0] == '\0' && job->output[0] != '\0';
    snprintf(path, JOB_JOURNAL_PATH_MAX, "%s%s",
             job->journal_off ? ""
             : beside         ? job->output
                              : job->journal,
             beside && !job->journal_off ? JOB_JOURNAL_ENDING : "");
    return path;
}

static int check_names(const struct job *job, struct error *error)
{
    char journal[JOB_JOURNAL_PATH_MAX];
    job_journal_path(job, journal);
    if (job->output[0] != '\0' && strcmp(job->output, job->report) == 0)
        return error_set(error, "--output and --report name the same file, %.200s", job->output);
    if (job->trace[0] != '\0' && strcmp(job->output, job->trace) == 0)
        return error_set(error, "--output and --trace name the same file, %.200s", job->output);
    if (job->metrics_file[0] != '\0' &&
        (strcmp(job->metrics_file, job->output) == 0 || strcmp(job->metrics_file, job->report) == 0 ||
         strcmp(job->metrics_file, journal) == 0))
        return error_set(error, "--metrics-file names a file that has another use, %.200s", job->metrics_file);
    if (journal[0] != '\0' && (strcmp(journal, job->output) == 0 || strcmp(journal, job->report) == 0))
        return error_set(error, "--journal names the same file as %s, %.200s",
                         strcmp(journal, job->output) == 0 ? "--output" : "--report", journal);
    return 0;
}

void job_take_output(struct job *job, const struct hdss_loop *loop)
{
    if (job->output[0] != '\0' || loop->streams == 0)
        return;
    snprintf(job->output, sizeof job->output, "%s", loop->output);
    job->output_is_default = job->output[0] != '\0';
}

bool job_reports_to_output(const struct job *job)
{
    return strcmp(job->report, STANDARD_OUTPUT) == 0 || strcmp(job->report, "/dev/fd/1") == 0 ||
           strcmp(job->report, "/proc/self/fd/1") == 0;
}

int job_check_files(const struct job *job, struct error *error)
{
    char journal[JOB_JOURNAL_PATH_MAX];
    if (job_resumes(job) && job_journal_path(job, journal)[0] == '\0')
        return error_set(
            error, "--resume goes on from a journal, and this job has none; accepted: with --output FILE, or with "
                   "--journal FILE");
    return check_names(job, error);
}

int job_parse(struct job *job, int argc, char *const *argv, struct error *error)
{
    job_init(job);
    int result = findings_read(&job->found, argc > 0 ? argv[0] : NULL, error);
    if (result == 0)
        result = options_parse(&options, argc, argv, job, take_operand, error);
    if (result != 0)
        return result;
    if (job->kernel == NULL)
        return error_set(error, "no kernel is given; `hdss kernels` lists them");
    if (job->max_output[0] != '\0' && add_param(job, job->max_output, error) < 0)
        return -1;
    if (job->plugin != NULL)
        job->spec.technique = (struct sched_spec){.technique = technique_elsewhere(job->found.plugin_traits)};
    if (check_names(job, error) < 0 || job_check_technique(job, "--technique", &job->spec.technique, error) < 0)
        return -1;
    if (job->spec.max_chunk > 0 && job->spec.max_chunk < job->spec.min_chunk)
        return error_set(error, "--max-chunk %" PRIu64 " is below --min-chunk %" PRIu64, job->spec.max_chunk,
                         job->spec.min_chunk);
    if (job->spec.candidates > 0 && !job->spec.technique_auto)
        return error_set(error, "--candidate is for --technique " RUN_TECHNIQUE_AUTO);
    if (job->costs[0] != '\0' && job->spec.threads != 1)
        return error_set(error, "--record-costs: the threads of a worker share its chunks; accepted: with --threads 1");
    if (job->verify_action_given && job->spec.verify == 0)
        return error_set(error, "--verify-action is for --verify SHARE");
    if (job->control_off && job->http.host[0] != '\0')
        return error_set(error, "--http is a port of the control socket; accepted: without --control off");
    if (!job->listens && (job->pods_file[0] != '\0' || job->await_pods > 0))
        return error_set(error, "%s is for --listen ADDRESS", job->await_pods > 0 ? "--await-pods" : "--pods-file");
    if (job->listens && job->spec.group_by == RUN_GROUP_BY_EVEN)
        return error_set(error, "--group-by even: the workers of a pod have their own master; accepted with --listen: "
                                "node");
    return check_thread_technique(job, error);
}
