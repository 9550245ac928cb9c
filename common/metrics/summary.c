/* SPDX-License-Identifier: MIT */
/* The summary: see summary.h. */
#include "common/metrics/summary.h"
#include "common/metrics/human.h"
#include "common/metrics/reasons.h"
#include "common/predict/choose.h"
#include "common/sched/sched.h"
#include "common/util/ranges.h"
#include "common/util/stats.h"
#include "common/util/text.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL_COLUMNS = 22 };
#define COUNT_MAX    100000000
#define FAILED_SHOWN 4

struct bar {
    unsigned rank;
    unsigned workers;
    uint64_t iterations;
    double compute_s;
};

static void add_plural(struct text *text, uint64_t count, const char *one)
{
    char number[HUMAN_MAX];
    text_add(text, "%s %s%s", human_count(number, count), one, count == 1 ? "" : "s");
}

static const char *unit_of(const struct report *report)
{
    return report->are_tasks ? "task" : "iteration";
}

static uint64_t sum_counts(const struct range *ranges, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ranges[i].count;
    return sum;
}

static uint64_t count_done(const struct report *report)
{
    return report->done - sum_counts(report->failed_tasks, report->failed_task_count);
}

static void add_rate(struct text *text, const struct report *report)
{
    char elapsed[HUMAN_MAX], rate[HUMAN_MAX];
    if (report->elapsed_s <= 0)
        return;
    human_rate(rate, (double)(report->done - report->faults.resumed_iterations) / report->elapsed_s);
    text_add(text, " in %s (%s)", human_duration(elapsed, report->elapsed_s), rate);
}

static double percent_done(const struct report *report)
{
    return report->iterations > 0 ? floor(1000.0 * (double)count_done(report) / (double)report->iterations) / 10 : 100;
}

static void add_part_done(struct text *text, const struct report *report)
{
    char done[HUMAN_MAX];
    text_add(text, "\n  done         %s of ", human_count(done, count_done(report)));
    add_plural(text, report->iterations, unit_of(report));
    text_add(text, "%s (%.1f %%)", report->grows ? " so far" : "", percent_done(report));
}

static void add_failed(struct text *text, const struct report *report)
{
    char failed[HUMAN_MAX];
    if (!report->are_tasks) {
        text_add(text, "done but for what failed");
        return;
    }
    human_count(failed, sum_counts(report->failed_tasks, report->failed_task_count) +
                            sum_counts(report->failed, report->failed_count));
    text_add(text, "%s of ", failed);
    add_plural(text, report->iterations, "task");
    text_add(text, " failed");
}

static void add_headline(struct text *text, const struct report *report)
{
    text_add(text, "%s: ", report->kernel->name);
    switch (report->outcome) {
    case REPORT_DONE:
        add_plural(text, report->iterations, unit_of(report));
        text_add(text, " done");
        break;
    case REPORT_TASKS_FAILED:
        add_failed(text, report);
        add_part_done(text, report);
        break;
    case REPORT_DRAINED:
        text_add(text, report->is_cancelled ? "cancelled, and what ran was ended"
                                            : "stopped by a signal after a clean drain");
        add_part_done(text, report);
        break;
    case REPORT_FAILED:
        text_add(text, "failed");
        if (report->failure != NULL)
            text_add(text, ": %s", report->failure);
        add_part_done(text, report);
        break;
    }
    add_rate(text, report);
    text_add(text, "\n");
}

static void add_recorded(struct text *text, const struct report_recorded *recorded)
{
    if (recorded->workers == 0)
        return;
    text_add(text, "  recorded     %u worker%s", recorded->workers, recorded->workers == 1 ? "" : "s");
    if (recorded->known < recorded->workers)
        text_add(text, ", the speeds of %u of them known", recorded->known);
    if (recorded->are_different)
        text_add(text, ", %.2f to %.2f times as fast as their mean, %s\n", recorded->slowest, recorded->quickest,
                 recorded->are_simulated ? "and so are the simulated ones" : "whose costs these are");
    else
        text_add(text, recorded->known > 1 ? ", as fast as each other, as far as can be told\n"
                                           : ", not told apart from the costs\n");
}

