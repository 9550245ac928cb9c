/* SPDX-License-Identifier: MIT */
/* What its workers measured, for a technique that learns: gathered per worker, and sent ahead of the next report, so
 * that the supermaster knows it when it cuts the refill that the report asks for. A worker is on the list of news once,
 * however many chunks it has finished. */
#include "master/core.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

int master_feedback_init(struct master *master)
{
    unsigned workers = master->config.feedback ? master->config.workers : 0;
    master->news = calloc(workers + 1, sizeof *master->news);
    master->newsy = calloc(workers + 1, sizeof *master->newsy);
    master->feedback_records = malloc((size_t)(workers + 1) * FEEDBACK_RECORD_BYTES);
    return master->news != NULL && master->newsy != NULL && master->feedback_records != NULL ? 0 : -1;
}

void master_feedback_fini(struct master *master)
{
    free(master->news);
    free(master->newsy);
    free(master->feedback_records);
}

void master_note_feedback(struct master *master, unsigned w, const struct feedback_record *feedback)
{
    struct news *news = &master->news[w];
    if (news->chunks == 0)
        master->newsy[master->newsy_count++] = w;
    const struct spread spread = spread_of_chunk(feedback->deviation_ns, feedback->samples);
    spread_merge(&news->spread, &spread);
    news->chunks += feedback->chunks;
    news->iterations += feedback->iterations;
    news->compute_ns += feedback->compute_ns;
    news->wait_ns += feedback->wait_ns;
}

static void put_record(struct master *master, unsigned i)
{
    unsigned w = master->newsy[i];
    struct news *news = &master->news[w];
    const struct feedback_record record = {
        .worker = master->service.ranks[w],
        .chunks = news->chunks,
        .iterations = news->iterations,
        .compute_ns = news->compute_ns,
        .wait_ns = news->wait_ns,
        .deviation_ns = fminf((float)spread_deviation_ns(&news->spread), FLT_MAX),
        .samples = news->spread.pieces < UINT32_MAX ? (uint32_t)news->spread.pieces : UINT32_MAX,
    };
    feedback_record_put(master->feedback_records, i, &record);
    *news = (struct news){0};
}

void master_send_feedback(struct master *master)
{
    for (unsigned i = 0; i < master->newsy_count; i++)
        put_record(master, i);
    for (unsigned i = 0; i < master->newsy_count; i += FEEDBACK_MAX) {
        unsigned left = master->newsy_count - i;
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){
                         .type = MESSAGE_FEEDBACK,
                         .records = master->feedback_records + (size_t)i * FEEDBACK_RECORD_BYTES,
                         .record_count = left < FEEDBACK_MAX ? left : FEEDBACK_MAX,
                     });
    }
    master->newsy_count = 0;
}
