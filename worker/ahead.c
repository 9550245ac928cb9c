/* SPDX-License-Identifier: MIT */
/* Requesting ahead: decides how many chunks a worker should have besides the running one, and when it requests them.
 *
 * The next chunk must arrive before the running chunk ends. So the worker requests it one *lead* before that end. The
 * lead is twice the measured round trip. A longer lead would keep chunks here that other workers could compute. If
 * chunks are shorter than the lead, the worker requests several: together they last for one lead. If an iteration is
 * longer than the lead, the worker sends the request before the last iteration of the running chunk. If an iteration is
 * longer than ITERATION_OVER_LEAD leads, the worker sends the request after the running chunk, because waiting for one
 * round trip then costs little.
 *
 * A single short iteration says little about the next. The iteration time counts as known after the worker has computed
 * for some leads, or has done half of its first chunk. Later, a longer iteration time replaces the estimate at once; a
 * shorter time lowers it only gradually. So a worker has many chunks ahead only after many short chunks in a row.
 *
 * The first chunks of a time step are the largest. If workers requested them during the previous step, each worker
 * would get a large chunk, even a slow one. So in a loop with several steps, ASK_AHEAD_AUTO does not request ahead
 * during a chunk that is small compared to the largest chunk. */
#include "worker/core.h"

#include "common/config/run_spec.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* The largest lead. If a request had to wait for work or for a core, the measured round trip is long. Without this
 * limit, the worker would then hoard chunks. */
#define LEAD_MAX_NS         10000000u
#define ROUND_TRIP_MIN_NS   4000u
#define ITERATION_OVER_LEAD 64

#define JUDGED_LEADS 4
/* If the only measured time is that of one iteration, this time counts as at least 1/FIRST_PART of a lead. */
#define FIRST_PART       4
#define ITERATION_MIN_NS 0.01
/* Each measured time can lower the estimated iteration time at most to this fraction of its previous value. */
#define KEPT_PART 0.6

static double lead_ns(const struct worker *worker)
{
    uint64_t lead = 2 * worker->round_trip_ns;
    return (double)(lead < LEAD_MAX_NS ? lead : LEAD_MAX_NS);
}

static double ahead_work_ns(const struct worker *worker, uint64_t done)
{
    return (double)(worker->running.count - done + worker->queue_iterations) * worker->iteration_ns;
}

static unsigned wants_auto(const struct worker *worker, uint64_t done)
{
    unsigned have = worker->queue_count + worker->asked;
    uint64_t left = worker->running.count - done;
    if (worker->iteration_ns <= 0)
        return left == 0 && have == 0;
    double lead = lead_ns(worker), rest = (double)left * worker->iteration_ns;
    bool last = left == 1 && rest <= ITERATION_OVER_LEAD * lead;
    if ((rest > lead && !last) || (have > 0 && ahead_work_ns(worker, done) > lead))
        return 0;
    double chunk = (double)worker->running.count * worker->iteration_ns;
    unsigned wanted = lead / chunk < ASKS_MAX - 1 ? (unsigned)(lead / chunk) + 1 : ASKS_MAX;
    return wanted > have ? wanted - have : 0;
}

#define SMALL_PART 2

static bool looks_ahead(const struct worker *worker)
{
    return worker->config.spec->ask_ahead == ASK_AHEAD_AUTO && SMALL_PART * worker->running.count >= worker->largest;
}

/* Returns `wants`, so that worker_wants() can call this function as a tail call. */
static __attribute__((noinline, cold)) unsigned explain_wants(const struct worker *worker, uint64_t done,
                                                              unsigned wants)
{
    const struct run_spec *spec = worker->config.spec;
    const unsigned have = worker->queue_count + worker->asked;
    char wish[40] = "wants no more";
    if (wants > 0)
        snprintf(wish, sizeof wish, "wants %u more", wants);
    if (done == worker->running.count && have == 0)
        reason_note(worker->reasons, "%s: it has nothing to compute", wish);
    else if (spec->ask_ahead == ASK_AHEAD_OFF)
        reason_note(worker->reasons, "%s: it is not to ask ahead", wish);
    else if (spec->ask_ahead == ASK_AHEAD_FIXED)
        reason_note(worker->reasons, "%s: %u chunks are here or on their way, and it is to have %u%s", wish, have,
                    spec->ask_ahead_chunks + (done == worker->running.count),
                    done == worker->running.count ? ", as none is running" : "");
    else if (!looks_ahead(worker))
        reason_note(worker->reasons, "%s: %" PRIu64 " iterations are few against the %" PRIu64 " of the largest chunk",
                    wish, worker->running.count, worker->largest);
    else if (worker->iteration_ns <= 0)
        reason_note(worker->reasons, "%s: how long an iteration takes is not known yet", wish);
    else
        reason_note(worker->reasons,
                    "%s: it has work for %.3f us, %u chunks are here or on their way, and it asks %.3f us ahead", wish,
                    ahead_work_ns(worker, done) / 1e3, have, lead_ns(worker) / 1e3);
    return wants;
}

