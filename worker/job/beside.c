/* SPDX-License-Identifier: MIT */
/* A worker in its server's process: see beside.h. The server and the worker are two machines; each effect is passed to
 * the machine that owns it. */
#include "worker/job/beside.h"

#include "common/config/rank_options.h"
#include "common/machine/computing.h"
#include "common/machine/machine.h"
#include "common/mpi/link.h"
#include "common/util/error.h"
#include "worker/job/job.h"

#include <stdio.h>
#include <stdlib.h>

struct beside {
    struct computing computing;
    const struct effects *of_server, *of_worker;
    struct effects both;
};

static void beside_chunk_begins(void *context)
{
    const struct effects *own = ((struct beside *)context)->of_worker;
    if (own->chunk_begins != NULL)
        own->chunk_begins(own->context);
}

static void beside_chunk_ends(void *context, const struct chunk_event *chunk)
{
    const struct effects *own = ((struct beside *)context)->of_worker;
    own->chunk_ends(own->context, chunk);
}

static int beside_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    return own->store(own->context, part, data, bytes, error);
}

static int beside_journal(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    return own->journal(own->context, ranges, count, digest, error);
}

static int beside_deaths(void *context, const struct poison *deaths, struct error *error)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    return own->deaths(own->context, deaths, error);
}

static int beside_grow(void *context, struct growth *growth, struct error *error)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    return own->grow(own->context, growth, error);
}

static int beside_sync(void *context, struct error *error)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    return own->sync(own->context, error);
}

static void beside_begun(void *context)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    if (own->begun != NULL)
        own->begun(own->context);
}

static void beside_asked(void *context)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    if (own->asked != NULL)
        own->asked(own->context);
}

static void beside_parting(void *context)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    if (own->parting != NULL)
        own->parting(own->context);
}

static void beside_tick(void *context, uint64_t now_ns)
{
    const struct effects *own = ((struct beside *)context)->of_server;
    own->tick(own->context, now_ns);
}

/* The worker's report on shared cores is left out: the CPU time of this process includes the time of the server. */
static void beside_join_effects(struct beside *beside)
{
    const struct effects *server = beside->of_server, *worker = beside->of_worker;
    beside->both = (struct effects){
        .context = beside,
        .executor = worker->executor,
        .chunk_begins = worker->chunk_begins != NULL ? beside_chunk_begins : NULL,
        .chunk_ends = worker->chunk_ends != NULL ? beside_chunk_ends : NULL,
        .meter = worker->meter,
        .store = server->store != NULL ? beside_store : NULL,
        .journal = server->journal != NULL ? beside_journal : NULL,
        .deaths = server->deaths != NULL ? beside_deaths : NULL,
        .grow = server->grow != NULL ? beside_grow : NULL,
        .sync = server->sync != NULL ? beside_sync : NULL,
        .begun = beside_begun,
        .asked = beside_asked,
        .parting = beside_parting,
        .tick = server->tick != NULL ? beside_tick : NULL,
        .tick_ns = server->tick_ns,
        .calculation_ns = server->calculation_ns,
        .assignment_ns = server->assignment_ns,
    };
}

int worker_job_drive_beside(struct runtime *runtime, const struct topology *topology, unsigned words, char *const *word,
                            const struct machine *server, const struct effects *effects, const char *failure)
{
    const unsigned rank = runtime_rank(runtime);
    static struct worker_options options;
    struct part_of_job worker;
    struct beside *beside;
    if (!topology_does_both(topology, rank))
        return runtime_drive(runtime, server, effects, failure);
    worker_options_init(&options);
    struct worker_job *job = worker_job_open_beside(&options, runtime, topology, words, word, &worker);
    beside = calloc(1, sizeof *beside);
    if (job == NULL || beside == NULL || computing_init(&beside->computing, server, worker.machine, rank, true) < 0) {
        fprintf(stderr, "hdss: rank %u: out of memory\n", rank);
        exit(EXIT_STATUS_FAILED);
    }
    beside->of_server = effects;
    beside->of_worker = worker.effects;
    beside_join_effects(beside);
    const struct machine machine = computing_machine(&beside->computing);
    const int status = runtime_drive(runtime, &machine, &beside->both, failure != NULL ? failure : worker.failure);
    computing_fini(&beside->computing);
    free(beside);
    worker_job_close_beside(job);
    return status;
}
