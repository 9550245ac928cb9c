/* SPDX-License-Identifier: MIT */
/* The report of a run as a page: see page.h. */
#include "deploy/cli/report/page.h"

#include "common/metrics/human.h"
#include "deploy/cli/report/gantt.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/pack.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Beyond this a number is not exact in JavaScript. */
#define EXACT_MAX (1ull << 53)

struct page {
    struct text *text; /* borrowed, as all pointers here */
    const struct figures *figures;
    const struct run_trace *trace; /* NULL: none */
    const char *name;
    double tick_s; /* times are whole numbers of these in the page */
};

static const char *word_or(const char *word, const char *other)
{
    return word != NULL && *word != '\0' ? word : other;
}

static void add_count(struct text *text, uint64_t count, const char *one)
{
    char number[HUMAN_MAX];
    text_add(text, "%s %s%s", human_count(number, count), one, count == 1 ? "" : "s");
}

/* A figure that scripts and tests can find: its name and exact value, and the words for people. */
static void add_figure(struct text *text, const char *name, double value, const char *words)
{
    text_add(text, "<b data-figure=\"%s\" data-value=\"%.15g\">%s</b>", name, value, words);
}

static void add_time(struct text *text, const char *name, double seconds)
{
    char words[HUMAN_MAX + 1];
    human_duration(words, seconds);
    char *unit = strstr(words, " us"); /* a page has the letter */
    if (unit != NULL)
        strcpy(unit, " µs");
    add_figure(text, name, seconds, words);
}

static void add_share(struct text *text, const char *name, double share)
{
    char words[HUMAN_MAX];
    snprintf(words, sizeof words, "%.1f %%", 100 * share);
    add_figure(text, name, share, words);
}

static void add_number(struct text *text, const char *name, uint64_t count)
{
    char words[HUMAN_MAX];
    add_figure(text, name, (double)count, human_count(words, count));
}

static bool is_known(uint64_t count)
{
    return count != TRACE_UNKNOWN;
}

/* --- the head --- */

void page_title(struct text *text, const struct figures *figures)
{
    text_add(text, "%s", word_or(figures->kernel, "a loop"));
    if (figures->technique != NULL)
        text_add(text, " by %s", figures->technique);
    text_add(text, ", ");
    add_count(text, figures->workers, "worker");
}

static void write_title(const struct page *page)
{
    struct text title;
    text_init(&title);
    page_title(&title, page->figures);
    if (title.data != NULL)
        markup_add(page->text, title.data);
    page->text->failed |= title.failed;
    text_fini(&title);
}

static void write_subtitle(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    add_count(text, figures->nodes, "node");
    if (figures->masters > 0) {
        text_add(text, ", ");
        add_count(text, figures->masters, "master");
    }
    if (figures->topology != NULL) {
        text_add(text, ", ");
        markup_add(text, figures->topology);
    }
    if (figures->origin != NULL) {
        text_add(text, " · began ");
        markup_add(text, figures->origin);
    }
    if (figures->version != NULL) {
        text_add(text, " · HDSS ");
        markup_add(text, figures->version);
    }
}

/* The classes of <body>: what there is to show. */
static void write_has(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    bool has_finish = false;
    for (unsigned i = 0; i < page->figures->workers; i++)
        has_finish |= page->figures->worker_stats[i].finish_s > 0;
    text_add(page->text, "%s%s%s%s", trace != NULL ? "has-trace " : "",
             trace != NULL && trace->cut_count > 0 ? "has-cuts " : "",
             trace != NULL && trace->event_count > 0 ? "has-events " : "", has_finish ? "has-finish" : "");
}

/* --- the figures --- */

static void begin_tile(const struct page *page, const char *label)
{
    text_add(page->text, "<div><dt>%s</dt><dd>", label);
}

static void end_tile(const struct page *page, const char *about)
{
    text_add(page->text, "<small>%s</small></dd></div>\n", about);
}

