/* SPDX-License-Identifier: MIT */
/* The dialect (dialect.h) of Open MPI's mpirun.
 *
 * Survival (measured with 4.1.4): without the options orte_abort_on_non_zero_status = 0 and --enable-recovery, mpirun 4
 * kills all ranks about a second after a rank has died. With only the first option, mpirun ends the run after the loss
 * of a node. With both, mpirun never returns after a loss on several nodes; then launcher_watch.h ends it, for which
 * the supermaster must be on this machine. If the supermaster is elsewhere, both options are left out. Ending mpirun
 * takes 4 s if a rank on another machine is stopped, or 0.1 s with odls_base_sigkill_timeout = 0.
 *
 * Version 5 has the first option under another name, state_base_error_non_zero_exit (measured with 5.0.7). With
 * --enable-recovery alone, the other ranks survive a rank that is killed, but not a rank with an exit status other than
 * 0. On several machines version 5 also needs its ULFM (--with-ft ulfm): without it a rank aborts when its connection
 * to a lost rank breaks. On one machine ULFM brings nothing, and is used only if the user wants it, because then all
 * ranks crash in MPI_Init if a rank is lost at the start.
 *
 * Start (measured with 4.1.4, one machine): of 360 ms, looking for fabrics takes 200, which messages on one machine do
 * not need (pml cm, btl tcp), and describing PCI devices takes 60. On several machines both steps remain: the transport
 * may be UCX or libfabric, which choose network cards by their place on the PCI bus. */
#include "common/os/cores.h"
#include "deploy/cli/dialect.h"
#include "deploy/cli/held_folder.h"
#include "worker/kernels/exec/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* The files of a session are in memory only if at least this many bytes are free. */
#define MEMORY_FOLDER_LEAST (UINT64_C(1) << 30)
#define SESSION_BASE        "OMPI_MCA_orte_tmpdir_base"
#define KEEP_TRIES          100

static struct held_folder shared = {.fd = -1};

static bool openmpi_is_dca(const struct launch_plan *launch_plan)
{
    return launch_plan->request.dca.count > 0;
}

/* If a launcher, for example a script, does not tell its version, this function assumes the version of the library with
 * which HDSS was built. */
static bool is_version_5(const struct launch_plan *launch_plan)
{
    const char *built = family_built_version(MPI_FAMILY_OPENMPI);
    if (launch_plan->start.launcher.major > 0)
        return launch_plan->start.launcher.major >= 5;
    return built != NULL && strtoul(built, NULL, 10) >= 5;
}

/* With --dca, workers end by themselves after a loss if they see each other's processes. */
static bool survives(const struct launch_plan *launch_plan)
{
    const bool can = !openmpi_is_dca(launch_plan) || launch_plan_is_here(launch_plan);
    return can && launch_plan_leads_here(launch_plan) &&
           !argv_contain(&launch_plan->start.mpi_args, "--disable-recovery") && launch_plan->start.launcher.major >= 4;
}

static bool takes_ulfm(const struct launch_plan *launch_plan)
{
#ifdef HDSS_ULFM
    return is_version_5(launch_plan) && launch_plan->start.survives && launch_plan->line_up.hosts.count > 1;
#else
    (void)launch_plan;
    return false;
#endif
}

static void add_survival(const struct launch_plan *launch_plan, struct argv *line)
{
    if (!launch_plan->start.survives)
        return;
    if (!is_version_5(launch_plan))
        argv_add_split(line, "--mca orte_abort_on_non_zero_status 0");
    if (!is_version_5(launch_plan) && launch_plan->line_up.hosts.count > 1)
        argv_add_split(line, "--mca odls_base_sigkill_timeout 0");
    argv_add(line, "--enable-recovery");
    /* The option --runtime-options error-nonzero-status=false means the same, but mpirun 5.0.7 refuses it in long
     * lines. */
    if (is_version_5(launch_plan))
        argv_add_split(line, "--prtemca state_base_error_non_zero_exit 0");
    if (takes_ulfm(launch_plan) && !argv_contain(&launch_plan->start.mpi_args, "--with-ft"))
        argv_add_split(line, "--with-ft ulfm");
}

/* With some transports of version 4, one-sided operations cannot reach another machine, so these transports are
 * excluded. Version 5 does not have them. */
static void add_one_sided(const struct launch_plan *launch_plan, struct argv *line)
{
    if (!is_version_5(launch_plan) && openmpi_is_dca(launch_plan) && launch_plan->line_up.hosts.count > 1 &&
        !argv_contain(&launch_plan->start.mpi_args, "osc"))
        argv_add_split(line, "--mca osc ^rdma");
}

