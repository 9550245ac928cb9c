/* SPDX-License-Identifier: MIT */
/* hdss run: composes the launch line for a job on the available machines, prints it and runs it.
 *
 * Options of the launch are used here; options of the job are passed on to the supermaster. Both are checked before
 * anything starts. */
#include "deploy/cli/run.h"
#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/params.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/carrier/family.h"
#include "common/mpi/lanes.h"
#include "common/os/cores.h"
#include "common/os/files.h"
#include "common/os/launched.h"
#include "common/os/say.h"
#include "common/os/signals.h"
#include "common/util/list.h"
#include "common/util/number.h"
#include "deploy/cli/allocation.h"
#include "deploy/cli/check.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/dialect.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/held_folder.h"
#include "deploy/cli/host_pods.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/open_run.h"
#include "deploy/cli/restarts.h"
#include "deploy/cli/run_log.h"
#include "deploy/cli/submission.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"
#include "worker/kernels/kernels.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CROWD: if a machine has more workers per core than this, a note says so */
enum { RANKS_MAX = 1 << 20, MARGIN_S = 60, CROWD = 8 };

static int take_hosts(void *target, const char *value, struct error *error)
{
    struct launch_plan *launch_plan = target;
    hosts_fini(&launch_plan->line_up.hosts);
    return hosts_parse_list(&launch_plan->line_up.hosts, value, error);
}

static int take_host_file(void *target, const char *value, struct error *error)
{
    struct launch_plan *launch_plan = target;
    hosts_fini(&launch_plan->line_up.hosts);
    return hosts_read(&launch_plan->line_up.hosts, value, hosts_parse_file, error);
}

static int take_time_limit(void *target, const char *value, struct error *error)
{
    (void)error;
    struct launch_plan *launch_plan = target;
    uint64_t seconds = 0;
    bool named = strcmp(value, "auto") == 0 || strcmp(value, "none") == 0;
    if (!named && duration_parse_some(value, &seconds) < 0)
        return -1;
    launch_plan->limits.limit_s = value[0] == 'n' ? -1 : (int64_t)seconds;
    return 0;
}

static int take_time_margin(void *target, const char *value, struct error *error)
{
    (void)error;
    uint64_t seconds;
    if (duration_parse(value, &seconds) < 0)
        return -1;
    ((struct launch_plan *)target)->limits.margin_s = (int64_t)seconds;
    return 0;
}

static int run_command_take_slowdown(void *target, const char *value, struct error *error)
{
    struct launch_plan *launch_plan = target;
    char word[32];
    double slowdown;
    argv_fini(&launch_plan->line_up.slowdowns);
    while (list_next(&value, word, sizeof word)) {
        if (slowdown_parse(word, &slowdown) < 0)
            return error_set(error, "'%s': accepted: numbers from 1 to %d", word, WORKER_SLOWDOWN_MAX);
        argv_add(&launch_plan->line_up.slowdowns, slowdown == 1 ? "1" : word);
    }
    return 0;
}

static int run_command_take_load(void *target, const char *value, struct error *error)
{
    struct launch_plan *launch_plan = target;
    char word[32];
    unsigned load;
    argv_fini(&launch_plan->line_up.loads);
    while (list_next(&value, word, sizeof word)) {
        if (load_parse_count(word, &load) < 0)
            return error_set(error, "'%s': accepted: integers from 0 to %d", word, WORKER_LOAD_MAX);
        argv_add_format(&launch_plan->line_up.loads, "%u", load);
    }
    return 0;
}

static int run_command_take_dca_option(struct launch_plan *launch_plan, const char *name, const char *value,
                                       struct error *error)
{
    struct worker_options checked;
    worker_options_init(&checked);
    if (option_take(options_find(worker_options(), name), &checked, value, error) < 0)
        return -1;
    argv_add_format(&launch_plan->request.dca, "--%s", name);
    argv_add(&launch_plan->request.dca, value);
    return 0;
}

static int run_command_take_dca(void *target, const char *value, struct error *error)
{
    return run_command_take_dca_option(target, "dca", value, error);
}

static int run_command_take_node_technique(void *target, const char *value, struct error *error)
{
    return run_command_take_dca_option(target, "node-technique", value, error);
}

static int run_command_take_break_after(void *target, const char *value, struct error *error)
{
    struct launch_plan *launch_plan = target;
    uint64_t iterations;
    (void)error;
    if (number_parse_u64(value, &iterations) < 0 || iterations < 1 || iterations > SCHED_ITERATIONS_MAX)
        return -1;
    launch_plan->request.break_after = value;
    return 0;
}

static int pass_break_after(struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->request.break_after == NULL)
        return 0;
    if (launch_plan->request.dca.count > 0)
        return run_command_take_dca_option(launch_plan, "break-after", launch_plan->request.break_after, error);
    argv_insert(&launch_plan->request.words, 1, launch_plan->request.break_after);
    argv_insert(&launch_plan->request.words, 1, "--break-after");
    return 0;
}

static int take_mpi_args(void *target, const char *value, struct error *error)
{
    (void)error;
    struct launch_plan *launch_plan = target;
    argv_fini(&launch_plan->start.mpi_args);
    argv_add_split(&launch_plan->start.mpi_args, value);
    return 0;
}

