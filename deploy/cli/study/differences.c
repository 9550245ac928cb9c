/* SPDX-License-Identifier: MIT */
/* Differences of loop times: see differences.h.
 *
 * Each cell of a group is compared with one and the same: the baseline, or the quickest. A test for each of them would
 * find a difference by chance the sooner the more there are, so that their probabilities are corrected for the group.
 * With three runs of each no difference can be significant, however large: that is said, too. */
#include "deploy/cli/study/differences.h"
#include "deploy/cli/study/inference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int differences_axis(const struct study *study)
{
    const int candidates[] = {AXIS_TECHNIQUE, study->series, study->x};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i] != AXIS_NONE && study_varies(study, candidates[i]))
            return candidates[i];
    return AXIS_NONE;
}

/* The quickest of the cells that differ from this one along the axis alone, or itself. */
static unsigned quickest_along(const struct summary *summary, unsigned index, int axis)
{
    struct cell cell = summary->matrix->cells[index];
    unsigned quickest = index;
    double least = INFINITY;
    for (unsigned i = 0; i < summary->matrix->study->values[axis].count; i++) {
        cell.at[axis] = (unsigned short)i;
        const unsigned other = matrix_find(summary->matrix, &cell);
        const struct summary_value *elapsed = &summary->cells[other].values[MEASURE_ELAPSED];
        if (elapsed->count > 0 && elapsed->median < least) {
            least = elapsed->median;
            quickest = other;
        }
    }
    return quickest;
}

static unsigned find_other(const struct summary *summary, unsigned index)
{
    const struct study *study = summary->matrix->study;
    const int axis = differences_axis(study);
    if (study->baseline.given)
        return summary_baseline(summary, index);
    return axis != AXIS_NONE ? quickest_along(summary, index, axis) : index;
}

/* Compares a cell with another one, without a verdict where there is a p. -1 when memory is out. */
static int compare_times(const struct summary_value *own, const struct summary_value *other, bool repeats,
                         struct difference *difference)
{
    struct interval interval = {0};
    if (own->count == 0 || other->count == 0 || other->median <= 0)
        return 0;
    difference->is_known = true;
    difference->saved = 100 * (1 - own->median / other->median);
    difference->has_interval = own->has_interval && other->has_interval &&
                               bootstrap_saving(own->values, own->count, other->values, other->count, &interval);
    difference->low = interval.low;
    difference->high = interval.high;
    difference->has_p = !repeats;
    difference->verdict = VERDICT_SAME;
    if (repeats)
        return 0;
    difference->p = mann_whitney(own->values, own->count, other->values, other->count);
    return difference->p < 0 ? -1 : 0;
}

static enum verdict verdict_on(const struct difference *difference, double least)
{
    if (least >= DIFFERENCE_LEVEL)
        return VERDICT_FEW;
    if (difference->p_corrected >= DIFFERENCE_LEVEL)
        return VERDICT_UNCLEAR;
    return difference->saved > 0 ? VERDICT_QUICKER : VERDICT_SLOWER;
}

/* A cell that is compared, with the one that it is compared with. */
struct compared {
    unsigned against, cell;
};

static int compare_compared(const void *a, const void *b)
{
    const struct compared *x = a, *y = b;
    return x->against != y->against ? (x->against > y->against) - (x->against < y->against)
                                    : (x->cell > y->cell) - (x->cell < y->cell);
}

/* Corrects the probabilities of the cells of a group, and says what they mean. `p` has room for them. */
static void judge_group(struct summary *summary, const struct compared *group, unsigned count, double *p)
{
    for (unsigned i = 0; i < count; i++)
        p[i] = summary->cells[group[i].cell].difference.p;
    correct_holm(p, count);
    for (unsigned i = 0; i < count; i++) {
        struct summary_cell *cell = &summary->cells[group[i].cell];
        const double least = mann_whitney_least(cell->values[MEASURE_ELAPSED].count,
                                                summary->cells[group[i].against].values[MEASURE_ELAPSED].count);
        cell->difference.p_corrected = p[i];
        cell->difference.verdict = verdict_on(&cell->difference, count * least);
    }
}

static void judge_groups(struct summary *summary, struct compared *list, unsigned count, double *p)
{
    qsort(list, count, sizeof *list, compare_compared);
    for (unsigned first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && list[next].against == list[first].against; next++)
            ;
        judge_group(summary, list + first, next - first, p);
    }
}

int differences_find(struct summary *summary)
{
    const unsigned cells = summary->matrix->count;
    struct compared *list = malloc(cells * sizeof *list);
    double *p = malloc(cells * sizeof *p);
    int result = p != NULL && list != NULL ? 0 : -1;
    unsigned count = 0;
    for (unsigned i = 0; i < cells && result == 0; i++) {
        struct difference *difference = &summary->cells[i].difference;
        difference->against = find_other(summary, i);
        if (difference->against != i)
            result = compare_times(
                &summary->cells[i].values[MEASURE_ELAPSED],
                &summary->cells[difference->against].values[MEASURE_ELAPSED],
                matrix_repeats(summary->matrix, i) || matrix_repeats(summary->matrix, difference->against), difference);
        if (difference->has_p)
            list[count++] = (struct compared){difference->against, i};
    }
    if (result == 0)
        judge_groups(summary, list, count, p);
    free(list);
    free(p);
    return result;
}

/* The largest number of cells that are compared with the same one and have too few runs for that: the more there are,
 * the more runs it takes. */
static unsigned largest_group_without(const struct summary *summary)
{
    unsigned largest = 0;
    const unsigned cells = summary->matrix->count;
    unsigned *counts = calloc(cells, sizeof *counts);
    for (unsigned i = 0; counts != NULL && i < cells; i++)
        counts[summary->cells[i].difference.against] += summary->cells[i].difference.has_p;
    for (unsigned i = 0; counts != NULL && i < cells; i++) {
        const struct difference *difference = &summary->cells[i].difference;
        if (difference->is_known && difference->verdict == VERDICT_FEW && counts[difference->against] > largest)
            largest = counts[difference->against];
    }
    free(counts);
    return largest;
}

unsigned differences_runs_needed(const struct summary *summary)
{
    const unsigned compared = largest_group_without(summary);
    unsigned runs = 2;
    if (compared == 0)
        return 0;
    while (compared * mann_whitney_least(runs, runs) >= DIFFERENCE_LEVEL)
        runs++;
    return runs;
}

const char *verdict_text(enum verdict verdict)
{
    static const char *const texts[] = {"quicker", "slower", "may be chance", "too few runs to tell",
                                        "the same run each time"};
    return texts[verdict];
}

void difference_probability(double p, char *text, size_t size)
{
    if (p < 0.001)
        snprintf(text, size, "< 0.001");
    else
        snprintf(text, size, p < 0.1 ? "%.3f" : "%.2f", p);
}
