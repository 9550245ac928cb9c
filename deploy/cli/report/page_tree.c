/* SPDX-License-Identifier: MIT */
/* The tree of supermaster, masters and workers on the page: see page_parts.h. */
#include "common/metrics/human.h"
#include "deploy/cli/report/page_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* So many workers of a branch are listed below it; the table of workers has all. */
#define LISTED_MAX 64

/* --- words --- */

/* A mean or a ratio: three digits, and all of those before the point. */
static const char *mean_words(char words[HUMAN_MAX], double value)
{
    if (value >= 1000 && value < 1e15)
        return human_count(words, (uint64_t)(value + 0.5));
    if (value > 0 && value < 0.01)
        return "less than 0.01";
    snprintf(words, HUMAN_MAX, "%.3g", value);
    return words;
}

/* "12 chunks, 3 of them cut for others" */
static void write_counts(struct text *text, const struct tree_counts *counts)
{
    char number[HUMAN_MAX];
    page_count(text, counts->chunks, "chunk");
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = {{counts->other, "cut for others"}, {counts->recalled, "recalled"}, {counts->again, "given again"}};
    for (unsigned i = 0; i < 3; i++)
        if (parts[i].count > 0)
            text_add(text, ", %s %s", human_count(number, parts[i].count), parts[i].what);
}

static void write_worker_list(const struct page *page, const struct tree_branch *branch, const char *summary)
{
    struct text *text = page->text;
    text_add(text, "<details><summary>%s</summary><ul>\n", summary);
    for (unsigned i = 0; i < branch->workers && i < LISTED_MAX; i++) {
        const uint32_t place = branch->worker_index[i];
        const struct run_worker *worker = &page->trace->workers[place];
        text_add(text, "<li>Worker %" PRIu32 "%s: ", worker->rank, isnan(worker->lost_s) ? "" : " (lost)");
        write_counts(text, &page->tree->of_worker[place]);
        text_add(text, "</li>\n");
    }
    if (branch->workers > LISTED_MAX)
        text_add(text, "<li>and %u more, in the table of workers</li>\n", branch->workers - LISTED_MAX);
    text_add(text, "</ul></details>");
}

/* Of all messages of the run: those of the daemons are not told one by one. */
static void write_messages(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    char words[HUMAN_MAX];
    if (!page_is_known(figures->messages))
        return;
    text_add(text, "<p>Supermaster, masters and workers sent ");
    page_count(text, figures->messages, "message");
    text_add(text, " in the whole run");
    if (figures->chunks > 0) {
        const double each = (double)figures->messages / (double)figures->chunks;
        text_add(text, ", ");
        page_figure(text, "messages_per_chunk", each, mean_words(words, each));
        text_add(text, " for each chunk");
    }
    if (figures->elapsed_s > 0) {
        const double rate = (double)figures->messages / figures->elapsed_s;
        text_add(text, "; over the loop time that is ");
        page_figure(text, "messages_per_s", rate, human_rate(words, rate));
    }
    text_add(text, ".");
    if (page_is_known(figures->refills) && figures->refills > 0) {
        text_add(text, " The task pools were refilled ");
        page_figure_count(text, "refills", figures->refills);
        text_add(text, " time%s.", figures->refills == 1 ? "" : "s");
    }
    text_add(text, "</p>\n");
}

/* Who served whom, as far as a report tells. */
static void write_short(const struct page *page)
{
    const struct figures *figures = page->figures;
    struct text *text = page->text;
    text_add(text, "<p>");
    if (figures->masters > 0) {
        text_add(text, "The supermaster cut the loop for ");
        page_count(text, figures->masters, "master");
        text_add(text, ", which served ");
        page_count(text, figures->workers, "worker");
        text_add(text, ". What each master gave and had in its pool is in a trace.</p>\n");
    } else {
        text_add(text, "There are no masters: ");
        page_count(text, figures->workers, "worker");
        text_add(text, " got %s chunks from the supermaster, or drew them themselves.</p>\n",
                 figures->workers == 1 ? "its" : "their");
    }
}

/* What was given, to how many, how fast, and why: "438 chunks to 64 workers, 13.9 k/s: 300 cut for ..." */
static void write_given(const struct page *page)
{
    const struct tree_branch *all = &page->tree->all;
    const double elapsed_s = page->figures->elapsed_s;
    struct text *text = page->text;
    char words[HUMAN_MAX];
    page_count(text, all->counts.chunks, "chunk");
    text_add(text, " to ");
    page_count(text, all->served, "worker");
    if (elapsed_s > 0) {
        const double rate = (double)all->counts.chunks / elapsed_s;
        text_add(text, ", ");
        page_figure(text, "chunks_per_s", rate, human_rate(words, rate));
    }
    text_add(text, ": %s cut for the worker that got them, %s for another one", human_count(words, all->counts.own),
             human_count((char[HUMAN_MAX]){0}, all->counts.other));
    text_add(text, ", %s recalled", human_count(words, all->counts.recalled));
    text_add(text, ", %s given again.", human_count(words, all->counts.again));
}

