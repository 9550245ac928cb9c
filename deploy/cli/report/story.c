/* SPDX-License-Identifier: MIT */
/* Stories of a trace: see story.h. */
#include "deploy/cli/report/story.h"

#include "common/metrics/human.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- words --- */

static void add_range(struct text *text, uint64_t first, uint64_t count)
{
    char from[HUMAN_MAX], to[HUMAN_MAX], all[HUMAN_MAX];
    human_count(from, first);
    if (count <= 1)
        text_add(text, "%s %s", count == 0 ? "none from" : "iteration", from);
    else
        text_add(text, "iterations %s to %s (%s)", from, human_count(to, first + count - 1), human_count(all, count));
}

static void add_moment(struct text *text, double time_s)
{
    if (isnan(time_s))
        text_add(text, "  %14s    ", "?");
    else
        text_add(text, "  %14.6f s  ", time_s);
}

/* How much later than a moment that is known. */
static void add_later(struct text *text, double time_s, double since_s)
{
    char duration[HUMAN_MAX];
    if (!isnan(time_s) && !isnan(since_s) && time_s > since_s)
        text_add(text, ", %s later", human_duration(duration, time_s - since_s));
}

static const char *why(enum trace_reason reason)
{
    switch (reason) {
    case TRACE_OWN: return "from the pool: the technique had cut it for this worker";
    case TRACE_OTHER: return "from the pool: it was cut for another worker, and nothing there was for this one";
    case TRACE_CUT_NOW: return "the technique cut it as the worker asked";
    case TRACE_REQUEUED: return "another worker had it, and was lost or failed";
    case TRACE_RECALLED: return "recalled from another worker, which had not begun it";
    case TRACE_COPY: return "a copy: another worker was late with it, and nothing else was left";
    case TRACE_VERIFY: return "to be compared with the results of another worker";
    case TRACE_ADOPTED: return "it was at it when its master was lost";
    default: return "the trace does not say why";
    }
}

static const char *what_became(enum trace_fate fate)
{
    switch (fate) {
    case TRACE_DONE: return "done, and stored";
    case TRACE_LOST: return "lost with the worker";
    case TRACE_RETURNED: return "given back before it had begun, for others";
    case TRACE_DROPPED: return "its results do not count: those of another worker do, or they were only compared";
    case TRACE_FAILED: return "failed";
    case TRACE_UNDONE: return "not computed: the run ended early";
    default: return "nobody knows: the trace ends before";
    }
}

/* Adds a name from the trace. */
static void add_name(struct text *text, const char *before, const char *name)
{
    text_add(text, "%s", before);
    text_add_plain(text, name, UINT_MAX);
}

static void add_worker(struct text *text, const struct run_worker *worker)
{
    text_add(text, "worker %" PRIu32 " on node %" PRIu32, worker->rank, worker->node);
    if (worker->host != NULL) {
        add_name(text, " (", worker->host);
        text_add(text, ")");
    }
}

static void add_giver(struct text *text, const struct run_trace *trace, const struct run_chunk *chunk)
{
    if (chunk->master == RUN_NO_RANK)
        return;
    text_add(text, trace->facts.masters == 0 || chunk->master == 0 ? " by the supermaster" : " by master %" PRIu32,
             chunk->master);
}

/* "mandelbrot, by dfss:" */
static void add_run(struct text *text, const struct run_trace *trace)
{
    const struct run_facts *facts = &trace->facts;
    if (facts->kernel != NULL)
        add_name(text, " of ", facts->kernel);
    if (facts->technique != NULL)
        add_name(text, ", by ", facts->technique);
    text_add(text, "\n");
}

/* --- a chunk --- */

static void add_chunk(struct text *text, const struct run_trace *trace, const struct run_chunk *chunk)
{
    char duration[HUMAN_MAX];
    text_add(text, "\n");
    add_worker(text, &trace->workers[chunk->worker]);
    text_add(text, ", chunk %" PRIu32 ": ", chunk->number);
    add_range(text, chunk->first, chunk->count);
    text_add(text, "\n");
    if (!isnan(chunk->asked_s)) {
        add_moment(text, chunk->asked_s);
        text_add(text, "asked\n");
    }
    add_moment(text, chunk->given_s);
    text_add(text, "given");
    add_giver(text, trace, chunk);
    add_later(text, chunk->given_s, chunk->asked_s);
    text_add(text, ": %s\n", why((enum trace_reason)chunk->reason));
    if (!isnan(chunk->begun_s)) {
        add_moment(text, chunk->begun_s);
        text_add(text, "begun");
        add_later(text, chunk->begun_s, chunk->given_s);
        text_add(text, "\n");
        add_moment(text, chunk->ended_s);
        text_add(text, "ended");
        if (!isnan(chunk->compute_s))
            text_add(text, ", after %s in the kernel", human_duration(duration, chunk->compute_s));
        text_add(text, "\n");
    }
    add_moment(text, chunk->stored_s);
    text_add(text, "%s\n", what_became((enum trace_fate)chunk->fate));
}

