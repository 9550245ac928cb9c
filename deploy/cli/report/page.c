/* SPDX-License-Identifier: MIT */
/* The report of a run as a page: see page.h. */
#include "deploy/cli/report/page.h"

#include "common/metrics/human.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/page_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *page_word_or(const char *word, const char *other)
{
    return word != NULL && *word != '\0' ? word : other;
}

void page_count(struct text *text, uint64_t count, const char *one)
{
    char number[HUMAN_MAX];
    text_add(text, "%s %s%s", human_count(number, count), one, count == 1 ? "" : "s");
}

/* --- the head --- */

void page_title(struct text *text, const struct figures *figures)
{
    text_add(text, "%s", page_word_or(figures->kernel, "a loop"));
    if (figures->technique != NULL)
        text_add(text, " by %s", figures->technique);
    text_add(text, ", ");
    page_count(text, figures->workers, "worker");
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
    page_count(text, figures->nodes, "node");
    if (figures->masters > 0) {
        text_add(text, ", ");
        page_count(text, figures->masters, "master");
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
    text_add(page->text, "%s%s%s%s%s", page_has_predicted(page) ? "has-predicted " : "",
             trace != NULL ? "has-trace " : "", trace != NULL && trace->cut_count > 0 ? "has-cuts " : "",
             trace != NULL && trace->event_count > 0 ? "has-events " : "", has_finish ? "has-finish" : "");
}

/* --- tables --- */

/* `digits` stand behind the point. */
static void table_cell(struct text *text, double value, int digits)
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
        table_cell(text, worker->node, 0);
        text_add(text, "<td>");
        markup_add(text, page_word_or(worker->host, ""));
        text_add(text, "</td>");
        if (worker->power > 0)
            text_add(text, "<td data-value=\"%.15g\">%.6g</td>", worker->power, worker->power);
        else
            text_add(text, "<td></td>");
        table_cell(text, (double)worker->iterations, 0);
        table_cell(text, (double)worker->chunks, 0);
        table_cell(text, worker->compute_s, 6);
        table_cell(text, worker->wait_s, 6);
        table_cell(text, worker->finish_s, 6);
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
        if (page_is_known(event->first))
            text_add(text, "%" PRIu64, event->first);
        text_add(text, "</td><td>");
        if (page_is_known(event->count))
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

/* The finest power of ten by which all times are below 2^32. */
static double choose_tick(const struct run_trace *trace)
{
    const double end_s = trace != NULL ? run_trace_end(trace) : 1;
    double tick_s = 1e-9;
    while (end_s / tick_s > 4e9)
        tick_s *= 10;
    return tick_s;
}

void page_html(struct text *text, const struct page_content *content)
{
    static const struct {
        const char *name;
        void (*write)(const struct page *page);
    } writers[] = {{"title", write_title},    {"subtitle", write_subtitle},
                   {"has", write_has},        {"tiles", page_tiles},
                   {"words", page_sentences}, {"predicted", page_predicted},
                   {"tree", page_tree},       {"workers", write_workers},
                   {"events", write_events},  {"more_events", write_more_events},
                   {"name", write_name},      {"run", page_run},
                   {"chunks", page_chunks},   {"cuts", page_cuts}};
    const struct page page = {
        text,          content->figures,           content->trace, content->tree, content->simulated,
        content->name, choose_tick(content->trace)};
    for (const struct page_part *part = page_parts;; part++) {
        text_add(text, "%s", part->text);
        if (part->then == NULL)
            return;
        for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
            if (strcmp(writers[i].name, part->then) == 0)
                writers[i].write(&page);
    }
}
