/* SPDX-License-Identifier: MIT */
/* `--technique auto`: simulates the loop with each technique, and uses the technique with the shortest predicted time.
 * The simulation uses the measured speeds of workers, iteration times and message times. The choice is made at the
 * beginning of the loop. It is made again at the beginning of each further time step, with the measured pace of the
 * workers.
 *
 * Iterations that have effects cannot be probed. Then the loop begins with the technique of the run specification
 * (usually ss), and the choice is made from finished chunks. The first choice comes after FINISHED_FIRST iterations for
 * each worker. The next choice comes when FINISHED_FACTOR times as many iterations are finished as at the choice
 * before. */
#include "supermaster/choose.h"

#include "common/config/run_spec.h"
#include "common/machine/topology.h"
#include "common/predict/choose.h"
#include "common/predict/predict.h"
#include "common/predict/profile.h"
#include "common/sched/sched.h"
#include "common/util/grow.h"
#include "proto/message.h"
#include "supermaster/core.h"
#include "supermaster/supermaster.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static_assert(PROFILE_CELLS == SPEED_CELLS, "a profile has as many parts as a probe has cells");

int supermaster_chooser_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct chooser *chooser = supermaster->technique.chooser;
    const size_t before = room->workers.before, now = room->workers.now;
    if (chooser == NULL)
        return 0;
    const bool complete = grow_to(&chooser->mean_s, before, now, sizeof *chooser->mean_s) == 0 &&
                          grow_to(&chooser->paces, before, now, sizeof *chooser->paces) == 0;
    return complete ? 0 : -1;
}

int supermaster_chooser_init(struct supermaster *supermaster)
{
    const struct room room = {.workers.now = supermaster->config.topology->workers};
    if (!supermaster->config.spec->technique_auto)
        return 0;
    supermaster->technique.chooser = calloc(1, sizeof *supermaster->technique.chooser);
    return supermaster->technique.chooser != NULL ? supermaster_chooser_make_room(supermaster, &room) : -1;
}

void supermaster_chooser_fini(struct supermaster *supermaster)
{
    if (supermaster->technique.chooser != NULL) {
        free(supermaster->technique.chooser->mean_s);
        free(supermaster->technique.chooser->paces);
    }
    free(supermaster->technique.chooser);
}

static void take_profile(const struct measured *measured, struct profile *profile)
{
    struct profile_samples samples = {.overall_mean = 1, .overall_deviation = measured->cov};
    for (unsigned i = 0; i < SPEED_CELLS; i++) {
        samples.mean[i] = measured->cells[i].mean;
        samples.count[i] = measured->cells[i].count;
    }
    profile_init(profile, &samples);
}

static void take_paces(const struct supermaster *supermaster, double *mean_s)
{
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++) {
        const struct pace *pace = &supermaster->technique.chooser->paces[w];
        mean_s[w] = pace->iterations > 0 && pace->compute_s > 0 ? pace->compute_s / (double)pace->iterations
                                                                : supermaster->speeds.measured.mean_s[w];
    }
}

static void measure_finished(struct supermaster *supermaster)
{
    const struct finished_chunks *finished = &supermaster->technique.chooser->finished;
    struct measured *measured = &supermaster->speeds.measured;
    double mean_s = finished->seconds / (double)finished->iterations;
    double variance = finished->squares / (double)finished->iterations - mean_s * mean_s;
    measured->cov = variance > 0 ? sqrt(variance) / mean_s : 0;
    measured->iterations = finished->iterations;
    measured->round_trip_s = finished->wait_s;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        measured->mean_s[w] = mean_s;
}

#define FINISHED_FIRST  4
#define FINISHED_FACTOR 4