const struct option_row launch_place_rows[] = {
    {"workers", 'j', "W", "auto, an integer from 1 to 2^20",
     "start W workers in all (default: one for each usable core of this machine or of the hosts)",
     TAKES_INTEGER(struct launch_plan, line_up.workers, 1, RANKS_MAX), .zero = "auto"},
    {"masters", 0, "M", "an integer from 0 to the number of workers",
     "start M masters; with 0 the supermaster serves the workers itself (default: 0 on one machine, else one for each "
     "host)",
     TAKES_INTEGER(struct launch_plan, line_up.masters, 0, RANKS_MAX),
     .given = offsetof(struct launch_plan, line_up.masters_given)},
    {"hosts", 0, "NAME[:CORES],...", "host names, each with :CORES where they are known",
     "run on these machines (default: this machine, or those of the batch job)", take_hosts},
    {"hostfile", 0, "FILE", "a file of lines \"NAME slots=CORES\"",
     "take the machines from a file of lines \"NAME slots=CORES\"", take_host_file},
    {"master-core", 0, "shared|reserved", NULL,
     "shared: workers also use the cores of masters. reserved: each master has a core of its own (default shared)",
     TAKES_CHOICE(struct launch_plan, line_up.core_reserved)},
    {"slowdown", 0, "X1,X2,...", "numbers from 1 to 1000",
     "for studies: make each worker X times slower (X from 1 to 1000). Give one number for all workers, or one number "
     "per worker",
     run_command_take_slowdown},
    {"load", 0, "N1,N2,...", "integers from 0 to 64",
     "for studies: bind each worker to one core and start N busy processes there (N from 0 to 64). Give one number "
     "for all workers, or one number per worker",
     run_command_take_load},
    {"carrier", 0, "auto|local|mpi", NULL,
     "send messages through memory of this machine (local), or by MPI (mpi). auto: local if all ranks are on this "
     "machine, except with --dca rma and two-sided (default auto)",
     TAKES_CHOICE(struct launch_plan, start.carrier), .given = offsetof(struct launch_plan, start.carrier_given)},
    {"mpirun", 0, "PROGRAM", "the mpirun of Open MPI or the mpiexec of MPICH, where HDSS has a carrier for its ranks",
     "use this launcher (default: mpirun, or another launcher whose MPI library HDSS was built for)",
     TAKES_WORD(struct launch_plan, start.mpirun), .least = 1},
    {"mpi-args", 0, "WORDS", "options of mpirun, separated by blanks",
     "pass these options, separated by blanks, to the launcher", take_mpi_args},
    {"time-limit", 0, "auto|none|TIME", "auto, none, or " DURATION_ACCEPTED,
     "stop the run cleanly before this time is over. auto: the remaining time of a Slurm job (default auto)",
     take_time_limit},
    {"time-margin", 0, "TIME", DURATION_ACCEPTED,
     "begin to stop this long before the time limit (default: a tenth of the limit, at most a minute)",
     take_time_margin},
    {"verbose", 'v', NULL, NULL, "print the launch line before it is run", TAKES_FLAG(struct launch_plan, verbose),
     .not_for = OPTION_STUDY},
    {NULL},
};

const struct option_row launch_run_rows[] = {
    {"set", 0, "SET", NULL, "launch nothing: hand the job to this set and wait for it, as `hdss submit --wait` does",
     TAKES_WORD(struct launch_plan, request.set), .least = 1, .not_for = OPTION_STUDY},
    {"elastic", 0, NULL, NULL,
     "let pods join and leave the run by `hdss join`, from this machine or as --listen says; the run prints the "
     "command",
     TAKES_FLAG(struct launch_plan, elastic), .not_for = OPTION_STUDY},
    {"pods-only", 0, NULL, NULL, "with --elastic: start no worker here",
     TAKES_FLAG(struct launch_plan, line_up.has_no_workers), .not_for = OPTION_STUDY},
    {"pods", 0, NULL, NULL,
     "start a separate launch on each host, by ssh or srun, that joins the run as a pod (default on several hosts, if "
     "the job and the other options allow it)",
     TAKES_FLAG(struct launch_plan, line_up.has_pods), .not_for = OPTION_STUDY},
    {"one-launch", 0, NULL, NULL, "start the ranks of all hosts by one mpirun",
     TAKES_FLAG(struct launch_plan, line_up.has_one_launch), .not_for = OPTION_STUDY},
    {"dca", 0, "rma|two-sided|node", "rma, rma:atomics=2, two-sided, two-sided:exchanges=2, node",
     "launch only workers, which cut their chunks themselves: see worker(1)", run_command_take_dca,
     .not_for = OPTION_STUDY},
    {"node-technique", 0, "SPEC", "a technique with a closed form: NAME or NAME:PARAM=VALUE,...",
     "with --dca node: share the chunks of a node among its workers by this technique",
     run_command_take_node_technique},
    {"break-after", 0, "N", "an integer from 1 to 2^63",
     "let rank 0 (with --dca) or each master (with --masters-compute) look at messages every N iterations (default: "
     "about every 50 us)",
     run_command_take_break_after},
    {"restarts", 0, "N", NULL,
     "if the run loses its supermaster, or a rank that it needs, start it again with --resume, up to N times (default "
     "3 if it keeps a journal, else 0)",
     TAKES_INTEGER(struct launch_plan, limits.restarts, 0, RESTARTS_MAX),
     .given = offsetof(struct launch_plan, limits.restarts_given), .not_for = OPTION_STUDY},
    {"html", 0, "FILE.html", "the name of a file", "write an HTML page about the run at its end, as `hdss report` does",
     TAKES_PATH(struct launch_plan, page.html), .not_for = OPTION_STUDY},
    {"dry-run", 0, NULL, NULL,
     "check the job; print the launch line, the length of the loop and the first three tasks; run nothing",
     TAKES_FLAG(struct launch_plan, dry_run), .not_for = OPTION_STUDY},
    {"quiet", 'q', NULL, NULL, "print only errors, like --progress never --summary none",
     TAKES_FLAG(struct launch_plan, quiet), .not_for = OPTION_STUDY},
    {NULL},
};

