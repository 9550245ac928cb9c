/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks: while a job runs, and in the final report. */
#include "supermaster/statistics.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "supermaster/choose.h"
#include "supermaster/core.h"
#include "supermaster/ledger.h"
#include "supermaster/ranks.h"

static void tell_master(const struct supermaster *supermaster, unsigned m, struct rank_figures *figures)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    *figures = (struct rank_figures){
        .rank = topology->master_rank[m],
        .is_master = true,
        .state = losses->master[m] == MASTER_IS_LOST  ? RANK_LOST
                 : losses->master[m] != MASTER_SERVES ? RANK_LEFT
                                                      : RANK_SERVES,
        .node = RANK_NONE,
        .master = RANK_NONE,
        .workers = topology_count(topology, m),
        .busy = losses->master[m] != MASTER_SERVES ? 0 : supermaster->refilling.busy[m],
        .has_counts = true,
        .done = supermaster->refilling.reported[m],
    };
}

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
    return supermaster->losses.master[m] != MASTER_SERVES ? RANK_LEFT : RANK_NOT_TOLD;
}

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
    figures->compute_s = seconds_of(record.compute_ns);
    figures->wait_s = seconds_of(record.wait_ns);
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
    figures->since_s = now_ns > since_ns ? seconds_of(now_ns - since_ns) : 0;
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
        .power = supermaster->speeds.powers[w],
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

static bool learns_weights(const struct supermaster *supermaster)
{
    return supermaster->technique.is_ready && supermaster->technique.sched.technique->weight != NULL;
}

static double cores_of(const struct threads *threads)
{
    return threads->cores > 0 ? (double)threads->cores / threads->workers : 0;
}

static double presence_s(const struct supermaster *supermaster, const struct worker_statistics *statistics)
{
    const uint64_t first_ns = supermaster->cut.first_ns, last_ns = supermaster->last_commit_ns;
    const uint64_t from_ns = statistics->joined_ns > first_ns ? statistics->joined_ns : first_ns;
    const bool left_before = statistics->left_ns > 0 && statistics->left_ns < last_ns;
    const uint64_t until_ns = left_before ? statistics->left_ns : last_ns;
    return first_ns != NEVER && last_ns != NEVER && until_ns > from_ns ? seconds_of(until_ns - from_ns) : 0;
}

/* Returns when the worker finished, in seconds after the first chunk of the run. `finish_ns` counts from the first
 * assignment of the worker's master. If that master has joined during the run, the time from the first chunk until it
 * joined is added. */
static double finish_s(const struct supermaster *supermaster, const struct worker_statistics *statistics)
{
    const bool joined_later = statistics->finish_ns > 0 && statistics->joined_ns > supermaster->cut.first_ns;
    const uint64_t later_ns = joined_later ? statistics->joined_ns - supermaster->cut.first_ns : 0;
    return seconds_of(statistics->finish_ns + later_ns);
}

static void fill_worker(const struct supermaster *supermaster, unsigned w, struct report_worker *row)
{
    const struct topology *topology = supermaster->config.topology;
    const struct worker_statistics *statistics = &supermaster->statistics[w];
    *row = (struct report_worker){
        .rank = topology->worker_rank[w],
        .node = topology->worker_node[w],
        .master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster,
        .power = supermaster->speeds.powers[w],
        .weight = learns_weights(supermaster) && supermaster->technique.seat[w] != NO_SEAT
                      ? sched_weight(&supermaster->technique.sched, supermaster->technique.seat[w])
                      : 0,
        .load = statistics->load_chunks > 0 ? statistics->load_sum / (double)statistics->load_chunks : 0,
        .iterations = statistics->iterations,
        .chunks = statistics->chunks,
        .is_of_pod = topology_is_in_pod(topology, w),
        .has_left = supermaster->losses.worker[w] == WORKER_HAS_LEFT || supermaster->losses.worker[w] == WORKER_IS_LOST,
        .presence_s = presence_s(supermaster, statistics),
        .compute_s = seconds_of(statistics->compute_ns),
        .wait_s = seconds_of(statistics->wait_ns),
        .finish_s = finish_s(supermaster, statistics),
        .threads = statistics->threads.count > 1 ? statistics->threads.count : 0,
        .thread_chunks = statistics->threads.chunks,
        .thread_max_over_mean = statistics->threads.max_over_mean,
        .thread_cov = statistics->threads.cov,
        .cores = cores_of(&statistics->threads),
        .processor_s = seconds_of(statistics->threads.processor_ns),
    };
}

/* `auto` gives measured values to techniques as if the user had given them. This function lists these values as
 * measured ones in the report. Some parameters are never measured, such as those of a plug-in; their values remain
 * given ones. */