static void write_central(const struct page *page)
{
    const struct tree_branch *all = &page->tree->all;
    struct text *text = page->text;
    char words[HUMAN_MAX], summary[HUMAN_MAX + 16];
    text_add(text, "<p>There are no masters: the supermaster served all workers itself, with no task pools in between. "
                   "It gave ");
    write_given(page);
    text_add(text, "</p>\n");
    snprintf(summary, sizeof summary, "Its %s worker%s", human_count(words, all->workers),
             all->workers == 1 ? "" : "s");
    write_worker_list(page, all, summary);
}

static void write_hierarchical(const struct page *page)
{
    const struct run_tree *tree = page->tree;
    const struct pool_course *pool = tree->all.pool;
    struct text *text = page->text;
    char words[HUMAN_MAX];
    text_add(text, "<p>The supermaster cut ");
    page_count(text, pool->cut, "iteration");
    if (page_is_known(page->figures->iterations) && pool->cut > page->figures->iterations)
        text_add(text, ", some of them again after a loss,");
    text_add(text, " for the workers of ");
    page_count(text, tree->masters, "master");
    text_add(text, tree->masters == 1 ? "; that gave " : "; these gave ");
    write_given(page);
    text_add(text, " On average ");
    page_figure(text, "pool_mean_chunks", pool->mean_chunks, mean_words(words, pool->mean_chunks));
    text_add(text, " chunks lay in the task pools together; ");
    if (pool->moved > 0)
        page_figure_count(text, "moved", pool->moved);
    text_add(text, "%s moved from the pool of one master to workers of another.</p>\n",
             pool->moved == 0   ? "no iterations were"
             : pool->moved == 1 ? " iteration was"
                                : " iterations were");
}

/* --- the table --- */

static void count_cell(struct text *text, uint64_t count)
{
    char number[HUMAN_MAX];
    text_add(text, "<td data-value=\"%" PRIu64 "\">%s</td>", count, human_count(number, count));
}

/* Draws a depth over time: steps from the left edge to the right one. */
static void write_depth(struct text *text, const uint64_t *values, uint64_t most)
{
    uint64_t shown = values[0];
    text_add(text, "M0 %.3g", 37 - 34 * (double)shown / (double)most);
    for (unsigned i = 1; i < POOL_PARTS; i++) {
        if (values[i] == shown)
            continue;
        shown = values[i];
        text_add(text, "H%uV%.3g", i, 37 - 34 * (double)shown / (double)most);
    }
    text_add(text, "H%d", POOL_PARTS);
}

/* What a chart of a pool is drawn to: the most of any branch, so that they can be compared. */
struct pool_scale {
    uint64_t iterations, chunks;
};

static void write_pool_words(struct text *text, const char *name, const struct pool_course *pool, double begin_s)
{
    char iterations[HUMAN_MAX], chunks[HUMAN_MAX], moment[HUMAN_MAX];
    text_add(text, "Task pool of %s over time: ", name);
    if (pool->most_iterations == 0)
        text_add(text, "nothing ever lay there.");
    else
        text_add(
            text,
            "at most %s iterations, %s after the beginning, and at most %s chunks; nothing for %.0f %% of the time.",
            human_count(iterations, pool->most_iterations), human_duration(moment, fmax(0, pool->most_s - begin_s)),
            human_count(chunks, pool->most_chunks), 100 * pool->empty);
}

static void write_pool(struct text *text, const char *name, const struct pool_course *pool,
                       const struct pool_scale *scale, double begin_s)
{
    text_add(text, "<td class=\"pool\"><svg viewBox=\"0 0 %d 38\" preserveAspectRatio=\"none\" role=\"img\"><title>",
             POOL_PARTS);
    write_pool_words(text, name, pool, begin_s);
    text_add(text, "</title>");
    if (scale->iterations > 0) {
        text_add(text, "<path class=\"iterations\" d=\"");
        write_depth(text, pool->iterations, scale->iterations);
        text_add(text, "V37H0z\"/><path class=\"chunks\" d=\"");
        write_depth(text, pool->chunks, scale->chunks);
        text_add(text, "\"/>");
    }
    text_add(text, "</svg></td>");
}