static const struct options launch_options = {
    .usage = "hdss run [OPTION]... KERNEL [KEY=VALUE]...",
    .about = "Runs KERNEL with a supermaster, masters and workers. On one machine they are processes that share "
             "memory. On several hosts, each host has a launch of its own (--pods) or mpirun starts all "
             "(--one-launch). With --dca there are only workers.",
    .sections = {{"Launch", launch_place_rows}, {"Run", launch_run_rows}, {"Help", options_common}},
    .notes = "In a job of Slurm, PBS or LSF, the run uses the hosts and cores of that job.\n"
             "All options that `supermaster --help` shows are accepted as well and go to the supermaster.\n"
             "A run that loses its supermaster is started again and skips what its journal records as done "
             "(--restarts). Iterations at which the kernel fails are retried (--retries).\n"
             "Ctrl-C (or SIGTERM) drains the run: running iterations are finished and kept, and no other begins. A "
             "second Ctrl-C ends the run at once.\n"
             "With Open MPI a run survives the loss of a worker or master: the launch line has the options for that "
             "(version 4: --mca orte_abort_on_non_zero_status 0 --enable-recovery, version 5: --enable-recovery "
             "--prtemca state_base_error_non_zero_exit 0, and on several machines --with-ft ulfm), unless --mpi-args "
             "has --disable-recovery.\n"
             "Example:\n"
             "    hdss run --masters 2 --workers 4 --output m.npy mandelbrot width=2048\n"
             "Exit status: 0 done, 1 failed, 2 wrong use, 3 finished with failed tasks, 4 stopped by a signal after a "
             "clean drain.",
};

static struct options all_options(void)
{
    struct options all = launch_options;
    const struct option_section *section = job_options()->sections;
    for (unsigned i = 3; i + 1 < OPTIONS_SECTIONS_MAX && section->title != NULL; section++)
        if (section->rows != options_common)
            all.sections[i++] = *section;
    return all;
}

void run_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){all_options(), OPERANDS_KERNEL};
}

static int run_command_check_dca(const struct launch_plan *launch_plan, struct error *error)
{
    struct worker_options options;
    worker_options_init(&options);
    for (unsigned i = 0; i + 1 < launch_plan->request.dca.count; i += 2)
        option_take(options_find(worker_options(), launch_plan->request.dca.items[i] + 2), &options,
                    launch_plan->request.dca.items[i + 1], NULL);
    return worker_options_check(&options, error);
}

static int check_time(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->limits.limit_s > 0 && launch_plan->limits.margin_s >= launch_plan->limits.limit_s)
        return error_set(error, "--time-margin: %jd seconds; accepted: less than --time-limit, which is %jd",
                         (intmax_t)launch_plan->limits.margin_s, (intmax_t)launch_plan->limits.limit_s);
    return 0;
}

/* The journal's name may depend on the name of the output. */
static int find_journal(struct launch_plan *launch_plan, struct error *error)
{
    struct job_setup *setup = &launch_plan->request.setup;
    struct hdss_loop loop;
    if (kernel_describe(setup->kernel, setup->values, &loop, error) < 0)
        return -1;
    job_take_output(&setup->job, &loop);
    if (launch_plan->request.dca.count == 0 && job_journal_path(&setup->job, launch_plan->request.journal)[0] != '\0')
        return 0;
    return error_set(error, "--restarts goes on from a journal, and this job has none; accepted: with --output FILE or "
                            "--journal FILE, and not with --dca");
}

/* Checks what can be checked of the job without files; check.h checks the rest. */
static int run_command_check_job(struct launch_plan *launch_plan, struct error *error)
{
    const struct argv *job = &launch_plan->request.words;
    if (job_setup_read(&launch_plan->request.setup, &asking_loader, (int)job->count, job->items, error) < 0)
        return -1;
    launch_plan->line_up.threads = launch_plan->request.setup.job.spec.threads;
    launch_plan->line_up.single_threaded =
        launch_plan->line_up.threads == 1 &&
        kernel_find(launch_plan->request.setup.kernel->name) == launch_plan->request.setup.kernel;
    for (unsigned i = 0; i < job->count; i++)
        if (strcmp(job->items[i], ":") == 0)
            return error_set(error, "the word ':' cannot be passed on by mpirun");
    if (compose_check_workers(launch_plan, error) < 0)
        return -1;
    return launch_plan->limits.restarts_given && launch_plan->limits.restarts > 0 ? find_journal(launch_plan, error)
                                                                                  : 0;
}

