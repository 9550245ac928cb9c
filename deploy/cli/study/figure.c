/* SPDX-License-Identifier: MIT */
/* Scripts for gnuplot: see figure.h. Lines run along an axis of numbers; along one of names there are bars, a group for
 * each name. Both show the median and its interval of confidence, or, where there is none, the range from the least to
 * the greatest run; box plots show the quartiles, and single runs that lie far from them (Tukey 1977). */
#include "deploy/cli/study/figure.h"
#include "common/util/number.h"
#include "deploy/cli/axis.h"
#include "deploy/cli/gnuplot.h"
#include "deploy/cli/plot.h"
#include "deploy/cli/study/inference.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1200, LONG_LABEL = 14, CAPTION_LETTERS = 115 };

/* Boxes that can be told apart in one picture. */
enum { BOXES_MAX = 72 };

/* Panels of boxes that stand beside each other. */
enum { PANELS_MAX = 6 };

/* From this ratio of its largest to its least value on an axis is logarithmic. */
#define LOGARITHMIC_RATIO 25.0

/* From this ratio on the colours of a map are: the half of one value looks as far from it as that is from its double.
 */
#define LOGARITHMIC_COLOURS 10.0

/* Neighbouring numbers of workers stand equally far from each other where they double. */
#define DOUBLING_RATIO 3.9

struct drawing {
    const struct summary *summary;
    const struct figure *figure;
    const struct matrix *matrix;
    const struct measure_row *measure;
    FILE *script;
    unsigned columns, lines; /* values of x, and of y */
    bool bars;
    bool doubling; /* x is logarithmic */
    struct axis y;
    bool *failed; /* [lines] some cells of the line failed; owned */
};

static unsigned figure_values_of(const struct matrix *matrix, int axis)
{
    return axis != AXIS_NONE ? matrix->study->values[axis].count : 1;
}

/* Lines of the picture, or rows of the map. */
static unsigned figure_lines_of(const struct matrix *matrix, const struct figure *figure)
{
    return figure_values_of(matrix, figure->group) * figure_values_of(matrix, figure->y);
}

const struct summary_cell *figure_cell(const struct summary *summary, const struct figure *figure, unsigned x,
                                       unsigned y)
{
    struct cell cell = figure->panel;
    const unsigned in_group = figure_values_of(summary->matrix, figure->y);
    cell.at[figure->x] = (unsigned short)x;
    if (figure->y != AXIS_NONE)
        cell.at[figure->y] = (unsigned short)(y % in_group);
    if (figure->group != AXIS_NONE)
        cell.at[figure->group] = (unsigned short)(y / in_group);
    return &summary->cells[matrix_find(summary->matrix, &cell)];
}

static const struct summary_value *figure_value_at(const struct summary *summary, const struct figure *figure,
                                                   unsigned x, unsigned y)
{
    return &figure_cell(summary, figure, x, y)->values[figure->measure];
}

bool figure_has_data(const struct summary *summary, const struct figure *figure)
{
    for (unsigned y = 0; y < figure_lines_of(summary->matrix, figure); y++)
        for (unsigned x = 0; x < figure_values_of(summary->matrix, figure->x); x++)
            if (figure_value_at(summary, figure, x, y)->count > 0)
                return true;
    return false;
}

/* A panel is named by the first of its cells. */
static bool is_panel(const struct cell *cell, const struct figure *figure)
{
    return cell->at[figure->x] == 0 && (figure->y == AXIS_NONE || cell->at[figure->y] == 0) &&
           (figure->group == AXIS_NONE || cell->at[figure->group] == 0);
}

static size_t list_panels(const struct summary *summary, struct figure figure, struct figure *list)
{
    size_t count = 0;
    for (unsigned i = 0; i < summary->matrix->count; i++)
        if (is_panel(&summary->matrix->cells[i], &figure)) {
            figure.panel = summary->matrix->cells[i];
            list[count++] = figure;
        }
    return count;
}

/* True where techniques stand in pictures of their own, and few enough to be told apart in one. */
static bool has_all_together(const struct summary *summary, const struct figure *all)
{
    const struct study *study = summary->matrix->study;
    return study_varies(study, AXIS_TECHNIQUE) && study->x != AXIS_TECHNIQUE && study->series != AXIS_TECHNIQUE &&
           figure_lines_of(summary->matrix, all) <= PLOT_SERIES_MAX;
}

/* A figure of the runs of a measure: of the lines, or of all of them together where so many boxes can be told apart. */
static struct figure boxes_of(const struct summary *summary, struct figure lines, struct figure all)
{
    const unsigned columns = figure_values_of(summary->matrix, lines.x);
    struct figure boxes = lines;
    if (has_all_together(summary, &all) && columns * figure_lines_of(summary->matrix, &all) <= BOXES_MAX)
        boxes = all;
    boxes.kind = FIGURE_BOXES;
    return boxes;
}