static void write_tiles(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    char words[HUMAN_MAX];
    if (!isnan(figures->elapsed_s)) {
        begin_tile(page, "Loop time");
        add_time(text, "elapsed_s", figures->elapsed_s);
        end_tile(page, "first assignment to last stored result");
    }
    if (!isnan(figures->efficiency)) {
        begin_tile(page, "Efficiency");
        add_share(text, "efficiency", figures->efficiency);
        end_tile(page, "of the workers’ time computed what counts");
    }
    begin_tile(page, "Chunks");
    add_number(text, "chunks", figures->chunks);
    end_tile(page, figures->has_trace ? "given to workers" : "given and computed");
    if (figures->max_over_mean > 0) {
        begin_tile(page, "Imbalance");
        snprintf(words, sizeof words, "%.3f", figures->max_over_mean);
        add_figure(text, "max_over_mean", figures->max_over_mean, words);
        end_tile(page, "latest finishing time over the mean");
    }
    if (!isnan(figures->tail_s)) {
        begin_tile(page, "Tail");
        add_time(text, "tail_s", figures->tail_s);
        end_tile(page, "from the first worker without work to the end");
    }
    begin_tile(page, "Lost workers");
    add_number(text, "lost_workers", figures->lost_workers);
    end_tile(page, figures->lost_workers > 0 ? "their work was given to others" : "all stayed to the end");
}

/* --- the words --- */

static void write_sentence_of_loop(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    text_add(text, "<p>");
    markup_add(text, word_or(figures->technique, "The technique"));
    text_add(text, " cut ");
    if (is_known(figures->iterations)) {
        add_number(text, "iterations", figures->iterations);
        text_add(text, " iterations of ");
    }
    markup_add(text, word_or(figures->kernel, "the loop"));
    if (figures->steps > 0) {
        text_add(text, " in ");
        add_number(text, "steps", figures->steps);
        text_add(text, " scheduling steps");
    }
    text_add(text, " for ");
    add_number(text, "workers", figures->workers);
    text_add(text, " worker%s on ", figures->workers == 1 ? "" : "s");
    add_number(text, "nodes", figures->nodes);
    text_add(text, " node%s; ", figures->nodes == 1 ? "" : "s");
    add_number(text, "done", figures->done);
    text_add(text, " iterations are done");
    if (figures->failed_iterations > 0) {
        text_add(text, ", ");
        add_number(text, "failed_iterations", figures->failed_iterations);
        text_add(text, " failed");
    }
    text_add(text, ".");
    if (figures->outcome != NULL) {
        text_add(text, " The run ended as “");
        markup_add(text, figures->outcome);
        text_add(text, "”.");
    }
    text_add(text, "</p>\n");
}

static void write_sentence_of_time(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    double wait_s = 0;
    if (isnan(figures->elapsed_s) || figures->workers == 0)
        return;
    for (unsigned i = 0; i < figures->workers; i++)
        wait_s += figures->worker_stats[i].wait_s / figures->workers;
    text_add(text, "<p>All workers together computed for ");
    add_time(text, "compute_s", figures->compute_s);
    text_add(text, "; each waited for ");
    add_time(text, "wait_s", wait_s);
    text_add(text, " in the mean.");
    if (!isnan(figures->startup_s)) {
        text_add(text, " Until the first assignment it took ");
        add_time(text, "startup_s", figures->startup_s);
        text_add(text, ".");
    }
    if (!isnan(figures->tail_s)) {
        text_add(text, " The first worker had nothing more to do ");
        add_time(text, "tail_begins_s", figures->elapsed_s - figures->tail_s);
        text_add(text, " after the beginning; from then on waiting for the others took ");
        add_share(text, "tail_idle", figures->tail_idle);
        text_add(text, " of the workers’ time.");
    }
    if (!isnan(figures->cov) && figures->max_over_mean > 0)
        text_add(text,
                 " The finishing times have a coefficient of variation of <b data-figure=\"cov\" data-value=\"%.15g\">"
                 "%.3f</b>.",
                 figures->cov, figures->cov);
    text_add(text, "</p>\n");
}

/* One of several parts of a sentence; nothing where there is none of it. */
static void add_part(const struct page *page, bool *is_first, const char *figure, uint64_t count, const char *one,
                     const char *many)
{
    if (count == 0)
        return;
    text_add(page->text, *is_first ? "<p>" : " ");
    add_number(page->text, figure, count);
    text_add(page->text, " %s.", count == 1 ? one : many);
    *is_first = false;
}

