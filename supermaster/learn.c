/* SPDX-License-Identifier: MIT */
/* Measurements of the workers' chunks, on their way to a technique that learns: in the central topology from the
 * completion itself, else from what the masters gather. Nanoseconds become seconds here. */
#include "supermaster/core.h"

static double supermaster_learn_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

void supermaster_learn(struct supermaster *supermaster, unsigned w, const struct feedback_record *feedback)
{
    const struct sched_feedback measured = {
        .worker = w,
        .chunks = feedback->chunks,
        .iterations = feedback->iterations,
        .compute_s = supermaster_learn_seconds(feedback->compute_ns),
        .wait_s = supermaster_learn_seconds(feedback->wait_ns),
        .deviation_s = (double)feedback->deviation_ns / 1e9,
        .samples = feedback->samples,
    };
    if (supermaster->sched_ready && supermaster->seat[w] != NO_SEAT) {
        struct sched_feedback seated = measured;
        seated.worker = supermaster->seat[w];
        sched_feedback(&supermaster->sched, &seated);
    }
    if (supermaster->chooser != NULL)
        supermaster_note_pace(supermaster, &measured);
}

/* -1 with one line for what cannot be. */
static int supermaster_learn_take_record(struct supermaster *supermaster, unsigned m,
                                         const struct feedback_record *record, struct error *error)
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
        if (supermaster_learn_take_record(supermaster, m, &record, &error) == 0)
            continue;
        supermaster_refuse(supermaster, error.text);
        return;
    }
}