/* Version 4: hosts have exactly as many slots as ranks. With --map-by node, the ranks of each program go to the hosts
 * in turn until the hosts are full. An mpirun that was built for a batch system uses the slots of the batch job
 * instead, so it gets --oversubscribe if the ranks go to the hosts in turn.
 *
 * Version 5: --map-by node has two defects if hosts have different numbers of ranks (5.0.7). It skips rank numbers, so
 * that MPI_Init fails, and it finds no place for some ranks. So each program names the hosts of its ranks. */
static void add_hosts(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    if (is_version_5(launch_plan)) {
        argv_add_split(line, "--map-by slot:OVERSUBSCRIBE");
        return;
    }
    argv_add(line, "--host");
    argv_add(line, hosts);
    if (launch_plan->line_up.allocated &&
        hosts_deal_in_turn(&launch_plan->line_up.hosts, launch_plan->line_up.workers)) {
        argv_add_split(line, "--map-by node --oversubscribe");
        return;
    }
    argv_add(line, "--map-by");
    argv_add(line, "node");
}

/* If there are more ranks than cores, the ranks are not bound. Ranks that were bound to cores in turn were not faster
 * with two workers on two cores (0.94 to 1.01 of the time) and slower with three workers (2.6 times for empty
 * iterations, 1.27 for mandelbrot): two ranks share a core, and the supermaster is woken on a busy one. Version 5 must
 * map by slot; otherwise it mixes the ranks of the programs, and values for single workers (--power) go to the wrong
 * workers. */
static void add_cores(const struct launch_plan *launch_plan, struct argv *line, bool bound, bool mapped)
{
    /* A mapping that the user has given may not permit more ranks than cores. */
    if (mapped)
        argv_add(line, "--oversubscribe");
    else
        argv_add_split(line, is_version_5(launch_plan) ? "--map-by slot:OVERSUBSCRIBE" : "--map-by :OVERSUBSCRIBE");
    if (!bound)
        argv_add_split(line, "--bind-to none");
}

static void add_placement(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    unsigned ranks = !openmpi_is_dca(launch_plan) + launch_plan->line_up.masters + launch_plan->line_up.workers;
    bool bound = argv_contain(&launch_plan->start.mpi_args, "--bind-to"),
         mapped = argv_contain(&launch_plan->start.mpi_args, "--map-by");
    if (hosts != NULL) {
        add_hosts(launch_plan, hosts, line);
        if (!bound)
            argv_add_split(line, "--bind-to none");
    } else if (ranks > cores_usable())
        add_cores(launch_plan, line, bound, mapped);
    else if (launch_plan->line_up.threads != 1 && !bound && !mapped) /* mpirun would bind all threads to one core */
        argv_add_split(line, is_version_5(launch_plan) ? "--map-by slot --bind-to none" : "--bind-to none");
    else if (is_version_5(launch_plan) && !mapped)
        argv_add_split(line, "--map-by slot");
}

/* Version 5 would pass the environment's parameters to other machines by a component of PMIx that set_environment()
 * switches off, so these parameters are repeated for each program. */
static void openmpi_add_program_options(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    if (!is_version_5(launch_plan))
        return;
    argv_add(line, "--host");
    argv_add(line, hosts);
    for (char **variable = environ; *variable != NULL; variable++)
        if (strncmp(*variable, "OMPI_MCA_", strlen("OMPI_MCA_")) == 0) {
            argv_add(line, "-x");
            argv_add_format(line, "%.*s", (int)strcspn(*variable, "="), *variable);
        }
    if (takes_ulfm(launch_plan) && getenv("OMPI_MCA_mpi_ft_enable") == NULL)
        argv_add_split(line, "-x OMPI_MCA_mpi_ft_enable");
}

static void openmpi_add_options(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    add_placement(launch_plan, hosts, line);
    add_one_sided(launch_plan, line);
    add_survival(launch_plan, line);
}

static void set_unless_set(const char *name, const char *value, variable_setter *set, void *context)
{
    const char *now = getenv(name);
    if (now == NULL || strcmp(now, value) == 0)
        set(name, value, context);
}

/* Messages on one machine use shared memory, so no other transport is tried, and no rank listens at a port. The
 * settings are in the environment, because version 5 applies --mca only to the first program of a line. */
static void set_transport(const struct launch_plan *launch_plan, variable_setter *set, void *context)
{
    if (!launch_plan_is_here(launch_plan))
        return;
    set_unless_set(QUICK_HWLOC, QUICK_HWLOC_VALUE, set, context);
    const char *components = getenv(QUICK_HWLOC);
    if (components == NULL || strcmp(components, QUICK_HWLOC_VALUE) == 0)
        set_unless_set(QUICK_PLUGINS, QUICK_PLUGINS_VALUE, set, context);
    if (argv_contain(&launch_plan->start.mpi_args, "pml") || argv_contain(&launch_plan->start.mpi_args, "btl"))
        return;
    set_unless_set("OMPI_MCA_pml", "ob1", set, context);
    set_unless_set("OMPI_MCA_btl", is_version_5(launch_plan) ? "self,sm" : "self,vader", set, context);
}

