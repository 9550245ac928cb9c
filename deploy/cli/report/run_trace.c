/* SPDX-License-Identifier: MIT */
/* A trace in memory: see run_trace.h. */
#include "deploy/cli/report/run_trace.h"

#include "common/util/grow.h"
#include "common/util/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void run_trace_init(struct run_trace *trace)
{
    *trace = (struct run_trace){0};
    trace->facts.iterations = trace->facts.workers = trace->facts.masters = TRACE_UNKNOWN;
}

void run_trace_fini(struct run_trace *trace)
{
    for (size_t i = 0; i < trace->worker_count; i++)
        free(trace->workers[i].host);
    for (size_t i = 0; i < trace->event_count; i++)
        free(trace->events[i].text);
    free(trace->facts.version);
    free(trace->facts.kernel);
    free(trace->facts.technique);
    free(trace->facts.origin);
    free(trace->workers);
    free(trace->chunks);
    free(trace->cuts);
    free(trace->events);
    free(trace->resumed);
    run_trace_init(trace);
}

static int run_trace_no_memory(struct error *error)
{
    return error_set(error, "out of memory");
}

static uint32_t known_rank(uint64_t value)
{
    return value == TRACE_UNKNOWN ? RUN_NO_RANK : (uint32_t)value;
}

/* --- rows --- */

static int take_fact_text(char **place, const char *value, struct error *error)
{
    free(*place);
    *place = strdup(value);
    return *place != NULL ? 0 : run_trace_no_memory(error);
}

static int take_fact_count(uint64_t *place, const char *value, struct error *error)
{
    if (number_parse_u64(value, place) == 0)
        return 0;
    *place = TRACE_UNKNOWN;
    return error_set(error, "'%.40s' is no number", value);
}

/* KEY=VALUE; other keys are of no use here. */
static int take_fact(struct run_facts *facts, const char *text, struct error *error)
{
    const struct {
        const char *key;
        char **text;
        uint64_t *count;
    } known[] = {{"version", &facts->version, NULL},       {"kernel", &facts->kernel, NULL},
                 {"technique", &facts->technique, NULL},   {"origin", &facts->origin, NULL},
                 {"iterations", NULL, &facts->iterations}, {"workers", NULL, &facts->workers},
                 {"masters", NULL, &facts->masters}};
    const size_t length = strcspn(text, "=");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].key) != length || memcmp(known[i].key, text, length) != 0)
            continue;
        return known[i].text != NULL ? take_fact_text(known[i].text, text + length + 1, error)
                                     : take_fact_count(known[i].count, text + length + 1, error);
    }
    return 0;
}

/* Finds `key` among words that blanks separate: "host=a power=2". Returns where its value begins, and its length. */
static const char *find_value(const char *text, const char *key, size_t *length)
{
    const size_t key_length = strlen(key);
    for (const char *at = text; *at != '\0'; at += *length) {
        at += strspn(at, " ");
        *length = strcspn(at, " ");
        if (*length > key_length && memcmp(at, key, key_length) == 0 && at[key_length] == '=') {
            *length -= key_length + 1;
            return at + key_length + 1;
        }
    }
    return NULL;
}

static int take_worker(struct run_trace *trace, const struct trace_row *row, struct error *error)
{
    size_t length;
    const char *host = find_value(row->text, "host", &length);
    struct run_worker worker = {.rank = (uint32_t)row->worker,
                                .node = row->node == TRACE_UNKNOWN ? 0 : (uint32_t)row->node,
                                .master = known_rank(row->master),
                                .lost_s = NAN};
    struct run_worker *grown = grow(trace->workers, trace->worker_count, &trace->worker_room, sizeof *grown);
    if (grown == NULL)
        return run_trace_no_memory(error);
    trace->workers = grown;
    if (host != NULL && (worker.host = strndup(host, length)) == NULL)
        return run_trace_no_memory(error);
    const char *power = find_value(row->text, "power", &length);
    char number[40];
    if (power != NULL && length < sizeof number) {
        memcpy(number, power, length);
        number[length] = '\0';
        if (number_parse_real(number, &worker.power) < 0 || worker.power < 0)
            worker.power = 0;
    }
    trace->workers[trace->worker_count++] = worker;
    return 0;
}