static void write_sentence_of_incidents(const struct page *page)
{
    const struct figures *figures = page->figures;
    bool is_first = true;
    add_part(page, &is_first, "reissued", figures->reissued, "chunk was given again after a loss or failure",
             "chunks were given again after a loss or failure");
    add_part(page, &is_first, "recalls", figures->recalls, "recall brought work to a worker that waited",
             "recalls brought work to workers that waited");
    add_part(page, &is_first, "copies", figures->reasons[TRACE_COPY], "speculative copy was begun",
             "speculative copies were begun");
    add_part(page, &is_first, "verifications", figures->reasons[TRACE_VERIFY], "chunk was computed again to verify it",
             "chunks were computed again to verify them");
    add_part(page, &is_first, "duplicates", figures->duplicates, "result came twice and was dropped",
             "results came twice and were dropped");
    if (!isnan(figures->in_vain_s) && figures->in_vain_s > 0) {
        text_add(page->text, is_first ? "<p>" : " ");
        text_add(page->text, "Computing that came to nothing took ");
        add_time(page->text, "in_vain_s", figures->in_vain_s);
        text_add(page->text, ".");
        is_first = false;
    }
    text_add(page->text, is_first ? "<p>No chunk was computed twice, and no work was moved.</p>\n" : "</p>\n");
    if (is_known(figures->messages)) {
        char bytes[HUMAN_MAX];
        text_add(page->text, "<p>The daemons exchanged ");
        add_number(page->text, "messages", figures->messages);
        text_add(page->text, " messages");
        if (is_known(figures->bytes_on_wire))
            text_add(page->text, " of %sB in all", human_si(bytes, (double)figures->bytes_on_wire));
        text_add(page->text, ".");
        if (figures->checksum != NULL) {
            text_add(page->text, " The checksum of the results is <code>");
            markup_add(page->text, figures->checksum);
            text_add(page->text, "</code>.");
        }
        text_add(page->text, "</p>\n");
    }
}

/* How the chunks came to their workers, and how long that took. */
static void write_sentence_of_chunks(const struct page *page)
{
    const struct figures *figures = page->figures;
    const uint64_t own = figures->reasons[TRACE_OWN] + figures->reasons[TRACE_CUT_NOW];
    struct text *text = page->text;
    if (!figures->has_trace || figures->chunks == 0)
        return;
    text_add(text, "<p>Of the chunks ");
    add_number(text, "own", own);
    text_add(text, " were cut for the worker that was given them, and ");
    add_number(text, "other", figures->reasons[TRACE_OTHER]);
    text_add(text, " for another one.");
    if (!isnan(figures->latency_median_s)) {
        text_add(text, " From asking for a chunk to being given it took ");
        add_time(text, "latency_median_s", figures->latency_median_s);
        text_add(text, " in the median, and less than ");
        add_time(text, "latency_high_s", figures->latency_high_s);
        text_add(text, " in 95 %% of the cases.");
    }
    if (!isnan(figures->chunk_median_s)) {
        text_add(text, " A chunk was computed in ");
        add_time(text, "chunk_median_s", figures->chunk_median_s);
        text_add(text, " in the median, 95 %% of them in less than ");
        add_time(text, "chunk_high_s", figures->chunk_high_s);
        text_add(text, ".");
    }
    text_add(text, "</p>\n");
}

static void write_words(const struct page *page)
{
    write_sentence_of_loop(page);
    write_sentence_of_chunks(page);
    write_sentence_of_time(page);
    write_sentence_of_incidents(page);
}

/* --- tables --- */

/* `digits` stand behind the point. */
static void add_cell(struct text *text, double value, int digits)
{
    text_add(text, "<td data-value=\"%.15g\">%.*f</td>", value, digits, value);
}

static void write_workers(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    for (unsigned i = 0; i < figures->workers; i++) {
        const struct figures_worker *worker = &figures->worker_stats[i];
        text_add(text, "<tr><th scope=\"row\" data-value=\"%u\">%u%s</th>", worker->rank, worker->rank,
                 worker->is_lost ? " (lost)" : "");
        add_cell(text, worker->node, 0);
        text_add(text, "<td>");
        markup_add(text, word_or(worker->host, ""));
        text_add(text, "</td>");
        if (worker->power > 0)
            text_add(text, "<td data-value=\"%.15g\">%.6g</td>", worker->power, worker->power);
        else
            text_add(text, "<td></td>");
        add_cell(text, (double)worker->iterations, 0);
        add_cell(text, (double)worker->chunks, 0);
        add_cell(text, worker->compute_s, 6);
        add_cell(text, worker->wait_s, 6);
        add_cell(text, worker->finish_s, 6);
        text_add(text, "</tr>\n");
    }
}