static int check_for_set(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->launch_option != NULL)
        return error_set(error, "--%s is for a launch; accepted with --set: options of the job, --quiet",
                         launch_plan->launch_option);
    return 0;
}

static void note_launch_option(struct launch_plan *launch_plan, const char *name)
{
    if (strcmp(name, "set") != 0 && strcmp(name, "quiet") != 0)
        launch_plan->launch_option = name;
}

static int take_arguments(struct launch_plan *launch_plan, const struct options *all, int argc, char **argv,
                          struct error *error)
{
    struct options_reader reader;
    struct options_word word;
    int more, first;
    options_reader_init(&reader, all, argc, argv);
    argv_add(&launch_plan->request.words, "supermaster");
    while (first = reader.at, (more = options_next(&reader, &word, error)) > 0) {
        if (word.row != NULL && options_find(&launch_options, word.row->name) != NULL) {
            int result = option_apply(&word, launch_plan, error);
            if (result != 0)
                return result;
            note_launch_option(launch_plan, word.row->name);
            continue;
        }
        launch_plan->listens |= word.row != NULL && strcmp(word.row->name, "listen") == 0;
        launch_plan->has_pods_file |= word.row != NULL && strcmp(word.row->name, "pods-file") == 0;
        if (word.row != NULL)
            run_page_note(&launch_plan->page, word.row->name, word.value);
        for (int i = first; i < reader.at; i++)
            argv_add(&launch_plan->request.words, argv[i]);
    }
    launch_plan->listens |= launch_plan->elastic || launch_plan->line_up.has_pods;
    if (more == 0 && launch_plan->request.set == NULL &&
        (open_run_check(launch_plan, error) < 0 ||
         (launch_plan->listens && open_run_add_words(launch_plan, error) < 0)))
        return -1;
    if (more == 0 && launch_plan->line_up.has_pods && launch_plan->line_up.has_one_launch)
        return error_set(error, "--one-launch: --pods starts a launch on each host; accepted: one of the two");
    if (more < 0 || pass_break_after(launch_plan, error) < 0 || run_command_check_dca(launch_plan, error) < 0 ||
        check_time(launch_plan, error) < 0 ||
        run_page_prepare(&launch_plan->page, &launch_plan->request.words, launch_plan->request.dca.count == 0, error) <
            0)
        return -1;
    return launch_plan->request.set != NULL ? check_for_set(launch_plan, error)
                                            : run_command_check_job(launch_plan, error);
}

static int read_arguments(struct launch_plan *launch_plan, int argc, char **argv, struct error *error)
{
    const struct options all = all_options();
    const int result = take_arguments(launch_plan, &all, argc, argv, error);
    return result < 0 ? mistakes_explain(&all, argc, argv, error) : result;
}

static int find_hosts(struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->line_up.hosts.count > 0 || launch_plan_names_hosts(launch_plan))
        return 0;
    if (allocation_read(&launch_plan->line_up.hosts, error) < 0)
        return error_after(error, "; or name the hosts by --hosts");
    launch_plan->line_up.is_narrow = allocation_is_narrow(&launch_plan->line_up.hosts);
    launch_plan->line_up.allocated = launch_plan->line_up.hosts.count > 0 && !allocation_is_slurm();
    return 0;
}

static void set_variable(const char *name, const char *value, void *shown)
{
    setenv(name, value, 1);
    if (shown != NULL)
        fprintf(shown, "%s=%s ", name, value);
}

/* Sets a variable, without which mpirun would not accept so many ranks on the nodes of the batch job. Returns the
 * variable's previous value, for restore_tasks(). */
static char *set_tasks(const struct launch_plan *launch_plan, FILE *shown)
{
    const char *before = getenv(ALLOCATION_TASKS);
    char *tasks = launch_plan->line_up.hosts.count > 0 ? allocation_tasks(&launch_plan->line_up.hosts) : NULL;
    char *kept = before != NULL ? strdup(before) : NULL;
    if (tasks != NULL)
        set_variable(ALLOCATION_TASKS, tasks, shown);
    free(tasks);
    return kept;
}

/* Undoes set_tasks(), because another run of this process must see the real allocation of the batch system. */
static void restore_tasks(char *kept)
{
    if (kept != NULL)
        setenv(ALLOCATION_TASKS, kept, 1);
    else
        unsetenv(ALLOCATION_TASKS);
    free(kept);
}

/* Sets how->kept and how->journal, for messages about what is kept of a run that has ended. The journal is known only
 * if the job was checked on this machine. */