static void tell_values_of_choice(struct report *report)
{
    struct sched_spec *spec = &report->technique;
    const struct technique_param *params = spec->technique->params;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++) {
        if (!spec->given[i] || params[i].measured == SCHED_NOT_MEASURED)
            continue;
        report->measured[report->measured_count++] = (struct sched_value_used){params[i].name, spec->values[i].real};
        spec->given[i] = false;
    }
}

static void fill_technique(const struct supermaster *supermaster, struct report *report)
{
    const struct sched *sched = &supermaster->technique.sched;
    report->technique = supermaster->config.spec->technique;
    report->weighting = supermaster->config.spec->weighting;
    report->choice = supermaster->technique.chooser != NULL ? &supermaster->technique.chooser->choice : NULL;
    report->technique_by_kernel = supermaster->config.spec->technique_by_kernel && report->choice == NULL;
    if (!supermaster->technique.is_ready)
        return;
    report->technique = sched->spec;
    report->weighting = sched->weighting;
    report->measured_count = sched_values_used(sched, report->measured);
    if (report->choice != NULL)
        tell_values_of_choice(report);
}

static enum report_outcome outcome(const struct supermaster *supermaster)
{
    if (supermaster->failure.text[0] != '\0')
        return REPORT_FAILED;
    if (!ledger_is_complete(&supermaster->ledger))
        return REPORT_DRAINED;
    return ranges_total(&supermaster->ledger.failed) > 0 ? REPORT_TASKS_FAILED : REPORT_DONE;
}

/* A pod whose workers have died is told to leave, and may be lost before it leaves. Such a pod counts only as lost. */
static struct report_pods count_pods(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct report_pods pods = {.joined = topology->masters - topology->launched};
    for (unsigned m = topology->launched; m < topology->masters; m++) {
        const bool lost = supermaster->losses.master[m] == MASTER_IS_LOST;
        pods.lost += lost;
        pods.left += !lost && supermaster->losses.dismissed[m];
    }
    return pods;
}

void supermaster_fill_report(const struct supermaster *supermaster, struct report *report, struct report_worker *rows)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned w = 0; w < topology->workers; w++)
        fill_worker(supermaster, w, &rows[w]);
    report->topology = topology->masters > 0 ? REPORT_HIERARCHICAL : REPORT_CENTRAL;
    fill_technique(supermaster, report);
    report->min_chunk = supermaster->config.spec->min_chunk;
    report->max_chunk = supermaster->config.spec->max_chunk;
    report->first = supermaster->config.first;
    report->iterations = supermaster->ledger.loop.count;
    report->grows = supermaster->ledger.grows;
    report->masters = topology->masters;
    report->workers = topology->workers;
    report->nodes = topology->nodes;
    if (supermaster->cut.first_ns != NEVER && supermaster->last_commit_ns != NEVER)
        report->elapsed_s = seconds_of(supermaster->last_commit_ns - supermaster->cut.first_ns);
    report->chunks = supermaster->cut.chunks;
    report->refills = supermaster->refilling.count;
    report->recalls.count = supermaster->recalls.count + supermaster->service.recall.fruitful;
    report->recalls.iterations = supermaster->recalls.iterations + supermaster->service.recall.iterations;
    report->pods = count_pods(supermaster);
    report->messages = supermaster->traffic.messages;
    report->bytes_on_wire = supermaster->traffic.bytes;
    report->checksum = supermaster->ledger.digest;
    report->faults.lost_workers = supermaster->losses.workers_lost - supermaster->losses.workers_late;
    report->faults.late_workers = supermaster->losses.workers_late;
    report->faults.lost_masters = supermaster->losses.masters_lost;
    report->faults.reissued_chunks = supermaster->losses.reissued;
    report->faults.duplicate_results = supermaster->losses.duplicates;
    report->faults.resumed_iterations = supermaster->resumed;
    report->verify = (struct report_verify){
        .share = supermaster->config.spec->verify,
        .seed = supermaster->config.spec->verify_seed,
        .alike = supermaster->verifications.alike,
        .differing = supermaster->verifications.differing,
        .unverified = supermaster->verifications.unverified,
        .list = supermaster->verifications.list,
        .count = supermaster->verifications.count,
    };
    report->worker_stats = rows;
    report->steps = supermaster->steps.list;
    report->step_count = supermaster->steps.count;
    report->done = supermaster->ledger.done;
    report->failure = supermaster->failure.text;
    report->failed_count = ranges_length(&supermaster->ledger.failed);
    report->failed = report->failed_count > 0 ? ranges_at(&supermaster->ledger.failed, 0) : NULL;
    report->failures = supermaster->failures.list;
    report->failure_count = supermaster->failures.count;
    report->aside = supermaster->nodes.events;
    report->aside_count = supermaster->nodes.event_count;
    report->outcome = outcome(supermaster);
    report->is_cancelled = supermaster->ends_now;
}