static int take_chunk(struct run_trace *trace, const struct trace_row *row, struct error *error)
{
    struct run_chunk *grown = grow(trace->chunks, trace->chunk_count, &trace->chunk_room, sizeof *grown);
    if (grown == NULL)
        return run_trace_no_memory(error);
    trace->chunks = grown;
    trace->chunks[trace->chunk_count++] =
        (struct run_chunk){.given_s = row->time_s,
                           .asked_s = row->asked_s,
                           .begun_s = row->begun_s,
                           .ended_s = row->ended_s,
                           .stored_s = row->stored_s,
                           .compute_s = row->compute_s,
                           .assumed_s = NAN,
                           .first = row->first,
                           .count = row->count,
                           .worker = (uint32_t)row->worker,
                           .number = row->chunk == TRACE_UNKNOWN ? 0 : (uint32_t)row->chunk,
                           .node = row->node == TRACE_UNKNOWN ? 0 : (uint32_t)row->node,
                           .master = known_rank(row->master),
                           .reason = (uint8_t)row->reason,
                           .fate = (uint8_t)row->fate};
    return 0;
}

static int take_cut(struct run_trace *trace, const struct trace_row *row, struct error *error)
{
    struct run_cut *grown = grow(trace->cuts, trace->cut_count, &trace->cut_room, sizeof *grown);
    if (grown == NULL)
        return run_trace_no_memory(error);
    trace->cuts = grown;
    trace->cuts[trace->cut_count++] =
        (struct run_cut){row->time_s, row->first, row->count, row->formula, known_rank(row->worker)};
    return 0;
}

static int take_event(struct run_trace *trace, const struct trace_row *row, struct error *error)
{
    struct run_event *grown = grow(trace->events, trace->event_count, &trace->event_room, sizeof *grown);
    char *text = strdup(row->text);
    if (grown != NULL)
        trace->events = grown;
    if (grown == NULL || text == NULL) {
        free(text);
        return run_trace_no_memory(error);
    }
    trace->events[trace->event_count++] =
        (struct run_event){row->time_s, row->first, row->count, known_rank(row->worker), text};
    return 0;
}

static int take_resumed(struct run_trace *trace, const struct trace_row *row, struct error *error)
{
    struct range *grown = grow(trace->resumed, trace->resumed_count, &trace->resumed_room, sizeof *grown);
    if (grown == NULL)
        return run_trace_no_memory(error);
    trace->resumed = grown;
    trace->resumed[trace->resumed_count++] = (struct range){row->first, row->count};
    return 0;
}

int run_trace_take(void *context, const struct trace_row *row, struct error *error)
{
    struct run_trace *trace = context;
    switch (row->kind) {
    case TRACE_RUN: return take_fact(&trace->facts, row->text, error);
    case TRACE_WORKER: return take_worker(trace, row, error);
    case TRACE_CHUNK: return take_chunk(trace, row, error);
    case TRACE_CUT: return take_cut(trace, row, error);
    case TRACE_EVENT: return take_event(trace, row, error);
    case TRACE_RESUMED: return take_resumed(trace, row, error);
    }
    return 0;
}

/* --- order --- */

static int by_rank(const void *a, const void *b)
{
    const struct run_worker *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_node_and_rank(const void *a, const void *b)
{
    const struct run_worker *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node) : by_rank(a, b);
}

/* Of several rows about one worker the first counts. */
static void drop_double_workers(struct run_trace *trace)
{
    size_t kept = 0;
    if (trace->worker_count > 0)
        qsort(trace->workers, trace->worker_count, sizeof *trace->workers, by_rank);
    for (size_t i = 0; i < trace->worker_count; i++) {
        if (kept > 0 && trace->workers[kept - 1].rank == trace->workers[i].rank)
            free(trace->workers[i].host);
        else
            trace->workers[kept++] = trace->workers[i];
    }
    trace->worker_count = kept;
}

/* Places of the workers by their ranks: owned by the caller; NULL when memory is out. Workers of which only chunks tell
 * are added. */
