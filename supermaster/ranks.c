/* SPDX-License-Identifier: MIT */
/* The supermaster's knowledge of its ranks: see ranks.h.
 *
 * It knows all of the workers that it serves itself. Of those of masters it knows what they have told: the workers that
 * are lost, the loads where chunks are cut by them, the measured chunks where the technique learns of them, and all
 * counts once the job is over. For people no message is sent that would not be sent without them. */
#include "supermaster/ranks.h"

#include "supermaster/core.h"

static double ranks_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void tell_master(const struct supermaster *supermaster, unsigned m, struct rank_figures *figures)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    bool is_lost = false;
    for (unsigned i = 0; losses->masters_lost > 0 && i < losses->count; i++)
        is_lost |= losses->list[i].rank == topology->master_rank[m];
    *figures = (struct rank_figures){
        .rank = topology->master_rank[m],
        .is_master = true,
        .state = is_lost                  ? RANK_LOST
                 : losses->master_left[m] ? RANK_LEFT
                                          : RANK_SERVES,
        .node = RANK_NONE,
        .master = RANK_NONE,
        .workers = topology_count(topology, m),
        .busy = losses->master_left[m] ? 0 : supermaster->busy[m],
        .has_counts = true,
        .done = supermaster->reported[m],
    };
}

/* The state of a worker that lives, and that the supermaster serves itself. */
static enum rank_state state_of_served(const struct served *served)
{
    return served->gone ? RANK_LEFT : served->holds > 0 ? RANK_COMPUTES : served->is_aside ? RANK_ASIDE : RANK_WAITS;
}

static enum rank_state state_of_worker(const struct supermaster *supermaster, unsigned w)
{
    const struct served *served = &supermaster->service.workers[w];
    switch ((enum worker_status)supermaster->losses.worker[w]) {
    case WORKER_IS_LOST:
    case WORKER_IS_DEAD: return RANK_LOST;
    case WORKER_HAS_LEFT: return RANK_LEFT;
    case WORKER_IS_ORPHAN: return RANK_ORPHAN;
    case WORKER_IS_ALIVE: break;
    }
    if (served->present)
        return state_of_served(served);
    const unsigned m = supermaster->config.topology->master_of[w];
    return supermaster->losses.master_left[m] ? RANK_LEFT : RANK_NOT_TOLD;
}

/* Tells what the worker has done, by the service where that serves it. */
static void tell_counts(const struct supermaster *supermaster, unsigned w, struct rank_figures *figures)
{
    const struct worker_statistics *statistics = &supermaster->statistics[w];
    const bool has_final = statistics->chunks > 0, has_measured = statistics->measured.chunks > 0;
    struct stats_record record = statistics->measured;
    if (supermaster->service.workers[w].present)
        service_stats(&supermaster->service, w, &record);
    else if (has_final)
        record = (struct stats_record){.iterations = statistics->iterations,
                                       .chunks = statistics->chunks,
                                       .compute_ns = statistics->compute_ns,
                                       .wait_ns = statistics->wait_ns};
    figures->has_counts = supermaster->service.workers[w].present || has_final || has_measured;
    figures->done = record.iterations;
    figures->chunks = record.chunks;
    figures->compute_s = ranks_seconds(record.compute_ns);
    figures->wait_s = ranks_seconds(record.wait_ns);
}

static void tell_running_chunk(const struct supermaster *supermaster, unsigned w, uint64_t now_ns,
                               struct rank_figures *figures)
{
    struct range chunk;
    uint64_t left, since_ns;
    if (figures->state != RANK_COMPUTES || !service_running(&supermaster->service, w, &chunk, &left, &since_ns))
        return;
    figures->has_chunk = true;
    figures->first = chunk.first;
    figures->count = chunk.count;
    figures->left = left;
    figures->since_s = now_ns > since_ns ? ranks_seconds(now_ns - since_ns) : 0;
}

static void tell_worker(const struct supermaster *supermaster, unsigned w, uint64_t now_ns,
                        struct rank_figures *figures)
{
    const struct topology *topology = supermaster->config.topology;
    const struct served *served = &supermaster->service.workers[w];
    const uint16_t load = served->load > 0 ? served->load : supermaster->statistics[w].load;
    *figures = (struct rank_figures){
        .rank = topology->worker_rank[w],
        .state = state_of_worker(supermaster, w),
        .node = topology->worker_node[w],
        .master = is_central(supermaster) ? RANK_NONE : topology->master_rank[topology->master_of[w]],
        .power = supermaster->powers[w],
        .load = (double)load / LOAD_ONE,
    };
    tell_counts(supermaster, w, figures);
    tell_running_chunk(supermaster, w, now_ns, figures);
}

bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures)
{
    const struct topology *topology = supermaster->config.topology;
    if (place < topology->masters)
        tell_master(supermaster, place, figures);
    else if (place - topology->masters < topology->workers)
        tell_worker(supermaster, place - topology->masters, now_ns, figures);
    else
        return false;
    return true;
}
