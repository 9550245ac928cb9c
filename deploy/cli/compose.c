/* SPDX-License-Identifier: MIT */
/* Composes the launch line: see compose.h. */
#include "deploy/cli/compose.h"
#include "common/os/cores.h"
#include "common/os/modules.h"
#include "deploy/cli/dialect.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum program { SUPERMASTER, MASTER, WORKER, PROGRAMS };

static const char *const names[PROGRAMS] = {DAEMON_PREFIX "supermaster", DAEMON_PREFIX "master",
                                            DAEMON_PREFIX "worker"};

void launch_plan_fini(struct launch_plan *launch_plan)
{
    hosts_fini(&launch_plan->line_up.hosts);
    hosts_fini(&launch_plan->line_up.pod_hosts);
    argv_fini(&launch_plan->line_up.slowdowns);
    argv_fini(&launch_plan->line_up.loads);
    argv_fini(&launch_plan->start.mpi_args);
    argv_fini(&launch_plan->request.dca);
    argv_fini(&launch_plan->request.words);
    free(launch_plan->request.shown);
    run_page_fini(&launch_plan->page);
}

int find_own_program(const char *name, char path[PATH_MAX], struct error *error)
{
    char folder[PATH_MAX];
    return program_folder(folder, error) < 0 ? -1 : program_find(folder, name, path, error);
}

static int find_programs(char paths[PROGRAMS][PATH_MAX], struct error *error)
{
    char folder[PATH_MAX];
    if (program_folder(folder, error) < 0)
        return -1;
    for (int i = 0; i < PROGRAMS; i++)
        if (program_find(folder, names[i], paths[i], error) < 0)
            return -1;
    return 0;
}

static unsigned with_threads(const struct launch_plan *launch_plan, unsigned cores, unsigned nodes)
{
    unsigned workers = launch_plan->line_up.threads > 0 ? cores / launch_plan->line_up.threads : nodes;
    return workers > nodes || cores == 0 ? workers : nodes;
}

static int compose_check_list(const struct launch_plan *launch_plan, const struct argv *list, const char *name,
                              struct error *error)
{
    if (list->count <= 1 || list->count == launch_plan->line_up.workers)
        return 0;
    return error_set(error, "--%s has %u numbers; accepted: one, or one for each of the %u workers", name, list->count,
                     launch_plan->line_up.workers);
}

static unsigned own_cores(const struct launch_plan *launch_plan)
{
    unsigned cores = cores_usable(), taken = launch_plan->line_up.masters > 0 ? launch_plan->line_up.masters : 1;
    if (!launch_plan->line_up.core_reserved)
        return cores;
    return cores > taken ? cores - taken : 0;
}

static int default_workers(struct launch_plan *launch_plan, struct error *error)
{
    bool known = launch_plan->line_up.hosts.count == 0 || hosts_know_slots(&launch_plan->line_up.hosts);
    unsigned cores =
        launch_plan->line_up.hosts.count > 0 ? hosts_slots(&launch_plan->line_up.hosts) : own_cores(launch_plan);
    if (!known)
        return error_set(error, "--workers is needed where the cores of a host are not given: --hosts NAME:CORES,...");
    if (cores == 0)
        return error_set(error, "--master-core reserved leaves no core to a worker; accepted: fewer masters, more "
                                "cores, or --workers W");
    launch_plan->line_up.workers =
        with_threads(launch_plan, cores, launch_plan->line_up.hosts.count > 0 ? launch_plan->line_up.hosts.count : 1);
    return 0;
}

static int count_workers(struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->line_up.workers == 0 && launch_plan->line_up.slowdowns.count > 1)
        launch_plan->line_up.workers = launch_plan->line_up.slowdowns.count;
    if (launch_plan->line_up.workers == 0 && launch_plan->line_up.loads.count > 1)
        launch_plan->line_up.workers = launch_plan->line_up.loads.count;
    if (launch_plan->line_up.workers == 0 && default_workers(launch_plan, error) < 0)
        return -1;
    if (compose_check_list(launch_plan, &launch_plan->line_up.slowdowns, "slowdown", error) < 0)
        return -1;
    return compose_check_list(launch_plan, &launch_plan->line_up.loads, "load", error);
}