static void add_simulated(struct text *text, const struct report_simulation *simulated)
{
    if (simulated == NULL)
        return;
    bool model = strcmp(simulated->costs, "model") == 0;
    text_add(text, "  simulated    platform %s, backend %s; costs %s%s\n", simulated->platform, simulated->backend,
             model ? "by the kernel's model" : "of ", model ? "" : simulated->costs);
    add_recorded(text, &simulated->recorded);
    if (simulated->seed > 0)
        text_add(text, "  order        seed %" PRIu64, simulated->seed);
    if (simulated->repetitions > 0) {
        char least[HUMAN_MAX], median[HUMAN_MAX], most[HUMAN_MAX];
        text_add(text, "; of %u the least %s, the median %s, the most %s", simulated->repetitions,
                 human_duration(least, simulated->least_s), human_duration(median, simulated->median_s),
                 human_duration(most, simulated->most_s));
    }
    if (simulated->seed > 0)
        text_add(text, "\n");
    if (simulated->supermaster_busy >= 0)
        text_add(text, "  busy         supermaster %.1f %% of the time", 100 * simulated->supermaster_busy);
    if (simulated->master_busy >= 0)
        text_add(text, ", masters up to %.1f %%", 100 * simulated->master_busy);
    if (simulated->supermaster_busy >= 0)
        text_add(text, "\n");
}

static void add_measured(struct text *text, const struct report *report)
{
    const struct technique_param *params = report->technique.technique->params;
    char value[HUMAN_MAX];
    for (unsigned i = 0; i < report->measured_count; i++) {
        const struct sched_value_used *used = &report->measured[i];
        const struct technique_param *param = params;
        while (param->name != NULL && strcmp(param->name, used->name) != 0)
            param++;
        bool ratio = param->name != NULL && param->maximum <= 1;
        text_add(text, "%s%s ", i == 0 ? "  measured     " : ", ", used->name);
        if (ratio)
            text_add(text, "%.3g", used->value);
        else
            text_add(text, "%s", human_duration(value, used->value));
    }
    if (report->measured_count > 0)
        text_add(text, "\n");
}

static void add_choice(struct text *text, const struct choice *choice)
{
    const struct candidate *chosen = &choice->candidates[choice->chosen], *least = NULL, *most = NULL;
    char duration[HUMAN_MAX];
    for (unsigned i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        if (candidate == chosen || candidate->predicted_s <= 0)
            continue;
        if (least == NULL || candidate->predicted_s < least->predicted_s)
            least = candidate;
        if (most == NULL || candidate->predicted_s > most->predicted_s)
            most = candidate;
    }
    text_add(text, "  chosen       by auto");
    if (choice->count > 0 && chosen->predicted_s > 0)
        text_add(text, ": predicted %s", human_duration(duration, chosen->predicted_s));
    if (least != NULL) {
        text_add(text, "; the others %s (%s)", human_duration(duration, least->predicted_s), least->name);
        text_add(text, " to %s (%s)", human_duration(duration, most->predicted_s), most->name);
    }
    text_add(text, "\n");
}

static double summary_weight_of(const struct report_worker *worker)
{
    return worker->weight;
}

static double summary_load_of(const struct report_worker *worker)
{
    return worker->load;
}

static bool summary_find_span(const struct report *report, double (*of)(const struct report_worker *worker),
                              double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (unsigned i = 0; i < report->workers; i++) {
        double value = of(&report->worker_stats[i]);
        if (value <= 0)
            continue;
        *least = fmin(*least, value);
        *most = fmax(*most, value);
    }
    return *most > 0;
}

static void summary_add_workers(struct text *text, const struct report *report)
{
    double least, most;
    if (summary_find_span(report, summary_weight_of, &least, &most))
        text_add(text, "  learned      weights of the workers from %.3g to %.3g, 1 on average\n", least, most);
    if (summary_find_span(report, summary_load_of, &least, &most))
        text_add(text, "  loads        of the workers' cores from %.3g to %.3g; 1 where nobody else is\n", least, most);
}

static void add_recalls(struct text *text, const struct report_recalls *recalls, const char *unit)
{
    char worth[HUMAN_MAX];
    text_add(text, "  recall       ");
    add_plural(text, recalls->count, "recall");
    text_add(text, " moved ");
    add_plural(text, recalls->iterations, unit);
    if (recalls->worth_s > 0)
        text_add(text, ", worth about %s of computing", human_duration(worth, recalls->worth_s));
    text_add(text, "\n");
}