static void set_kept(struct launch_plan *launch_plan, struct launch *how)
{
    static char path[JOB_JOURNAL_PATH_MAX];
    how->kept = how->journal = NULL;
    how->is_resumable = false;
    if (launch_plan->serves) {
        how->is_resumable = true;
        how->kept = launch_plan->is_pod ? "; what is stored is kept, and the set computes the rest"
                                        : "; what is stored is kept, and `hdss up --resume` goes on with the jobs";
        return;
    }
    if (how->is_passing || !launch_plan->request.checked || launch_plan->request.dca.count > 0 ||
        !launch_plan_leads_here(launch_plan))
        return;
    how->is_resumable = job_journal_path(&launch_plan->request.setup.job, path)[0] != '\0';
    how->kept = how->is_resumable ? "; what is stored is kept, and the same line with --resume goes on with it"
                                  : "; without a journal the run cannot go on from here";
    how->journal = how->is_resumable ? path : NULL;
}

/* A signal sets this between two starts of a run. During a start, launch() handles signals. */
static volatile sig_atomic_t run_is_asked;

static void note_signal_of_run(int number)
{
    (void)number;
    run_is_asked = 1;
}

static bool run_command_is_asked(void)
{
    return run_is_asked != 0;
}

/* Handles signals before the launch: ends this process at once. Nothing is lost, and waiting might be long if the
 * kernel is describing its loop. */
static void end_before_launch(int number)
{
    static const char line[] = "hdss: stopped before the run had begun\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)number, (void)written;
    _exit(EXIT_STATUS_DRAINED);
}

static void take_signals_of_run(void (*take)(int number))
{
    struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART}, before;
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (sigaction(drain_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(drain_signals[i], &action, NULL);
}

/* Adds an option of the ranks after all others. */
static void add_option(const struct launch_plan *launch_plan, struct argv *line, const char *option)
{
    unsigned end = launch_plan->request.job_end, place = end;
    for (unsigned i = end; i > 0 && strcmp(line->items[i - 1], ":") != 0; i--)
        if (strcmp(line->items[i - 1], "--") == 0)
            place = i - 1;
    argv_insert(line, place, option);
}

/* From the next start on the job is resumed. */
static void add_resume(const struct launch_plan *launch_plan, struct argv *line)
{
    add_option(launch_plan, line, "--resume");
    if (launch_plan->serves)
        add_option(launch_plan, line, "--after-loss");
}

/* From the next start on each chunk is one task. Otherwise the supermaster could not release suspected tasks one at a
 * time. */
static void hand_out_singly(const struct launch_plan *launch_plan, struct argv *line)
{
    const struct run_spec *spec = &launch_plan->request.setup.job.spec;
    if (!spec->technique_auto && spec->technique.technique->may_grow)
        return;
    add_option(launch_plan, line, "--technique=ss");
    say(stderr, "hdss: each task is a chunk from now on (--technique ss), to find the one that ends the supermaster");
}

#define DCA_LOSS                                                                                                       \
    ": workers alone (--dca) do not survive the loss of one, and keep no journal; without --dca it costs only time"

static const char *without_journal(const struct launch_plan *launch_plan)
{
    if (launch_plan->is_pod)
        return "; what it has stored is kept";
    if (launch_plan->serves)
        return "; `hdss up --resume` goes on with its jobs";
    return launch_plan->request.dca.count > 0 ? DCA_LOSS : "";
}

static int launch_with_pods(const struct launch_plan *launch_plan, const struct argv *line, struct launch *how)
{
    const int status = launch(line->items, how);
    if (launch_plan->line_up.has_pods)
        host_pods_wait(how->side->context);
    return status;
}

/* Launches the line once. A set that has failed counts as lost, so that it is started again. */
static int launch_line(const struct launch_plan *launch_plan, const struct argv *line, struct launch *how)
{
    const int status = launch_with_pods(launch_plan, line, how);
    how->asked |= how->is_asked();
    if (launch_plan->serves && !launch_plan->is_pod && status == EXIT_STATUS_FAILED && how->begun &&
        how->lost[0] == '\0')
        snprintf(how->lost, sizeof how->lost, "the set has failed");
    return status;
}

static int run_line(const struct launch_plan *launch_plan, struct argv *line, struct launch *how)
{
    struct restarts restarts;
    bool resumes = false, are_single = false;
    if (launch_plan->serves)
        restarts_init_set(&restarts, launch_plan->limits.restarts, without_journal(launch_plan));
    else
        restarts_init(&restarts, launch_plan->request.journal, launch_plan->limits.restarts,
                      without_journal(launch_plan));
    how->ran = &restarts.ran;
    if (how->is_asked == NULL) {
        how->is_asked = run_command_is_asked;
        take_signals_of_run(note_signal_of_run);
    }
    int status = launch_line(launch_plan, line, how);
    while (!line->failed && restarts_are_due(&restarts, how)) {
        if (!resumes && restarts.is_stored)
            add_resume(launch_plan, line);
        resumes |= restarts.is_stored;
        if (!are_single && restarts.has_suspects)
            hand_out_singly(launch_plan, line);
        are_single |= restarts.has_suspects;
        status = line->failed ? EXIT_STATUS_FAILED : launch_line(launch_plan, line, how);
    }
    how->ran = NULL;
    restarts_fini(&restarts);
    /* If a start after the first one is refused, the run has failed. */
    return status == EXIT_STATUS_USAGE && restarts.count > 0 ? EXIT_STATUS_FAILED : status;
}

static int run_logged(const struct launch_plan *launch_plan, struct argv *line, struct launch *how)
{
    struct run_log log;
    run_log_begin(&log, launch_plan, how);
    const int status = run_line(launch_plan, line, how);
    run_log_end(&log, status);
    return status;
}

static void set_restarts(struct launch_plan *launch_plan)
{
    if (!launch_plan->serves && launch_plan->request.dca.count == 0 && launch_plan->request.journal[0] == '\0')
        job_journal_path(&launch_plan->request.setup.job, launch_plan->request.journal);
}

static FILE *line_is_shown_to(const struct launch_plan *launch_plan, const struct launch *how)
{
    if (launch_plan->dry_run)
        return stdout;
    if (launch_plan->serves && !launch_plan->verbose)
        return NULL;
    if (how->log != NULL)
        return how->log;
    return launch_plan->verbose || how->output == LAUNCH_OUTPUT_APART ? stderr : NULL;
}

/* Prints a note with the name of the command that the user typed. */
static void say_of_command(const struct launch_plan *launch_plan, const char *text)
{
    say_note(launch_plan->is_pod ? "hdss join" : launch_plan->serves ? "hdss up" : launch_plan->program, text);
}

/* Prints a note if far too many workers share a core. Then the user has probably mistyped their number, as in --workers
 * 1e3. */
static void say_crowded(const struct launch_plan *launch_plan)
{
    const unsigned cores = cores_usable();
    char text[200];
    if (!launch_plan_is_here(launch_plan) || launch_plan->quiet || launch_plan->line_up.workers <= CROWD * cores)
        return;
    snprintf(text, sizeof text,
             "%u workers share %u core%s, more than %d each: they start slowly and take turns; without --workers there "
             "is one for each core",
             launch_plan->line_up.workers, cores, cores == 1 ? "" : "s", CROWD);
    say_of_command(launch_plan, text);
}

static void say_narrow(const struct launch_plan *launch_plan)
{
    if (launch_plan->line_up.is_narrow && !launch_plan->is_pod && !launch_plan->quiet)
        say_of_command(launch_plan,
                       "the job has one core of each node; with --exclusive salloc and sbatch give whole nodes");
}

/* Fails if the supermaster of a set would not be on this machine. Its socket is on its own machine, and commands look
 * for the socket here. */
static int check_set(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->is_pod || launch_plan_leads_here(launch_plan))
        return 0;
    return error_set(
        error, "the set's supermaster would not be on this machine, and could be found only there; accepted: `hdss "
               "up` on the first host");
}