static bool compose_is_dca(const struct launch_plan *launch_plan)
{
    return launch_plan->request.dca.count > 0;
}

static int reserve_cores(struct launch_plan *launch_plan, struct error *error)
{
    if (!launch_plan->line_up.core_reserved)
        return 0;
    if (compose_is_dca(launch_plan))
        return error_set(error, "--master-core reserved: with --dca there are only workers; accepted: shared");
    if (launch_plan->line_up.threads == 0)
        return error_set(error, "--master-core reserved: with --threads auto each worker takes all cores that it may "
                                "run on; accepted: a number of threads");
    if (launch_plan->line_up.hosts.count > 0 && !hosts_know_slots(&launch_plan->line_up.hosts))
        return error_set(error, "--master-core reserved needs the cores of each host: --hosts NAME:CORES,...");
    hosts_reserve(&launch_plan->line_up.hosts, launch_plan->line_up.masters, launch_plan->line_up.threads);
    return 0;
}

/* With --masters-compute, each master is also a worker; without masters, the supermaster is. Subtracts these ranks from
 * the number of workers to be started. */
static int count_those_who_do_both(struct launch_plan *launch_plan, struct error *error)
{
    const unsigned both = launch_plan->line_up.masters > 0 ? launch_plan->line_up.masters : 1;
    if (!launch_plan->request.setup.job.spec.masters_compute)
        return 0;
    if (launch_plan->line_up.workers < both)
        return error_set(error, "--masters-compute, --masters %u: accepted: --workers %u or more", both, both);
    launch_plan->line_up.workers -= both;
    return 0;
}

static int compose_complete(struct launch_plan *launch_plan, struct error *error)
{
    if (compose_is_dca(launch_plan) && launch_plan->line_up.masters > 0)
        return error_set(error, "--masters %u: with --dca there are only workers: accepted: 0",
                         launch_plan->line_up.masters);
    if (!launch_plan->line_up.masters_given && !compose_is_dca(launch_plan) && launch_plan->line_up.hosts.count > 1)
        launch_plan->line_up.masters = launch_plan->line_up.hosts.count;
    if (launch_plan->line_up.has_no_workers)
        return 0;
    if (!launch_plan->line_up.masters_given && launch_plan->listens && launch_plan->line_up.masters == 0)
        launch_plan->line_up.masters = 1;
    if (reserve_cores(launch_plan, error) < 0 || count_workers(launch_plan, error) < 0)
        return -1;
    if (!launch_plan->line_up.masters_given && launch_plan->line_up.masters > launch_plan->line_up.workers)
        launch_plan->line_up.masters = launch_plan->line_up.workers;
    if (launch_plan->line_up.hosts.count > 0 && launch_plan->line_up.masters > launch_plan->line_up.workers)
        return error_set(error,
                         "--masters %u: accepted on several hosts: an integer from 0 to the number of workers, %u",
                         launch_plan->line_up.masters, launch_plan->line_up.workers);
    return count_those_who_do_both(launch_plan, error);
}

int compose_check_workers(const struct launch_plan *plan, struct error *error)
{
    if (plan->line_up.has_no_workers && !plan->listens)
        return error_set(error, "--pods-only: no pod could join; accepted: with --listen local, or --listen HOST:PORT");
    if (plan->line_up.has_no_workers && plan->line_up.has_pods)
        return error_set(error, "--pods-only: --pods starts the workers of all hosts; accepted: one of the two");
    if (plan->line_up.has_no_workers && (plan->line_up.workers > 0 || plan->line_up.masters > 0))
        return error_set(error, "--pods-only: no worker and no master is started here; accepted: without --workers and "
                                "--masters");
    if (plan->listens && plan->line_up.masters_given && plan->line_up.masters == 0)
        return error_set(error, "--masters 0: accepted with --listen: 1 or more, as masters may join");
    return 0;
}

