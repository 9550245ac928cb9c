/* SPDX-License-Identifier: MIT */
/* A job on simulated MPI: see simgrid.h. Writes SimGrid's input to a temporary folder and starts the launcher module
 * for each rank. */
#include "deploy/simulate/simgrid/simgrid.h"

#include "deploy/simulate/simgrid/sim_setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct simgrid_job {
    struct sim_setup sim_setup;
    char folder[512]; /* temporary; empty: none */
};

#define PLATFORM_FILE "platform.xml"
#define HOSTS_FILE    "hosts"

static void path_in_folder(const struct simgrid_job *job, const char *name, char path[600])
{
    snprintf(path, 600, "%s/%s", job->folder, name);
}

static int make_folder(struct simgrid_job *job, struct error *error)
{
    const char *parent = getenv("TMPDIR");
    snprintf(job->folder, sizeof job->folder, "%s/hdss-simulate-XXXXXX",
             parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(job->folder) != NULL)
        return 0;
    error_set(error, "%s: %s", job->folder, strerror(errno));
    job->folder[0] = '\0';
    return -1;
}

static void remove_folder(void *context)
{
    struct simgrid_job *job = context;
    char path[600];
    if (job->folder[0] == '\0')
        return;
    path_in_folder(job, PLATFORM_FILE, path);
    unlink(path);
    path_in_folder(job, HOSTS_FILE, path);
    unlink(path);
    rmdir(job->folder);
    job->folder[0] = '\0';
}

static int write_hosts(const struct simgrid_config *config, const char *path)
{
    const struct placement *placement = config->placement;
    const struct simgrid_file *known = config->file;
    char name[SIMGRID_HOST_MAX];
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return -1;
    for (unsigned i = 0; i < placement->ranks; i++) {
        simgrid_host_name(placement->node_of[i], name);
        fprintf(file, "%s\n", known != NULL ? known->hosts[placement->platform_node[placement->node_of[i]]] : name);
    }
    bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed ? -1 : 0;
}

static int write_files(struct simgrid_job *job, const struct simgrid_config *config, struct error *error)
{
    char platform[600], hosts[600];
    if (make_folder(job, error) < 0)
        return -1;
    path_in_folder(job, PLATFORM_FILE, platform);
    path_in_folder(job, HOSTS_FILE, hosts);
    if ((config->file == NULL && simgrid_write_platform(config->platform, config->placement, platform) < 0) ||
        write_hosts(config, hosts) < 0)
        return error_set(error, "%s: %s", job->folder, strerror(errno));
    return 0;
}

/* Settings of SimGrid. Messages take latency and bandwidth of their links exactly, while SMPI's defaults model TCP over
 * Gigabit Ethernet. Messages depart immediately, even if not waited for. MPI calls and short work take exactly the
 * given times. */
static char *const settings[] = {
    (char[]){"--log=root.thres:error"},
    (char[]){"--cfg=smpi/simulate-computation:no"},
    (char[]){"--cfg=smpi/host-speed:1Gf"},
    (char[]){"--cfg=smpi/cpu-threshold:0"},
    (char[]){"--cfg=smpi/test:0"},
    (char[]){"--cfg=smpi/wtime:0"},
    (char[]){"--cfg=smpi/iprobe:0"},
    (char[]){"--cfg=smpi/async-small-thresh:65536"},
    (char[]){"--cfg=smpi/send-is-detached-thresh:1073741824"},
    (char[]){"--cfg=smpi/privatization:no"},
    (char[]){"--cfg=smpi/coll-selector:ompi"},
    (char[]){"--cfg=smpi/lat-factor:0:1"},
    (char[]){"--cfg=smpi/bw-factor:0:1"},
    (char[]){"--cfg=network/model:SMPI"},
    (char[]){"--cfg=network/TCP-gamma:0"},
    (char[]){"--cfg=network/crosstraffic:0"},
    (char[]){"--cfg=contexts/factory:raw"},
    (char[]){"--cfg=contexts/stack-size:256"},
    (char[]){"--cfg=contexts/guard-size:1"},
};
#define SETTINGS (sizeof settings / sizeof *settings)

static int start_ranks(struct simgrid_job *job, const struct simgrid_config *config, struct error *error)
{
    char launcher[4200], platform[600], ranks[40], hosts[640], path[600];
    char *words[SETTINGS + 7], name[] = "hdss-simgrid";
    int count = 0;
    snprintf(launcher, sizeof launcher, "%s/" SIMULATED_LAUNCHER, config->folder);
    /* Passes the run to the launcher module. SMPI loads the same instance: ranks have no globals of their own. */
    simulated_set_run_function *function = NULL;
    void *module = dlopen(launcher, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = module != NULL ? dlsym(module, SIMULATED_SET_RUN_NAME) : NULL;
    if (symbol == NULL)
        return error_set(error, "%s", dlerror());
    memcpy(&function, &symbol, sizeof function);
    function(&job->sim_setup.run);
    path_in_folder(job, PLATFORM_FILE, platform);
    path_in_folder(job, HOSTS_FILE, path);
    snprintf(ranks, sizeof ranks, "--cfg=smpi/np:%u", config->placement->ranks);
    snprintf(hosts, sizeof hosts, "--cfg=smpi/hostfile:%s", path);
    words[count++] = name;
    words[count++] = config->file != NULL ? (char *)config->file->path : platform;
    for (size_t i = 0; i < SETTINGS; i++)
        words[count++] = settings[i];
    words[count++] = ranks;
    words[count++] = hosts;
    words[count] = NULL;
    smpi_main(launcher, count, words);
    return 0;
}

static int check_end(const struct simgrid_job *job, struct error *error)
{
    const struct simulated_run *run = &job->sim_setup.run;
    if (run->is_over)
        return 0;
    return error_set(error, run->is_broken ? "the simulation was given up"
                                           : "the simulation has come to a standstill before the job was done");
}

struct simgrid_job *simgrid_job_run(const struct simgrid_config *config, struct virtual_result *result,
                                    struct error *error)
{
    struct simgrid_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    if (sim_setup_init(&job->sim_setup, config, error) == 0 && write_files(job, config, error) == 0) {
        job->sim_setup.run.begun = remove_folder;
        job->sim_setup.run.context = job;
        if (start_ranks(job, config, error) == 0 && check_end(job, error) == 0) {
            const struct simulated_run *run = &job->sim_setup.run;
            *result = (struct virtual_result){
                .status = run->status, .end_ns = run->end_ns, .events = run->events, .supermaster = run->supermaster};
            return job;
        }
    }
    simgrid_job_free(job);
    return NULL;
}

double simgrid_job_busy_s(const struct simgrid_job *job, unsigned rank)
{
    return job->sim_setup.run.busy_ns[rank] * 1e-9;
}

void simgrid_job_free(struct simgrid_job *job)
{
    if (job == NULL)
        return;
    remove_folder(job);
    sim_setup_fini(&job->sim_setup);
    free(job);
}
