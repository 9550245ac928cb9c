/* SPDX-License-Identifier: MIT */
/* The ranks of a job summed up: see sum.h. */
#include "deploy/cli/top/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_away(const struct rank_figures *rank)
{
    return rank->state == RANK_LOST || rank->state == RANK_LEFT;
}

/* --- groups --- */

/* The number of the group of a rank; a master is in its own. */
static unsigned group_number(const struct rank_figures *rank)
{
    return rank->is_master ? rank->rank : rank->master != RANK_NONE ? rank->master : rank->node;
}

static int by_group_number(const void *a, const void *b)
{
    const struct top_group *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

size_t top_sum_group_of(const struct top_sum *sum, const struct rank_figures *worker)
{
    const struct top_group wanted = {.number = group_number(worker)};
    const struct top_group *found =
        sum->group_count > 0 ? bsearch(&wanted, sum->groups, sum->group_count, sizeof wanted, by_group_number) : NULL;
    return found != NULL ? (size_t)(found - sum->groups) : sum->group_count;
}

/* Makes a group for each number that there is. */
static int make_groups(struct top_sum *sum, const struct top_model *model)
{
    sum->groups = calloc(model->rank_count + 1, sizeof *sum->groups);
    if (sum->groups == NULL)
        return -1;
    for (size_t i = 0; i < model->rank_count; i++) {
        const struct top_rank *rank = &model->ranks[i];
        sum->groups[i] = (struct top_group){.number = group_number(&rank->figures), .host = ""};
    }
    qsort(sum->groups, model->rank_count, sizeof *sum->groups, by_group_number);
    for (size_t i = 0; i < model->rank_count; i++)
        if (i == 0 || sum->groups[i].number != sum->groups[sum->group_count - 1].number)
            sum->groups[sum->group_count++] = sum->groups[i];
    for (size_t i = 0; i < sum->group_count; i++) {
        sum->groups[i].longest_s = sum->groups[i].busy_share = -1;
        sum->groups[i].knows_computing = sum->groups[i].has_counts = true;
    }
    return 0;
}

static void add_master(struct top_group *group, const struct top_rank *rank)
{
    group->is_master = true;
    group->is_lost = is_away(&rank->figures);
    group->host = rank->host;
}

/* Adds what a worker is at, and has done. `busy_s` is the sum over those of the group before it. */
static void add_to_group(struct top_group *group, const struct top_rank *rank, double share, double *shares,
                         unsigned *counted)
{
    const struct rank_figures *figures = &rank->figures;
    group->workers++;
    group->computing += figures->state == RANK_COMPUTES;
    group->lost += figures->state == RANK_LOST;
    group->knows_computing &= figures->state != RANK_NOT_TOLD;
    group->has_counts &= figures->has_counts;
    group->done += (double)figures->done;
    group->chunks += (double)figures->chunks;
    if (figures->has_chunk)
        group->longest_s = fmax(group->longest_s, figures->since_s);
    if (group->host[0] == '\0')
        group->host = rank->host;
    if (share >= 0 && !is_away(figures)) {
        *shares += share;
        ++*counted;
    }
}

/* Takes from the master what is not known of all of its workers. */
static void take_master(struct top_group *group, const struct rank_figures *master)
{
    if (!group->knows_computing) {
        group->computing = master->busy;
        group->knows_computing = true;
    }
    if (!group->has_counts) {
        group->done = (double)master->done;
        group->has_counts = true;
    }
}

static int fill_groups(struct top_sum *sum, const struct top_model *model)
{
    const struct job_view *job = top_model_looked(model);
    double *shares = calloc(sum->group_count + 1, sizeof *shares);
    unsigned *counted = calloc(sum->group_count + 1, sizeof *counted);
    for (size_t i = 0; shares != NULL && counted != NULL && i < model->rank_count; i++) {
        const struct top_rank *rank = &model->ranks[i];
        const size_t g = top_sum_group_of(sum, &rank->figures);
        if (rank->figures.is_master)
            add_master(&sum->groups[g], rank);
        else
            add_to_group(&sum->groups[g], rank, job != NULL ? top_busy_share(job, &rank->figures) : -1, &shares[g],
                         &counted[g]);
    }
    for (size_t i = 0; shares != NULL && counted != NULL && i < model->rank_count; i++)
        if (model->ranks[i].figures.is_master)
            take_master(&sum->groups[top_sum_group_of(sum, &model->ranks[i].figures)], &model->ranks[i].figures);
    for (size_t g = 0; shares != NULL && counted != NULL && g < sum->group_count; g++)
        if (counted[g] > 0)
            sum->groups[g].busy_share = shares[g] / counted[g];
    const bool is_done = shares != NULL && counted != NULL;
    free(shares);
    free(counted);
    return is_done ? 0 : -1;
}

/* --- all of them --- */

double top_busy_share(const struct job_view *job, const struct rank_figures *worker)
{
    if (!worker->has_counts || job->elapsed_s <= 0)
        return -1;
    return fmin((worker->compute_s + (worker->has_chunk ? worker->since_s : 0)) / job->elapsed_s, 1);
}

static void count_states(struct top_sum *sum, const struct top_model *model)
{
    for (size_t i = 0; i < model->rank_count; i++) {
        const struct rank_figures *rank = &model->ranks[i].figures;
        if (rank->is_master)
            continue;
        sum->workers++;
        sum->waiting += rank->state == RANK_WAITS;
        sum->aside += rank->state == RANK_ASIDE;
        sum->lost += rank->state == RANK_LOST;
        sum->left += rank->state == RANK_LEFT;
    }
    for (size_t g = 0; g < sum->group_count; g++)
        sum->computing += sum->groups[g].computing;
}

/* Time of computing: the chunks that are finished, and the one that runs. */
static double computing_s(const struct rank_figures *worker)
{
    return worker->compute_s + (worker->has_chunk ? worker->since_s : 0);
}

/* The maximum over the mean of the times that the workers have computed, those left out that are away. */
static double imbalance_of(const struct top_model *model)
{
    double sum_s = 0, most_s = 0;
    unsigned count = 0;
    for (size_t i = 0; i < model->rank_count; i++) {
        const struct rank_figures *rank = &model->ranks[i].figures;
        if (rank->is_master || is_away(rank))
            continue;
        if (!rank->has_counts)
            return -1;
        sum_s += computing_s(rank);
        most_s = fmax(most_s, computing_s(rank));
        count++;
    }
    return count > 1 && sum_s > 0 ? most_s / (sum_s / count) : -1;
}

/* Mean time of an iteration; 0: not known. */
static double iteration_s(const struct top_model *model)
{
    double time_s = 0, iterations = 0;
    for (size_t i = 0; i < model->rank_count; i++) {
        const struct rank_figures *rank = &model->ranks[i].figures;
        if (rank->is_master || rank->done == 0)
            continue;
        time_s += rank->compute_s;
        iterations += (double)rank->done;
    }
    return iterations > 0 ? time_s / iterations : 0;
}

/* Puts the chunk of a rank among the slow ones, if it is one. */
static void add_slow(struct top_sum *sum, const struct top_rank *rank, double mean_s)
{
    const struct rank_figures *figures = &rank->figures;
    const double expected_s = mean_s * (double)figures->count;
    unsigned at = sum->slow_count;
    while (at > 0 && sum->slow[at - 1].rank->figures.since_s < figures->since_s)
        at--;
    if (at == TOP_SLOW_MAX)
        return;
    sum->slow_count += sum->slow_count < TOP_SLOW_MAX;
    memmove(&sum->slow[at + 1], &sum->slow[at], (sum->slow_count - at - 1) * sizeof *sum->slow);
    sum->slow[at] = (struct top_slow){rank, expected_s > 0 ? figures->since_s / expected_s : -1};
}

int top_sum_init(struct top_sum *sum, const struct top_model *model)
{
    *sum = (struct top_sum){.imbalance = -1};
    if (make_groups(sum, model) < 0 || fill_groups(sum, model) < 0) {
        top_sum_fini(sum);
        return -1;
    }
    count_states(sum, model);
    sum->imbalance = imbalance_of(model);
    const double mean_s = iteration_s(model);
    for (size_t i = 0; i < model->rank_count; i++)
        if (model->ranks[i].figures.has_chunk)
            add_slow(sum, &model->ranks[i], mean_s);
    return 0;
}

void top_sum_fini(struct top_sum *sum)
{
    free(sum->groups);
    *sum = (struct top_sum){0};
}
