/* SPDX-License-Identifier: MIT */
/* Asking ahead: how many chunks a worker should have beside the running one, and when to ask for them.
 *
 * The next chunk must be here when the running one ends, so it is asked for one lead before that, with the lead twice
 * the measured round trip; not earlier, because a chunk that waits here is out of reach for others. Chunks shorter than
 * the lead are asked for in numbers, as many as last for one lead. Where the worker cannot ask within the lead because
 * one iteration is longer, it asks at the end: a round trip is then little against an iteration.
 *
 * One iteration that costs nothing says little of the next one. The time of an iteration is believed when a few leads
 * of the first chunk are measured, or half of its iterations. From then on a longer time is believed at once, a shorter
 * one little by little, so that a worker has many chunks ahead only after many short ones in a row.
 *
 * What is asked for ahead at the end of a time step is answered at the beginning of the next, when chunks are largest
 * and with as many of them: workers would have parts of a step that have nothing to do with their speeds. So by AUTO
 * nothing is asked for ahead during chunks that are small against the largest of a loop of several steps. */
#include "worker/core.h"

#include "common/config/run_spec.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* A round trip that was kept waiting (for work, for a core) must not make the worker hoard. */
#define LEAD_MAX_NS 10000000u
/* Below this the estimate does not shrink: a round trip through shared memory takes a microsecond or two. */
#define ROUND_TRIP_MIN_NS 4000u
/* Against an iteration this many times as long, the lead is not worth asking early for. */
#define ITERATION_OVER_LEAD 64

/* Leads that are to be measured of the first chunk before the time of its iterations is believed, unless half of them
 * are over. */
#define JUDGED_LEADS 4
/* The part of a lead for which a single first iteration is taken at least. */
#define FIRST_PART 4
/* The least time of an iteration in the first chunk: faster than the clock can tell. */
#define ITERATION_MIN_NS 0.01
/* The part of the believed time that stays when a chunk takes less. */
#define KEPT_PART 0.6

static double lead_ns(const struct worker *worker)
{
    uint64_t lead = 2 * worker->round_trip_ns;
    return (double)(lead < LEAD_MAX_NS ? lead : LEAD_MAX_NS);
}

/* Time of the work that is here: the rest of the running chunk and what waits behind it. */
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

/* Chunks below this part of the largest chunk of the steps so far are small. */
#define SMALL_PART 2

static bool looks_ahead(const struct worker *worker)
{
    return worker->config.spec->ask_ahead == ASK_AHEAD_AUTO && SMALL_PART * worker->running.count >= worker->largest;
}

/* Says why the worker wants so many chunks, or none; returns how many, so that who calls it last keeps nothing. */
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

/* The part of the chunks that are to be here or on their way, the part for which a request goes: what is left lasts
 * meanwhile. */
#define HOLD_PART 4

/* Completions of chunks that are shorter than a round trip go together, so that a request and its answer serve many. */
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
    if (worker->iteration_ns <= 0) { /* the first chunk: look after 1, 2, 4 .. iterations */
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
    /* Only an idle worker sees when the answer came; the first answer waits for the speeds of the others. Longer is
     * believed sooner than shorter: an answer that comes late leaves a core idle, one that comes early costs little. */
    if (worker->asked_at_ns == NEVER)
        return;
    if (worker->asked_before > 0) { /* answers one that was asked for earlier */
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