struct figure *figures_list(const struct summary *summary, size_t *count)
{
    const struct study *study = summary->matrix->study;
    struct figure *list = calloc((size_t)summary->matrix->count * MEASURES * 4, sizeof *list);
    bool heat = study->heat[0] != AXIS_NONE;
    *count = 0;
    for (int i = 0; list != NULL && i < MEASURES; i++) {
        if (!study->measured[i])
            continue;
        struct figure figure = {FIGURE_LINES, i, .x = study->x, .y = study->series, .group = AXIS_NONE};
        struct figure all = {FIGURE_ALL, i, .x = study->x, .y = study->series, .group = AXIS_TECHNIQUE};
        *count += list_panels(summary, figure, list + *count);
        if (has_all_together(summary, &all))
            *count += list_panels(summary, all, list + *count);
        if (study->repetitions >= BOOTSTRAP_LEAST)
            *count += list_panels(summary, boxes_of(summary, figure, all), list + *count);
        if (!heat)
            continue;
        figure = (struct figure){FIGURE_HEAT, i, .x = study->heat[0], .y = study->heat[1], .group = AXIS_NONE};
        *count += list_panels(summary, figure, list + *count);
        heat = study->heat_given;
    }
    return list;
}

void figure_name(const struct figure *figure, const struct figure *all, size_t count, char *text, size_t size)
{
    unsigned number = 0, alike = 0;
    for (size_t i = 0; i < count; i++) {
        alike += all[i].kind == figure->kind && all[i].measure == figure->measure;
        if (&all[i] == figure)
            number = alike;
    }
    static const char *const beginnings[] = {"", "all-", "box-", "heat-"};
    int length = snprintf(text, size, "%s%s", beginnings[figure->kind], measures[figure->measure].name);
    if (alike > 1 && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, "-%u", number);
}

void figure_title(const struct summary *summary, const struct figure *figure, char *text, size_t size)
{
    const char *along = study_axes[figure->x].title, *title = measures[figure->measure].title;
    int length = (int)strcspn(title, ","); /* the part behind the comma stands at the axis */
    if (figure->kind == FIGURE_HEAT)
        snprintf(text, size, "%.*s by %s and %s", length, title, along, study_axes[figure->y].title);
    else
        snprintf(text, size, "%.*s%s %s %s", length, title, figure->kind == FIGURE_BOXES ? " of the runs" : "",
                 study_is_numeric(summary->matrix->study, figure->x) ? "against" : "by", along);
    text[0] = (char)toupper((unsigned char)text[0]);
}

void figure_panel(const struct summary *summary, const struct figure *figure, char *text, size_t size)
{
    const struct study *study = summary->matrix->study;
    char value[TEXT_MAX];
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < AXES && used < size; axis++) {
        const char *word = study->values[axis].items[figure->panel.at[axis]], *standard = study_axes[axis].standard;
        bool usual = standard != NULL && axis != AXIS_TECHNIQUE && strcmp(word, standard) == 0;
        if (axis == figure->x || axis == figure->y || axis == figure->group || (usual && !study_varies(study, axis)))
            continue;
        study_value_text(axis, word, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", value);
    }
}

/* The places of the one line, or of both, below a title. */
struct caption_place {
    const char *across;
    double single, upper, lower;
};

static const struct caption_place above_graph = {"graph 0.5, graph", 1.028, 1.044, 1.016};
static const struct caption_place above_panels = {"screen 0.43, screen", 0.906, 0.918, 0.895};

static void write_caption_line(FILE *script, int number, const char *text, const char *across, double height)
{
    fprintf(script, "set label %d ", number);
    gnuplot_quote(script, text);
    fprintf(script, " at %s %g center font ',10' textcolor rgb '#606060'\n", across, height);
}

/* The end of as much as stands beside each other, at a comma where there is one. */
static size_t first_line(const char *text)
{
    size_t end = 0;
    if (strlen(text) <= CAPTION_LETTERS)
        return strlen(text);
    for (size_t i = 0; i < CAPTION_LETTERS; i++)
        if (text[i] == ',' && text[i + 1] == ' ')
            end = i;
    return end > 0 ? end : CAPTION_LETTERS;
}

static void write_caption(const char *text, const struct caption_place *place, FILE *script)
{
    char line[CAPTION_LETTERS + 8];
    size_t length = first_line(text);
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    if (text[length] == '\0') {
        write_caption_line(script, 1, line, place->across, place->single);
        return;
    }
    write_caption_line(script, 1, line, place->across, place->upper);
    text += length + strspn(text + length, ", ");
    snprintf(line, sizeof line, "%.*s%s", CAPTION_LETTERS, text, strlen(text) > CAPTION_LETTERS ? " ..." : "");
    write_caption_line(script, 2, line, place->across, place->lower);
}

void figure_write_caption(const char *text, FILE *script)
{
    write_caption(text, &above_graph, script);
}

/* The words for what stands beside the median. */
static const char *what_is_drawn(const struct drawing *drawing)
{
    if (drawing->figure->kind == FIGURE_HEAT)
        return "";
    if (drawing->figure->kind == FIGURE_BOXES)
        return "; whiskers: within 1.5 heights of the box";
    return study_has_intervals(drawing->matrix->study) ? " (95 % interval of confidence)" : " (least to greatest)";
}