int compose_deal(struct launch_plan *launch_plan, struct error *error)
{
    if (compose_complete(launch_plan, error) < 0)
        return -1;
    hosts_deal(&launch_plan->line_up.hosts, launch_plan->line_up.masters, launch_plan->line_up.workers);
    return 0;
}

/* Returns "NAME:RANKS,..." for the launcher; the caller frees the text. NULL if memory runs out. */
static char *deal_ranks(struct launch_plan *launch_plan)
{
    hosts_deal(&launch_plan->line_up.hosts, launch_plan->line_up.masters, launch_plan->line_up.workers);
    size_t size = 1, used = 0;
    for (unsigned i = 0; i < launch_plan->line_up.hosts.count; i++)
        size += strlen(launch_plan->line_up.hosts.items[i].name) + 16;
    char *list = calloc(1, size);
    for (unsigned i = 0; list != NULL && i < launch_plan->line_up.hosts.count; i++) {
        struct host *host = &launch_plan->line_up.hosts.items[i];
        host->ranks = host->workers + host->masters + (i == 0 && !compose_is_dca(launch_plan));
        if (host->ranks > 0)
            used += (size_t)snprintf(list + used, size - used, "%s%s:%u", used > 0 ? "," : "", host->name, host->ranks);
    }
    return list;
}

/* The user's options come last, so that they win. */
static int add_launcher(struct launch_plan *launch_plan, struct argv *line, struct error *error)
{
    const struct dialect *dialect = dialect_of(launch_plan);
    char *hosts = launch_plan->line_up.hosts.count > 0 ? deal_ranks(launch_plan) : NULL;
    line->failed = line->failed || (hosts == NULL && launch_plan->line_up.hosts.count > 0);
    int result = dialect->check != NULL ? dialect->check(launch_plan, error) : 0;
    argv_add(line, launch_plan->start.launcher.program);
    dialect->add_options(launch_plan, hosts, line);
    argv_add_all(line, &launch_plan->start.mpi_args);
    free(hosts);
    return result;
}

static void compose_add_program_options(const struct launch_plan *launch_plan, struct argv *line, enum program program,
                                        unsigned first, unsigned count)
{
    size_t size = 1, used = 0;
    unsigned *dealt = calloc(launch_plan->line_up.hosts.count, sizeof *dealt);
    for (unsigned i = 0; i < launch_plan->line_up.hosts.count; i++)
        size += strlen(launch_plan->line_up.hosts.items[i].name) + 16;
    char *list = calloc(1, size);
    line->failed = line->failed || dealt == NULL || list == NULL;
    if (!line->failed && program == WORKER)
        hosts_count_workers(&launch_plan->line_up.hosts, first, count, dealt);
    for (unsigned i = 0; !line->failed && i < launch_plan->line_up.hosts.count; i++) {
        const struct host *host = &launch_plan->line_up.hosts.items[i];
        unsigned ranks = program == WORKER ? dealt[i] : program == MASTER ? host->masters : i == 0;
        if (ranks > 0)
            used += (size_t)snprintf(list + used, size - used, "%s%s:%u", used > 0 ? "," : "", host->name, ranks);
    }
    if (!line->failed)
        dialect_of(launch_plan)->add_program_options(launch_plan, list, line);
    free(list);
    free(dealt);
}

/* Adds ranks that run `program`, on the hosts that the plan has for ranks of the kind `rank`. The two kinds differ only
 * in a pod: its master runs on the host that the plan has for the supermaster. */
static void add_context(const struct launch_plan *launch_plan, struct argv *line, char paths[PROGRAMS][PATH_MAX],
                        enum program program, enum program rank, unsigned first, unsigned count)
{
    argv_add(line, "-n");
    argv_add_format(line, "%u", count);
    if (launch_plan->line_up.hosts.count > 0 && dialect_of(launch_plan)->add_program_options != NULL)
        compose_add_program_options(launch_plan, line, rank, first, count);
    argv_add(line, paths[program]);
    if (program_word(names[program]) != NULL)
        argv_add(line, names[program]);
}

