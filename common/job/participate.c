/* SPDX-License-Identifier: MIT */
/* Joining a run that another rank leads: see participate.h. */
#include "common/job/participate.h"

#include "common/job/pod.h"
#include "common/job/status.h"
#include "common/os/say.h"
#include "common/util/error.h"

#include <stddef.h>
#include <stdio.h>

/* Joins the set, if asked to. Returns an exit status; errors are printed. */
static int join_set(const struct participant *participant, struct runtime *runtime, struct pod **pod)
{
    struct error error;
    if (participant->ticket == NULL)
        return EXIT_STATUS_DONE;
    *pod = pod_join(runtime, participant->ticket, participant->patience_ns, &error);
    if (*pod != NULL)
        return EXIT_STATUS_DONE;
    say(stderr, "%s: --join: %s", role_name(participant->role), error.text);
    return EXIT_STATUS_USAGE;
}

static int take_part(const struct participant *participant, struct runtime *runtime, bool leads)
{
    struct pod *pod = NULL;
    unsigned words;
    int status = join_set(participant, runtime, &pod);
    char *const *word = runtime_share_job(runtime, 0, NULL, &status, &words);
    if (word != NULL && leads)
        status_tell_begun();
    if (word != NULL)
        status = participant->run(participant->context, runtime, words, word);
    pod_leave(pod);
    if (leads || status != EXIT_STATUS_DONE)
        status_tell_end(leads ? STATUS_LEAD : role_name(participant->role), status, runtime_is_degraded(runtime));
    return status;
}

int participate(const struct participant *participant, struct startup *startup, int argc, char **argv)
{
    const bool leads = participant->ticket != NULL;
    const struct introduction introduction = {
        .role = participant->role,
        .version = startup->version,
        .status = startup->status,
        .text = startup->text,
        .has_threads = participant->has_threads,
        .pod = leads,
    };
    int status;
    if (startup_ends_here(startup, &status))
        return status;
    struct runtime *runtime = runtime_join(&argc, &argv, &introduction, &status);
    if (runtime != NULL) {
        status = take_part(participant, runtime, leads);
        runtime_leave(runtime, status);
    } else if (leads)
        status_tell_end(STATUS_LEAD, status, false);
    startup_fini(startup);
    return status;
}
