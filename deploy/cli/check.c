/* SPDX-License-Identifier: MIT */
/* Checks before the launch: see check.h.
 *
 * After its start the leading rank makes the same checks (common/job/check.h, worker/dca/check.h). The leading rank is
 * the supermaster or, with --dca, the first worker. If that rank may run on another machine or in another folder, a
 * file name may mean another file there. In that case only the options of the job are checked here. */
#include "deploy/cli/check.h"

#include "common/config/dca_options.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/job/check.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/job/journal_format.h"
#include "common/job/resume.h"
#include "common/metrics/human.h"
#include "common/util/ranges.h"
#include "common/util/text.h"
#include "deploy/cli/dialect.h"
#include "hdss/kernel.h"
#include "worker/dca/check.h"
#include "worker/kernels/exec/exec.h"
#include "worker/kernels/kernels.h"

#include <stdlib.h>

enum { SHOWN_TASKS = 3, TASK_TEXT_MAX = 4096 };

static bool launch_check_is_dca(const struct launch_plan *launch_plan)
{
    return launch_plan->request.dca.count > 0;
}

static bool leads_elsewhere(const struct launch_plan *launch_plan)
{
    static const char *const options[] = {"-wdir", "--wdir", "-wd", "--wd", "--set-cwd-to-session-dir"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (argv_contain(&launch_plan->start.mpi_args, options[i]))
            return true;
    return !launch_plan_leads_here(launch_plan);
}

static int read_dca_words(const struct launch_plan *launch_plan, struct argv *words, struct worker_options *worker,
                          struct error *error)
{
    struct dca_options options;
    argv_add(words, "worker");
    argv_add_all(words, &launch_plan->request.dca);
    for (unsigned i = 1; i < launch_plan->request.words.count; i++)
        argv_add(words, launch_plan->request.words.items[i]);
    if (words->failed)
        return error_set(error, "out of memory for a command line");
    int result = dca_options_parse(&options, (int)words->count, words->items, error);
    *worker = options.worker;
    dca_options_fini(&options);
    return result < 0 ? -1 : 0;
}

static int read_dca(const struct launch_plan *launch_plan, struct worker_options *worker, struct error *error)
{
    struct argv words = {0};
    int result = launch_check_is_dca(launch_plan) ? read_dca_words(launch_plan, &words, worker, error) : 0;
    argv_fini(&words);
    return result;
}

static int launch_check_check_dca(const struct launch_plan *launch_plan, const struct worker_options *worker,
                                  struct error *error)
{
    unsigned nodes = launch_plan->line_up.hosts.count > 0 ? launch_plan->line_up.hosts.count : 1;
    if (!launch_check_is_dca(launch_plan))
        return 0;
    if (dca_check_loop(&launch_plan->request.setup, error) < 0)
        return -1;
    return dca_check_techniques(worker, &launch_plan->request.setup, launch_plan->line_up.workers, nodes, error);
}

/* Ranks are numbered in the order of the launch line: supermaster, masters, workers. */
static int check_powers(const struct launch_plan *launch_plan, struct error *error)
{
    enum run_power power = launch_plan->request.setup.job.spec.power;
    if (power != RUN_POWER_FILE && power != RUN_POWER_LIST)
        return 0;
    double *speeds = NULL;
    unsigned *ranks = calloc(launch_plan->line_up.workers, sizeof *ranks);
    if (ranks == NULL)
        return error_set(error, "out of memory for %u workers", launch_plan->line_up.workers);
    for (unsigned w = 0; w < launch_plan->line_up.workers; w++)
        ranks[w] = launch_check_is_dca(launch_plan) ? w : 1 + launch_plan->line_up.masters + w;
    int result =
        job_setup_read_speeds(&launch_plan->request.setup, ranks, launch_plan->line_up.workers, &speeds, error);
    free(speeds);
    free(ranks);
    return result;
}

static void show_count(const struct job_setup *setup, uint64_t done, struct text *text)
{
    char count[HUMAN_MAX], whole[HUMAN_MAX];
    uint64_t iterations = setup->loop.iterations;
    text_add(text, "%s", human_count(count, setup->count));
    if (setup->count < iterations)
        text_add(text, " of %s", human_count(whole, iterations));
    text_add(text, " %s%s", setup->loop.are_tasks ? "task" : "iteration", iterations == 1 ? "" : "s");
    if (setup->loop.grows)
        text_add(text, " so far");
    if (setup->loop.steps > 1)
        text_add(text, ", in %s time steps", human_count(count, setup->loop.steps));
    if (done > 0)
        text_add(text, ", %s of them done", human_count(count, done));
}

static void show_heading(uint64_t left, bool resumed, struct text *text)
{
    static const char *const numbers[SHOWN_TASKS + 1] = {"", "one", "two", "three"};
    const char *others = resumed ? " of the others" : "";
    if (left > SHOWN_TASKS)
        text_add(text, "; the first %s%s:\n", numbers[SHOWN_TASKS], others);
    else
        text_add(text, resumed && left > 0 ? "; the others:\n" : left > 0 ? ":\n" : "\n");
}

static int show_tasks(const struct job_setup *setup, const struct ranges *done, struct text *text, struct error *error)
{
    char line[TASK_TEXT_MAX], why[HDSS_ERROR_MAX];
    unsigned shown = 0;
    for (uint64_t i = setup->first; i < setup->first + setup->count && shown < SHOWN_TASKS; i++) {
        if (ranges_contains(done, i))
            continue;
        if (exec_text(setup->values, i, line, sizeof line, why) < 0)
            return error_set(error, "%s: %s", setup->kernel->name, why);
        text_add(text, "    %s\n", line);
        shown++;
    }
    return 0;
}

static int show(struct launch_plan *launch_plan, const struct ranges *done, struct error *error)
{
    const struct job_setup *setup = &launch_plan->request.setup;
    struct text text;
    uint64_t left = setup->count - ranges_total(done);
    int result = 0;
    text_init(&text);
    show_count(setup, ranges_total(done), &text);
    if (setup->kernel == &exec_kernel) {
        show_heading(left, ranges_total(done) > 0, &text);
        result = show_tasks(setup, done, &text, error);
    } else
        text_add(&text, "\n");
    launch_plan->request.shown = text_take(&text);
    if (result == 0 && launch_plan->request.shown == NULL)
        return error_set(error, "out of memory for what a dry run shows");
    return result;
}

static void show_nothing(struct launch_plan *launch_plan)
{
    const struct hosts *hosts = &launch_plan->line_up.hosts;
    struct text text;
    text_init(&text);
    text_add(&text, "files and folders %s %s: the %s checks them there, when it has started\n",
             hosts->count > 0 ? "are those of" : "may be others",
             hosts->count > 0 ? hosts->items[0].name : "where the ranks begin",
             launch_check_is_dca(launch_plan) ? "first worker" : "supermaster");
    launch_plan->request.shown = text_take(&text);
}

static int look_back(struct launch_plan *launch_plan, struct resume *resume, struct error *error)
{
    const struct job_setup *setup = &launch_plan->request.setup;
    if (job_setup_check(setup, CHECKED_BEFORE_LAUNCH, !launch_check_is_dca(launch_plan), resume, error) < 0)
        return -1;
    if (launch_plan->dry_run)
        job_setup_print_notes(setup, stderr, launch_plan->program);
    else if (!resume->is_over)
        return 0;
    return resume_take(resume, setup, stderr, launch_plan->program, error);
}

int check_describe(struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->request.described)
        return 0;
    launch_plan->request.described = job_setup_describe(&launch_plan->request.setup, error) == 0;
    return launch_plan->request.described ? 0 : -1;
}

