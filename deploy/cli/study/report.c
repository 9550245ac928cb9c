/* SPDX-License-Identifier: MIT */
/* The page that joins tables and pictures: see report.h. */
#include "deploy/cli/study/report.h"
#include "deploy/cli/study/differences.h"
#include "deploy/cli/study/inference.h"
#include "deploy/cli/study/workers.h"
#include "deploy/cli/wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1200 };

/* A table's cell ends at a stroke. */
static void write_text(const char *text, FILE *file)
{
    for (; *text != '\0'; text++) {
        if (strchr("|\\<*_`[", *text) != NULL)
            putc('\\', file);
        putc(*text, file);
    }
}

static bool is_shown(const struct study *study, int axis)
{
    return study_varies(study, axis) || axis == AXIS_WORKERS;
}

/* A label for a value that the study calls 0 or none. */
static const char *value_name(const struct study *study, int axis, const char *value)
{
    if (axis == AXIS_MASTERS && strcmp(value, "0") == 0)
        return "central";
    if (axis == AXIS_PLATFORM && strcmp(value, PLATFORM_NONE) == 0 && study_simulates(study))
        return "the default";
    return value;
}

static void report_write_head(const struct summary *summary, FILE *file)
{
    const struct study *study = summary->matrix->study;
    unsigned columns = 1;
    putc('|', file);
    for (int axis = 0; axis < AXES; axis++)
        if (is_shown(study, axis))
            columns += (unsigned)(fprintf(file, " %s |", study_axes[axis].title) > 0);
    fputs(" runs |", file);
    for (int i = 0; i < MEASURES; i++)
        if (study->measured[i])
            columns += (unsigned)(fprintf(file, " %s%s%s |", measures[i].title, *measures[i].unit != '\0' ? ", " : "",
                                          measures[i].unit) > 0);
    fputs("\n|", file);
    for (unsigned i = 0; i < columns; i++)
        fputs("---|", file);
    putc('\n', file);
}

/* Writes the figures of a measure in a cell, which stand between two strokes. */
typedef void write_figures_of(const struct summary_cell *cell, int measure, FILE *file);

static void write_median(const struct summary_cell *cell, int measure, FILE *file)
{
    const struct summary_value *value = &cell->values[measure];
    const struct difference *difference = &cell->difference;
    char median[32], low[32], high[32], p[16];
    summary_figure(measure, value->median, median, sizeof median);
    summary_figure(measure, value->has_interval ? value->low : value->least, low, sizeof low);
    summary_figure(measure, value->has_interval ? value->high : value->most, high, sizeof high);
    if (value->count == 0)
        fputs(" -", file);
    else if (value->count == 1)
        fprintf(file, " %s", median);
    else
        fprintf(file, value->has_interval ? " %s [%s, %s]" : " %s (%s .. %s)", median, low, high);
    if (measure != MEASURE_IMPROVEMENT || value->count <= 1 || !difference->is_known)
        return;
    if (difference->has_p) {
        difference_probability(difference->p_corrected, p, sizeof p);
        fprintf(file, ", p %s: %s", p, verdict_text(difference->verdict));
    } else
        fprintf(file, ", %s", verdict_text(difference->verdict));
}

static void write_quartiles(const struct summary_cell *cell, int measure, FILE *file)
{
    const struct summary_value *value = &cell->values[measure];
    const double values[] = {value->least, value->lower, value->median, value->upper, value->most};
    char text[32];
    if (value->count == 0)
        fputs(" -", file);
    for (size_t i = 0; value->count > 0 && i < sizeof values / sizeof *values; i++) {
        summary_figure(measure, values[i], text, sizeof text);
        fprintf(file, "%s %s", i > 0 ? " .." : "", text);
    }
}

/* Writes how many runs are done, and what became of the others. */
static void write_runs(const struct summary_cell *cell, const struct study *study, FILE *file)
{
    const bool is_settled = summary_is_settled(study, &cell->values[MEASURE_ELAPSED]);
    const unsigned ended = cell->done + cell->failed;
    fprintf(file, " %u", cell->done);
    if (cell->failed > 0)
        fprintf(file, ", **%u %s**", cell->failed, cell->status);
    if (!is_settled && ended < study->repetitions)
        fprintf(file, ", %s%u to come", study->until > 0 ? "up to " : "", study->repetitions - ended);
    else if (!is_settled && study->until > 0)
        fputs(", **too wide**", file);
    fputs(" |", file);
}