/* On a disk, making and removing the files of a session takes longer than a short job. Unless the user has said where
 * temporary files go, the files of a session are in memory if there is room. */
static void set_session_folder(const struct launch_plan *launch_plan, variable_setter *set, void *context)
{
    struct statfs status;
    if (is_version_5(launch_plan) || !launch_plan_is_here(launch_plan) || getenv("TMPDIR") != NULL ||
        getenv("TEMP") != NULL || getenv("TMP") != NULL)
        return;
    if (statfs(MEMORY_FOLDER, &status) == 0 && status.f_type == TMPFS_MAGIC &&
        access(MEMORY_FOLDER, R_OK | W_OK | X_OK) == 0 &&
        (uint64_t)status.f_bavail * (uint64_t)status.f_bsize >= MEMORY_FOLDER_LEAST)
        set_unless_set(SESSION_BASE, MEMORY_FOLDER, set, context);
}

/* If the user is root, Open MPI refuses to start without two variables. PMIX_MCA_plog: mpirun sometimes crashes when a
 * rank on another machine reports a broken connection; the setting switches these reports off. PMIX_MCA_pmdl: mpirun
 * 5.0.7 to 5.0.10, at least, crashes at a line of several programs before it starts any (open-mpi/ompi#13303), in a
 * component of PMIx that the ranks do not need. prterun does not crash, but takes none of Open MPI's options. */
