/* SPDX-License-Identifier: MIT */
/* master: drives the master's machine and writes the results that it collects. */
#include "master/program.h"
#include "common/config/job.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/participate.h"
#include "common/job/startup.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "common/results/results.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "master/master.h"
#include "proto/message.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>

struct program {
    struct job_setup setup;
    struct error error;
    const char *failure; /* reason why the master cannot take part, NULL if it can */
    struct runtime *runtime;
    const struct topology *topology;
    unsigned *ranks; /* ranks of its workers */
    unsigned workers;
    struct master master;
    struct results_sink sink;
    bool sink_open;
    struct error sync_error; /* reason why results are not on the disk; empty if they are */
};

static int store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct program *program = context;
    return results_write(&program->sink, part->first, part->count, data, bytes, error);
}

static int sync_stored(void *context, struct error *error)
{
    struct program *program = context;
    if (results_sync(&program->sink, error) == 0)
        return 0;
    program->sync_error = *error;
    return -1;
}

static int list_workers(struct program *program)
{
    const struct topology *topology = program->topology;
    unsigned m = topology_master(topology, runtime_rank(program->runtime));
    program->workers = topology_count(topology, m);
    program->ranks = calloc(program->workers + 1, sizeof *program->ranks);
    if (program->ranks == NULL)
        return -1;
    topology_served_ranks(topology, m, program->ranks);
    return 0;
}

static int init_machine(struct program *program)
{
    const struct job_setup *setup = &program->setup;
    program->topology = runtime_group(program->runtime, setup->job.spec.group_by == RUN_GROUP_BY_NODE);
    if (program->topology == NULL || list_workers(program) < 0)
        return -1;
    const struct master_config config = {
        .spec = &setup->job.spec,
        .rank = runtime_rank(program->runtime),
        .supermaster = program->topology->supermaster,
        .ranks = program->ranks,
        .workers = program->workers,
        .record_bytes = setup->collect ? setup->record_bytes : 0,
        .distance = job_setup_is_dependent(setup) ? setup->loop.distance : 0,
        .first = setup->first,
        .no_speculation = setup->loop.has_effects || job_setup_is_dependent(setup),
        .no_isolation = setup->kernel->descriptor != NULL || job_setup_is_dependent(setup),
        .feedback = run_spec_learns(&setup->job.spec),
        .sync = setup->collect && setup->job.durability == JOB_DURABILITY_NODE,
    };
    return master_init(&program->master, &config);
}

static void open_output(struct program *program)
{
    const struct job_setup *setup = &program->setup;
    if (program->failure != NULL || !setup->collect)
        return;
    program->sink_open = results_open(&program->sink, setup->job.output, &setup->loop, runtime_rank(program->runtime),
                                      &program->error) == 0;
    if (!program->sink_open)
        program->failure = program->error.text;
}

/* Says on standard error that results are not on the disk, as a master that has sent its last report cannot tell the
 * supermaster any more. */
static int check_sync(struct program *program, int status)
{
    if (program->sync_error.text[0] == '\0' || program->master.problem.text[0] != '\0')
        return status;
    fprintf(stderr, "master: rank %u: %s\n", runtime_rank(program->runtime), program->sync_error.text);
    return EXIT_STATUS_FAILED;
}

static int close_output(struct program *program, int status)
{
    if (!program->sink_open || results_close(&program->sink, &program->error) == 0)
        return status;
    fprintf(stderr, "master: rank %u: %s\n", runtime_rank(program->runtime), program->error.text);
    return EXIT_STATUS_FAILED;
}

static int run_dca_loop(void *context, struct runtime *runtime, unsigned words, char *const *word)
{
    struct program *program = context;
    program->runtime = runtime;
    if (job_setup_take(&program->setup, &kernel_loader, (int)words, word, &program->error) < 0)
        program->failure = program->error.text;
    if (init_machine(program) < 0) {
        fprintf(stderr, "master: rank %u: out of memory\n", runtime_rank(program->runtime));
        exit(EXIT_STATUS_FAILED); /* the launcher ends the others */
    }
    open_output(program);
    const struct machine machine = master_machine(&program->master);
    const struct effects effects = {.context = program,
                                    .store = store,
                                    .sync = sync_stored,
                                    .assignment_ns = program->setup.job.spec.assignment_ns};
    int status = runtime_drive(program->runtime, &machine, &effects, program->failure);
    status = close_output(program, check_sync(program, status));
    master_fini(&program->master);
    free(program->ranks);
    return status;
}

int master_program(int argc, char **argv, const char *version)
{
    static struct program program;
    runtime_remember_signals(NULL);
    struct startup startup = {.program = "master", .version = version};
    startup_take(&startup, master_options_parse(argc, argv, &program.error), &program.error, master_help_text);
    const struct participant participant = {
        .role = ROLE_MASTER,
        .run = run_dca_loop,
        .context = &program,
    };
    return participate(&participant, &startup, argc, argv);
}
