/* SPDX-License-Identifier: MIT */
/* Joining a run that another rank leads: see follow.h. */
#include "common/job/follow.h"

#include "common/job/status.h"

#include <stddef.h>

int follow(const struct follower *follower, struct front *front, int argc, char **argv)
{
    const struct introduction introduction = {
        .role = follower->role,
        .version = front->version,
        .status = front->status,
        .text = front->text,
        .has_threads = follower->has_threads,
    };
    int status;
    if (front_ends_here(front, &status))
        return status;
    struct runtime *runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (runtime != NULL) {
        unsigned words;
        char *const *word = runtime_share_job(runtime, 0, NULL, &status, &words);
        if (word != NULL)
            status = follower->run(follower->context, runtime, words, word);
        if (status != EXIT_STATUS_DONE)
            status_tell_end(role_name(follower->role), status, runtime_is_degraded(runtime));
        runtime_leave(runtime, status);
    }
    front_fini(front);
    return status;
}
