/* SPDX-License-Identifier: MIT */
/* Sends announcements of jobs, and the end of a set, down the tree. A long announcement is sent in parts. A rank
 * assembles the parts, forwards the announcement, and then takes the job. If a master is lost, the supermaster sends
 * all announcements to that master's workers. A worker ignores announcements that it has received before. */
#include "common/machine/topology.h"
#include "common/mpi/driver.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct kept_job {
    struct kept_job *next;
    uint32_t job;
    bool is_for_pods;
    size_t size;
    unsigned char bytes[];
};

void link_expect_jobs(struct link *link, const struct job_source *source)
{
    struct announcements *announcements = &link->announcements;
    link->expects_jobs = true;
    announcements->source = *source;
}

static void send_part(struct link *link, unsigned to, uint32_t job, const struct message *message)
{
    struct announcements *announcements = &link->announcements;
    announcements->user.job = job;
    link_make_room(link);
    if (!peers_can_send(&link->runtime->peers, to))
        return;
    if (link_send(link, &announcements->user, to, message) && runtime_has_rank(link->runtime, to))
        link->ops->ring(link->runtime, to);
}

static void send_announcement(struct link *link, unsigned to, uint32_t job, const unsigned char *bytes, size_t size)
{
    for (size_t offset = 0; offset < size; offset += JOB_PART_MAX) {
        const size_t left = size - offset;
        const struct message message = {
            .type = MESSAGE_JOB,
            .job_part = {(uint32_t)offset, (uint32_t)size},
            .records = bytes + offset,
            .record_count = (unsigned)(left < JOB_PART_MAX ? left : JOB_PART_MAX),
        };
        send_part(link, to, job, &message);
    }
}

static void send_end(struct link *link, unsigned to)
{
    /* `degraded` means that this launch has lost a rank, so its ranks do not wait for each other at the end. The ranks
     * of another launch wait for each other nevertheless. */
    const bool is_degraded = link->runtime->degraded && runtime_has_rank(link->runtime, to);
    const struct message over = {.type = MESSAGE_SET_OVER, .set_over = {is_degraded}};
    send_part(link, to, link->announcements.end, &over);
}

void announce_end_to(struct link *link, unsigned to)
{
    const struct message over = {.type = MESSAGE_SET_OVER};
    send_part(link, to, link->announcements.newest + 1, &over);
}

void announcements_end_late(struct link *link, unsigned to, uint32_t job)
{
    const struct message end = {.type = MESSAGE_END, .end = {.degraded = true}};
    if (link->runtime->role == ROLE_SUPERMASTER)
        send_part(link, to, job, &end);
}

static bool has_no_master(const struct runtime *runtime, unsigned worker)
{
    return runtime->topology.masters == 0 || !peers_can_send(&runtime->peers, runtime_master_of(runtime, worker));
}

static bool is_below(const struct runtime *runtime, unsigned to)
{
    const struct topology *topology = &runtime->topology;
    if (topology_master(topology, to) < topology->masters)
        return runtime->role == ROLE_SUPERMASTER;
    if (topology_worker(topology, to) == topology->workers || runtime->role == ROLE_WORKER)
        return false;
    return runtime->role == ROLE_MASTER ? runtime_master_of(runtime, to) == runtime->rank : has_no_master(runtime, to);
}

static void tell_below(struct link *link, unsigned to, uint32_t job, const unsigned char *bytes, size_t size)
{
    if (bytes != NULL)
        send_announcement(link, to, job, bytes, size);
    else
        send_end(link, to);
}

uint32_t link_returned_since(const struct link *link, unsigned rank)
{
    return link->returns.since != NULL && rank < link->runtime->ranks ? link->returns.since[rank] : 0;
}

/* If `bytes` is NULL, announces the end of the set. Workers that were lost and have returned get the announcement only
 * if `is_for_all`. */
static void tell_launch_below(struct link *link, uint32_t job, const unsigned char *bytes, size_t size, bool is_for_all)
{
    const struct runtime *runtime = link->runtime;
    for (unsigned to = runtime->first_rank; to < runtime->ranks; to++)
        if (is_below(runtime, to) && (is_for_all || link_returned_since(link, to) == 0))
            tell_below(link, to, job, bytes, size);
}

static void tell_pods(struct link *link, uint32_t job, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; link->runtime->role == ROLE_SUPERMASTER && i < link->far.count; i++)
        if (!link->far.launches[i].is_leaving)
            tell_below(link, link->far.launches[i].first_rank, job, bytes, size);
}

int link_announce(struct link *link, uint32_t job, const unsigned char *bytes, size_t size, bool is_for_pods)
{
    struct announcements *announcements = &link->announcements;
    struct kept_job *kept = malloc(sizeof *kept + size), **place = &announcements->live;
    assert(link->expects_jobs && link->runtime->role == ROLE_SUPERMASTER && announcements->end == 0);
    assert(job > announcements->newest && size > 0 && size <= ANNOUNCEMENT_MAX);
    if (kept == NULL)
        return -1;
    *kept = (struct kept_job){.job = job, .is_for_pods = is_for_pods, .size = size};
    memcpy(kept->bytes, bytes, size);
    while (*place != NULL)
        place = &(*place)->next;
    *place = kept;
    announcements->newest = job;
    tell_launch_below(link, job, bytes, size, is_for_pods);
    if (is_for_pods)
        tell_pods(link, job, bytes, size);
    return 0;
}