static void set_environment(const struct launch_plan *launch_plan, variable_setter *set, void *context)
{
    if (geteuid() == 0) {
        set("OMPI_ALLOW_RUN_AS_ROOT", "1", context);
        set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", context);
    }
    if (is_version_5(launch_plan))
        set_unless_set("PMIX_MCA_pmdl", "^ompi", set, context);
    if (takes_ulfm(launch_plan) ||
        (is_version_5(launch_plan) && argv_contain(&launch_plan->start.mpi_args, "--with-ft")))
        /* The PMIx component that was switched off above would set this variable. */
        set_unless_set("OMPI_MCA_mpi_ft_enable", "true", set, context);
    if (!is_version_5(launch_plan) && launch_plan->start.survives && launch_plan->line_up.hosts.count > 0)
        set_unless_set("PMIX_MCA_plog", "^default", set, context);
    set_transport(launch_plan, set, context);
    set_session_folder(launch_plan, set, context);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

static unsigned job_number_4(const char *session, long launcher)
{
    char path[PATH_MAX];
    unsigned job = 0;
    const struct dirent *entry;
    DIR *store = (size_t)snprintf(path, sizeof path, "%s/pmix_dstor_ds21_%ld", session, launcher) < sizeof path
                     ? opendir(path)
                     : NULL;
    while (store != NULL && job == 0 && (entry = readdir(store)) != NULL)
        if (sscanf(entry->d_name, "smdataseg-%u-", &job) != 1)
            job = 0;
    if (store != NULL)
        closedir(store);
    return job;
}

/* Computes the number for version 5 (as read in 5.0.7): a hash of the launcher's name for its jobs (Jenkins's
 * one-at-a-time), folded to 16 bits, and then the number of the job. An mpirun has only one job. */
unsigned openmpi_job_number_5(const char *host, long launcher)
{
    char name[HOST_NAME_MAX + 40];
    uint32_t hash = 0;
    snprintf(name, sizeof name, "prterun-%s-%ld", host, launcher);
    for (const char *c = name; *c != '\0'; c++) {
        hash += (unsigned char)*c;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return ((hash >> 16 ^ hash) & 0xffff) << 16 | 1;
}

/* The names are vader_segment.HOST.USER.JOB.RANK (version 5: sm_segment...) and osc_sm.HOST.JOB... */
static void remove_memory(const char *host, unsigned job)
{
    char of_host[HOST_NAME_MAX + 3], of_job[16];
    const struct dirent *entry;
    DIR *memory = opendir(MEMORY_FOLDER);
    snprintf(of_host, sizeof of_host, ".%s.", host);
    snprintf(of_job, sizeof of_job, ".%x.", job);
    while (memory != NULL && (entry = readdir(memory)) != NULL)
        if (strstr(entry->d_name, of_host) != NULL && strstr(entry->d_name, of_job) != NULL)
            unlinkat(dirfd(memory), entry->d_name, 0);
    if (memory != NULL)
        closedir(memory);
}

static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

static void remove_session(const char *session)
{
    nftw(session, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool name_sessions_4(char top[PATH_MAX], const char *base, const char *host)
{
    return (size_t)snprintf(top, PATH_MAX, "%s/ompi.%s.%u", base, host, geteuid()) < PATH_MAX;
}

/* Version 4 has the files of a run in BASE/ompi.HOST.USER/pid.NUMBER; the number is the process ID of mpirun. */
static void clear_4(const char *base, const char *host, long launcher)
{
    char top[PATH_MAX], session[PATH_MAX];
    if (!name_sessions_4(top, base, host) ||
        (size_t)snprintf(session, sizeof session, "%s/pid.%ld", top, launcher) >= sizeof session || !is_own_folder(top))
        return;
    unsigned job = job_number_4(session, launcher);
    if (job > 0)
        remove_memory(host, job);
    remove_session(session);
    rmdir(top);
}

/* Version 5 has the files of a run in BASE/prterun.HOST.NUMBER.USER. After a second SIGINT mpirun removes these, but
 * not the shared memory. */
static void clear_5(const char *base, const char *host, long launcher)
{
    char session[PATH_MAX];
    remove_memory(host, openmpi_job_number_5(host, launcher));
    if ((size_t)snprintf(session, sizeof session, "%s/prterun.%s.%ld.%u", base, host, launcher, geteuid()) <
            sizeof session &&
        is_own_folder(session))
        remove_session(session);
}

static const char *session_base(void)
{
    static const char *const names[] = {"TMP", "TEMP", "TMPDIR", SESSION_BASE};
    const char *base = "/tmp";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        base = getenv(names[i]) != NULL ? getenv(names[i]) : base;
    return base;
}

/* Removes what a launcher of either version removes at its end. The launcher may have cut off the host's name at its
 * first dot. */
static void openmpi_clear(pid_t launcher)
{
    const char *base = session_base();
    char host[HOST_NAME_MAX + 1] = "";
    held_folder_clear(&shared);
    gethostname(host, sizeof host - 1);
    for (int cut = 0; cut < 2; cut++) {
        clear_4(base, host, (long)launcher);
        clear_5(base, host, (long)launcher);
        host[strcspn(host, ".")] = '\0';
    }
}

/* BASE/ompi.HOST.USER/hdss.NUMBER, in which NUMBER is the ID of this process. It protects the folder of all
 * sessions. */
static char kept[PATH_MAX];

static void remove_forgotten(const char *top)
{
    int number;
    const struct dirent *entry;
    DIR *folder = opendir(top);
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (sscanf(entry->d_name, "hdss.%d", &number) == 1 && kill(number, 0) < 0 && errno == ESRCH)
            unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    if (folder != NULL)
        closedir(folder);
}

/* The last mpirun of a user removes the folder of all sessions, and another mpirun that starts at the same time fails.
 * So this process keeps a folder of its own in the folder of all sessions, which makes the removal fail. */
static void keep_sessions_4(void)
{
    char top[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    if (!name_sessions_4(top, session_base(), host) ||
        (size_t)snprintf(kept, sizeof kept, "%s/hdss.%d", top, (int)getpid()) >= sizeof kept)
        return;
    for (int tries = 0; tries < KEEP_TRIES; tries++)
        if ((mkdir(top, 0700) == 0 || errno == EEXIST) && is_own_folder(top) &&
            (mkdir(kept, 0700) == 0 || errno == EEXIST))
            break;
    if (is_own_folder(top))
        remove_forgotten(top);
}

static void let_sessions_4_go(void)
{
    rmdir(kept);
    *strrchr(kept, '/') = '\0';
    rmdir(kept); /* fails while other runs use it */
    kept[0] = '\0';
}

static void openmpi_keep(const struct launch_plan *launch_plan)
{
    kept[0] = shared.path[0] = '\0';
    if (!is_version_5(launch_plan))
        keep_sessions_4();
    if (launch_plan_is_here(launch_plan))
        held_folder_make(&shared, MEMORY_FOLDER, "hdss-ranks");
}

/* Sets the folder for the ranks' shared memory. The printed launch line does not have this folder, because the folder
 * does not exist later. Variables that the user has set remain. */
static void openmpi_enter(void)
{
    static const char *const variables[] = {"OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory",
                                            "OMPI_MCA_osc_sm_backing_directory", "OMPI_MCA_osc_rdma_backing_directory"};
    for (size_t i = 0; shared.path[0] != '\0' && i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i], shared.path, 0);
}

static void openmpi_let_go(void)
{
    held_folder_remove(&shared);
    if (kept[0] != '\0')
        let_sessions_4_go();
}

const struct dialect openmpi_dialect = {.survives = survives,
                                        .add_options = openmpi_add_options,
                                        .add_program_options = openmpi_add_program_options,
                                        .set_environment = set_environment,
                                        .enter = openmpi_enter,
                                        .clear = openmpi_clear,
                                        .keep = openmpi_keep,
                                        .let_go = openmpi_let_go,
                                        .rank_depth = 1};