/* "8", or "7 of 8" where the masters have more workers than they gave chunks. */
static void write_served(struct text *text, const struct tree_branch *branch)
{
    char number[HUMAN_MAX];
    text_add(text, "<td data-value=\"%u\">%s", branch->served, human_count(number, branch->served));
    if (branch->served < branch->workers)
        text_add(text, " of %s", human_count(number, branch->workers));
    text_add(text, "</td>");
}

static void write_branch_cells(const struct page *page, const struct tree_branch *branch, const char *name,
                               const struct pool_scale *scale)
{
    const struct tree_counts *counts = &branch->counts;
    const double rate = (double)counts->chunks / page->figures->elapsed_s;
    struct text *text = page->text;
    char number[HUMAN_MAX];
    write_pool(text, name, branch->pool, scale, page->tree->begin_s);
    count_cell(text, branch->pool->most_iterations);
    count_cell(text, branch->pool->most_chunks);
    write_served(text, branch);
    count_cell(text, counts->chunks);
    text_add(text, "<td>%s</td>", page->figures->elapsed_s > 0 ? human_rate(number, rate) : "");
    count_cell(text, counts->own);
    count_cell(text, counts->other);
    count_cell(text, counts->recalled);
    count_cell(text, counts->again);
    count_cell(text, branch->pool->moved);
    text_add(text, "</tr>\n");
}

static void branch_name(char name[64], const struct tree_branch *branch)
{
    if (branch->masters == 0)
        snprintf(name, 64, "The supermaster itself");
    else if (branch->masters == 1)
        snprintf(name, 64, "Master %" PRIu32, branch->first);
    else
        snprintf(name, 64, "%u masters, %" PRIu32 " to %" PRIu32, branch->masters, branch->first, branch->last);
}

static struct pool_scale scale_of(const struct tree_branch *branches, size_t count)
{
    struct pool_scale scale = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const struct pool_course *pool = branches[i].pool;
        scale.iterations = pool->most_iterations > scale.iterations ? pool->most_iterations : scale.iterations;
        scale.chunks = pool->most_chunks > scale.chunks ? pool->most_chunks : scale.chunks;
    }
    return scale;
}

static void write_branches(const struct page *page)
{
    static const char *const heads[] = {
        "Most iterations there", "Most chunks there", "Workers served", "Chunks given", "per second",
        "cut for this worker",   "cut for another",   "recalled",       "given again",  "moved away"};
    const struct run_tree *tree = page->tree;
    const struct pool_scale whole = scale_of(&tree->all, 1), scale = scale_of(tree->branches, tree->branch_count);
    struct text *text = page->text;
    char name[64];
    text_add(text, "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table of masters\">\n"
                   "<table id=\"tree\">\n<thead><tr><th scope=\"col\" class=\"text\">Rank</th>"
                   "<th scope=\"col\" class=\"text\">Task pool over time</th>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        text_add(text, "<th scope=\"col\">%s</th>", heads[i]);
    text_add(text, "</tr></thead>\n<tbody>\n"
                   "<tr><th scope=\"row\">Supermaster, all masters</th>");
    write_branch_cells(page, &tree->all, "all masters together", &whole);
    for (size_t i = 0; i < tree->branch_count; i++) {
        const struct tree_branch *branch = &tree->branches[i];
        branch_name(name, branch);
        text_add(text, "<tr><th scope=\"row\" class=\"branch\">");
        if (branch->workers > 0)
            write_worker_list(page, branch, name);
        else
            text_add(text, "%s", name);
        text_add(text, "</th>");
        write_branch_cells(page, branch, name, &scale);
    }
    text_add(text,
             "</tbody>\n</table>\n</div>\n"
             "<p class=\"note\">Open a master for its workers. Moved away are iterations that lay in its pool when "
             "another master gave them to a worker. In the charts the area is iterations in the pool, "
             "the line chunks, over the loop time; those of the masters are drawn to one scale. A trace has "
             "no rows about pools: an iteration counts from the scheduling step in which it was cut for a worker "
             "of the master until a worker is given it for the first time, and its chunk as long as any iteration "
             "of it does. So iterations that are on their way from the supermaster count, too.</p>\n");
}

void page_tree(const struct page *page)
{
    if (page->tree == NULL)
        write_short(page);
    else if (page->tree->masters == 0)
        write_central(page);
    else
        write_hierarchical(page);
    write_messages(page);
    if (page->tree != NULL && page->tree->masters > 0)
        write_branches(page);
}