static void remove_litter(void)
{
    held_folder_forget("/dev/shm", "hdss-python-", "/lock"); /* made by deploy/python/hdss/_sets.py */
    held_folder_sweep(MEMORY_FOLDER, "hdss-ranks");          /* made by openmpi.c */
    held_folder_sweep(file_temporary(), "hdss-exec");        /* made by exec.c */
}

static int run_kept(struct launch_plan *launch_plan, const struct dialect *dialect, struct argv *line,
                    struct launch *how)
{
    remove_litter();
    if (dialect->keep != NULL)
        dialect->keep(launch_plan);
    const int status = launch_plan->serves ? run_line(launch_plan, line, how) : run_logged(launch_plan, line, how);
    if (dialect->let_go != NULL)
        dialect->let_go();
    return status;
}

static int run_composed(struct launch_plan *launch_plan, struct launch *how, struct error *error)
{
    struct argv line = {0};
    FILE *shown = line_is_shown_to(launch_plan, how);
    int status = EXIT_STATUS_USAGE;
    int checked = compose(launch_plan, &line, error);
    if (checked == 0)
        checked = launch_plan->serves ? check_set(launch_plan, error) : check_launch_plan(launch_plan, error);
    ask_end();
    if (checked == CHECK_IS_OVER)
        status = EXIT_STATUS_DONE;
    else if (checked == 0) {
        if (how->log == NULL) {
            say_crowded(launch_plan);
            say_narrow(launch_plan);
        }
        const struct dialect *dialect = dialect_of(launch_plan);
        if (dialect->set_environment != NULL)
            dialect->set_environment(launch_plan, set_variable, shown);
        char *tasks = set_tasks(launch_plan, shown);
        if (shown != NULL)
            argv_print(&line, shown);
        if (shown != NULL && launch_plan->line_up.has_pods)
            host_pods_show(how->side->context, shown);
        if (launch_plan->request.shown != NULL)
            fputs(launch_plan->request.shown, stdout);
        how->summary_to = job_reports_to_output(&launch_plan->request.setup.job) || how->output == LAUNCH_OUTPUT_APART
                              ? stderr
                              : stdout;
        how->remote = launch_plan->line_up.hosts.count > 0 && !launch_plan_is_here(launch_plan);
        how->survives = launch_plan->start.survives;
        how->flat = launch_plan->request.dca.count > 0;
        how->is_pod = launch_plan->is_pod;
        how->reports = launch_plan->start.survives || launch_plan_is_here(launch_plan);
        how->rank_depth = dialect->rank_depth;
        how->enter = dialect->enter;
        how->clear = dialect->clear;
        set_kept(launch_plan, how);
        set_restarts(launch_plan);
        how->begin_ms = (int64_t)(launch_plan->request.setup.job.spec.drain_ns / 1000000);
        how->ranks =
            (launch_plan->request.dca.count == 0) + launch_plan->line_up.masters + launch_plan->line_up.workers;
        status = launch_plan->dry_run ? EXIT_STATUS_DONE : run_kept(launch_plan, dialect, &line, how);
        restore_tasks(tasks);
    }
    argv_fini(&line);
    return status;
}

