/* SPDX-License-Identifier: MIT */
/* Serving in a set: see set_rank.h. */
#include "common/job/set_rank.h"

#include "common/config/serve_options.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "common/util/error.h"
#include "proto/announcement.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct set_job {
    struct set_job *next;
    struct driver *driver;
    void *part;
};

struct set_rank {
    struct runtime *runtime;
    const struct set_role *role;
    const struct topology *topology;
    struct link *link;
    struct set_job *jobs;
};

static _Noreturn void give_up(const struct set_rank *rank, uint32_t number, const char *text)
{
    say(stderr, "hdss: rank %u: job %u: %s", runtime_rank(rank->runtime), number, text);
    exit(EXIT_STATUS_FAILED); /* After this exit the launcher ends the other ranks, too. */
}

static void take_job(void *context, uint32_t number, const unsigned char *bytes, size_t size)
{
    struct set_rank *rank = context;
    struct set_job *job = calloc(1, sizeof *job), **end = &rank->jobs;
    struct announcement announcement;
    struct error error;
    if (job == NULL)
        give_up(rank, number, "out of memory");
    if (announcement_unpack(&announcement, bytes, size, &error) < 0)
        give_up(rank, number, error.text);
    struct part_of_job of_job = {.job = number, .weight = announcement.weight, .priority = announcement.priority};
    job->part = rank->role->take(rank->role->context, rank->runtime, rank->topology, &announcement, &of_job);
    if (job->part == NULL)
        give_up(rank, number, "out of memory");
    while (*end != NULL)
        end = &(*end)->next;
    *end = job;
    job->driver = link_add(rank->link, &of_job);
}

static void end_jobs(struct set_rank *rank)
{
    for (struct set_job **place = &rank->jobs; *place != NULL;) {
        struct set_job *job = *place;
        if (job->driver == NULL || driver_goes_on(job->driver)) {
            place = &job->next;
            continue;
        }
        const int status = link_remove(rank->link, job->driver);
        rank->role->end(job->part, status);
        *place = job->next;
        free(job);
    }
}

static const struct topology *group(struct runtime *runtime, unsigned words, char *const *word,
                                    struct serve_options *options)
{
    struct error error;
    const struct topology *topology = NULL;
    if (serve_options_parse(options, (int)words, word, &error) == 0) {
        error_set(&error, "out of memory");
        topology = runtime_group(runtime, options->group_even ? TOPOLOGY_EVENLY : TOPOLOGY_BY_NODE);
    }
    if (topology == NULL)
        say(stderr, "hdss: rank %u: %s", runtime_rank(runtime), error.text);
    return topology;
}

int set_rank_run(struct runtime *runtime, unsigned words, char *const *word, const struct set_role *role)
{
    struct serve_options options;
    struct set_rank rank = {.runtime = runtime, .role = role, .topology = group(runtime, words, word, &options)};
    const struct job_source source = {.context = &rank, .announced = take_job};
    if (rank.topology == NULL)
        exit(EXIT_STATUS_FAILED);
    rank.link = link_open(runtime);
    if (rank.link == NULL)
        return EXIT_STATUS_FAILED;
    link_expect_jobs(rank.link, &source);
    link_keep_for(rank.link, options.chunk_time_ns);
    while (!link_is_over(rank.link)) {
        link_turn(rank.link);
        end_jobs(&rank);
    }
    const bool is_broken = rank.jobs != NULL;
    link_close(rank.link);
    return is_broken ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE;
}