/* Writes the values of a cell on the axes that are shown, each behind a stroke. */
static void write_values_of(const struct summary *summary, unsigned index, FILE *file)
{
    const struct study *study = summary->matrix->study;
    for (int axis = 0; axis < AXES; axis++)
        if (is_shown(study, axis)) {
            fputs("| ", file);
            write_text(value_name(study, axis, matrix_value(summary->matrix, index, axis)), file);
            putc(' ', file);
        }
    putc('|', file);
}

static void write_table(const struct summary *summary, write_figures_of *write, FILE *file)
{
    const struct study *study = summary->matrix->study;
    report_write_head(summary, file);
    for (unsigned i = 0; i < summary->matrix->count; i++) {
        const struct summary_cell *cell = &summary->cells[i];
        write_values_of(summary, i, file);
        write_runs(cell, study, file);
        for (int k = 0; k < MEASURES; k++)
            if (study->measured[k]) {
                write(cell, k, file);
                fputs(" |", file);
            }
        putc('\n', file);
    }
}

void report_table(const struct summary *summary, FILE *file)
{
    write_table(summary, write_median, file);
}

/* Says what stands in brackets behind a median, and how far that can be trusted. */
static void write_about_medians(const struct summary *summary, FILE *file)
{
    const unsigned runs = summary->matrix->study->repetitions;
    fputs("## Medians\n\nThe median of the runs that are done", file);
    if (runs < BOOTSTRAP_LEAST) {
        fprintf(file, "%s.\n", runs > 1 ? ", in round brackets the least and the greatest" : "");
        fprintf(
            file,
            "There is no interval of confidence: that takes %u runs of a cell at least, and `repetitions` is %u.\n\n",
            BOOTSTRAP_LEAST, runs);
        return;
    }
    if (study_has_intervals(summary->matrix->study))
        fprintf(
            file,
            "; in square brackets its 95 %% interval of confidence, by the percentile method of the bootstrap, from "
            "the "
            "exact distribution of the median of all resamples (Efron and Tibshirani 1993); in round ones, where fewer "
            "than %u runs are done, the least and the greatest.\n",
            BOOTSTRAP_LEAST);
    else
        fputs(", in round brackets the least and the greatest.\n", file);
    if (study_has_intervals(summary->matrix->study) && confidence_at_most(runs) < CONFIDENCE)
        fprintf(file,
                "No interval of so few runs is as sure as that: between the least and the greatest of %u runs lies the "
                "median with %.0f %%.\n",
                runs, 100 * confidence_at_most(runs));
    if (summary->matrix->study->until > 0)
        fprintf(file,
                "Each cell was run until the interval of its loop time was at most %g %% of the median to either side, "
                "%d times at least and %u times at most; **too wide** are those that did not come so far.\n",
                summary->matrix->study->until, STUDY_UNTIL_LEAST, runs);
    if (study_simulates(summary->matrix->study) && !summary->matrix->study->has_seeds)
        fputs("Repetitions of a simulated cell are the same run again: it has no interval of confidence, and its "
              "difference "
              "no p. With `seeds = yes` they are not.\n",
              file);
    if (summary->matrix->study->measured[MEASURE_SPEEDUP])
        fputs("The interval of the speedup is that of the loop time: its reference is taken as it is.\n", file);
    putc('\n', file);
}

static void write_quartile_table(const struct summary *summary, FILE *file)
{
    if (summary->matrix->study->repetitions < BOOTSTRAP_LEAST)
        return;
    fputs("## Quartiles\n\nThe least, the lower quartile, the median, the upper quartile and the greatest of the runs "
          "that are done (type 7 of Hyndman and Fan 1996).\n\n",
          file);
    write_table(summary, write_quartiles, file);
    putc('\n', file);
}

/* --- differences --- */

/* Writes what the other cell has that this one has not. */
static void write_against(const struct summary *summary, unsigned index, unsigned against, FILE *file)
{
    const struct matrix *matrix = summary->matrix;
    const char *comma = "";
    for (int axis = 0; axis < AXES; axis++)
        if (matrix->cells[index].at[axis] != matrix->cells[against].at[axis]) {
            fputs(comma, file);
            write_text(value_name(matrix->study, axis, matrix_value(matrix, against, axis)), file);
            comma = ", ";
        }
}

/* A difference that chance has no part in has no p. */
static void probability_text(bool is_known, double p, char *text, size_t size)
{
    if (is_known)
        difference_probability(p, text, size);
    else
        snprintf(text, size, "-");
}

