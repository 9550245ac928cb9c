/* SPDX-License-Identifier: MIT */
/* The option technique=auto. Between two time steps, rank 0 predicts from the measured speeds how long each technique
 * would take. All ranks then use the fastest technique. There is no probe, so the first step uses an adaptive
 * technique. */
#include "deploy/library/loop.h"

#include "common/config/run_spec.h"
#include "common/predict/choose.h"
#include "common/predict/predict.h"
#include "common/predict/profile.h"
#include "common/sched/sched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    double iterations, compute_s;
    double round_trip_s; /* shortest wait for a chunk in the last time step; 0: unknown */
    /* spread: sum of the squared deviations of times, relative to the rank's mean; freedom: number of pieces minus
     * one */
    double spread, freedom;
};

struct candidates {
    struct choice choice;
    double *mean_s;
    unsigned *master_of;
};

static bool take_means(const struct seen *all, unsigned count, double *mean_s)
{
    double iterations = 0, compute_s = 0;
    for (unsigned i = 0; i < count; i++) {
        iterations += all[i].iterations;
        compute_s += all[i].compute_s;
    }
    if (iterations <= 0 || compute_s <= 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        mean_s[i] = all[i].iterations > 0 && all[i].compute_s > 0 ? all[i].compute_s / all[i].iterations
                                                                  : compute_s / iterations;
    return true;
}

static double round_trip(const struct seen *all, unsigned count)
{
    double least_s = 0;
    for (unsigned i = 0; i < count; i++)
        if (all[i].round_trip_s > 0 && (least_s == 0 || all[i].round_trip_s < least_s))
            least_s = all[i].round_trip_s;
    return least_s;
}

static double cov_of(const struct seen *all, unsigned count)
{
    double spread = 0, freedom = 0;
    for (unsigned i = 0; i < count; i++) {
        spread += all[i].spread;
        freedom += all[i].freedom;
    }
    return freedom > 0 ? sqrt(spread / freedom) : 0;
}

static void take_speeds(struct hdss_shared_loop *loop, const double *mean_s)
{
    unsigned idle = loop->settings.leader_idles;
    if (!loop->speeds_measured)
        return;
    for (unsigned i = idle; i < (unsigned)loop->team.ranks; i++)
        loop->speeds[i] = 1 / mean_s[i - idle];
}

static void auto_decide(struct hdss_shared_loop *loop, const struct seen *all)
{
    const struct team *team = &loop->team;
    struct candidates *candidates = loop->candidates;
    unsigned idle = loop->settings.leader_idles, count = (unsigned)team->ranks - idle;
    bool by_group = loop->settings.mode == API_HIERARCHICAL;
    const struct run_spec spec = {
        .weighting = loop->settings.weighting,
        .min_chunk = loop->settings.min_chunk,
        .refill_chunks = 1,
        .ask_ahead = loop->settings.request_when > 0 ? ASK_AHEAD_AUTO : ASK_AHEAD_OFF,
    };
    struct predict_loop predicted = {
        .spec = &spec,
        .iterations = loop->iterations,
        .workers = count,
        .mean_s = candidates->mean_s,
        .masters = by_group ? team->groups : 0,
        .master_of = by_group ? candidates->master_of : NULL,
        .round_trip_s = round_trip(all, (unsigned)team->ranks),
    };
    if (loop->iterations == 0 || !take_means(all + idle, count, candidates->mean_s))
        return;
    for (int i = 0; i < team->ranks; i++)
        candidates->master_of[i] = team->group_of[i];
    double cov = cov_of(all, (unsigned)team->ranks);
    predicted.spread_known = cov > 0;
    profile_init_flat(&predicted.profile, cov);
    choice_decide(&candidates->choice, &predicted, &loop->settings.technique);
    loop->settings.technique = candidates->choice.candidates[candidates->choice.chosen].spec;
    take_speeds(loop, candidates->mean_s);
}

static int auto_prepare(struct hdss_shared_loop *loop)
{
    size_t ranks = (size_t)loop->team.ranks;
    if (loop->team.rank != 0 || loop->candidates != NULL)
        return 0;
    struct candidates *candidates = calloc(1, sizeof *candidates);
    loop->candidates = candidates;
    if (candidates == NULL)
        return -1;
    candidates->mean_s = calloc(ranks, sizeof *candidates->mean_s);
    candidates->master_of = calloc(ranks, sizeof *candidates->master_of);
    if (loop->speeds == NULL) {
        loop->speeds = calloc(ranks, sizeof *loop->speeds);
        loop->speeds_measured = true;
        for (size_t i = 0; loop->speeds != NULL && i < ranks; i++)
            loop->speeds[i] = 1;
    }
    return candidates->mean_s != NULL && candidates->master_of != NULL && loop->speeds != NULL ? 0 : -1;
}

/* Broadcasts the technique that rank 0 has chosen. If the technique does not change, it keeps what it has learned. */
static void auto_spread(struct hdss_shared_loop *loop, const char *before)
{
    char text[SCHED_SPEC_TEXT_MAX];
    struct error none;
    sched_spec_format(&loop->settings.technique, text, sizeof text);
    MPI_Bcast(text, sizeof text, MPI_CHAR, 0, loop->team.world);
    sched_spec_parse(&loop->settings.technique, text, &none);
    loop->technique_changed = strcmp(text, before) != 0;
}

int auto_choose(struct hdss_shared_loop *loop)
{
    const struct team *team = &loop->team;
    char before[SCHED_SPEC_TEXT_MAX];
    loop->seen_iterations += (double)loop->figures.iterations;
    loop->seen_compute_s += (double)loop->figures.compute_ns / 1e9;
    bool asks = loop->figures.least_wait_ns < UINT64_MAX && !loop->serves;
    const struct seen own = {
        .iterations = loop->seen_iterations,
        .compute_s = loop->seen_compute_s,
        .spread = loop->spread.mean_s > 0 ? loop->spread.squares / (loop->spread.mean_s * loop->spread.mean_s) : 0,
        .freedom = loop->spread.pieces > 1 ? (double)(loop->spread.pieces - 1) : 0,
        .round_trip_s = asks ? (double)loop->figures.least_wait_ns / 1e9 : 0};
    struct seen *all = team->rank == 0 ? calloc((size_t)team->ranks, sizeof *all) : NULL;
    bool failed = auto_prepare(loop) < 0 || (team->rank == 0 && all == NULL);
    if (failed)
        error_set(&loop->error, "out of memory for choosing a technique");
    int status = team_agree(team, failed ? HDSS_ERROR_MEMORY : HDSS_OK, &loop->error);
    if (status == HDSS_OK) {
        MPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, team->world);
        sched_spec_format(&loop->settings.technique, before, sizeof before);
        if (team->rank == 0)
            auto_decide(loop, all);
        auto_spread(loop, before);
    }
    free(all);
    return status;
}

const struct choice *auto_choice(const struct hdss_shared_loop *loop)
{
    return loop->candidates != NULL && loop->candidates->choice.times > 0 ? &loop->candidates->choice : NULL;
}

void auto_fini(struct hdss_shared_loop *loop)
{
    if (loop->candidates == NULL)
        return;
    free(loop->candidates->mean_s);
    free(loop->candidates->master_of);
    free(loop->candidates);
}