static int64_t time_margin(const struct launch_plan *launch_plan, int64_t left_s)
{
    if (launch_plan->limits.margin_s >= 0)
        return launch_plan->limits.margin_s;
    return left_s < 10 * MARGIN_S ? left_s / 10 : MARGIN_S;
}

static void set_drain(const struct launch_plan *launch_plan, struct launch *how)
{
    int64_t left_s = launch_plan->limits.limit_s == 0 ? allocation_seconds_left() : launch_plan->limits.limit_s;
    if (left_s < 0)
        return;
    int64_t span_s = left_s - time_margin(launch_plan, left_s);
    how->drain_ms = launch_clock_ms() + 1000 * (span_s > 0 ? span_s : 0);
}

static int run_with_pods(struct launch_plan *launch_plan, struct launch *how, struct error *error)
{
    struct host_pods pods;
    const struct launch_side *side = how->side;
    if (host_pods_init(&pods, launch_plan, how, error) < 0)
        return EXIT_STATUS_USAGE;
    const int status = run_composed(launch_plan, how, error);
    const bool is_deserted = host_pods_are_deserted(&pods);
    host_pods_fini(&pods);
    how->side = side;
    return is_deserted ? EXIT_STATUS_FAILED : status;
}

static void choose_pods(struct launch_plan *launch_plan)
{
    if (launch_plan->line_up.has_pods || !host_pods_are_default(launch_plan))
        return;
    struct error unused;
    launch_plan->line_up.has_pods = true;
    /* If there is no folder for the ticket, pods are not used. */
    if (open_run_add_late(launch_plan, &unused) < 0)
        launch_plan->line_up.has_pods = false;
}

static const char *dca_mode(const struct launch_plan *launch_plan)
{
    const struct argv *words = &launch_plan->request.dca;
    for (unsigned i = 0; i + 1 < words->count; i += 2)
        if (strcmp(words->items[i], "--dca") == 0)
            return words->items[i + 1];
    return "";
}

static const char *needs_mpi(const struct launch_plan *launch_plan)
{
    if (launch_plan->start.mpirun != NULL)
        return "--mpirun";
    if (launch_plan->start.mpi_args.count > 0)
        return "--mpi-args";
    return strncmp(dca_mode(launch_plan), "two-sided", strlen("two-sided")) == 0 ? "--dca two-sided" : NULL;
}

static int take_carrier_of_environment(struct launch_start *start, struct error *error)
{
    static const char *const names[] = {[CARRIER_AUTO] = "auto", [CARRIER_LOCAL] = "local", [CARRIER_MPI] = "mpi"};
    const char *named = getenv("HDSS_CARRIER");
    if (start->carrier_given || named == NULL || named[0] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(named, names[i]) == 0) {
            start->carrier = (enum carrier_wish)i;
            return 0;
        }
    return error_set(error, "HDSS_CARRIER='%.60s': accepted: auto, local, mpi", named);
}

static unsigned guess_ranks(const struct launch_plan *launch_plan)
{
    const unsigned leading = launch_plan->request.dca.count == 0;
    const unsigned workers = launch_plan->line_up.workers > 0 ? launch_plan->line_up.workers : cores_usable();
    return leading + launch_plan->line_up.masters + workers;
}

/* True if the ranks should share memory: no option needs MPI, and all ranks are on this machine. False if the limits of
 * this machine permit shared memory only for fewer ranks, and there is an MPI library to be used instead. For more than
 * LANES_RANKS_MAX ranks MPI is used only if the user asks for it. */
static bool suits_memory(const struct launch_plan *launch_plan)
{
    enum mpi_family any;
    /* Without an MPI library, --dca rma shares memory instead of using the window of MPI. */
    const bool is_rma = strncmp(dca_mode(launch_plan), "rma", strlen("rma")) == 0 && family_take_default(&any);
    const unsigned ranks = guess_ranks(launch_plan);
    const bool is_limited = lanes_limit(ranks) != NULL && lanes_limit(2) == NULL && family_take_default(&any);
    return needs_mpi(launch_plan) == NULL && !is_rma && launch_plan_is_here(launch_plan) &&
           (ranks > LANES_RANKS_MAX || !is_limited);
}

static int choose_launcher(struct launch_plan *launch_plan, struct error *error)
{
    struct launch_start *start = &launch_plan->start;
    const char *needing = needs_mpi(launch_plan);
    if (take_carrier_of_environment(start, error) < 0)
        return -1;
    if (start->carrier == CARRIER_LOCAL && needing != NULL)
        return error_set(error, "--carrier local: %s is of a launch by mpirun; accepted: one of the two", needing);
    if (start->carrier == CARRIER_MPI || (start->carrier == CARRIER_AUTO && !suits_memory(launch_plan)))
        return launcher_choose(start->mpirun, &start->launcher, error);
    return launcher_take_fork(&start->launcher, start->fork, error);
}

