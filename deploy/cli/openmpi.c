/* SPDX-License-Identifier: MIT */
/* The dialect (dialect.h) of Open MPI's mpirun.
 *
 * Survival, version 4 (measured with 4.1.4). By default mpirun kills all ranks about a second after a rank has died.
 * With orte_abort_on_non_zero_status = 0, the other ranks survive, unless a whole node is lost. With --enable-recovery
 * as well, the other ranks also survive the loss of a node. But after a loss on several nodes mpirun never returns. So
 * launcher_watch.h ends mpirun, for which the supermaster must be on this machine. If the supermaster is elsewhere,
 * neither option is used. Ending mpirun takes 4 s if a rank on another machine is stopped, or 0.1 s with
 * odls_base_sigkill_timeout = 0.
 *
 * Survival, version 5 (measured with 5.0.7). The first option is called state_base_error_non_zero_exit. With
 * --enable-recovery alone, the other ranks survive a killed rank, but not a rank with an exit status other than 0. On
 * several machines version 5 also needs its ULFM (--with-ft ulfm): without it a rank aborts when its connection to a
 * lost rank breaks. On one machine ULFM is used only if the user asks for it. It has no advantage there, and with it
 * all ranks crash in MPI_Init if a rank is lost at the start.
 *
 * Start (measured with 4.1.4 on one machine). Of 360 ms, 200 ms are spent looking for fabrics (pml cm, btl tcp), and 60
 * ms describing PCI devices. Messages on one machine need neither, so set_transport() switches both off. On several
 * machines both remain: UCX and libfabric choose network cards by their place on the PCI bus. */
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

/* Some launchers, for example scripts, do not tell their version. For them the version of the library with which HDSS
 * was built is assumed. */
static bool is_version_5(const struct launch_plan *launch_plan)
{
    const char *built = family_built_version(MPI_FAMILY_OPENMPI);
    if (launch_plan->start.launcher.major > 0)
        return launch_plan->start.launcher.major >= 5;
    return built != NULL && strtoul(built, NULL, 10) >= 5;
}

/* With --dca, ranks survive only if all are on this machine: after a loss, workers end by themselves only if they see
 * each other's processes. */
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

/* In version 4 the component osc/rdma is excluded: with some transports its one-sided operations cannot reach another
 * machine. */
static void add_one_sided(const struct launch_plan *launch_plan, struct argv *line)
{
    if (!is_version_5(launch_plan) && openmpi_is_dca(launch_plan) && launch_plan->line_up.hosts.count > 1 &&
        !argv_contain(&launch_plan->start.mpi_args, "osc"))
        argv_add_split(line, "--mca osc ^rdma");
}

/* Version 4: each host is listed with as many slots as it gets ranks. With --map-by node, the ranks of each program go
 * to the hosts in turn until the hosts are full. An mpirun that was built for a batch system ignores these slots and
 * uses those of the batch job. So it gets --oversubscribe if the ranks go to the hosts in turn anyway.
 *
 * Version 5: --map-by node fails if hosts have different numbers of ranks (5.0.7). It skips rank numbers, so that
 * MPI_Init fails, and it finds no place for some ranks. So each program names the hosts of its ranks. */
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

/* Called if there are more ranks than cores. The ranks are then not bound to cores. Binding them in turn was no faster
 * with two workers on two cores (0.94 to 1.01 of the time). With three workers it was slower (2.6 times for empty
 * iterations, 1.27 for mandelbrot): two ranks share a core, and the supermaster wakes on a busy core. Version 5 must
 * map by slot. Otherwise it mixes the ranks of the programs, and values for single workers (--power) go to the wrong
 * workers. */
static void add_cores(const struct launch_plan *launch_plan, struct argv *line, bool bound, bool mapped)
{
    /* without this option, the user's own mapping may not permit more ranks than cores */
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

/* Version 5 passes the OMPI_MCA_ variables of the environment to other machines by a component of PMIx, which
 * set_environment() switches off. So each program gets an option for each of these variables. */
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

/* If all ranks are on one machine, messages use shared memory. Other transports are not tried, and no rank listens at a
 * port. These settings are environment variables, because version 5 applies --mca only to the first program of a
 * line. */
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

/* Puts the files of a session in memory, if there is room and the user has not chosen a folder for temporary files. On
 * a disk, making and removing them takes longer than a short job. */
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

/* OMPI_ALLOW_RUN_AS_ROOT...: without these, Open MPI refuses to start for root. PMIX_MCA_pmdl: switches off a component
 * of PMIx that the ranks do not need. In mpirun 5.0.7 to 5.0.10, at least, it crashes mpirun at a line of several
 * programs before any starts (open-mpi/ompi#13303). prterun does not crash, but accepts none of Open MPI's options.
 * PMIX_MCA_plog: switches off reports from other machines about broken connections, because mpirun 4 sometimes crashes
 * at such a report. */
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
        /* The component that PMIX_MCA_pmdl switches off would set this variable. */
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

/* Computes the number for version 5 (as in the source of 5.0.7). The upper 16 bits are a hash (Jenkins's one-at-a-time)
 * of the name that the launcher gives its jobs. The lower 16 bits are the number of the job, which is 1, because an
 * mpirun has only one job. */
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

/* Version 5 has the files of a run in BASE/prterun.HOST.NUMBER.USER; NUMBER is the process ID of mpirun. After a second
 * SIGINT mpirun removes these files, but not the shared memory. */
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

/* Removes the files that a launcher of either version would have removed at its end. The host name in their paths may
 * end at its first dot, so both forms are tried. */
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

/* The folder BASE/ompi.HOST.USER/hdss.NUMBER; NUMBER is the ID of this process. While it exists, no mpirun can remove
 * BASE/ompi.HOST.USER, which all sessions share. */
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

/* The last mpirun of a user removes the folder that all sessions share. If another mpirun starts at that moment, it
 * fails. So this process makes a folder of its own inside, and the shared folder cannot be removed. */
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

/* Sets the folder for the ranks' shared memory. This is not part of the printed launch line, because the folder is
 * removed after the run. Variables that the user has set are not changed. */
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