static void write_events(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    struct text *text = page->text;
    for (size_t i = 0; trace != NULL && i < trace->event_count && i < PAGE_EVENTS_MAX; i++) {
        const struct run_event *event = &trace->events[i];
        text_add(text, "<tr><td>%.6f</td><td>", event->time_s);
        if (event->worker != RUN_NO_RANK)
            text_add(text, "%u", (unsigned)event->worker);
        text_add(text, "</td><td>");
        if (is_known(event->first))
            text_add(text, "%" PRIu64, event->first);
        text_add(text, "</td><td>");
        if (is_known(event->count))
            text_add(text, "%" PRIu64, event->count);
        text_add(text, "</td><td>");
        markup_add(text, event->text);
        text_add(text, "</td></tr>\n");
    }
}

static void write_more_events(const struct page *page)
{
    const size_t count = page->trace != NULL ? page->trace->event_count : 0;
    if (count > PAGE_EVENTS_MAX)
        text_add(page->text, "<p>These are the first %d of %zu; the trace has all.</p>", PAGE_EVENTS_MAX, count);
}

static void write_name(const struct page *page)
{
    markup_add(page->text, page->name);
}

/* --- numbers for the script --- */

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

/* The chunks, worker by worker; report.js reads them in the same order. */
static void write_chunks(const struct page *page)
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
            const int64_t begun = put_time(page, &pack, chunk->begun_s, given);
            ended = put_time(page, &pack, chunk->ended_s, begun);
            put_time(page, &pack, chunk->stored_s, ended);
            put_time(page, &pack, chunk->compute_s, ended - begun);
            next = put_count(&pack, chunk->first, next) + (chunk->count < EXACT_MAX ? (int64_t)chunk->count : 0);
            count = put_count(&pack, chunk->count, count);
            number = put_count(&pack, chunk->number, number + 1);
            pack_put(&pack, chunk->master == RUN_NO_RANK ? -1 : (int64_t)chunk->master,
                     worker->master == RUN_NO_RANK ? -1 : (int64_t)worker->master);
            pack_put(&pack, chunk->reason * TRACE_FATES + chunk->fate, TRACE_OWN * TRACE_FATES + TRACE_DONE);
        }
    }
    pack_end(&pack);
}

static void write_cuts(const struct page *page)
{
    const struct run_trace *trace = page->trace;
    struct pack pack;
    int64_t time = 0, count = 0;
    pack_begin(&pack, page->text);
    for (size_t i = 0; trace != NULL && i < trace->cut_count; i++) {
        const struct run_cut *cut = &trace->cuts[i];
        time = put_time(page, &pack, cut->time_s, time);
        count = put_count(&pack, cut->count, count);
        put_count(&pack, cut->formula, count);
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
        markup_add_json(text, word_or(worker->host, ""));
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

static void write_run(const struct page *page)
{
    const struct figures *figures = page->figures;
    const struct run_trace *trace = page->trace;
    struct text *text = page->text;
    text_add(text, "{\"tick\":%.9g,\"end\":%" PRId64 ",\"begin\":%" PRId64 ",\"elapsed\":%.9g", page->tick_s,
             trace != NULL ? ticks_of(page, run_trace_end(trace)) : 0, ticks_of(page, figures->begin_s),
             isnan(figures->elapsed_s) ? 0 : figures->elapsed_s);
    text_add(text, ",\"chunks\":%zu,\"cuts\":%zu,\"rows\":%d,\"technique\":", trace != NULL ? trace->chunk_count : 0,
             trace != NULL ? trace->cut_count : 0, GANTT_ROWS_MAX);
    markup_add_json(text, word_or(figures->technique, "the technique"));
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

/* The finest power of ten by which all times are below 2^32. */
static double choose_tick(const struct run_trace *trace)
{
    const double end_s = trace != NULL ? run_trace_end(trace) : 1;
    double tick_s = 1e-9;
    while (end_s / tick_s > 4e9)
        tick_s *= 10;
    return tick_s;
}

void page_html(struct text *text, const struct figures *figures, const struct run_trace *trace, const char *name)
{
    static const struct {
        const char *name;
        void (*write)(const struct page *page);
    } writers[] = {{"title", write_title},   {"subtitle", write_subtitle},
                   {"has", write_has},       {"tiles", write_tiles},
                   {"words", write_words},   {"workers", write_workers},
                   {"events", write_events}, {"more_events", write_more_events},
                   {"name", write_name},     {"run", write_run},
                   {"chunks", write_chunks}, {"cuts", write_cuts}};
    const struct page page = {text, figures, trace, name, choose_tick(trace)};
    for (const struct page_part *part = page_parts;; part++) {
        text_add(text, "%s", part->text);
        if (part->then == NULL)
            return;
        for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
            if (strcmp(writers[i].name, part->then) == 0)
                writers[i].write(&page);
    }
}
