/* SPDX-License-Identifier: MIT */
/* The figures of a run on its page: see page_parts.h. */
#include "common/metrics/human.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/page_parts.h"

#include <math.h>
#include <string.h>

void page_figure(struct text *text, const char *name, double value, const char *words)
{
    text_add(text, "<b data-figure=\"%s\" data-value=\"%.15g\">%s</b>", name, value, words);
}

void page_figure_time(struct text *text, const char *name, double seconds)
{
    char words[HUMAN_MAX + 1];
    human_duration(words, seconds);
    char *unit = strstr(words, " us"); /* a page has the letter */
    if (unit != NULL)
        strcpy(unit, " µs");
    page_figure(text, name, seconds, words);
}

void page_figure_share(struct text *text, const char *name, double share)
{
    char words[HUMAN_MAX];
    snprintf(words, sizeof words, "%.1f %%", 100 * share);
    page_figure(text, name, share, words);
}

void page_figure_count(struct text *text, const char *name, uint64_t count)
{
    char words[HUMAN_MAX];
    page_figure(text, name, (double)count, human_count(words, count));
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

void page_tiles(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    char words[HUMAN_MAX];
    if (!isnan(figures->elapsed_s)) {
        begin_tile(page, "Loop time");
        page_figure_time(text, "elapsed_s", figures->elapsed_s);
        end_tile(page, "first assignment to last stored result");
    }
    if (!isnan(figures->efficiency)) {
        begin_tile(page, "Efficiency");
        page_figure_share(text, "efficiency", figures->efficiency);
        end_tile(page, "of the workers’ time computed what counts");
    }
    begin_tile(page, "Chunks");
    page_figure_count(text, "chunks", figures->chunks);
    end_tile(page, figures->has_report ? "cut by the technique" : "given to workers");
    if (figures->max_over_mean > 0) {
        begin_tile(page, "Imbalance");
        snprintf(words, sizeof words, "%.3f", figures->max_over_mean);
        page_figure(text, "max_over_mean", figures->max_over_mean, words);
        end_tile(page, "latest finishing time over the mean");
    }
    if (!isnan(figures->tail_s)) {
        begin_tile(page, "Tail");
        page_figure_time(text, "tail_s", figures->tail_s);
        end_tile(page, "from the first worker without work to the end");
    }
    begin_tile(page, "Lost workers");
    page_figure_count(text, "lost_workers", figures->lost_workers);
    end_tile(page, figures->lost_workers > 0 ? "their work was given to others" : "all stayed to the end");
}

/* --- the words --- */

static void write_sentence_of_loop(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    text_add(text, "<p>");
    markup_add(text, page_word_or(figures->technique, "The technique"));
    text_add(text, figures->resumed > 0 ? " cut what was left of " : " cut ");
    if (page_is_known(figures->iterations)) {
        page_figure_count(text, "iterations", figures->iterations);
        text_add(text, " iterations of ");
    }
    markup_add(text, page_word_or(figures->kernel, "the loop"));
    if (figures->steps > 0) {
        text_add(text, " in ");
        page_figure_count(text, "steps", figures->steps);
        text_add(text, " scheduling steps");
    }
    text_add(text, " for ");
    page_figure_count(text, "workers", figures->workers);
    text_add(text, " worker%s on ", figures->workers == 1 ? "" : "s");
    page_figure_count(text, "nodes", figures->nodes);
    text_add(text, " node%s; ", figures->nodes == 1 ? "" : "s");
    page_figure_count(text, "done", figures->done);
    text_add(text, " iterations are done");
    if (figures->resumed > 0) {
        text_add(text, ", ");
        page_figure_count(text, "resumed", figures->resumed);
        text_add(text, " of them by an earlier run, from which this one went on");
    }
    if (figures->failed_iterations > 0) {
        text_add(text, ", ");
        page_figure_count(text, "failed_iterations", figures->failed_iterations);
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
    page_figure_time(text, "compute_s", figures->compute_s);
    text_add(text, "; each waited for ");
    page_figure_time(text, "wait_s", wait_s);
    text_add(text, " in the mean.");
    if (!isnan(figures->startup_s)) {
        text_add(text, " Until the first assignment it took ");
        page_figure_time(text, "startup_s", figures->startup_s);
        text_add(text, ".");
    }
    if (!isnan(figures->tail_s)) {
        text_add(text, " The first worker had nothing more to do ");
        page_figure_time(text, "tail_begins_s", figures->elapsed_s - figures->tail_s);
        text_add(text, " after the beginning; from then on waiting for the others took ");
        page_figure_share(text, "tail_idle", figures->tail_idle);
        text_add(text, " of the workers’ time.");
    }
    if (!isnan(figures->cov) && figures->max_over_mean > 0)
        text_add(text,
                 " The finishing times have a coefficient of variation of <b data-figure=\"cov\" data-value=\"%.15g\">"
                 "%.3f</b>.",
                 figures->cov, figures->cov);
    text_add(text, "</p>\n");
}

static void write_percent(struct text *text, const char *figure, double percent)
{
    text_add(text, "<b data-figure=\"%s\" data-value=\"%.15g\">%.1f %%</b>", figure, percent, percent);
}

/* Figures of merit, each with its definition; none of a report that is older than they are. */
static void write_sentence_of_merit(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    if (isnan(figures->cost_s) || isnan(figures->percent) || isnan(figures->busy_percent))
        return;
    text_add(text, "<p>The parallel cost, the loop time of all workers together, is ");
    page_figure_time(text, "cost_s", figures->cost_s);
    text_add(text, ". A worker was in the mean for ");
    page_figure_time(text, "scheduling_s", figures->scheduling_s);
    text_add(text, " without a chunk before its last one ended, which is the overhead of scheduling, and idle for ");
    page_figure_time(text, "idle_s", figures->idle_s);
    text_add(text, " after that. The percent imbalance, 100 (max − mean) / max · n / (n − 1) of n workers "
                   "(DeRose, Homer and Johnson 2007), is ");
    write_percent(text, "percent", figures->percent);
    text_add(text, " of the finishing times and ");
    write_percent(text, "busy_percent", figures->busy_percent);
    text_add(text,
             " of the times computed, whose coefficient of variation is <b data-figure=\"busy_cov\" "
             "data-value=\"%.15g\">%.3f</b>.",
             figures->busy_cov, figures->busy_cov);
    text_add(text, "</p>\n");
}

/* One of several parts of a sentence; nothing where there is none of it. */
static void add_part(const struct page *page, bool *is_first, const char *figure, uint64_t count, const char *one,
                     const char *many)
{
    if (count == 0)
        return;
    text_add(page->text, *is_first ? "<p>" : " ");
    page_figure_count(page->text, figure, count);
    text_add(page->text, " %s.", count == 1 ? one : many);
    *is_first = false;
}

static void write_sentence_of_incidents(const struct page *page)
{
    const struct figures *figures = page->figures;
    bool is_first = true;
    add_part(page, &is_first, "reissued", figures->reissued, "chunk was given again after a loss or failure",
             "chunks were given again after a loss or failure");
    if (figures->has_report && figures->reissued > 0 && figures->reasons[TRACE_REQUEUED] > 0) {
        text_add(page->text, " That took ");
        page_figure_count(page->text, "pieces", figures->reasons[TRACE_REQUEUED]);
        text_add(page->text, " assignments.");
    }
    add_part(page, &is_first, "recalls", figures->recalls, "recall brought work to a worker that waited",
             "recalls brought work to workers that waited");
    add_part(page, &is_first, "copies", figures->reasons[TRACE_COPY], "speculative copy was begun",
             "speculative copies were begun");
    add_part(page, &is_first, "verifications", figures->reasons[TRACE_VERIFY], "chunk was computed again to verify it",
             "chunks were computed again to verify them");
    if (figures->verify_s > 0) {
        text_add(page->text, " That took ");
        page_figure_time(page->text, "verify_s", figures->verify_s);
        text_add(page->text, ".");
    }
    add_part(page, &is_first, "duplicates", figures->duplicates, "result came twice and was dropped",
             "results came twice and were dropped");
    if (!isnan(figures->in_vain_s) && figures->in_vain_s > 0) {
        text_add(page->text, is_first ? "<p>" : " ");
        text_add(page->text, "Computing that came to nothing took ");
        page_figure_time(page->text, "in_vain_s", figures->in_vain_s);
        text_add(page->text, ".");
        is_first = false;
    }
    text_add(page->text, is_first ? "<p>No chunk was computed twice, and no work was moved.</p>\n" : "</p>\n");
    if (page_is_known(figures->messages)) {
        char bytes[HUMAN_MAX];
        text_add(page->text, "<p>The daemons exchanged ");
        page_figure_count(page->text, "messages", figures->messages);
        text_add(page->text, " messages");
        if (page_is_known(figures->bytes_on_wire))
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
    page_figure_count(text, "own", own);
    text_add(text, " were cut for the worker that was given them, and ");
    page_figure_count(text, "other", figures->reasons[TRACE_OTHER]);
    text_add(text, " for another one.");
    if (!isnan(figures->latency_median_s)) {
        text_add(text, " From asking for a chunk to being given it took ");
        page_figure_time(text, "latency_median_s", figures->latency_median_s);
        text_add(text, " in the median, and at most ");
        page_figure_time(text, "latency_high_s", figures->latency_high_s);
        text_add(text, " in 95 %% of the cases.");
    }
    if (!isnan(figures->chunk_median_s)) {
        text_add(text, " A chunk was computed in ");
        page_figure_time(text, "chunk_median_s", figures->chunk_median_s);
        text_add(text, " in the median, 95 %% of them in at most ");
        page_figure_time(text, "chunk_high_s", figures->chunk_high_s);
        text_add(text, ".");
    }
    text_add(text, "</p>\n");
}

void page_sentences(const struct page *page)
{
    write_sentence_of_loop(page);
    write_sentence_of_chunks(page);
    write_sentence_of_time(page);
    write_sentence_of_merit(page);
    write_sentence_of_incidents(page);
}
