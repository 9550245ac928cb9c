/* SPDX-License-Identifier: MIT */
/* The pods of a set: see pods.h. If another set will continue the jobs, the ticket stays at the end. Waiting pods can
 * then come back with the same key. */
#include "supermaster/set/pods.h"

#include "common/os/say.h"
#include "common/stream/ticket.h"
#include "supermaster/set/jobs.h"

#include <stdio.h>

int set_pods_open(struct set *set, struct error *error)
{
    char ticket[PATH_MAX];
    if (!set->options.listens)
        return 0;
    if (snprintf(ticket, sizeof ticket, "%s/" TICKET_NAME, set->folder.path) >= PATH_MAX)
        return error_set(error, "the path of the set's folder is too long");
    return pods_door_open(&set->pods, set->runtime, &set->options.listen, ticket, set->options.resumes,
                          "--state FOLDER", error);
}

void set_pods_close(struct set *set)
{
    if (set->pods.streams == NULL)
        return;
    pods_door_close(&set->pods);
    if (queue_is_over(&set->queue))
        pods_door_remove_ticket(&set->pods);
}

static int reserve(void *context, unsigned workers)
{
    return set_reserve(context, workers);
}

static void joined(void *context, const struct link_pod *pod)
{
    struct set *set = context;
    say(stderr, "supermaster: rank %u has joined with %u worker%s of %s", pod->first_rank, pod->workers,
        pod->workers > 1 ? "s" : "", pod->name);
    set_tell_joined(set, pod);
}

static void leaving(void *context, unsigned first_rank, bool now)
{
    set_tell_leaving(context, first_rank, now);
}

void set_pods_fill_source(struct set *set, struct job_source *source)
{
    if (set->pods.streams == NULL)
        return;
    source->reserve = reserve;
    source->joined = joined;
    source->leaving = leaving;
}