static int check_here(struct launch_plan *launch_plan, const struct worker_options *worker, struct error *error)
{
    struct resume resume;
    resume_init(&resume);
    if (check_describe(launch_plan, error) < 0 || launch_check_check_dca(launch_plan, worker, error) < 0)
        return -1;
    int result = look_back(launch_plan, &resume, error);
    if (result == 0 && launch_plan->request.setup.job.listens)
        result = job_setup_check_for_pods(&launch_plan->request.setup, error);
    if (result == 0)
        result = check_powers(launch_plan, error);
    if (result == 0 && launch_plan->dry_run)
        result = show(launch_plan, &resume.earlier.content.done, error);
    resume_end(&resume);
    return result == 0 && resume.is_over && !launch_plan->dry_run ? CHECK_IS_OVER : result;
}

int check_launch_plan(struct launch_plan *launch_plan, struct error *error)
{
    struct worker_options worker;
    if (launch_plan->request.checked)
        return 0;
    launch_plan->request.checked = true;
    worker_options_init(&worker);
    if (read_dca(launch_plan, &worker, error) < 0)
        return -1;
    if (!leads_elsewhere(launch_plan))
        return check_here(launch_plan, &worker, error);
    if (launch_plan->dry_run)
        show_nothing(launch_plan);
    return 0;
}

int check_inputs(struct launch_plan *launch_plan, struct error *error)
{
    struct job_setup *setup = &launch_plan->request.setup;
    char text[HDSS_ERROR_MAX] = "";
    if (leads_elsewhere(launch_plan))
        return 0;
    if (kernel_describe(setup->kernel, setup->values, &setup->loop, error) < 0)
        return -1;
    if (kernel_look(setup->kernel, setup->values, &setup->loop, text) == 0)
        return 0;
    return error_set(error, "%s: %s", setup->kernel->name, text);
}

int check_loop(struct launch_plan *launch_plan, struct error *error)
{
    if (leads_elsewhere(launch_plan))
        return 0;
    return check_describe(launch_plan, error) < 0 ? -1 : check_powers(launch_plan, error);
}
