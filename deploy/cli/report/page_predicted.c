/* SPDX-License-Identifier: MIT */
/* Predicted figures beside those of the run, on its page: see page_parts.h. */
#include "common/metrics/human.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATIO_WORDS 64

/* "4.88 times as long as", "8.1 % longer than", "as long as" */
static const char *longer_words(char words[RATIO_WORDS], double ratio)
{
    if (fabs(ratio - 1) < 0.0005)
        return "as long as";
    if (ratio >= 2)
        snprintf(words, RATIO_WORDS, "%.*f times as long as", ratio < 10 ? 2 : 0, ratio);
    else
        snprintf(words, RATIO_WORDS, "%.1f %% %s than", 100 * fabs(ratio - 1), ratio > 1 ? "longer" : "shorter");
    return words;
}

static void add_ratio_cell(struct text *text, const char *name, double ratio)
{
    const int digits = ratio < 100 ? 3 : 0;
    if (!isfinite(ratio))
        text_add(text, "<td></td>");
    else if (name != NULL)
        text_add(text, "<td data-figure=\"%s\" data-value=\"%.15g\">%.*f</td>", name, ratio, digits, ratio);
    else
        text_add(text, "<td data-value=\"%.15g\">%.*f</td>", ratio, digits, ratio);
}

/* --- by auto --- */

/* What was predicted for the technique of the run; NAN where nothing was. */
static double predicted_of_chosen(const struct figures *figures)
{
    for (size_t i = 0; i < figures->predicted.count; i++)
        if (figures->technique != NULL && strcmp(figures->predicted.list[i].technique, figures->technique) == 0)
            return figures->predicted.list[i].predicted_s;
    return NAN;
}

/* The time that the latest prediction was of: of the whole loop, or of its last time step, where that was decided
 * before it began; without what an earlier run had done. NAN where it was decided in the middle, or not all is done. */
static double time_predicted(const struct figures *figures)
{
    const uint64_t iterations = figures->iterations, steps = figures->predicted.time_steps;
    if (!page_is_known(iterations) || figures->done != iterations)
        return NAN;
    if (steps > 0 && figures->predicted.iterations == iterations / steps && figures->predicted.last_step_s > 0)
        return figures->predicted.last_step_s;
    return figures->predicted.iterations == iterations - figures->resumed && figures->elapsed_s > 0 ? figures->elapsed_s
                                                                                                    : NAN;
}

static void write_decision(const struct page *page, double predicted_s)
{
    const struct figures *figures = page->figures;
    const double actual_s = time_predicted(figures);
    struct text *text = page->text;
    char words[RATIO_WORDS];
    text_add(text, "<p><code>--technique auto</code> decided ");
    if (figures->predicted.decisions == 1)
        text_add(text, "once");
    else
        page_count(text, figures->predicted.decisions, "time");
    if (page_is_known(figures->predicted.iterations)) {
        text_add(text, ", %sfor ", figures->predicted.decisions > 1 ? "the last time " : "");
        page_count(text, figures->predicted.iterations, "iteration");
    }
    text_add(text, ", and took ");
    markup_add(text, page_word_or(figures->technique, "a technique"));
    if (isnan(predicted_s)) {
        text_add(text, ", of which it could predict no time.</p>\n");
        return;
    }
    text_add(text, ", which was predicted to take ");
    page_figure_time(text, "predicted_s", predicted_s);
    text_add(text, ". ");
    if (!isnan(actual_s)) {
        text_add(text, figures->predicted.time_steps > 0 ? "The last time step took " : "The loop took ");
        page_figure_time(text, "predicted_actual_s", actual_s);
        text_add(text, ", %s predicted.", longer_words(words, actual_s / predicted_s));
    } else
        text_add(text, "The loop time is not of just these iterations, and cannot be compared with that.");
    text_add(text, " All predictions take the pace of each worker and the way of a message as they were measured by "
                   "then; nobody knows how long the other techniques would have taken.</p>\n");
}

