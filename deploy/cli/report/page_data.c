/* SPDX-License-Identifier: MIT */
/* The numbers of a run for the script of its page: see page_parts.h. numbers.js reads them in the same order. */
#include "deploy/cli/report/gantt.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/pack.h"
#include "deploy/cli/report/page_parts.h"

#include <inttypes.h>
#include <math.h>

/* Beyond this a number is not exact in JavaScript. */
#define EXACT_MAX (1ull << 53)

static int64_t ticks_of(const struct page *page, double time_s)
{
    return llround(time_s / page->tick_s);
}

/* A time that may not be known. Returns the time that the next one is expected by. */
static int64_t put_time(const struct page *page, struct pack *pack, double time_s, int64_t expected)
{
    if (isnan(time_s)) {
        pack_put_unknown(pack);
        return expected;
    }
    pack_put(pack, ticks_of(page, time_s), expected);
    return ticks_of(page, time_s);
}

/* Likewise for a count. */
static int64_t put_count(struct pack *pack, uint64_t count, int64_t expected)
{
    if (count > EXACT_MAX) {
        pack_put_unknown(pack);
        return expected;
    }
    pack_put(pack, (int64_t)count, expected);
    return (int64_t)count;
}

/* The chunks, worker by worker; numbers.js reads them in the same order. */
void page_chunks(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    struct pack pack;
    pack_begin(&pack, page->text);
    for (size_t w = 0; trace != NULL && w < trace->worker_count; w++) {
        const struct run_worker *worker = &trace->workers[w];
        int64_t ended = 0, next = 0, count = 0, number = 0;
        pack_put(&pack, (int64_t)worker->count, 0);
        for (size_t i = worker->first; i < worker->first + worker->count; i++) {
            const struct run_chunk *chunk = &trace->chunks[i];
            const int64_t given = put_time(page, &pack, chunk->given_s, ended);
            put_time(page, &pack, chunk->asked_s, given);
            const bool is_assumed = isnan(chunk->begun_s) && !isnan(chunk->assumed_s);
            const int64_t begun = put_time(page, &pack, is_assumed ? chunk->assumed_s : chunk->begun_s, given);
            ended = put_time(page, &pack, chunk->ended_s, begun);
            put_time(page, &pack, chunk->stored_s, ended);
            put_time(page, &pack, chunk->compute_s, ended - begun);
            next = put_count(&pack, chunk->first, next) + (chunk->count < EXACT_MAX ? (int64_t)chunk->count : 0);
            count = put_count(&pack, chunk->count, count);
            number = put_count(&pack, chunk->number, number + 1);
            pack_put(&pack, chunk->master == RUN_NO_RANK ? -1 : (int64_t)chunk->master,
                     worker->master == RUN_NO_RANK ? -1 : (int64_t)worker->master);
            pack_put(&pack,
                     ((2 * is_assumed + chunk->is_part) * TRACE_REASONS + chunk->reason) * TRACE_FATES + chunk->fate,
                     TRACE_OWN * TRACE_FATES + TRACE_DONE);
        }
    }
    pack_end(&pack);
}

void page_cuts(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    struct pack pack;
    int64_t time = 0, count = 0;
    pack_begin(&pack, page->text);
    for (size_t i = 0; trace != NULL && i < trace->cut_count; i++) {
        const struct run_cut *cut = &trace->cuts[i];
        time = put_time(page, &pack, cut->time_s, time);
        count = put_count(&pack, cut->count, count);
        put_count(&pack, cut->formula > 0 ? cut->formula : TRACE_UNKNOWN, count); /* 0: it has none */
        pack_put(&pack, cut->worker == RUN_NO_RANK ? -1 : (int64_t)cut->worker, 0);
    }
    pack_end(&pack);
}

static void write_json_words(struct text *text, const char *key, unsigned count, const char *(*word)(unsigned))
{
    text_add(text, ",\n\"%s\":[", key);
    for (unsigned i = 0; i < count; i++) {
        text_add(text, i > 0 ? "," : "");
        markup_add_json(text, word(i));
    }
    text_add(text, "]");
}

static const char *word_of_reason(unsigned i)
{
    return trace_reason_word((enum trace_reason)i);
}

static const char *word_of_fate(unsigned i)
{
    return trace_fate_word((enum trace_fate)i);
}

static const char *word_of_class(unsigned i)
{
    return gantt_class_label((enum gantt_class)i);
}

/* The workers as [rank, node, master or -1, host, lost at or -1, seconds to its finish]. */
static void write_json_workers(const struct page *page)
{
    struct text *text = page->text;
    text_add(text, ",\n\"workers\":[");
    for (unsigned i = 0; i < page->figures->workers; i++) {
        const struct figures_worker *worker = &page->figures->worker_stats[i];
        const double lost_s = page->trace != NULL ? page->trace->workers[i].lost_s : NAN;
        text_add(text, "%s[%u,%u,%" PRId64 ",", i > 0 ? ",\n" : "\n", worker->rank, worker->node,
                 worker->master == RUN_NO_RANK ? -1 : (int64_t)worker->master);
        markup_add_json(text, page_word_or(worker->host, ""));
        text_add(text, ",%" PRId64 ",%.9g]", isnan(lost_s) ? -1 : ticks_of(page, lost_s), worker->finish_s);
    }
    text_add(text, "]");
}

/* The events as [time, worker or -1, text]. */
static void write_json_events(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    struct text *text = page->text;
    text_add(text, ",\n\"events\":[");
    for (size_t i = 0; trace != NULL && i < trace->event_count && i < PAGE_EVENTS_MAX; i++) {
        const struct run_event *event = &trace->events[i];
        text_add(text, "%s[%" PRId64 ",%" PRId64 ",", i > 0 ? ",\n" : "\n", ticks_of(page, event->time_s),
                 event->worker == RUN_NO_RANK ? -1 : (int64_t)event->worker);
        markup_add_json(text, event->text);
        text_add(text, "]");
    }
    text_add(text, "]");
}

void page_run(const struct page *page)
{
    const struct figures *figures = page->figures;
    const struct run_trace *trace = page->trace;
    struct text *text = page->text;
    text_add(text, "{\"tick\":%.9g,\"end\":%" PRId64 ",\"begin\":%" PRId64 ",\"elapsed\":%.9g", page->tick_s,
             trace != NULL ? ticks_of(page, run_trace_end(trace)) : 0, ticks_of(page, figures->begin_s),
             isnan(figures->elapsed_s) ? 0 : figures->elapsed_s);
    text_add(text, ",\"chunks\":%zu,\"cuts\":%zu,\"rows\":%d,\"technique\":", trace != NULL ? trace->chunk_count : 0,
             trace != NULL ? trace->cut_count : 0, GANTT_ROWS_MAX);
    markup_add_json(text, page_word_or(figures->technique, "the technique"));
    write_json_words(text, "reasons", TRACE_REASONS, word_of_reason);
    write_json_words(text, "fates", TRACE_FATES, word_of_fate);
    write_json_words(text, "labels", GANTT_CLASSES, word_of_class);
    text_add(text, ",\n\"classes\":[");
    for (unsigned i = 0; i < TRACE_REASONS * TRACE_FATES; i++)
        text_add(text, "%s%d", i > 0 ? "," : "",
                 gantt_class_of((enum trace_reason)(i / TRACE_FATES), (enum trace_fate)(i % TRACE_FATES)));
    text_add(text, "]");
    write_json_workers(page);
    write_json_events(page);
    text_add(text, "}");
}