static void choose_by_finished(struct supermaster *supermaster, const struct sched_feedback *feedback)
{
    struct finished_chunks *finished = &supermaster->technique.chooser->finished;
    uint64_t first = FINISHED_FIRST * (uint64_t)supermaster->config.topology->workers;
    finished->iterations += feedback->iterations;
    finished->seconds += feedback->compute_s;
    finished->squares += feedback->compute_s * feedback->compute_s / (double)feedback->iterations;
    if (feedback->wait_s > 0 && (finished->wait_s == 0 || feedback->wait_s < finished->wait_s))
        finished->wait_s = feedback->wait_s;
    finished->due = finished->due > 0 ? finished->due : first;
    if (finished->iterations < finished->due || finished->seconds <= 0 || supermaster->state != SUPERMASTER_SERVING ||
        supermaster_step_free(supermaster) == 0)
        return;
    finished->due = FINISHED_FACTOR * finished->iterations;
    measure_finished(supermaster);
    supermaster_change_technique(supermaster, supermaster_choose(supermaster));
}

static void supermaster_note_pace(struct supermaster *supermaster, const struct sched_feedback *feedback)
{
    struct pace *pace = &supermaster->technique.chooser->paces[feedback->worker];
    pace->iterations += feedback->iterations;
    pace->compute_s += feedback->compute_s;
    if (supermaster->config.spec->chosen_late && feedback->iterations > 0 && feedback->chunks > 0)
        choose_by_finished(supermaster, feedback);
}

const struct sched_spec *supermaster_choose(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct topology *topology = config->topology;
    struct chooser *chooser = supermaster->technique.chooser;
    struct predict_loop loop = {
        .spec = config->spec,
        .iterations = supermaster_step_free(supermaster),
        .workers = topology->workers,
        .mean_s = chooser->mean_s,
        .speeds = supermaster->speeds.powers,
        .masters = topology->masters,
        .master_of = topology->master_of,
        .spread_known = supermaster->speeds.measured.iterations > 1,
        .round_trip_s = supermaster->speeds.measured.round_trip_s,
        .swr = supermaster->speeds.measured.swr,
    };
    take_paces(supermaster, chooser->mean_s);
    take_profile(&supermaster->speeds.measured, &loop.profile);
    /* `powers` serves as scratch memory here, because the virtual powers are computed later. */
    for (unsigned w = 0; w < topology->workers; w++)
        supermaster->speeds.powers[w] = supermaster->statistics[w].speed;
    choice_decide(&chooser->choice, &loop, &config->spec->technique);
    return &chooser->choice.candidates[chooser->choice.chosen].spec;
}

void supermaster_learn(struct supermaster *supermaster, unsigned w, const struct feedback_record *feedback)
{
    const struct sched_feedback measured = {
        .worker = w,
        .chunks = feedback->chunks,
        .iterations = feedback->iterations,
        .compute_s = seconds_of(feedback->compute_ns),
        .wait_s = seconds_of(feedback->wait_ns),
        .deviation_s = (double)feedback->deviation_ns / 1e9,
        .samples = feedback->samples,
    };
    if (supermaster->technique.is_ready && supermaster->technique.seat[w] != NO_SEAT) {
        struct sched_feedback seated = measured;
        seated.worker = supermaster->technique.seat[w];
        sched_feedback(&supermaster->technique.sched, &seated);
    }
    if (supermaster->technique.chooser != NULL)
        supermaster_note_pace(supermaster, &measured);
}

static int take_feedback(struct supermaster *supermaster, unsigned m, const struct feedback_record *record,
                         struct error *error)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned w = topology_worker(topology, record->worker);
    if (w == topology->workers || topology->master_of[w] != m)
        return error_set(error, "sent feedback of rank %u, which is not a worker of this master", record->worker);
    if (record->iterations > supermaster->ledger.loop.count)
        return error_set(error, "sent feedback of %llu iterations, which are more than the loop has",
                         (unsigned long long)record->iterations);
    struct stats_record *measured = &supermaster->statistics[w].measured;
    measured->chunks += record->chunks;
    measured->iterations += record->iterations;
    measured->compute_ns += record->compute_ns;
    measured->wait_ns += record->wait_ns;
    supermaster_learn(supermaster, w, record);
    return 0;
}

void supermaster_receive_feedback(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct error error;
    struct feedback_record record;
    for (unsigned i = 0; i < message->record_count; i++) {
        feedback_record_get(message->records, i, &record);
        if (take_feedback(supermaster, m, &record, &error) == 0)
            continue;
        supermaster_refuse(supermaster, error.text);
        return;
    }
}