/* The prediction as a bar, and the time that it took as a line across it; the table says both. */
static void add_prediction_bar(struct text *text, double predicted_s, double actual_s, double most_s)
{
    text_add(text, "<td><svg viewBox=\"0 0 240 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    if (!isnan(predicted_s))
        text_add(text, "<rect class=\"predicted\" width=\"%.4g\" height=\"10\"/>", 236 * predicted_s / most_s);
    if (!isnan(actual_s))
        text_add(text, "<path class=\"actual\" d=\"M%.4g 0v10\"/>", 236 * actual_s / most_s);
    text_add(text, "</svg></td>");
}

static void write_prediction(const struct page *page, const struct figures_prediction *prediction, double chosen_s,
                             double most_s)
{
    const struct figures *figures = page->figures;
    const bool is_chosen = figures->technique != NULL && strcmp(prediction->technique, figures->technique) == 0;
    const double actual_s = time_predicted(figures);
    struct text *text = page->text;
    text_add(text, "<tr%s><th scope=\"row\">", is_chosen ? " class=\"chosen\"" : "");
    markup_add(text, prediction->technique);
    text_add(text, "%s</th>", is_chosen ? " (taken)" : "");
    add_prediction_bar(text, prediction->predicted_s, actual_s, most_s);
    if (isnan(prediction->predicted_s))
        text_add(text, "<td>not predicted</td>");
    else
        text_add(text, "<td data-value=\"%.15g\">%.6f</td>", prediction->predicted_s, prediction->predicted_s);
    add_ratio_cell(text, NULL, prediction->predicted_s / chosen_s);
    if (is_chosen && !isnan(actual_s))
        text_add(text, "<td data-value=\"%.15g\">%.6f</td>", actual_s, actual_s);
    else
        text_add(text, "<td></td>");
    add_ratio_cell(text, "actual_over_predicted", is_chosen ? actual_s / prediction->predicted_s : NAN);
    text_add(text, "</tr>\n");
}

static void write_auto(const struct page *page)
{
    const struct figures *figures = page->figures;
    const double chosen_s = predicted_of_chosen(figures);
    struct text *text = page->text;
    double most_s = fmax(0, time_predicted(figures)); /* 0 where that is NAN */
    for (size_t i = 0; i < figures->predicted.count; i++)
        most_s = fmax(most_s, figures->predicted.list[i].predicted_s);
    write_decision(page, chosen_s);
    text_add(text,
             "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table of predicted techniques\">\n"
             "<table id=\"predicted\">\n<thead><tr><th scope=\"col\" class=\"text\">Technique</th>"
             "<th scope=\"col\" class=\"text\">Bar: predicted; line: the run</th>"
             "<th scope=\"col\">Predicted (s)</th><th scope=\"col\">Over the one taken</th>"
             "<th scope=\"col\">It took (s)</th><th scope=\"col\">Over the prediction</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < figures->predicted.count; i++)
        write_prediction(page, &figures->predicted.list[i], chosen_s, most_s);
    text_add(text, "</tbody>\n</table>\n</div>\n");
}

/* --- by a simulation --- */

/* A property in which the simulation differs from the run, for which its figures differ, too. */
static void write_otherwise(struct text *text, bool *is_first, const char *what, const char *simulated,
                            const char *actual)
{
    if (simulated == NULL || actual == NULL || strcmp(simulated, actual) == 0)
        return;
    text_add(text, *is_first ? "<p class=\"note\">The simulation is not of just this run: " : "; ");
    text_add(text, "%s ", what);
    markup_add(text, simulated);
    text_add(text, ", that of the run ");
    markup_add(text, actual);
    *is_first = false;
}

static void write_other_count(struct text *text, bool *is_first, const char *what, uint64_t simulated, uint64_t actual)
{
    char a[HUMAN_MAX], b[HUMAN_MAX];
    if (page_is_known(simulated) && page_is_known(actual))
        write_otherwise(text, is_first, what, human_count(a, simulated), human_count(b, actual));
}

static void write_what_differs(const struct page *page)
{
    const struct figures *simulated = page->simulated, *actual = page->figures;
    struct text *text = page->text;
    bool is_first = true;
    write_otherwise(text, &is_first, "its kernel is", simulated->kernel, actual->kernel);
    write_otherwise(text, &is_first, "its technique is", simulated->technique, actual->technique);
    write_other_count(text, &is_first, "its number of iterations is", simulated->iterations, actual->iterations);
    write_other_count(text, &is_first, "its number of iterations from an earlier run is", simulated->resumed,
                      actual->resumed);
    write_other_count(text, &is_first, "its number of workers is", simulated->workers, actual->workers);
    write_other_count(text, &is_first, "its number of masters is", simulated->masters, actual->masters);
    if (!is_first)
        text_add(text, ".</p>\n");
}

/* "as much as simulated", "0.8 % more than simulated" */
static void add_more(struct text *text, double ratio)
{
    if (fabs(ratio - 1) < 0.0005)
        text_add(text, "as much as simulated");
    else if (ratio >= 2)
        text_add(text, "%.*f times as much as simulated", ratio < 10 ? 2 : 0, ratio);
    else
        text_add(text, "%.1f %% %s than simulated", 100 * fabs(ratio - 1), ratio > 1 ? "more" : "less");
}

static void write_comparison(const struct page *page)
{
    const struct figures *simulated = page->simulated, *actual = page->figures;
    struct text *text = page->text;
    char words[RATIO_WORDS], count[HUMAN_MAX], least[HUMAN_MAX], most[HUMAN_MAX];
    text_add(text, "<p>The loop was simulated");
    if (simulated->simulation.platform != NULL) {
        text_add(text, " on ");
        markup_add(text, simulated->simulation.platform);
    }
    if (simulated->simulation.backend != NULL) {
        text_add(text, " (");
        markup_add(text, simulated->simulation.backend);
        text_add(text, ")");
    }
    text_add(text, " to take ");
    page_figure_time(text, "simulated_s", simulated->elapsed_s);
    if (simulated->simulation.repetitions > 1) {
        human_duration(least, simulated->simulation.least_s);
        human_duration(most, simulated->simulation.most_s);
        text_add(text, ", the median of %s repetitions", human_count(count, simulated->simulation.repetitions));
        if (strcmp(least, most) != 0)
            text_add(text, " that took %s to %s", least, most);
    }
    text_add(text, "; it took ");
    page_figure_time(text, "simulated_actual_s", actual->elapsed_s);
    text_add(text, ", %s simulated.", longer_words(words, actual->elapsed_s / simulated->elapsed_s));
    if (simulated->compute_s > 0 && actual->compute_s > 0) {
        text_add(text, " The costs of the iterations explain this much of it: all workers together computed ");
        add_more(text, actual->compute_s / simulated->compute_s);
        text_add(text, ".");
    }
    if (!isnan(simulated->efficiency) && !isnan(actual->efficiency)) {
        const double points = 100 * (actual->efficiency - simulated->efficiency);
        if (fabs(points) < 0.05)
            text_add(text, " The efficiency is the simulated one.");
        else
            text_add(text, " The efficiency is %.1f percentage points %s.", fabs(points),
                     points > 0 ? "higher" : "lower");
    }
    text_add(text, "</p>\n");
}

static void add_value_cell(struct text *text, double value, int digits)
{
    if (!isfinite(value))
        text_add(text, "<td></td>");
    else
        text_add(text, "<td data-value=\"%.15g\">%.*f</td>", value, digits, value);
}

static double count_or_nan(uint64_t count)
{
    return page_is_known(count) ? (double)count : NAN;
}

static void write_simulated(const struct page *page)
{
    const struct figures *simulated = page->simulated, *actual = page->figures;
    const double cut = (double)(actual->has_report ? actual->chunks : actual->steps);
    const struct {
        const char *label, *figure;
        double simulated, actual;
        int digits;
    } rows[] = {{"Loop time (s)", "elapsed_ratio", simulated->elapsed_s, actual->elapsed_s, 6},
                {"Efficiency", "efficiency_ratio", simulated->efficiency, actual->efficiency, 4},
                {"Imbalance", "imbalance_ratio", simulated->max_over_mean, actual->max_over_mean, 4},
                {"Computed by all (s)", "compute_ratio", simulated->compute_s, actual->compute_s, 6},
                {"Chunks", "chunks_ratio", (double)simulated->chunks, cut, 0},
                {"Messages", "messages_ratio", count_or_nan(simulated->messages), count_or_nan(actual->messages), 0}};
    struct text *text = page->text;
    if (simulated->elapsed_s > 0 && actual->elapsed_s > 0)
        write_comparison(page);
    write_what_differs(page);
    text_add(text, "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table of simulated figures\">\n"
                   "<table id=\"simulated\">\n<thead><tr><th scope=\"col\" class=\"text\">Figure</th>"
                   "<th scope=\"col\">Simulated</th><th scope=\"col\">The run</th>"
                   "<th scope=\"col\">The run over simulated</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        text_add(text, "<tr><th scope=\"row\">%s</th>", rows[i].label);
        add_value_cell(text, rows[i].simulated, rows[i].digits);
        add_value_cell(text, rows[i].actual, rows[i].digits);
        add_ratio_cell(text, rows[i].figure, rows[i].actual / rows[i].simulated);
        text_add(text, "</tr>\n");
    }
    text_add(text, "</tbody>\n</table>\n</div>\n");
}

void page_predicted(const struct page *page)
{
    if (page->figures->predicted.count > 0)
        write_auto(page);
    if (page->simulated != NULL)
        write_simulated(page);
}
