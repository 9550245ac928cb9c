/* SPDX-License-Identifier: MIT */
/* The program of a master: joins a run, or a set, and serves its workers. */
#include "master/program.h"
#include "common/config/rank_options.h"
#include "common/config/serve_options.h"
#include "common/job/participate.h"
#include "common/job/set_rank.h"
#include "common/job/startup.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "master/job/job.h"
#include "proto/message.h"

#include <stddef.h>

static int run_dca_loop(void *context, struct runtime *runtime, unsigned words, char *const *word)
{
    static const struct set_role role = {.take = master_job_take, .end = master_job_end};
    (void)context;
    return serve_is_asked((int)words, word) ? set_rank_run(runtime, words, word, &role)
                                            : master_job_run(runtime, words, word);
}

int master_program(int argc, char **argv, const char *version)
{
    struct master_options options;
    struct error error;
    runtime_remember_signals(NULL);
    struct startup startup = {.program = "master", .version = version};
    startup_take(&startup, master_options_parse(&options, argc, argv, &error), &error, master_help_text);
    const struct participant participant = {
        .role = ROLE_MASTER,
        .ticket = options.join[0] != '\0' ? options.join : NULL,
        .patience_ns = options.patience_ns,
        .run = run_dca_loop,
    };
    return participate(&participant, &startup, argc, argv);
}