static void write_difference(const struct summary *summary, unsigned index, FILE *file)
{
    const struct difference *difference = &summary->cells[index].difference;
    char text[32];
    write_values_of(summary, index, file);
    putc(' ', file);
    write_against(summary, index, difference->against, file);
    summary_figure(MEASURE_IMPROVEMENT, difference->saved, text, sizeof text);
    fprintf(file, " | %s", text);
    if (difference->has_interval)
        fprintf(file, " [%.1f, %.1f]", difference->low, difference->high);
    probability_text(difference->has_p, difference->p, text, sizeof text);
    fprintf(file, " | %s", text);
    probability_text(difference->has_p, difference->p_corrected, text, sizeof text);
    fprintf(file, " | %s | %s |\n", text, verdict_text(difference->verdict));
}

void report_differences(const struct summary *summary, FILE *file)
{
    unsigned columns = 5;
    for (int axis = 0; axis < AXES; axis++)
        if (is_shown(summary->matrix->study, axis))
            columns += (unsigned)(fprintf(file, "| %s ", study_axes[axis].title) > 0);
    fputs("| against | loop time saved, % | p | p, corrected | in words |\n|", file);
    for (unsigned i = 0; i < columns; i++)
        fputs("---|", file);
    putc('\n', file);
    for (unsigned i = 0; i < summary->matrix->count; i++)
        if (summary->cells[i].difference.is_known)
            write_difference(summary, i, file);
}

static void write_about_differences(const struct summary *summary, FILE *file)
{
    const struct study *study = summary->matrix->study;
    const unsigned needed = differences_runs_needed(summary);
    fputs("## Differences\n\nThe loop time of each cell beside that of ", file);
    if (study->baseline.given)
        fputs("the baseline", file);
    else
        fprintf(file, "the quickest of the cells that differ in nothing but %s",
                study_axes[differences_axis(study)].title);
    fputs("; in square brackets the 95 % interval of confidence of what is saved. p is the probability of ranks as far "
          "apart as these where nothing but chance is at work (Mann and Whitney 1947, two-sided), and is corrected for "
          "all cells that are compared with the same one (Holm 1979). A cell is called quicker or slower where the "
          "corrected p is below 0.05.\n",
          file);
    if (needed > 0)
        fprintf(file, "Too few runs cannot bring it below that, however far they are apart; %u of each cell can.\n",
                needed);
    if (!study->baseline.given)
        fputs("The quickest was chosen after the runs, which makes the others look slower than they are; a `baseline` "
              "does not.\n",
              file);
    putc('\n', file);
}

/* Nothing where each cell has one run, or is compared with none. */
static void write_differences(const struct summary *summary, FILE *file)
{
    bool is_any = false;
    for (unsigned i = 0; i < summary->matrix->count; i++)
        is_any = is_any || summary->cells[i].difference.is_known;
    if (!is_any || summary->matrix->study->repetitions < 2)
        return;
    write_about_differences(summary, file);
    report_differences(summary, file);
    putc('\n', file);
}

static void write_axes(const struct study *study, FILE *file)
{
    fputs("| axis | values |\n|---|---|\n", file);
    for (int axis = 0; axis < AXES; axis++) {
        fprintf(file, "| %s | ", study_axes[axis].title);
        for (unsigned i = 0; i < study->values[axis].count; i++) {
            const char *value = study->values[axis].items[i];
            fputs(i > 0 ? axis == AXIS_KERNEL ? "<br>" : ", " : "", file);
            write_text(value_name(study, axis, value), file);
        }
        fputs(" |\n", file);
    }
    if (study->options.count > 0) {
        fputs("| options | ", file);
        for (unsigned i = 0; i < study->options.count; i++) {
            fputs(i > 0 ? " " : "", file);
            write_text(study->options.items[i], file);
        }
        fputs(" |\n", file);
    }
    putc('\n', file);
}