static bool has_iteration(uint64_t first, uint64_t count, uint64_t iteration)
{
    return first != TRACE_UNKNOWN && iteration >= first && iteration - first < count;
}

static bool overlap(const struct run_chunk *chunk, const struct run_cut *cut)
{
    return chunk->first != TRACE_UNKNOWN && cut->first != TRACE_UNKNOWN && chunk->first < cut->first + cut->count &&
           cut->first < chunk->first + chunk->count;
}

static int by_given(const void *a, const void *b)
{
    const struct run_chunk *x = *(const struct run_chunk *const *)a, *y = *(const struct run_chunk *const *)b;
    if (x->given_s != y->given_s)
        return x->given_s < y->given_s ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Adds the chunks for which `fits` says so, in the order in which they were given. Returns how many these are; -1 with
 * one line. */
static long add_chunks(struct text *text, const struct run_trace *trace,
                       bool (*fits)(const struct run_chunk *chunk, const void *context), const void *context,
                       struct error *error)
{
    const struct run_chunk **found = calloc(trace->chunk_count + 1, sizeof(const struct run_chunk *));
    long count = 0;
    if (found == NULL)
        return error_set(error, "out of memory");
    for (size_t i = 0; i < trace->chunk_count; i++)
        if (fits(&trace->chunks[i], context))
            found[count++] = &trace->chunks[i];
    qsort(found, (size_t)count, sizeof *found, by_given);
    for (long i = 0; i < count; i++)
        add_chunk(text, trace, found[i]);
    free(found);
    return count;
}

/* --- scheduling steps --- */

static void add_cut(struct text *text, const struct run_trace *trace, size_t i)
{
    const struct run_cut *cut = &trace->cuts[i];
    char number[HUMAN_MAX], of[HUMAN_MAX];
    text_add(text, "\nscheduling step %s of %s: ", human_count(number, i + 1), human_count(of, trace->cut_count));
    add_range(text, cut->first, cut->count);
    text_add(text, "\n");
    add_moment(text, cut->time_s);
    text_add(text, "cut");
    if (cut->worker != RUN_NO_RANK)
        text_add(text, " for worker %" PRIu32, cut->worker);
    if (cut->formula != TRACE_UNKNOWN) {
        add_name(text, "; ", trace->facts.technique != NULL ? trace->facts.technique : "the formula");
        text_add(text, " says %s, before weights and bounds", human_count(number, cut->formula));
    }
    text_add(text, "\n");
}

static bool is_in_step(const struct run_chunk *chunk, const void *cut)
{
    return overlap(chunk, cut);
}

int story_of_step(struct text *text, const struct run_trace *trace, uint64_t step, struct error *error)
{
    if (step == 0 || step > trace->cut_count)
        return error_set(error, "there is no scheduling step %" PRIu64 "; accepted: 1 to %zu", step, trace->cut_count);
    text_add(text, "Scheduling step %" PRIu64, step);
    add_run(text, trace);
    add_cut(text, trace, step - 1);
    return add_chunks(text, trace, is_in_step, &trace->cuts[step - 1], error) < 0 ? -1 : 0;
}

/* --- an iteration --- */

static bool is_with(const struct run_chunk *chunk, const void *iteration)
{
    return has_iteration(chunk->first, chunk->count, *(const uint64_t *)iteration);
}

/* Tells of what an earlier run had done, if the iteration is of that. Returns true where it is. */
static bool add_resumed(struct text *text, const struct run_trace *trace, uint64_t iteration)
{
    for (size_t i = 0; i < trace->resumed_count; i++) {
        const struct range *resumed = &trace->resumed[i];
        if (!has_iteration(resumed->first, resumed->count, iteration))
            continue;
        text_add(text, "\n");
        add_range(text, resumed->first, resumed->count);
        text_add(text, "\n");
        add_moment(text, NAN);
        text_add(text, "done, and stored, by an earlier run: this run went on from its journal\n");
        return true;
    }
    return false;
}

int story_of_iteration(struct text *text, const struct run_trace *trace, uint64_t iteration, struct error *error)
{
    char number[HUMAN_MAX];
    text_add(text, "Iteration %s", human_count(number, iteration));
    add_run(text, trace);
    for (size_t i = 0; i < trace->cut_count; i++)
        if (has_iteration(trace->cuts[i].first, trace->cuts[i].count, iteration))
            add_cut(text, trace, i);
    const bool is_resumed = add_resumed(text, trace, iteration);
    const long found = add_chunks(text, trace, is_with, &iteration, error);
    if (found != 0 || is_resumed)
        return found < 0 ? -1 : 0;
    if (trace->facts.iterations == TRACE_UNKNOWN)
        return error_set(error, "nobody was given iteration %" PRIu64, iteration);
    return error_set(error, "nobody was given iteration %" PRIu64 "; the loop has %" PRIu64 ", counted from 0",
                     iteration, trace->facts.iterations);
}

/* --- a worker --- */

/* The place of the worker; -1 with one line. */
static long find_worker(const struct run_trace *trace, uint64_t rank, struct error *error)
{
    const long place = rank < RUN_NO_RANK ? run_trace_find(trace, (uint32_t)rank) : -1;
    if (place >= 0)
        return place;
    return trace->worker_count == 0
               ? error_set(error, "the trace has no workers")
               : error_set(error,
                           "there is no worker of rank %" PRIu64 "; the first has %" PRIu32 ", and there are %zu", rank,
                           trace->workers[0].rank, trace->worker_count);
}

struct worker_sums {
    uint64_t chunks, iterations, in_vain;
    double compute_s, first_s, last_s;
};

static struct worker_sums sum_up(const struct run_trace *trace, const struct run_worker *worker)
{
    struct worker_sums sums = {.first_s = NAN, .last_s = NAN};
    for (size_t i = worker->first; i < worker->first + worker->count; i++) {
        const struct run_chunk *chunk = &trace->chunks[i];
        sums.chunks += !isnan(chunk->begun_s);
        sums.iterations += chunk->fate == TRACE_DONE ? chunk->count : 0;
        sums.in_vain += chunk->fate == TRACE_DONE || chunk->fate == TRACE_RETURNED ? 0 : chunk->count;
        sums.compute_s += isnan(chunk->compute_s) ? 0 : chunk->compute_s;
        sums.first_s = isnan(sums.first_s) ? chunk->given_s : sums.first_s;
        sums.last_s = isnan(chunk->ended_s) ? sums.last_s : chunk->ended_s;
    }
    return sums;
}

static void add_sums(struct text *text, const struct run_worker *worker, const struct worker_sums *sums)
{
    char chunks[HUMAN_MAX], iterations[HUMAN_MAX], compute[HUMAN_MAX], span[HUMAN_MAX];
    if (worker->power > 0)
        text_add(text, "  virtual power %.3g\n", worker->power);
    text_add(text, "  %s iterations done in %s chunks", human_count(iterations, sums->iterations),
             human_count(chunks, sums->chunks));
    if (sums->in_vain > 0)
        text_add(text, "; %s lost, failed, dropped or undone", human_count(iterations, sums->in_vain));
    text_add(text, "\n");
    if (!isnan(sums->last_s))
        text_add(text, "  in the kernel for %s of the %s from its first chunk to the end of its last\n",
                 human_duration(compute, sums->compute_s), human_duration(span, sums->last_s - sums->first_s));
    if (!isnan(worker->lost_s))
        text_add(text, "  lost at %.6f s\n", worker->lost_s);
}

static void add_line(struct text *text, const struct run_chunk *chunk)
{
    char kernel[HUMAN_MAX] = "-";
    if (!isnan(chunk->compute_s))
        human_duration(kernel, chunk->compute_s);
    text_add(text, "%14.6f %7" PRIu32 " %14" PRIu64 " %10" PRIu64 "  %-9s %10s  %s\n", chunk->given_s, chunk->number,
             chunk->first, chunk->count, trace_reason_word((enum trace_reason)chunk->reason), kernel,
             trace_fate_word((enum trace_fate)chunk->fate));
}

int story_of_worker(struct text *text, const struct run_trace *trace, uint64_t rank, struct error *error)
{
    const long place = find_worker(trace, rank, error);
    if (place < 0)
        return -1;
    const struct run_worker *worker = &trace->workers[place];
    const struct worker_sums sums = sum_up(trace, worker);
    text_add(text, "Worker %" PRIu32 " on node %" PRIu32, worker->rank, worker->node);
    if (worker->host != NULL) {
        add_name(text, " (", worker->host);
        text_add(text, ")");
    }
    add_run(text, trace);
    add_sums(text, worker, &sums);
    text_add(text, "\n%14s %7s %14s %10s  %-9s %10s  %s\n", "given (s)", "chunk", "first", "count", "why", "kernel",
             "became");
    for (size_t i = worker->first; i < worker->first + worker->count; i++)
        add_line(text, &trace->chunks[i]);
    return 0;
}

/* --- a chunk of a worker --- */

struct numbered {
    uint32_t worker; /* place */
    uint64_t number;
};

static bool has_number(const struct run_chunk *chunk, const void *context)
{
    const struct numbered *wanted = context;
    return chunk->worker == wanted->worker && chunk->number == wanted->number;
}

int story_of_chunk(struct text *text, const struct run_trace *trace, uint64_t rank, uint64_t number,
                   struct error *error)
{
    const long place = find_worker(trace, rank, error);
    if (place < 0)
        return -1;
    const struct numbered wanted = {(uint32_t)place, number};
    text_add(text, "Chunk %" PRIu64 " of worker %" PRIu64, number, rank);
    add_run(text, trace);
    const long found = add_chunks(text, trace, has_number, &wanted, error);
    return found == 0  ? error_set(error,
                                   "worker %" PRIu64 " has no chunk %" PRIu64 "; `hdss explain --worker %" PRIu64
                                   " TRACE` lists those that it has",
                                   rank, number, rank)
           : found < 0 ? -1
                       : 0;
}
