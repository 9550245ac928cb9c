/* SPDX-License-Identifier: MIT */
/* A job on simulated MPI: see simgrid.h. Writes SimGrid's input to a temporary folder, and lets SMPI start the
 * launcher module for each rank. */
#include "deploy/simulate/simgrid/simgrid.h"

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/os/files.h"
#include "common/util/error.h"
#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/perturb.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <dlfcn.h>
#include <errno.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_setup {
    struct simulated_run run;
    struct topology topology;
    struct supermaster supermaster;
    struct perturbations perturbations;
    unsigned char *results;
    unsigned char *boundary;
    double *speeds;
};

static const char *find_unknown(const struct virtual_config *config)
{
    for (unsigned i = 0; i < config->fault_count; i++)
        if ((config->faults[i].type != VIRTUAL_SLOW && config->faults[i].type != VIRTUAL_KILL) ||
            config->faults[i].at_event > 0)
            return "faults but slowdowns and failures at a given time";
    for (unsigned i = 0; i < config->load_count; i++)
        if (config->loads[i].at_ns > 0)
            return "loads that come later";
    if (config->outcome != NULL || config->slow_factor > 0)
        return "failing iterations and slowdowns of single workers";
    if (config->collect || config->journal || config->done != NULL)
        return "results, journals and resumed runs";
    return config->drain_at_ns > 0 ? "drains" : NULL;
}

static int init_results(struct sim_setup *sim_setup, const struct virtual_config *run, struct error *error)
{
    if (run->phantom_bytes == 0)
        return 0;
    sim_setup->results = calloc(run->phantom_bytes > SLICE_MAX ? run->phantom_bytes : SLICE_MAX, 1);
    if (sim_setup->results == NULL)
        return error_set(error, "out of memory for results of %llu bytes", (unsigned long long)run->phantom_bytes);
    sim_setup->run.results = sim_setup->results;
    return 0;
}

static int sim_setup_init(struct sim_setup *sim_setup, const struct simgrid_config *config, struct error *error)
{
    const struct virtual_config *run = config->run;
    struct simulated_run *own = &sim_setup->run;
    const char *unknown = find_unknown(run);
    if (unknown != NULL)
        return error_set(error, "--backend simgrid has no %s; accepted: --backend virtual", unknown);
    const unsigned ranks = cluster_ranks(run);
    sim_setup->run.hellos = calloc(ranks, sizeof *sim_setup->run.hellos);
    sim_setup->run.inboxes = calloc(ranks, sizeof *sim_setup->run.inboxes);
    sim_setup->run.standings = calloc(ranks, sizeof *sim_setup->run.standings);
    if (sim_setup->run.hellos == NULL || sim_setup->run.inboxes == NULL || sim_setup->run.standings == NULL ||
        machines_group(run, sim_setup->run.hellos, &sim_setup->topology) < 0)
        return error_set(error, "out of memory for %u ranks", ranks);
    if (machines_speeds(run, &sim_setup->speeds, error) < 0 || init_results(sim_setup, run, error) < 0)
        return -1;
    uint64_t bytes = machines_boundary_bytes(run);
    sim_setup->boundary = calloc(bytes + 1, 1);
    if (sim_setup->boundary == NULL)
        return error_set(error, "out of memory for boundary data of %llu bytes", (unsigned long long)bytes);
    sim_setup->run.boundary = sim_setup->boundary;
    if (perturbations_init(&sim_setup->perturbations, run, &sim_setup->topology, error) < 0)
        return -1;
    own->config = run;
    own->topology = &sim_setup->topology;
    own->speeds = sim_setup->speeds;
    own->perturbations = &sim_setup->perturbations;
    own->supermaster = &sim_setup->supermaster;
    own->supermaster->cut.first_ns = NEVER;
    own->busy_ns = calloc(1 + sim_setup->topology.masters, sizeof *own->busy_ns);
    if (own->busy_ns == NULL)
        return error_set(error, "out of memory for %u masters", sim_setup->topology.masters);
    own->costs = config->costs;
    own->flops_per_ns = config->file != NULL ? config->file->flops_per_ns : SIMGRID_FLOPS_PER_NS;
    own->folder = config->folder;
    return 0;
}

struct simgrid_job {
    struct sim_setup sim_setup;
    char folder[512];
};

#define PLATFORM_FILE "platform.xml"
#define HOSTS_FILE    "hosts"

static void path_in_folder(const struct simgrid_job *job, const char *name, char path[600])
{
    snprintf(path, 600, "%s/%s", job->folder, name);
}

static int make_folder(struct simgrid_job *job, struct error *error)
{
    snprintf(job->folder, sizeof job->folder, "%s/hdss-simulate-XXXXXX", file_temporary());
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

/* Settings of SMPI. Messages take exactly the latency and bandwidth of their links; SMPI's defaults would model TCP
 * over Gigabit Ethernet. Messages depart at once, even if no rank waits for them. MPI calls and short computations take
 * exactly the times of our model. */
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

/* Loads the launcher module and stores the run in it. SMPI uses the same instance of this module for all ranks. */
static int set_run(struct simulated_run *run, const char *launcher, struct error *error)
{
    simulated_set_run_function *function = NULL;
    void *module = dlopen(launcher, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = module != NULL ? dlsym(module, SIMULATED_SET_RUN_NAME) : NULL;
    if (symbol == NULL)
        return error_set(error, "%s", dlerror());
    memcpy(&function, &symbol, sizeof function);
    function(run);
    return 0;
}

static int start_ranks(struct simgrid_job *job, const struct simgrid_config *config, struct error *error)
{
    char launcher[4200], platform[600], ranks[40], hosts[640], path[600];
    char *words[SETTINGS + 7], name[] = "hdss-simgrid";
    int count = 0;
    snprintf(launcher, sizeof launcher, "%s/" SIMULATED_LAUNCHER, config->folder);
    if (set_run(&job->sim_setup.run, launcher, error) < 0)
        return -1;
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
    struct simulated_run *own = &job->sim_setup.run;
    if (own->supermaster_is_there)
        supermaster_fini(own->supermaster);
    for (unsigned i = 0; own->inboxes != NULL && i < job->sim_setup.topology.ranks; i++)
        free(own->inboxes[i].from);
    free(own->inboxes);
    free(own->standings);
    free(own->busy_ns);
    free(own->hellos);
    free(job->sim_setup.speeds);
    free(job->sim_setup.results);
    free(job->sim_setup.boundary);
    perturbations_fini(&job->sim_setup.perturbations);
    topology_fini(&job->sim_setup.topology);
    free(job);
}