/* The progress option is set here, because a supermaster on another machine cannot see this terminal. The user's
 * options come after it, so they win. */
static void add_job(const struct launch_plan *launch_plan, struct argv *line)
{
    static const char *const quiet[] = {"--progress", "never", "--summary", "none"};
    for (size_t i = 0; launch_plan->quiet && i < sizeof quiet / sizeof *quiet; i++)
        argv_add(line, quiet[i]);
    if (launch_plan->line_up.hosts.count > 0 && isatty(STDERR_FILENO) && !launch_plan->quiet && !launch_plan->serves) {
        argv_add(line, "--progress");
        argv_add(line, "always");
    }
    for (unsigned i = 1; i < launch_plan->request.words.count; i++)
        argv_add(line, launch_plan->request.words.items[i]);
}

static void add_dca_job(const struct launch_plan *launch_plan, struct argv *line)
{
    argv_add_all(line, &launch_plan->request.dca);
    add_job(launch_plan, line);
}

static const char *compose_value_of(const struct argv *list, unsigned worker, const char *standard)
{
    const char *value = list->count == 0 ? NULL : list->items[list->count == 1 ? 0 : worker];
    return value == NULL || strcmp(value, standard) == 0 ? NULL : value;
}

static bool is_alike(const struct argv *list, unsigned a, unsigned b)
{
    return list->count <= 1 || strcmp(list->items[a], list->items[b]) == 0;
}

static void compose_add_value(struct argv *line, const char *option, const char *value)
{
    if (value == NULL)
        return;
    argv_add(line, option);
    argv_add(line, value);
}

static void compose_add_workers(const struct launch_plan *launch_plan, struct argv *line,
                                char paths[PROGRAMS][PATH_MAX])
{
    const struct argv *slowdowns = &launch_plan->line_up.slowdowns, *loads = &launch_plan->line_up.loads;
    unsigned count;
    for (unsigned first = 0; first < launch_plan->line_up.workers; first += count) {
        count = 1;
        while (first + count < launch_plan->line_up.workers && is_alike(slowdowns, first, first + count) &&
               is_alike(loads, first, first + count))
            count++;
        if (first > 0 || !compose_is_dca(launch_plan))
            argv_add(line, ":");
        add_context(launch_plan, line, paths, WORKER, WORKER, first, count);
        compose_add_value(line, "--slowdown", compose_value_of(slowdowns, first, "1"));
        compose_add_value(line, "--load", compose_value_of(loads, first, ""));
        if (compose_is_dca(launch_plan))
            add_dca_job(launch_plan, line);
        else if (launch_plan->line_up.single_threaded)
            argv_add(line, "--no-threads");
    }
}

int compose(struct launch_plan *launch_plan, struct argv *line, struct error *error)
{
    char paths[PROGRAMS][PATH_MAX];
    if (compose_complete(launch_plan, error) < 0 || find_programs(paths, error) < 0 ||
        add_launcher(launch_plan, line, error) < 0)
        return -1;
    if (!compose_is_dca(launch_plan)) {
        add_context(launch_plan, line, paths, launch_plan->is_pod ? MASTER : SUPERMASTER, SUPERMASTER, 0, 1);
        add_job(launch_plan, line);
        launch_plan->request.job_end = line->count;
    }
    if (launch_plan->line_up.masters > 0) {
        argv_add(line, ":");
        add_context(launch_plan, line, paths, MASTER, MASTER, 0, launch_plan->line_up.masters);
    }
    compose_add_workers(launch_plan, line, paths);
    bool failed = line->failed || launch_plan->request.words.failed || launch_plan->request.dca.failed ||
                  launch_plan->line_up.slowdowns.failed || launch_plan->line_up.loads.failed ||
                  launch_plan->start.mpi_args.failed;
    return failed ? error_set(error, "out of memory for the mpirun line") : 0;
}