unsigned worker_wants(const struct worker *worker, uint64_t done)
{
    unsigned have = worker->queue_count + worker->asked, idle = done == worker->running.count, target = 0;
    assert(worker->state < WORKER_LEAVING && "who leaves asks for nothing");
    switch (worker->config.spec->ask_ahead) {
    case ASK_AHEAD_OFF: target = idle; break;
    case ASK_AHEAD_FIXED: target = worker->config.spec->ask_ahead_chunks + idle; break;
    case ASK_AHEAD_AUTO: target = looks_ahead(worker) ? have + wants_auto(worker, done) : idle; break;
    }
    unsigned wants = target > have ? target - have : 0;
    wants = wants > ASKS_MAX - worker->asked ? ASKS_MAX - worker->asked : wants;
    return worker->reasons == NULL ? wants : explain_wants(worker, done, wants);
}

#define HOLD_PART 4

/* If chunks are shorter than a round trip, one request carries the completions of many chunks. `asks`: how many chunks
 * that request would ask for. The worker waits with the request until this number is 1/HOLD_PART of all chunks that are
 * queued, requested or to be requested. */
bool worker_may_hold(const struct worker *worker, unsigned asks)
{
    bool is_short = (double)worker->running.count * worker->iteration_ns < (double)worker->round_trip_ns;
    return is_short && HOLD_PART * asks < asks + worker->queue_count + worker->asked && worker->done_count < ASKS_MAX;
}

uint64_t worker_next_mark(const struct worker *worker, uint64_t done)
{
    uint64_t rest = worker->running.count - done;
    if (!looks_ahead(worker) || worker->queue_count + worker->asked > 0)
        return 0;
    if (worker->iteration_ns <= 0) {
        uint64_t more = done > 0 ? done : 1;
        return rest > more ? done + more : 0;
    }
    double before_end = lead_ns(worker) / worker->iteration_ns;
    if (before_end < 1.0 / ITERATION_OVER_LEAD || before_end >= (double)rest)
        return 0;
    uint64_t ahead = before_end < 1 ? 1 : (uint64_t)before_end;
    return ahead < rest ? worker->running.count - ahead : 0;
}

void worker_came_in_time(struct worker *worker)
{
    if (worker->round_trip_ns > ROUND_TRIP_MIN_NS)
        worker->round_trip_ns -= worker->round_trip_ns / 512;
}

void worker_note_asks(struct worker *worker, unsigned asks, uint64_t now_ns)
{
    if (asks > 0 && worker->asked_at_ns == NEVER) {
        worker->asked_at_ns = now_ns;
        worker->asked_before = worker->asked;
    }
    worker->asked += asks;
}

void worker_learn_round_trip(struct worker *worker, uint64_t now_ns)
{
    /* A round trip counts only if the worker waited for the chunk: only then does it see when the answer arrives. The
     * first round trip does not count, because the first answer waits until the speeds of all workers are known. A
     * round trip that is longer than the estimate changes the estimate more than a shorter one: a late answer leaves a
     * core idle, an early answer costs little. */
    if (worker->asked_at_ns == NEVER)
        return;
    if (worker->asked_before > 0) {
        worker->asked_before--;
        return;
    }
    uint64_t sample = now_ns - worker->asked_at_ns;
    if (worker->state == WORKER_ASKING && worker->running.count > 0)
        worker->round_trip_ns = sample > worker->round_trip_ns ? (worker->round_trip_ns + sample) / 2
                                                               : (7 * worker->round_trip_ns + sample) / 8;
    worker->asked_at_ns = NEVER;
}

void worker_learn_from_mark(struct worker *worker, uint64_t compute_ns, uint64_t done)
{
    bool is_half = done > 1 && done >= worker->running.count - done;
    if (worker->iteration_ns > 0 || is_half || (double)compute_ns >= JUDGED_LEADS * lead_ns(worker))
        worker_learn_iteration_time(worker, compute_ns, done);
}

static __attribute__((noinline, cold)) double first_iteration_ns(const struct worker *worker, double time, bool single)
{
    double least = single ? lead_ns(worker) / FIRST_PART : ITERATION_MIN_NS;
    return time < least ? least : time;
}

void worker_learn_iteration_time(struct worker *worker, uint64_t compute_ns, uint64_t done)
{
    double time = (double)compute_ns / (double)done, least = KEPT_PART * worker->iteration_ns;
    if (least <= 0)
        time = first_iteration_ns(worker, time, done == 1);
    worker->iteration_ns = time < least ? least : time;
}