static uint32_t *place_workers(struct run_trace *trace)
{
    uint32_t most = 0;
    for (size_t i = 0; i < trace->worker_count; i++)
        most = trace->workers[i].rank > most ? trace->workers[i].rank : most;
    for (size_t i = 0; i < trace->chunk_count; i++)
        most = trace->chunks[i].worker > most ? trace->chunks[i].worker : most;
    uint32_t *places = malloc((most + 1) * sizeof *places);
    if (places == NULL)
        return NULL;
    memset(places, 0xff, (most + 1) * sizeof *places);
    for (size_t i = 0; i < trace->worker_count; i++)
        places[trace->workers[i].rank] = (uint32_t)i;
    for (size_t i = 0; i < trace->chunk_count; i++) {
        const struct run_chunk *chunk = &trace->chunks[i];
        if (places[chunk->worker] != RUN_NO_RANK)
            continue;
        struct run_worker *grown = grow(trace->workers, trace->worker_count, &trace->worker_room, sizeof *grown);
        if (grown == NULL) {
            free(places);
            return NULL;
        }
        trace->workers = grown;
        places[chunk->worker] = (uint32_t)trace->worker_count;
        trace->workers[trace->worker_count++] =
            (struct run_worker){.rank = chunk->worker, .node = chunk->node, .master = chunk->master, .lost_s = NAN};
    }
    if (trace->worker_count > 0)
        qsort(trace->workers, trace->worker_count, sizeof *trace->workers, by_node_and_rank);
    for (size_t i = 0; i < trace->worker_count; i++)
        places[trace->workers[i].rank] = (uint32_t)i;
    return places;
}

/* The moment by which chunks of a worker are ordered. */
static double order_key(const struct run_chunk *chunk)
{
    return !isnan(chunk->begun_s) ? chunk->begun_s : !isnan(chunk->assumed_s) ? chunk->assumed_s : chunk->given_s;
}

/* Of rows about one chunk the one that stands for its times comes last, where a search for a moment finds it. */
static int by_begin(const void *a, const void *b)
{
    const struct run_chunk *x = a, *y = b;
    const double p = order_key(x), q = order_key(y);
    return p != q                   ? (p > q) - (p < q)
           : x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                    : y->is_part - x->is_part;
}

/* Rows about one chunk stand together; the first of them is to stand for its times: one that was computed, and done. */
static int by_chunk(const void *a, const void *b)
{
    const struct run_chunk *x = *(struct run_chunk *const *)a, *y = *(struct run_chunk *const *)b;
    const int p = 2 * isnan(x->begun_s) + (x->fate != TRACE_DONE), q = 2 * isnan(y->begun_s) + (y->fate != TRACE_DONE);
    return x->master != y->master   ? (x->master > y->master) - (x->master < y->master)
           : x->number != y->number ? (x->number > y->number) - (x->number < y->number)
           : p != q                 ? p - q
                                    : (x > y) - (x < y);
}

/* A chunk of whose iterations not the same has become has several rows: marks all but one of them. `all` has room for
 * the chunks of the worker. */
static void mark_parts(struct run_chunk *chunks, size_t count, struct run_chunk **all)
{
    bool rises = true;
    for (size_t i = 1; rises && i < count; i++)
        rises = chunks[i - 1].number < chunks[i].number;
    if (rises)
        return;
    for (size_t i = 0; i < count; i++)
        all[i] = &chunks[i];
    qsort(all, count, sizeof(struct run_chunk *), by_chunk);
    struct run_chunk *whole = all[0];
    for (size_t i = 1; i < count; i++) {
        if (all[i]->number == 0 || all[i]->number != whole->number || all[i]->master != whole->master) {
            whole = all[i];
            continue;
        }
        all[i]->is_part = true;
        if (isnan(whole->compute_s)) /* the first row has it, for all of the chunk */
            whole->compute_s = all[i]->compute_s;
    }
}

/* Of the chunks that were lost, or are open, the worker had begun the one that it was given first, when it had ended
 * all others. */
static void assume_beginning(struct run_chunk *chunks, size_t count)
{
    struct run_chunk *first = NULL;
    double ended_s = 0;
    for (size_t i = 0; i < count; i++) {
        struct run_chunk *chunk = &chunks[i];
        const bool is_cut_off = chunk->fate == TRACE_LOST || chunk->fate == TRACE_OPEN;
        ended_s = chunk->ended_s > ended_s ? chunk->ended_s : ended_s;
        if (is_cut_off && !chunk->is_part && isnan(chunk->begun_s) &&
            (first == NULL || chunk->given_s < first->given_s))
            first = chunk;
    }
    if (first != NULL)
        first->assumed_s = fmax(first->given_s, ended_s);
}

