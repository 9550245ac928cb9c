/* SPDX-License-Identifier: MIT */
/* Joining a run that another rank leads: see participate.h. */
#include "common/job/participate.h"

#include "common/job/status.h"
#include "common/util/error.h"

#include <stddef.h>

int participate(const struct participant *participant, struct startup *startup, int argc, char **argv)
{
    const struct introduction introduction = {
        .role = participant->role,
        .version = startup->version,
        .status = startup->status,
        .text = startup->text,
        .has_threads = participant->has_threads,
    };
    int status;
    if (startup_ends_here(startup, &status))
        return status;
    struct runtime *runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (runtime != NULL) {
        unsigned words;
        char *const *word = runtime_share_job(runtime, 0, NULL, &status, &words);
        if (word != NULL)
            status = participant->run(participant->context, runtime, words, word);
        if (status != EXIT_STATUS_DONE)
            status_tell_end(role_name(participant->role), status, runtime_is_degraded(runtime));
        runtime_leave(runtime, status);
    }
    startup_fini(startup);
    return status;
}