/* Writes each machine of the table of runs once: a study may go on elsewhere. */
static void write_machines(const struct csv *csv, FILE *file)
{
    static const char *const columns[] = {
        "machine.processor", "machine.cores", "machine.memory_gib", "machine.system", "machine.host",
        "version",           "commit"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    for (size_t row = 0; row < csv->count; row++) {
        const char *of[COLUMNS];
        bool known = false;
        for (int i = 0; i < COLUMNS; i++)
            of[i] = csv_get(csv, row, columns[i]);
        for (size_t k = 0; k < row && !known; k++) {
            known = true;
            for (int i = 0; i < COLUMNS; i++)
                known = known && strcmp(csv_get(csv, k, columns[i]), of[i]) == 0;
        }
        if (!known)
            fprintf(file, "- %s, %s cores, %s GiB, %s (%s); HDSS %s, commit %s\n", of[0], of[1], of[2], of[3], of[4],
                    of[5], of[6]);
    }
    putc('\n', file);
}

static void write_count(const struct study_report *report, FILE *file)
{
    const struct summary *summary = report->summary;
    const struct study *study = summary->matrix->study;
    const size_t all = summary->done + summary->failed + summary->to_come;
    fprintf(file,
            "%zu runs: %u cells, %s%u time%s each, in the order of seed %" PRIu64
            ". Done: %zu, failed: %zu, to come: %zu. "
            "Each is a row of [%s.csv](%s.csv), and each cell one of [%s-cells.csv](%s-cells.csv) and of "
            "[%s-cells.json](%s-cells.json).\n\n",
            all, summary->matrix->count, study->until > 0 ? "up to " : "", study->repetitions,
            study->repetitions == 1 ? "" : "s", study->seed, summary->done, summary->failed, summary->to_come,
            report->name, report->name, report->name, report->name, report->name, report->name);
}

static void report_write_failures(const struct summary *summary, FILE *file)
{
    char text[TEXT_MAX];
    if (summary->failed == 0)
        return;
    fputs("## Failed\n\n| cell | runs | why |\n|---|---|---|\n", file);
    for (unsigned i = 0; i < summary->matrix->count; i++) {
        const struct summary_cell *cell = &summary->cells[i];
        if (cell->failed == 0)
            continue;
        matrix_describe(summary->matrix, i, text, sizeof text);
        fputs("| ", file);
        write_text(text, file);
        fprintf(file, " | %u %s | ", cell->failed, cell->status);
        write_text(cell->reason, file);
        fputs(" |\n", file);
    }
    putc('\n', file);
}

static void write_reference(const char *what, const struct study_reference *reference, const struct study *study,
                            FILE *file)
{
    if (!reference->given)
        return;
    fprintf(file, "- %s:", what);
    for (int axis = 0; axis < AXES; axis++)
        if (reference->at[axis] >= 0) {
            fprintf(file, " %s ", study_axes[axis].title);
            write_text(study->values[axis].items[reference->at[axis]], file);
        }
    putc('\n', file);
}

static void write_definitions(const struct study *study, FILE *file)
{
    for (int i = 0; i < MEASURES; i++)
        if (study->measured[i] && measures[i].about != NULL)
            fprintf(file, "- %s: %s\n", measures[i].title, measures[i].about);
    write_reference("the baseline", &study->baseline, study, file);
    write_reference("the speedup's base, whose loop time is taken times its workers and threads", &study->speedup_base,
                    study, file);
    putc('\n', file);
}

/* The number in a square of a heat map. */
static void square_text(const struct summary_cell *cell, int measure, char *text, size_t size)
{
    if (cell->values[measure].count > 0)
        summary_figure(measure, cell->values[measure].median, text, size);
    else
        snprintf(text, size, "%s", cell->failed > 0 ? cell->status : "-");
}

static size_t longest_value(const struct argv *values)
{
    size_t longest = 7;
    for (unsigned i = 0; i < values->count; i++) {
        size_t length = strlen(values->items[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void write_map_row(const struct summary *summary, const struct figure *figure, unsigned y, bool is_markdown,
                          FILE *file)
{
    const struct study *study = summary->matrix->study;
    const struct argv *columns = &study->values[figure->x];
    int width = (int)longest_value(columns);
    char text[40];
    for (unsigned x = 0; x < columns->count; x++) {
        square_text(figure_cell(summary, figure, x, y), figure->measure, text, sizeof text);
        if (is_markdown)
            fprintf(file, " %s |", text);
        else
            fprintf(file, "  %*s", width, text);
    }
    putc('\n', file);
}

static void write_markdown_map(const struct summary *summary, const struct figure *figure, FILE *file)
{
    const struct argv *columns = &summary->matrix->study->values[figure->x];
    const struct argv *rows = &summary->matrix->study->values[figure->y];
    fprintf(file, "| %s, below: %s |", study_axes[figure->x].title, study_axes[figure->y].title);
    for (unsigned x = 0; x < columns->count; x++) {
        putc(' ', file);
        write_text(columns->items[x], file);
        fputs(" |", file);
    }
    fputs("\n|---|", file);
    for (unsigned x = 0; x < columns->count; x++)
        fputs("---:|", file);
    putc('\n', file);
    for (unsigned y = 0; y < rows->count; y++) {
        fputs("| ", file);
        write_text(rows->items[y], file);
        fputs(" |", file);
        write_map_row(summary, figure, y, true, file);
    }
    putc('\n', file);
}

static void write_plain_map(const struct summary *summary, const struct figure *figure, FILE *file)
{
    const struct argv *columns = &summary->matrix->study->values[figure->x];
    const struct argv *rows = &summary->matrix->study->values[figure->y];
    const char *title = study_axes[figure->y].title;
    int width = (int)longest_value(columns), side = (int)longest_value(rows);
    if (side < (int)strlen(title))
        side = (int)strlen(title);
    fprintf(file, "  %-*s", side, title);
    for (unsigned x = 0; x < columns->count; x++)
        fprintf(file, "  %*s", width, columns->items[x]);
    putc('\n', file);
    for (unsigned y = 0; y < rows->count; y++) {
        fprintf(file, "  %-*s", side, rows->items[y]);
        write_map_row(summary, figure, y, false, file);
    }
}

void report_map(const struct summary *summary, const struct figure *figure, bool is_markdown, FILE *file)
{
    char title[200], panel[TEXT_MAX];
    const char *unit = measures[figure->measure].unit;
    if (is_markdown) {
        write_markdown_map(summary, figure, file);
        return;
    }
    figure_title(summary, figure, title, sizeof title);
    figure_panel(summary, figure, panel, sizeof panel);
    fprintf(file, "%s%s%s\n", title, *unit != '\0' ? ", " : "", unit);
    wrap_write(panel, strlen(panel), 0, file);
    write_plain_map(summary, figure, file);
    putc('\n', file);
}

static void write_figure(const struct study_report *report, const struct figure *figure, const char *title, FILE *file)
{
    char name[64], panel[TEXT_MAX];
    figure_name(figure, report->figures, report->figure_count, name, sizeof name);
    figure_panel(report->summary, figure, panel, sizeof panel);
    write_text(panel, file);
    if (report->drawn)
        fprintf(file, " ([PNG](%s-%s.png))", report->name, name);
    fputs("\n\n", file);
    if (figure->kind == FIGURE_HEAT)
        report_map(report->summary, figure, true, file);
    if (report->drawn)
        fprintf(file, "![%s](%s-%s.svg)\n\n", title, report->name, name);
}

/* For heat maps there are tables as well. */
static void write_figures(const struct study_report *report, FILE *file)
{
    char title[200];
    bool begun = false;
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct figure *figure = &report->figures[i];
        if (!figure_has_data(report->summary, figure) || (figure->kind != FIGURE_HEAT && !report->drawn))
            continue;
        if (!begun)
            fputs(report->drawn ? "## Pictures\n\n" : "## Tables of two axes\n\n", file);
        begun = true;
        figure_title(report->summary, figure, title, sizeof title);
        bool first = i == 0 || figure[-1].kind != figure->kind || figure[-1].measure != figure->measure;
        if (first)
            fprintf(file, "### %s%s%s\n\n", title, *measures[figure->measure].unit != '\0' ? ", " : "",
                    measures[figure->measure].unit);
        write_figure(report, figure, title, file);
    }
}

/* The curves of the time steps, where the study keeps them. */
static void write_steps(const struct study_report *report, FILE *file)
{
    char name[64], panel[TEXT_MAX];
    if (report->steps == NULL)
        return;
    fprintf(file, "## Time steps\n\nHow long each time step took is in [%s-steps.csv](%s-steps.csv).\n\n", report->name,
            report->name);
    if (report->steps->panel_count == 0)
        fputs("No run that is done has several time steps, and not more than are kept.\n\n", file);
    for (size_t i = 0; report->drawn && i < report->steps->panel_count; i++) {
        steps_name(report->steps, i, name, sizeof name);
        steps_panel_text(report->steps, i, panel, sizeof panel);
        write_text(panel, file);
        fprintf(file, " ([PNG](%s-%s.png))\n\n![Time of each time step](%s-%s.svg)\n\n", report->name, name,
                report->name, name);
    }
}

static int report_write_page(const struct study_report *report, FILE *file)
{
    const struct study *study = report->summary->matrix->study;
    fprintf(file, "# %s\n\nMade by `hdss study %s`.\n\n", *study->title != '\0' ? study->title : report->name,
            report->file);
    write_count(report, file);
    write_machines(report->csv, file);
    fputs("## What was run\n\n", file);
    write_axes(study, file);
    write_about_medians(report->summary, file);
    report_table(report->summary, file);
    putc('\n', file);
    write_definitions(study, file);
    write_differences(report->summary, file);
    write_quartile_table(report->summary, file);
    const int result = study->measured[MEASURE_COMPUTE] ? workers_table(report->summary, report->csv, file) : 0;
    report_write_failures(report->summary, file);
    write_steps(report, file);
    write_figures(report, file);
    return result;
}

char *report_page(const struct study_report *report)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (file == NULL)
        return NULL;
    bool failed = report_write_page(report, file) < 0 || ferror(file);
    if (fclose(file) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
