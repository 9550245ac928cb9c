/* SPDX-License-Identifier: MIT */
/* The worker program. It joins a run or a set, and computes. */
#include "worker/program.h"
#include "common/config/dca_options.h"
#include "common/config/rank_options.h"
#include "common/config/serve_options.h"
#include "common/job/participate.h"
#include "common/job/set_rank.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/mpi/runtime.h"
#include "common/os/busy.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "worker/dca/program.h"
#include "worker/helper/spare.h"
#include "worker/job/job.h"

#include <stdio.h>
#include <stdlib.h>

struct program {
    struct worker_options options;
    struct error error;
};

static void *take(void *context, struct runtime *runtime, const struct topology *topology,
                  struct announcement *announcement, struct part_of_job *of_job)
{
    const struct program *program = context;
    return worker_job_take(&program->options, runtime, topology, announcement, of_job);
}

static int run_dca_loop(void *context, struct runtime *runtime, unsigned words, char *const *word)
{
    struct program *program = context;
    const struct set_role role = {.context = program, .take = take, .end = worker_job_end};
    if (!serve_is_asked((int)words, word))
        return worker_job_run(&program->options, runtime, words, word);
    spare_keep();
    return set_rank_run(runtime, words, word, &role);
}

/* Also starts the artificial load (--load). Starting it forks this process, so it must come before MPI_Init(). */
static int dca_program_read_command_line(struct program *program, int argc, char **argv)
{
    int result = worker_options_parse(&program->options, argc, argv, &program->error);
    if (result != 0 || !program->options.loaded)
        return result;
    return busy_start(program->options.load, &program->error);
}

int worker_program(int argc, char **argv, const char *version)
{
    static struct program program;
    const bool is_dca = dca_is_asked(argc, argv);
    runtime_remember_signals(is_dca ? status_tell_draining : NULL);
    if (is_dca)
        return dca_program(argc, argv, version);
    struct startup startup = {.program = "worker", .version = version};
    startup_take(&startup, dca_program_read_command_line(&program, argc, argv), &program.error, worker_help_text);
    const struct participant participant = {
        .role = ROLE_WORKER,
        /* Whether the job needs threads is not known yet. */
        .has_threads = !program.options.no_threads,
        .run = run_dca_loop,
        .context = &program,
    };
    return participate(&participant, &startup, argc, argv);
}