static void add_technique(struct text *text, const struct report *report)
{
    char spec[SCHED_SPEC_TEXT_MAX], number[HUMAN_MAX];
    sched_spec_format(&report->technique, spec, sizeof spec);
    text_add(text, "  technique    %s", spec);
    if (report->weighting != SCHED_WEIGHTING_NONE)
        text_add(text, ", weighted by %s", sched_weighting_name(report->weighting));
    if (report->technique_by_kernel)
        text_add(text, ", the default where iterations wait or have effects");
    text_add(text, "\n");
    if (report->choice != NULL)
        add_choice(text, report->choice);
    add_measured(text, report);
    summary_add_workers(text, report);
    text_add(text, "  chunks       %s", human_count(number, report->chunks));
    if (report->refills > 0) {
        text_add(text, " in ");
        add_plural(text, report->refills, "refill");
    }
    if (report->min_chunk > 1)
        text_add(text, ", at least %s iterations each", human_count(number, report->min_chunk));
    if (report->max_chunk > 0)
        text_add(text, ", at most %s iterations each", human_count(number, report->max_chunk));
    text_add(text, "\n");
    if (report->recalls.count > 0)
        add_recalls(text, &report->recalls, unit_of(report));
    if (report->sync_points > 0)
        text_add(text, "  sync points  %s in each chunk\n", human_count(number, report->sync_points));
}

static void add_threads(struct text *text, const struct report *report)
{
    char spec[SCHED_SPEC_TEXT_MAX];
    if (report->thread_level.threads == 0 || report->thread_technique == NULL)
        return;
    sched_spec_format(report->thread_technique, spec, sizeof spec);
    text_add(text, "  threads      %u, by %s in ", report->thread_level.threads, spec);
    add_plural(text, report->thread_level.chunks, "chunk");
    text_add(text, "\n");
}

static void add_sharing(struct text *text, const struct report *report)
{
    bool few = report->cores > 0 && report->workers > report->cores;
    if (report->cores > 0 && report->thread_level.threads > report->cores)
        text_add(text, "  note         %u threads share %u cores: imbalance in a worker tells of that\n",
                 report->thread_level.threads, report->cores);
    if (few)
        text_add(text, "  note         %u workers share %u core%s: ", report->workers, report->cores,
                 report->cores > 1 ? "s" : "");
    else if (report->shared.cores > 0)
        text_add(text, "  note         workers share cores: ");
    if (few || report->shared.cores > 0)
        text_add(text, "efficiency and overhead are of the %s\n", report->shared.cores > 0 ? "cores" : "workers");
}

static void add_pods(struct text *text, const struct report_pods *pods)
{
    if (pods->joined == 0)
        return;
    text_add(text, "  pods         ");
    add_plural(text, pods->joined, "master");
    text_add(text, " joined with workers, %u left again, %u lost\n", pods->left, pods->lost);
}

static void summary_add_topology(struct text *text, const struct report *report)
{
    text_add(text, "  topology     %s: ", report_topology_name(report->topology));
    if (report->masters > 0) {
        add_plural(text, report->masters, "master");
        text_add(text, ", ");
    }
    add_plural(text, report->workers, "worker");
    text_add(text, " on ");
    add_plural(text, report->nodes, "node");
    if (report->cores > 0) {
        text_add(text, " with ");
        add_plural(text, report->cores, "core");
    }
    text_add(text, "\n");
    add_pods(text, &report->pods);
    add_threads(text, report);
    add_sharing(text, report);
}

static void add_figures(struct text *text, const struct report *report)
{
    char overhead[HUMAN_MAX], startup[HUMAN_MAX];
    if (report->elapsed_s <= 0)
        return;
    text_add(text, "  efficiency   %.1f %%; overhead %s per %s, start-up %s\n", 100 * report->efficiency,
             human_duration(overhead, report->overhead_s), report->shared.cores > 0 ? "core" : "worker",
             human_duration(startup, report->startup_s));
    text_add(text, "  imbalance    %.3f max/mean of the workers' finishing times, cov %.3f\n",
             report->imbalance.max_over_mean, report->imbalance.cov);
    if (report->thread_level.threads > 0)
        text_add(text, "  in a worker  on average %.3f max/mean of its threads' times, cov %.3f\n",
                 report->thread_level.max_over_mean, report->thread_level.cov);
}

static void add_steps(struct text *text, const struct report *report)
{
    char mean[HUMAN_MAX], least[HUMAN_MAX], most[HUMAN_MAX], all[HUMAN_MAX];
    struct stats times;
    if (report->step_count == 0)
        return;
    stats_init(&times);
    for (uint64_t i = 0; i < report->step_count; i++)
        if (report->steps[i].elapsed_s > 0)
            stats_add(&times, report->steps[i].elapsed_s);
    text_add(text, "  steps        %s", human_count(all, report->step_count));
    if (times.count > 0)
        text_add(text, ": %s each, from %s to %s", human_duration(mean, times.mean),
                 human_duration(least, times.minimum), human_duration(most, times.maximum));
    text_add(text, "\n");
}