/* What all of the picture shares, and what is drawn of the runs. */
static void caption_text(const struct drawing *drawing, char text[TEXT_MAX])
{
    figure_panel(drawing->summary, drawing->figure, text, TEXT_MAX);
    if (drawing->matrix->study->repetitions > 1 && strlen(text) + 80 < TEXT_MAX)
        snprintf(text + strlen(text), 80, "%s%s of %s%u runs%s", *text != '\0' ? ", " : "",
                 drawing->figure->kind == FIGURE_BOXES ? "quartiles" : "median",
                 drawing->matrix->study->until > 0 ? "up to " : "", drawing->matrix->study->repetitions,
                 what_is_drawn(drawing));
}

static void write_titles(const struct drawing *drawing)
{
    char text[TEXT_MAX];
    figure_title(drawing->summary, drawing->figure, text, sizeof text);
    fputs("set title ", drawing->script);
    gnuplot_quote(drawing->script, text);
    fputs(" font ',15' offset 0,1.2\n", drawing->script);
    caption_text(drawing, text);
    figure_write_caption(text, drawing->script);
}

static void write_label(const struct drawing *drawing, const char *name, const char *title, const char *unit)
{
    char text[200];
    snprintf(text, sizeof text, "%s%s%s", title, *unit != '\0' ? ", " : "", unit);
    fprintf(drawing->script, "set %slabel ", name);
    gnuplot_quote(drawing->script, text);
    putc('\n', drawing->script);
}

/* The word at a tick: without the axis's name, which stands beside it. */
static const char *tick_text(int axis, const char *value, char *text, size_t size)
{
    uint64_t number;
    if (axis != AXIS_MASTERS && study_axes[axis].number && number_parse_u64(value, &number) == 0)
        axis_group_digits(number, text, size);
    else if (axis == AXIS_MASTERS)
        study_value_text(axis, value, text, size);
    else
        snprintf(text, size, "%s", value);
    return text;
}