int run_launch_plan(struct launch_plan *launch_plan, struct launch *how, struct error *error)
{
    unsetenv(LAUNCHED_WITHOUT_MPI); /* otherwise ranks with MPI would read it */
    if (find_hosts(launch_plan, error) < 0 || choose_launcher(launch_plan, error) < 0 ||
        launcher_check_place(&launch_plan->start.launcher, error) < 0)
        return EXIT_STATUS_USAGE;
    choose_pods(launch_plan);
    if (!launch_plan->dry_run)
        set_drain(launch_plan, how);
    how->has_pods = launch_plan->listens;
    how->ends_soon &= !how->has_pods; /* with pods, the run must end in the normal way */
    if (launch_plan->line_up.has_pods && host_pods_plan(launch_plan, error) < 0)
        return EXIT_STATUS_USAGE;
    launch_plan->start.survives =
        dialect_of(launch_plan)->survives != NULL && dialect_of(launch_plan)->survives(launch_plan);
    const int status =
        launch_plan->line_up.has_pods ? run_with_pods(launch_plan, how, error) : run_composed(launch_plan, how, error);
    if (!launch_plan->serves)
        open_run_clear(launch_plan);
    return status;
}

int run_check(int argc, char **argv, struct error *error)
{
    struct launch_plan launch_plan = LINEUP_DEFAULT;
    int result = read_arguments(&launch_plan, argc, argv, error);
    launch_plan_fini(&launch_plan);
    return result;
}

static int check_further(int (*check)(struct launch_plan *launch_plan, struct error *error), int argc, char **argv,
                         struct error *error)
{
    struct launch_plan launch_plan = LINEUP_DEFAULT;
    int result = read_arguments(&launch_plan, argc, argv, error);
    if (result == 0)
        result = check(&launch_plan, error);
    launch_plan_fini(&launch_plan);
    return result;
}

int run_check_inputs(int argc, char **argv, struct error *error)
{
    return check_further(check_inputs, argc, argv, error);
}

int run_check_loop(int argc, char **argv, struct error *error)
{
    return check_further(check_loop, argc, argv, error);
}

const struct option_row *run_find_option(const char *name)
{
    const struct option_row *own = options_find(&launch_options, name);
    return own != NULL ? own : options_find(job_options(), name);
}

int run_check_option(const char *name, const char *value, struct error *error)
{
    struct launch_plan launch_plan = LINEUP_DEFAULT;
    const struct option_row *ours = options_find(&launch_options, name);
    struct options_word word = {ours != NULL ? ours : options_find(job_options(), name), value};
    struct job job;
    job_init(&job);
    int result = option_apply(&word, ours != NULL ? (void *)&launch_plan : &job, error);
    launch_plan_fini(&launch_plan);
    return result;
}

static int run_with_page(struct launch_plan *launch_plan, struct launch *how, struct error *error)
{
    const int status = run_launch_plan(launch_plan, how, error);
    if (launch_plan->page.html[0] == '\0' || launch_plan->dry_run || status == EXIT_STATUS_USAGE)
        return status;
    if (run_page_make(&launch_plan->page, error) == 0)
        return status;
    return status == EXIT_STATUS_DONE ? EXIT_STATUS_FAILED : status;
}

int run_words(const char *program, int argc, char **argv, bool restarts, struct launch *how, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct launch_plan launch_plan = LINEUP_DEFAULT;
    int status = EXIT_STATUS_USAGE;
    launch_plan.program = program;
    error->text[0] = '\0';
    if (read_arguments(&launch_plan, argc, argv, error) == 0) {
        if (!restarts)
            launch_plan.limits.restarts = 0;
        if (launch_plan.request.set != NULL)
            error_set(error, "--set: accepted by `hdss run` itself");
        else
            status = run_with_page(&launch_plan, how, error);
    }
    launch_plan_fini(&launch_plan);
    return status;
}

static int run_in_set(const struct launch_plan *launch_plan, int argc, char **argv, struct error *error)
{
    struct submission_request request = SUBMISSION_DEFAULT;
    const struct options all = all_options();
    request.set = launch_plan->request.set;
    request.waits = true;
    request.quiet = launch_plan->quiet;
    bool asked;
    return submission_make("hdss run", &request, &launch_plan->request.words, &all, argc, argv, &asked, error);
}

int command_run(int argc, char **argv)
{
    struct launch_plan launch_plan = LINEUP_DEFAULT;
    struct error error = {0};
    struct launch how = {0};
    int status = EXIT_STATUS_USAGE;
    take_signals_of_run(end_before_launch);
    int result = read_arguments(&launch_plan, argc, argv, &error);
    if (result == 0 && launch_plan.request.set != NULL)
        status = run_in_set(&launch_plan, argc, argv, &error);
    else if (result == 0)
        status = run_with_page(&launch_plan, &how, &error);
    else if (result > 0)
        status = show_page("hdss run", &launch_options, result);
    if (error.text[0] != '\0')
        say_error("hdss run", error.text);
    launch_plan_fini(&launch_plan);
    return status;
}