static void end_set(struct link *link, uint32_t job)
{
    link->announcements.end = job;
    link->announcements.end_ns = link->now_ns;
    link->runtime->has_end = true;
    tell_launch_below(link, job, NULL, 0, true);
    tell_pods(link, job, NULL, 0);
}

void link_end(struct link *link)
{
    assert(link->expects_jobs && link->runtime->role == ROLE_SUPERMASTER);
    if (link->announcements.end == 0)
        end_set(link, link->announcements.newest + 1);
}

void announce_all(struct link *link, unsigned to)
{
    for (const struct kept_job *kept = link->announcements.live; kept != NULL; kept = kept->next)
        send_announcement(link, to, kept->job, kept->bytes, kept->size);
}

/* Has the machine of the job exited on this rank? In that case a rank that joins now would never be told that the job
 * has ended. */
static bool has_exited(const struct link *link, uint32_t job)
{
    const struct driver *driver = link->drivers;
    while (driver != NULL && driver->user.job != job)
        driver = driver->next;
    return driver != NULL && driver->state == DRIVER_EXITS;
}

void announce_all_to_pod(struct link *link, unsigned to)
{
    for (const struct kept_job *kept = link->announcements.live; kept != NULL; kept = kept->next)
        if (kept->is_for_pods && !has_exited(link, kept->job))
            send_announcement(link, to, kept->job, kept->bytes, kept->size);
}

void announce_to_orphans(struct link *link, unsigned master)
{
    const struct runtime *runtime = link->runtime;
    const struct topology *topology = &runtime->topology;
    if (!link->expects_jobs || runtime->role != ROLE_SUPERMASTER || !runtime_has_rank(runtime, master) ||
        topology_master(topology, master) == topology->masters)
        return;
    for (unsigned w = 0; w < topology->workers; w++) {
        const unsigned to = topology->worker_rank[w];
        if (runtime_master_of(runtime, to) != master)
            continue;
        announce_all(link, to);
        if (link->announcements.end != 0)
            send_end(link, to);
    }
}

bool announced_for_all(const struct announcements *announcements, uint32_t job)
{
    const struct kept_job *kept = announcements->live;
    while (kept != NULL && kept->job != job)
        kept = kept->next;
    return kept != NULL && kept->is_for_pods;
}

void announcements_forget(struct announcements *announcements, uint32_t job)
{
    struct kept_job **place = &announcements->live;
    while (*place != NULL && (*place)->job != job)
        place = &(*place)->next;
    struct kept_job *kept = *place;
    if (kept != NULL)
        *place = kept->next;
    free(kept);
}

void announcements_fini(struct announcements *announcements)
{
    while (announcements->live != NULL)
        announcements_forget(announcements, announcements->live->job);
    for (unsigned i = 0; i < ANNOUNCERS; i++)
        free(announcements->assemblies[i].bytes);
}

static struct assembly *find_assembly(struct link *link, unsigned from)
{
    const struct runtime *runtime = link->runtime;
    if (runtime->role == ROLE_SUPERMASTER)
        return NULL;
    if (from == runtime->topology.supermaster)
        return &link->announcements.assemblies[0];
    const bool is_master = runtime->role == ROLE_WORKER && from == runtime_master_of(runtime, runtime->rank);
    return is_master ? &link->announcements.assemblies[1] : NULL;
}

static bool assembly_begin(struct assembly *assembly, const struct message *message)
{
    free(assembly->bytes);
    *assembly = (struct assembly){.job = message->job, .all = message->job_part.all};
    assembly->bytes = malloc(assembly->all);
    return assembly->bytes != NULL;
}

static void take_announcement(struct link *link, struct assembly *assembly)
{
    struct announcements *announcements = &link->announcements;
    const struct assembly whole = *assembly;
    *assembly = (struct assembly){0};
    if (whole.job > announcements->newest && announcements->end == 0) {
        announcements->newest = whole.job;
        tell_launch_below(link, whole.job, whole.bytes, whole.all, true);
        announcements->source.announced(announcements->source.context, whole.job, whole.bytes, whole.all);
    }
    free(whole.bytes);
}

static const char *take_part(struct link *link, struct assembly *assembly, const struct message *message)
{
    const struct job_part *part = &message->job_part;
    if (part->offset == 0 && !assembly_begin(assembly, message)) {
        link_give_up(link, "out of memory for a job");
        return NULL;
    }
    if (assembly->bytes == NULL || assembly->job != message->job || assembly->all != part->all ||
        assembly->have != part->offset)
        return "a part of a JOB that does not follow the one before";
    memcpy(assembly->bytes + assembly->have, message->records, message->record_count);
    assembly->have += message->record_count;
    if (assembly->have == assembly->all)
        take_announcement(link, assembly);
    return NULL;
}

static void take_end(struct link *link, const struct message *message)
{
    link->runtime->degraded |= message->set_over.degraded;
    if (link->announcements.end == 0)
        end_set(link, message->job);
}

const char *announcements_receive(struct link *link, unsigned from, const struct message *message)
{
    struct assembly *assembly = find_assembly(link, from);
    if (assembly == NULL)
        return "a word about jobs that is not its to say";
    if (message->type == MESSAGE_JOB)
        return take_part(link, assembly, message);
    take_end(link, message);
    return NULL;
}