static size_t longest_tick(const struct matrix *matrix, int axis)
{
    size_t longest = 0;
    char text[TEXT_MAX];
    for (unsigned i = 0; i < figure_values_of(matrix, axis); i++) {
        size_t length = strlen(tick_text(axis, matrix->study->values[axis].items[i], text, sizeof text));
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* The values of the axis at 0, 1, 2 ... */
static void write_names(const struct drawing *drawing, const char *name, int axis)
{
    const struct argv *values = &drawing->matrix->study->values[axis];
    char text[TEXT_MAX];
    fprintf(drawing->script, "set %stics %s(", name,
            *name == 'x' && longest_tick(drawing->matrix, axis) > LONG_LABEL ? "rotate by -20 " : "");
    for (unsigned i = 0; i < values->count; i++) {
        fputs(i > 0 ? ", " : "", drawing->script);
        gnuplot_quote(drawing->script, tick_text(axis, values->items[i], text, sizeof text));
        fprintf(drawing->script, " %u", i);
    }
    fprintf(drawing->script, ") font ',12'\nset %srange [-0.5:%g]\n", name, values->count - 0.5);
}

static double number_at(const struct drawing *drawing, unsigned x)
{
    return drawing->bars ? x : strtod(drawing->matrix->study->values[drawing->figure->x].items[x], NULL);
}

/* A tick at each value; they are sorted. */
static void write_numbers(const struct drawing *drawing)
{
    FILE *script = drawing->script;
    double low = number_at(drawing, 0), high = number_at(drawing, drawing->columns - 1);
    if (drawing->doubling)
        fprintf(script, "set logscale x 2\nset xrange [%g:%g]\n", low / 1.15, high * 1.15);
    else
        fprintf(script, "set xrange [%g:%g]\n", low - fmax(0.06 * (high - low), 0.1),
                high + fmax(0.06 * (high - low), 0.1));
    fputs("set xtics (", script);
    for (unsigned x = 0; x < drawing->columns; x++) {
        char text[40];
        axis_group_digits((uint64_t)number_at(drawing, x), text, sizeof text);
        fprintf(script, "%s'%s' %g", x > 0 ? ", " : "", text, number_at(drawing, x));
    }
    fputs(")\n", script);
}

/* A number that halves or doubles with each step along x is a straight line where both axes are logarithmic. */
static bool is_logarithmic(const struct drawing *drawing, double least, double most)
{
    bool scales = drawing->figure->measure == MEASURE_ELAPSED || drawing->figure->measure == MEASURE_SPEEDUP;
    double ratio = scales && drawing->doubling ? DOUBLING_RATIO : LOGARITHMIC_RATIO;
    return !drawing->bars && least > 0 && most > least * ratio;
}

/* Boxes show how far the runs are apart, not how far from zero. */
static void set_extent_of_boxes(struct drawing *drawing, double least, double most)
{
    const double margin = fmax(0.06 * (most - least), fmax(fabs(most), 1e-9) * 1e-3);
    if (least > 0 && most > least * DOUBLING_RATIO) {
        axis_logarithmic(&drawing->y, least / 1.1, most * 1.1);
        return;
    }
    axis_linear(&drawing->y, most + margin);
    drawing->y.low = least - margin;
}

static void set_extent(struct drawing *drawing, double least, double most, double lowest)
{
    if (is_logarithmic(drawing, least, most))
        axis_logarithmic(&drawing->y, least / 1.3, most * 1.3);
    else
        axis_linear(&drawing->y, most > 0 ? most * 1.08 : lowest < 0 ? -0.08 * lowest : 1);
    if (lowest < 0)
        drawing->y.low = lowest * 1.08;
    if (drawing->figure->measure == MEASURE_IMBALANCE && !drawing->y.logarithmic) { /* no less than 1 */
        drawing->y.low = 1;
        drawing->y.high = fmax(1 + (most - 1) * 1.08, 1.02);
    }
}

/* The improvement of the baseline over itself is 0, and nothing about it is unsure. */
static bool is_without_end(const struct drawing *drawing, const struct summary_value *value)
{
    return drawing->figure->measure == MEASURE_IMPROVEMENT && drawing->figure->kind != FIGURE_BOXES &&
           !value->has_interval && value->count >= BOOTSTRAP_LEAST;
}

/* The ends of what is drawn of a cell: box plots show each run, lines what their median is sure of. */
static double lower_end(const struct drawing *drawing, const struct summary_value *value)
{
    if (is_without_end(drawing, value))
        return value->median;
    return value->has_interval && drawing->figure->kind != FIGURE_BOXES ? value->low : value->least;
}

static double upper_end(const struct drawing *drawing, const struct summary_value *value)
{
    if (is_without_end(drawing, value))
        return value->median;
    return value->has_interval && drawing->figure->kind != FIGURE_BOXES ? value->high : value->most;
}

/* The extent of the figures at `count` values of x from `first` on; what failed has none, and is marked at the lower
 * end. False where there are no figures. */
static bool measure_extent(struct drawing *drawing, unsigned first, unsigned count)
{
    double least = INFINITY, most = drawing->figure->kind == FIGURE_BOXES ? -INFINITY : 0, lowest = 0;
    for (unsigned y = 0; y < drawing->lines; y++)
        for (unsigned x = first; x < first + count; x++) {
            const struct summary_cell *cell = figure_cell(drawing->summary, drawing->figure, x, y);
            const struct summary_value *value = &cell->values[drawing->figure->measure];
            if (value->count == 0)
                continue;
            const double low = lower_end(drawing, value), high = upper_end(drawing, value);
            least = fmin(least, low);
            lowest = fmin(lowest, low);
            most = fmax(most, high);
        }
    if (!isfinite(least))
        return false;
    if (drawing->figure->kind == FIGURE_BOXES)
        set_extent_of_boxes(drawing, least, most);
    else
        set_extent(drawing, least, most, lowest);
    drawing->y.real = true;
    return true;
}

/* Bars of a group stand beside each other. */
static double place_of(const struct drawing *drawing, unsigned x, unsigned y)
{
    if (!drawing->bars)
        return number_at(drawing, x);
    return x + (y + 0.5) * 0.8 / drawing->lines - 0.4;
}

static void write_points(const struct drawing *drawing, unsigned y)
{
    fprintf(drawing->script, "$line%u << END\n", y);
    for (unsigned x = 0; x < drawing->columns; x++) {
        const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
        if (value->count > 0)
            fprintf(drawing->script, "%.9g %.9g %.9g %.9g\n", place_of(drawing, x, y), value->median,
                    lower_end(drawing, value), upper_end(drawing, value));
        else
            fputs("\n", drawing->script); /* the line breaks there */
    }
    fputs("END\n", drawing->script);
}

static bool figure_has_failed(const struct drawing *drawing, unsigned x, unsigned y)
{
    const struct summary_cell *cell = figure_cell(drawing->summary, drawing->figure, x, y);
    return cell->failed > 0 && cell->done == 0;
}

/* Just above the lower end; those of each line a little higher than those of the one before. */
static double failure_height(const struct drawing *drawing, unsigned y)
{
    double part = 0.02 + 0.025 * y;
    if (drawing->y.logarithmic)
        return drawing->y.low * pow(drawing->y.high / drawing->y.low, part);
    return drawing->y.low + part * (drawing->y.high - drawing->y.low);
}

/* False where none of the line did. */
static bool figure_write_failures(const struct drawing *drawing, unsigned y)
{
    bool any = false;
    for (unsigned x = 0; x < drawing->columns; x++)
        any = any || figure_has_failed(drawing, x, y);
    if (!any)
        return false;
    fprintf(drawing->script, "$failed%u << END\n", y);
    for (unsigned x = 0; x < drawing->columns; x++)
        if (figure_has_failed(drawing, x, y))
            fprintf(drawing->script, "%.9g %.9g\n", place_of(drawing, x, y), failure_height(drawing, y));
    fputs("END\n", drawing->script);
    return true;
}

static bool has_points(const struct drawing *drawing, unsigned y)
{
    for (unsigned x = 0; x < drawing->columns; x++)
        if (figure_value_at(drawing->summary, drawing->figure, x, y)->count > 0)
            return true;
    return false;
}

/* "gss", "gss, 2 masters": what a line is for. */
static void name_line(const struct drawing *drawing, unsigned y, char *text, size_t size)
{
    const struct figure *figure = drawing->figure;
    const struct argv *values = drawing->matrix->study->values;
    const unsigned in_group = figure_values_of(drawing->matrix, figure->y);
    text[0] = '\0';
    if (figure->group != AXIS_NONE)
        study_value_text(figure->group, values[figure->group].items[y / in_group], text, size);
    const size_t used = strlen(text);
    if (used > 0 && figure->y != AXIS_NONE && used + 2 < size)
        snprintf(text + used, size - used, ", ");
    if (figure->y != AXIS_NONE)
        study_value_text(figure->y, values[figure->y].items[y % in_group], text + strlen(text), size - strlen(text));
}

/* Lines of a group share a colour; bars and boxes, which have neither dashes nor markers, do not. */
static unsigned colour_of(const struct drawing *drawing, unsigned y)
{
    const bool is_shared = drawing->figure->group != AXIS_NONE && !drawing->bars;
    return is_shared ? y / figure_values_of(drawing->matrix, drawing->figure->y) : y;
}

static void write_legend(const struct drawing *drawing, unsigned y, bool failed)
{
    char value[TEXT_MAX - 20] = "", text[TEXT_MAX];
    name_line(drawing, y, value, sizeof value);
    snprintf(text, sizeof text, "%s%s", value, !failed ? "" : *value != '\0' ? ": failed" : "failed");
    if (*text == '\0') {
        fputs("notitle", drawing->script);
        return;
    }
    fputs("title ", drawing->script);
    gnuplot_quote(drawing->script, text);
}

/* gnuplot's own error bars have a white disc in their middle. */
static void write_range(const struct drawing *drawing, unsigned y)
{
    fprintf(drawing->script,
            "$line%u using 1:3:(0):($4-$3) with vectors heads nofilled size graph 0.004,90 lc rgb '%s' lw 1 notitle", y,
            drawing->bars ? "#404040" : plot_colour(colour_of(drawing, y)));
}

static void write_one_line(const struct drawing *drawing, unsigned y)
{
    FILE *script = drawing->script;
    if (drawing->bars) {
        fprintf(script, "$line%u using 1:2 with boxes lc rgb '%s' fill solid 0.75 border ", y,
                plot_colour(colour_of(drawing, y)));
    } else {
        fprintf(script, "$line%u using 1:2 with linespoints ", y);
        plot_write_line_of_group(colour_of(drawing, y), y % figure_values_of(drawing->matrix, drawing->figure->y),
                                 script);
        putc(' ', script);
    }
    write_legend(drawing, y, false);
}

static bool is_along(const struct figure *figure, int axis)
{
    return figure->x == axis || figure->y == axis || figure->group == axis;
}

/* Threads of each worker of all cells of the picture; 0 where they are not the same. `auto` counts as one. */
static double threads_of(const struct drawing *drawing)
{
    const struct figure *figure = drawing->figure;
    const char *value = drawing->matrix->study->values[AXIS_THREADS].items[figure->panel.at[AXIS_THREADS]];
    return is_along(figure, AXIS_THREADS) ? 0 : fmax(strtod(value, NULL), 1);
}

/* The line of loops that lose nothing: one worker's time over the workers, as many times as quick as there are workers,
 * each of which computes all the time. Bars have marks instead. */
static void write_ideal(const struct drawing *drawing)
{
    const struct figure *figure = drawing->figure;
    const double threads = threads_of(drawing);
    const double serial_s = summary_serial_time(drawing->summary, figure->panel.at[AXIS_KERNEL]);
    const bool scales = !drawing->bars && figure->x == AXIS_WORKERS && threads > 0;
    FILE *script = drawing->script;
    if (scales && figure->measure == MEASURE_SPEEDUP)
        fprintf(script, "%.9g*x", threads);
    else if (scales && figure->measure == MEASURE_ELAPSED && !is_along(figure, AXIS_KERNEL) && serial_s > 0)
        fprintf(script, "%.9g/x", serial_s / threads);
    else if (!drawing->bars && figure->measure == MEASURE_EFFICIENCY)
        fputs("1", script);
    else
        return;
    fputs(" with lines lc rgb '#a0a0a0' dt 1 lw 1.5 title 'ideal', \\\n", script);
}

/* Bars of loop times: the time that each cell would take if its own computing were spread evenly. */
static bool write_ideal_marks(const struct drawing *drawing)
{
    bool is_any = false;
    if (!drawing->bars || drawing->figure->kind == FIGURE_BOXES || drawing->figure->measure != MEASURE_ELAPSED)
        return false;
    fputs("$ideal << END\n", drawing->script);
    for (unsigned y = 0; y < drawing->lines; y++)
        for (unsigned x = 0; x < drawing->columns; x++) {
            const struct summary_value *values = figure_cell(drawing->summary, drawing->figure, x, y)->values;
            const double time = values[MEASURE_ELAPSED].median * values[MEASURE_EFFICIENCY].median;
            if (values[MEASURE_ELAPSED].count == 0 || values[MEASURE_EFFICIENCY].count == 0)
                continue;
            fprintf(drawing->script, "%.9g %.9g\n", place_of(drawing, x, y), time);
            is_any = true;
        }
    fputs("END\n", drawing->script);
    return is_any;
}

/* Bars stand behind their ranges, lines before them. */
static void write_lines(const struct drawing *drawing)
{
    FILE *script = drawing->script;
    const bool has_marks = write_ideal_marks(drawing);
    const double width = 0.8 / drawing->lines;
    const char *comma = "";
    fputs("plot ", script);
    write_ideal(drawing);
    for (int pass = 0; pass < 2; pass++)
        for (unsigned y = 0; y < drawing->lines; y++)
            if (has_points(drawing, y)) {
                fputs(comma, script);
                comma = ", \\\n";
                if (drawing->bars == (pass == 0))
                    write_one_line(drawing, y);
                else
                    write_range(drawing, y);
            }
    for (unsigned y = 0; y < drawing->lines; y++)
        if (drawing->failed[y]) {
            fprintf(script, "%s$failed%u with points pt 2 ps 1.6 lw 2.5 lc rgb '%s' ", comma, y,
                    plot_colour(colour_of(drawing, y)));
            write_legend(drawing, y, true);
            comma = ", \\\n";
        }
    if (has_marks)
        fprintf(
            script,
            "%s$ideal using ($1-%.9g):2:(%.9g):(0) with vectors nohead lc rgb '#000000' lw 2 dt (2,2) title 'ideal: "
            "computing alone'",
            comma, width / 2, width);
    putc('\n', script);
}

/* --- box plots --- */

/* The values that lie beyond the whiskers of a cell, each a point. */
static void write_outliers(const struct drawing *drawing, unsigned x, unsigned y, double low, double high)
{
    const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
    for (unsigned i = 0; i < value->count; i++)
        if (value->values[i] < low || value->values[i] > high)
            fprintf(drawing->script, "%.9g %.9g\n", place_of(drawing, x, y), value->values[i]);
}

/* The boxes of a line, and behind an empty line the points beyond their whiskers. */
static void write_boxes(const struct drawing *drawing, unsigned y)
{
    double low, high;
    fprintf(drawing->script, "$boxes%u << END\n", y);
    for (unsigned x = 0; x < drawing->columns; x++) {
        const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
        if (value->count == 0)
            continue;
        whiskers_of(value->values, value->count, &low, &high);
        fprintf(drawing->script, "%.9g %.9g %.9g %.9g %.9g %.9g\n", place_of(drawing, x, y), value->lower, low, high,
                value->upper, value->median);
    }
    fputs("\n\n", drawing->script);
    for (unsigned x = 0; x < drawing->columns; x++) {
        const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
        if (value->count == 0)
            continue;
        whiskers_of(value->values, value->count, &low, &high);
        write_outliers(drawing, x, y, low, high);
    }
    fputs("END\n", drawing->script);
}

static bool has_outliers(const struct drawing *drawing, unsigned y)
{
    for (unsigned x = 0; x < drawing->columns; x++) {
        const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
        double low, high;
        if (value->count == 0)
            continue;
        whiskers_of(value->values, value->count, &low, &high);
        if (value->least < low || value->most > high)
            return true;
    }
    return false;
}

/* An entry of the legend for each line, drawn nowhere. */
static const char *write_box_legend(const struct drawing *drawing, const char *comma)
{
    for (unsigned y = 0; y < drawing->lines; y++) {
        const char *colour = plot_colour(colour_of(drawing, y));
        if (!has_points(drawing, y))
            continue;
        fprintf(drawing->script, "%sNaN with boxes lc rgb '%s' lw 1.5 fill solid 0.35 border rgb '%s' ", comma, colour,
                colour);
        write_legend(drawing, y, false);
        comma = ", \\\n";
    }
    return comma;
}

/* Draws all boxes that lie in the extent of x. */
static void write_box_plot(const struct drawing *drawing, bool has_legend)
{
    FILE *script = drawing->script;
    const double width = 0.64 / drawing->lines;
    fprintf(script, "set boxwidth %.9g absolute\nplot ", width);
    const char *comma = has_legend ? write_box_legend(drawing, "") : "";
    for (unsigned y = 0; y < drawing->lines; y++) {
        const char *colour = plot_colour(colour_of(drawing, y));
        if (!has_points(drawing, y))
            continue;
        fprintf(script,
                "%s$boxes%u index 0 using 1:2:3:4:5 with candlesticks whiskerbars 0.6 lc rgb '%s' lw 1.5 fill solid "
                "0.35 border rgb '%s' notitle, \\\n"
                "$boxes%u index 0 using ($1-%.9g):6:(%.9g):(0) with vectors nohead lc rgb '#202020' lw 2 notitle",
                comma, y, colour, colour, y, width / 2, width);
        if (has_outliers(drawing, y))
            fprintf(script, ", \\\n$boxes%u index 1 using 1:2 with points pt 6 ps 0.8 lc rgb '%s' notitle", y, colour);
        comma = ", \\\n";
    }
    putc('\n', script);
}

/* The left and the right end of all panels, and the room for the numbers between them, in parts of the picture. */
#define PANELS_LEFT  0.075
#define PANELS_RIGHT 0.80
#define PANELS_GAP   0.052

/* Boxes at each number along x have a panel and a scale of their own: what doubles from one to the next would leave
 * nothing to be seen of how far the runs are apart. */
static void write_box_panels(struct drawing *drawing)
{
    FILE *script = drawing->script;
    const double pitch = (PANELS_RIGHT - PANELS_LEFT + PANELS_GAP) / drawing->columns;
    char text[TEXT_MAX];
    caption_text(drawing, text);
    fputs("unset title\nunset label\nset multiplot\nset tmargin at screen 0.87\nset bmargin at screen 0.11\n", script);
    write_caption(text, &above_panels, script);
    figure_title(drawing->summary, drawing->figure, text, sizeof text);
    fputs("set label 3 ", script);
    gnuplot_quote(script, text);
    fputs(" at screen 0.43, screen 0.95 center font ',15'\n", script);
    for (unsigned x = 0; x < drawing->columns; x++) {
        const double left = PANELS_LEFT + x * pitch;
        fprintf(script,
                "unset logscale y\nset lmargin at screen %.6f\nset rmargin at screen %.6f\nset xrange [%g:%g]\n", left,
                left + pitch - PANELS_GAP, x - 0.5, x + 0.5);
        if (measure_extent(drawing, x, 1))
            axis_write(&drawing->y, "y", script);
        else
            fputs("unset ytics\n", script); /* nothing is done there yet */
        write_box_plot(drawing, x + 1 == drawing->columns);
        fputs("unset label\nunset ylabel\n", script);
    }
    fputs("unset multiplot\n", script);
}

static void write_line_script(struct drawing *drawing)
{
    FILE *script = drawing->script;
    const bool has_boxes = drawing->figure->kind == FIGURE_BOXES;
    const bool is_numeric = study_is_numeric(drawing->matrix->study, drawing->figure->x);
    drawing->bars = has_boxes || !is_numeric;
    double low = number_at(drawing, 0), high = number_at(drawing, drawing->columns - 1);
    drawing->doubling = !drawing->bars && low > 0 && high / low > DOUBLING_RATIO;
    measure_extent(drawing, 0, drawing->columns);
    for (unsigned y = 0; y < drawing->lines; y++)
        if (has_points(drawing, y))
            (has_boxes ? write_boxes : write_points)(drawing, y);
    for (unsigned y = 0; y < drawing->lines && !has_boxes; y++)
        drawing->failed[y] = figure_write_failures(drawing, y);
    fputs("set key outside right top vertical Left reverse samplen 4 spacing 1.25 font ',12'\n", script);
    write_label(drawing, "x", study_axes[drawing->figure->x].title, "");
    write_label(drawing, "y", drawing->measure->title, drawing->measure->unit);
    if (drawing->bars) {
        write_names(drawing, "x", drawing->figure->x);
        fprintf(script, "set boxwidth %g absolute\n", 0.8 / drawing->lines);
    } else {
        write_numbers(drawing);
    }
    axis_write(&drawing->y, "y", script);
    if (drawing->y.low < 0)
        fputs("set xzeroaxis lt 1 lw 1 lc rgb '#404040'\n", script);
    if (!has_boxes)
        write_lines(drawing);
    else if (drawing->columns > 1 && drawing->columns <= PANELS_MAX && is_numeric)
        write_box_panels(drawing);
    else
        write_box_plot(drawing, true);
}

/* The colours of a heat map. */
struct colours {
    double least, most;
    bool logarithmic;
    bool diverging; /* from the middle: improvements and losses have their own, equally strong */
};

static void heat_extent(const struct drawing *drawing, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (unsigned y = 0; y < drawing->lines; y++)
        for (unsigned x = 0; x < drawing->columns; x++) {
            const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
            if (value->count > 0) {
                *least = fmin(*least, value->median);
                *most = fmax(*most, value->median);
            }
        }
}

static struct colours figure_choose_colours(const struct drawing *drawing)
{
    struct colours colours = {.diverging = drawing->figure->measure == MEASURE_IMPROVEMENT};
    heat_extent(drawing, &colours.least, &colours.most);
    if (colours.diverging) {
        colours.most = fmax(fmax(fabs(colours.least), fabs(colours.most)), 1e-9);
        colours.least = -colours.most;
    }
    if (colours.most <= colours.least)
        colours.most = colours.least + fmax(fabs(colours.least) * 1e-3, 1e-9);
    colours.logarithmic = !colours.diverging && colours.least > 0 && colours.most > LOGARITHMIC_COLOURS * colours.least;
    return colours;
}

/* True if the letters on it are to be white. */
static bool is_dark(const struct colours *colours, double value)
{
    double place = colours->logarithmic ? log(value / colours->least) / log(colours->most / colours->least)
                                        : (value - colours->least) / (colours->most - colours->least);
    return colours->diverging ? place < 0.15 || place > 0.85 : place > 0.6;
}

/* Draws the number, on dark squares in white; or why there is none. */
static void write_square(const struct drawing *drawing, unsigned x, unsigned y, const struct colours *colours)
{
    const struct summary_cell *cell = figure_cell(drawing->summary, drawing->figure, x, y);
    const struct summary_value *value = &cell->values[drawing->figure->measure];
    char text[40];
    if (value->count == 0) {
        fprintf(drawing->script, "set label '%s' at %u,%u center font ',11' textcolor rgb '#c00000' front\n",
                cell->failed == 0                           ? "-"
                : strcmp(cell->status, STATUS_TIMEOUT) == 0 ? "timeout"
                                                            : "failed",
                x, y);
        return;
    }
    summary_figure(drawing->figure->measure, value->median, text, sizeof text);
    fprintf(drawing->script, "set label '%s' at %u,%u center font ',12' textcolor rgb '%s' front\n", text, x, y,
            is_dark(colours, value->median) ? "#ffffff" : "#202020");
}

static void write_map(const struct drawing *drawing)
{
    fputs("$map << END\n", drawing->script);
    for (unsigned y = 0; y < drawing->lines; y++)
        for (unsigned x = 0; x < drawing->columns; x++) {
            const struct summary_value *value = figure_value_at(drawing->summary, drawing->figure, x, y);
            if (value->count > 0)
                fprintf(drawing->script, "%u %u %.9g\n", x, y, value->median);
        }
    fputs("END\n", drawing->script);
}

/* Ticks of 1, 2 and 5, which gnuplot has not by itself where the scale is logarithmic. */
static void figure_write_scale(const struct colours *colours, FILE *script)
{
    struct axis axis;
    if (!colours->logarithmic)
        return;
    axis_logarithmic(&axis, colours->least, colours->most);
    axis.real = true;
    axis_write(&axis, "cb", script);
}

static void write_heat_script(struct drawing *drawing)
{
    FILE *script = drawing->script;
    const struct colours colours = figure_choose_colours(drawing);
    write_map(drawing);
    write_label(drawing, "x", study_axes[drawing->figure->x].title, "");
    write_label(drawing, "y", study_axes[drawing->figure->y].title, "");
    write_label(drawing, "cb", drawing->measure->title, drawing->measure->unit);
    write_names(drawing, "x", drawing->figure->x);
    write_names(drawing, "y", drawing->figure->y);
    for (unsigned y = 0; y < drawing->lines; y++)
        for (unsigned x = 0; x < drawing->columns; x++)
            write_square(drawing, x, y, &colours);
    if (colours.diverging)
        fputs("set palette defined (0 '#b2182b', 0.25 '#f4a582', 0.5 '#f7f7f7', 0.75 '#92c5de', 1 '#2166ac')\n",
              script);
    else
        fputs("set palette defined (0 '#f7fbff', 0.25 '#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 '#08306b')\n",
              script);
    figure_write_scale(&colours, script);
    fprintf(script,
            "set cbrange [%.9g:%.9g]\nset cblabel offset 2,0\nunset grid\nset style fill solid 1 border rgb "
            "'#ffffff'\nset rmargin 16\n"
            "plot $map using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fillcolor palette notitle\n",
            colours.least, colours.most);
}

int figure_draw(const struct summary *summary, const struct figure *figure, const char *path, struct error *error)
{
    struct drawing drawing = {
        .summary = summary,
        .figure = figure,
        .matrix = summary->matrix,
        .measure = &measures[figure->measure],
        .script = tmpfile(),
        .columns = figure_values_of(summary->matrix, figure->x),
        .lines = figure_lines_of(summary->matrix, figure),
    };
    if (drawing.script == NULL)
        return error_set(error, "cannot make a temporary file: %s", strerror(errno));
    drawing.failed = calloc(drawing.lines, sizeof *drawing.failed);
    if (drawing.failed == NULL) {
        fclose(drawing.script);
        return error_set(error, "out of memory for %u lines", drawing.lines);
    }
    plot_write_canvas(path, drawing.script);
    write_titles(&drawing);
    if (figure->kind == FIGURE_HEAT)
        write_heat_script(&drawing);
    else
        write_line_script(&drawing);
    int result = gnuplot_draw(drawing.script, path, error);
    fclose(drawing.script);
    free(drawing.failed);
    return result;
}
