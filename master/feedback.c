/* SPDX-License-Identifier: MIT */
/* The workers' measurements for a technique that learns. The master adds them up for each worker, and sends the sums
 * before the next report. If that report requests a refill, the supermaster has the sums when it cuts the refill. */
#include "master/core.h"

#include "common/machine/spread.h"
#include "common/service/service.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

int master_feedback_init(struct master *master)
{
    unsigned workers = master->config.feedback ? master->config.workers : 0;
    master->measurements = calloc(workers + 1, sizeof *master->measurements);
    master->measured = calloc(workers + 1, sizeof *master->measured);
    master->feedback_records = malloc((size_t)(workers + 1) * FEEDBACK_RECORD_BYTES);
    return master->measurements != NULL && master->measured != NULL && master->feedback_records != NULL ? 0 : -1;
}

void master_feedback_fini(struct master *master)
{
    free(master->measurements);
    free(master->measured);
    free(master->feedback_records);
}

void master_note_feedback(struct master *master, unsigned w, const struct feedback_record *feedback)
{
    struct measurement *measurements = &master->measurements[w];
    if (measurements->chunks == 0)
        master->measured[master->measured_count++] = w;
    const struct spread spread = spread_of_chunk(feedback->deviation_ns, feedback->samples);
    spread_merge(&measurements->spread, &spread);
    measurements->chunks += feedback->chunks;
    measurements->iterations += feedback->iterations;
    measurements->compute_ns += feedback->compute_ns;
    measurements->wait_ns += feedback->wait_ns;
}

static void put_record(struct master *master, unsigned i)
{
    unsigned w = master->measured[i];
    struct measurement *measurements = &master->measurements[w];
    const struct feedback_record record = {
        .worker = master->service.ranks[w],
        .chunks = measurements->chunks,
        .iterations = measurements->iterations,
        .compute_ns = measurements->compute_ns,
        .wait_ns = measurements->wait_ns,
        .deviation_ns = fminf((float)spread_deviation_ns(&measurements->spread), FLT_MAX),
        .samples = measurements->spread.pieces < UINT32_MAX ? (uint32_t)measurements->spread.pieces : UINT32_MAX,
    };
    feedback_record_put(master->feedback_records, i, &record);
    *measurements = (struct measurement){0};
}

void master_send_feedback(struct master *master)
{
    for (unsigned i = 0; i < master->measured_count; i++)
        put_record(master, i);
    for (unsigned i = 0; i < master->measured_count; i += FEEDBACK_MAX) {
        unsigned left = master->measured_count - i;
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){
                         .type = MESSAGE_FEEDBACK,
                         .records = master->feedback_records + (size_t)i * FEEDBACK_RECORD_BYTES,
                         .record_count = left < FEEDBACK_MAX ? left : FEEDBACK_MAX,
                     });
    }
    master->measured_count = 0;
}