/* Puts the chunks of each worker together, in the order of the file, and then by time where they are not yet. */
static int order_chunks(struct run_trace *trace)
{
    struct run_chunk *ordered = malloc((trace->chunk_count + 1) * sizeof *ordered);
    struct run_chunk **all = malloc((trace->chunk_count + 1) * sizeof(struct run_chunk *));
    if (ordered == NULL || all == NULL) {
        free(ordered);
        free(all);
        return -1;
    }
    for (size_t i = 0; i < trace->chunk_count; i++)
        trace->workers[trace->chunks[i].worker].count++;
    size_t at = 0;
    for (size_t w = 0; w < trace->worker_count; w++) {
        trace->workers[w].first = at;
        at += trace->workers[w].count;
        trace->workers[w].count = 0;
    }
    for (size_t i = 0; i < trace->chunk_count; i++) {
        struct run_worker *worker = &trace->workers[trace->chunks[i].worker];
        ordered[worker->first + worker->count++] = trace->chunks[i];
    }
    for (size_t w = 0; w < trace->worker_count; w++) {
        struct run_chunk *first = ordered + trace->workers[w].first;
        bool is_ordered = true;
        mark_parts(first, trace->workers[w].count, all);
        assume_beginning(first, trace->workers[w].count);
        for (size_t i = 1; is_ordered && i < trace->workers[w].count; i++)
            is_ordered = by_begin(&first[i - 1], &first[i]) <= 0;
        if (!is_ordered)
            qsort(first, trace->workers[w].count, sizeof *first, by_begin);
    }
    free(all);
    free(trace->chunks);
    trace->chunks = ordered;
    trace->chunk_room = trace->chunk_count + 1;
    return 0;
}

static void mark_losses(struct run_trace *trace)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct run_event *event = &trace->events[i];
        const long place = strncmp(event->text, RUN_WORKER_LOST, strlen(RUN_WORKER_LOST)) == 0
                               ? run_trace_find(trace, event->worker)
                               : -1;
        if (place >= 0)
            trace->workers[place].lost_s = event->time_s;
    }
}

int run_trace_order(struct run_trace *trace, struct error *error)
{
    drop_double_workers(trace);
    uint32_t *places = place_workers(trace);
    if (places == NULL)
        return run_trace_no_memory(error);
    for (size_t i = 0; i < trace->chunk_count; i++)
        trace->chunks[i].worker = places[trace->chunks[i].worker];
    free(places);
    mark_losses(trace);
    return order_chunks(trace) == 0 ? 0 : run_trace_no_memory(error);
}

long run_trace_find(const struct run_trace *trace, uint32_t rank)
{
    for (size_t i = 0; rank != RUN_NO_RANK && i < trace->worker_count; i++)
        if (trace->workers[i].rank == rank)
            return (long)i;
    return -1;
}

bool run_chunk_span(const struct run_trace *trace, const struct run_chunk *chunk, double end_s, double *from_s,
                    double *to_s)
{
    const double lost_s = trace->workers[chunk->worker].lost_s;
    *from_s = isnan(chunk->begun_s) ? chunk->assumed_s : chunk->begun_s;
    *to_s = !isnan(chunk->ended_s) ? chunk->ended_s : !isnan(lost_s) ? lost_s : end_s;
    if (isnan(*from_s) || chunk->is_part)
        return false;
    *to_s = fmax(*from_s, *to_s);
    return true;
}

/* The later of two moments, of which the second may not be known. */
static double later(double end_s, double time_s)
{
    return time_s > end_s ? time_s : end_s;
}

double run_trace_end(const struct run_trace *trace)
{
    double end_s = 0;
    for (size_t i = 0; i < trace->chunk_count; i++) {
        const struct run_chunk *chunk = &trace->chunks[i];
        end_s = later(later(later(later(end_s, chunk->given_s), chunk->begun_s), chunk->ended_s), chunk->stored_s);
    }
    for (size_t i = 0; i < trace->cut_count; i++)
        end_s = later(end_s, trace->cuts[i].time_s);
    for (size_t i = 0; i < trace->event_count; i++)
        end_s = later(end_s, trace->events[i].time_s);
    return end_s;
}