static void add_fault(struct text *text, const char **separator, uint64_t count, const char *one)
{
    if (count == 0)
        return;
    text_add(text, "%s", *separator);
    add_plural(text, count, one);
    *separator = ", ";
}

static void summary_add_faults(struct text *text, const struct report *report)
{
    const struct report_faults *faults = &report->faults;
    const char *separator = "  faults       ";
    add_fault(text, &separator, faults->lost_workers, "lost worker");
    add_fault(text, &separator, faults->lost_masters, "lost master");
    add_fault(text, &separator, faults->late_workers, "late worker");
    add_fault(text, &separator, faults->reissued_chunks, "reissued chunk");
    add_fault(text, &separator, faults->duplicate_results, "duplicate result");
    add_fault(text, &separator, faults->resumed_iterations, report->are_tasks ? "resumed task" : "resumed iteration");
    if (separator[0] == ',')
        text_add(text, "\n");
}

static void add_aside(struct text *text, const struct report *report)
{
    char failed[HUMAN_MAX];
    unsigned shown = 0;
    for (size_t i = 0; i < report->aside_count && shown < FAILED_SHOWN; i++) {
        const struct report_aside *aside = &report->aside[i];
        if (!aside->is_back)
            text_add(text, "%snode %u, after %s failed tasks while %u of %u beside them worked elsewhere\n",
                     shown++ == 0 ? "  put aside    " : "               ", aside->node,
                     human_count(failed, aside->failed), aside->worked, aside->beside);
    }
}

static void add_range(struct text *text, const struct range *range, bool are_tasks)
{
    if (!are_tasks)
        text_add(text, "%" PRIu64 ":%" PRIu64, range->first, range->count);
    else if (range->count == 1)
        text_add(text, "%" PRIu64, range->first + 1);
    else
        text_add(text, "%" PRIu64 "-%" PRIu64, range->first + 1, range->first + range->count);
}

static void add_reasons(struct text *text, const struct report *report)
{
    unsigned shown = 0;
    for (size_t i = 0; i < report->failure_count && shown < FAILED_SHOWN; i++) {
        const struct report_failure *failure = &report->failures[i];
        if (!failure->given_up)
            continue;
        text_add(text, "%s", shown++ == 0 ? "  because      " : "               ");
        add_range(text, &failure->range, report->are_tasks);
        text_add(text, "%s %s\n", report->are_tasks ? ":" : "", failure->text);
    }
}

static void summary_add_ranges(struct text *text, const char *title, const struct range *ranges, size_t count,
                               bool are_tasks)
{
    for (size_t i = 0; i < count && i < FAILED_SHOWN; i++) {
        text_add(text, "%s%s", i == 0 ? title : ", ", i == 0 && are_tasks ? "tasks " : "");
        add_range(text, &ranges[i], are_tasks);
    }
    if (count > FAILED_SHOWN)
        text_add(text, " and %zu more", count - FAILED_SHOWN);
    if (count > 0)
        text_add(text, "%s\n", are_tasks ? "" : " (first:count)");
}

static void add_ledger(struct text *text, const struct report *report)
{
    uint64_t failed = sum_counts(report->failed_tasks, report->failed_task_count);
    uint64_t given_up = sum_counts(report->failed, report->failed_count);
    uint64_t run = report->done, left = report->iterations - run - given_up;
    text_add(text,
             "  ledger       %" PRIu64 " submitted = %" PRIu64 " done + %" PRIu64 " failed + %" PRIu64 " given up",
             report->iterations, run - failed, failed, given_up);
    if (left > 0)
        text_add(text, " + %" PRIu64 " not run", left);
    text_add(text, "\n");
}

static void add_verify(struct text *text, const struct report *report)
{
    const struct report_verify *verify = &report->verify;
    char number[HUMAN_MAX];
    if (verify->share == 0)
        return;
    text_add(text, "  verified     ");
    add_plural(text, verify->alike, "iteration");
    text_add(text, " %s computed twice with the same results", verify->alike == 1 ? "was" : "were");
    if (verify->differing > 0)
        text_add(text, ", %s with different ones", human_count(number, verify->differing));
    if (verify->unverified > 0)
        text_add(text, ";\n               %s more were drawn, and nobody else could compute them",
                 human_count(number, verify->unverified));
    text_add(text, "\n");
}

static void add_results(struct text *text, const struct report *report, unsigned width)
{
    char bytes[HUMAN_MAX];
    text_add(text, "  traffic      ");
    add_plural(text, report->messages, "message");
    human_si(bytes, (double)report->bytes_on_wire);
    text_add(text, ", %s%sB\n", bytes, strchr(bytes, ' ') != NULL ? "" : " ");
    summary_add_faults(text, report);
    add_aside(text, report);
    add_verify(text, report);
    bool are_tasks = report->are_tasks;
    summary_add_ranges(text, "  given up     ", report->failed, report->failed_count, are_tasks);
    add_reasons(text, report);
    summary_add_ranges(text, "  failed       ", report->failed_tasks, report->failed_task_count, are_tasks);
    if (report->reasons != NULL)
        reasons_add_text(report->reasons, text, "  reasons      ", "               ", width);
    if (are_tasks)
        add_ledger(text, report);
    if (report->simulated == NULL)
        text_add(text, "  checksum     %016" PRIx64 "\n", report->checksum);
    if (report->output == NULL || report->output[0] == '\0')
        return;
    text_add(text, "  output       %s%s", report->output, report->output_in_parts ? ".parts" : "");
    if (report->done < report->iterations) {
        char undone[HUMAN_MAX];
        text_add(text,
                 report->are_tasks       ? " (%s of its tasks not run)"
                 : report->output_varies ? " (%s of its iterations not computed)"
                                         : " (%s of its records not computed: zero)",
                 human_count(undone, report->iterations - report->done));
    }
    text_add(text, "\n");
}

static void summary_add_resume(struct text *text, const struct report *report)
{
    bool failed = report->failed_task_count > 0 && report->done == report->iterations;
    if (report->journal != NULL)
        text_add(text, "  journal      %s: --resume%s\n", report->journal,
                 failed                     ? " failed does again what failed"
                 : report->rest_is_given_up ? " failed tries again what was given up"
                                            : " goes on with the rest");
}

static struct bar *find_bar(struct bar bars[SUMMARY_BARS_MAX], unsigned *count, unsigned rank)
{
    for (unsigned i = *count; i-- > 0;)
        if (bars[i].rank == rank)
            return &bars[i];
    if (*count == SUMMARY_BARS_MAX)
        return NULL;
    bars[*count] = (struct bar){.rank = rank};
    return &bars[(*count)++];
}

static unsigned collect_bars(const struct report *report, struct bar bars[SUMMARY_BARS_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < report->workers; i++) {
        const struct report_worker *worker = &report->worker_stats[i];
        struct bar *bar = find_bar(bars, &count, report->masters > 0 ? worker->master : worker->rank);
        if (bar == NULL)
            continue;
        bar->workers++;
        bar->iterations += worker->iterations;
        bar->compute_s += report_computing_s(worker);
    }
    return count;
}

static void add_bar(struct text *text, const struct report *report, const struct bar *bar, unsigned width, bool utf8)
{
    char blocks[3 * HUMAN_BAR_MAX + 1], number[HUMAN_MAX];
    double share = bar->compute_s / (report->elapsed_s * bar->workers);
    uint64_t count = report->masters > 0 ? bar->workers : bar->iterations;
    if (count < COUNT_MAX)
        human_count(number, count);
    else
        human_si(number, (double)count);
    human_bar(blocks, share, width - LABEL_COLUMNS - 9, utf8);
    text_add(text, "  %6u  %10s  %s %5.1f %%\n", bar->rank, number, blocks, 100 * share);
}

static void add_bars(struct text *text, const struct report *report, unsigned width, bool utf8)
{
    struct bar bars[SUMMARY_BARS_MAX];
    unsigned total = report->masters > 0 ? report->masters : report->workers;
    if (report->elapsed_s <= 0 || report->chunks == 0)
        return;
    unsigned count = collect_bars(report, bars);
    text_add(text, report->masters > 0 ? "  master     workers"
                   : report->are_tasks ? "  worker       tasks"
                                       : "  worker  iterations");
    text_add(text, "  share of the time spent computing\n");
    for (unsigned i = 0; i < count; i++)
        add_bar(text, report, &bars[i], width, utf8);
    if (count == SUMMARY_BARS_MAX && total > count)
        text_add(text, "  and %u more\n", total - count);
}

char *summary_text(const struct report *report, unsigned width, bool utf8)
{
    struct text text;
    width = width < 60 ? 60 : width > 100 ? 100 : width;
    text_init(&text);
    add_headline(&text, report);
    add_simulated(&text, report->simulated);
    add_technique(&text, report);
    summary_add_topology(&text, report);
    add_figures(&text, report);
    add_steps(&text, report);
    add_results(&text, report, width);
    summary_add_resume(&text, report);
    add_bars(&text, report, width, utf8);
    return text_take(&text);
}
