/* SPDX-License-Identifier: MIT */
/* The speeds that workers report. SPEED messages pass through the master. After the speeds of all workers have arrived,
 * the master gives them to its service. If a worker is lost before it has sent its speed, or if workers do not probe,
 * the service gets no speeds. */
#include "master/core.h"

#include "common/machine/probe.h"
#include "common/service/service.h"

#include <stdlib.h>

int master_speeds_init(struct master *master)
{
    master->levels = calloc(master->config.workers + 1, sizeof *master->levels);
    return master->levels != NULL ? 0 : -1;
}

void master_speeds_fini(struct master *master)
{
    free(master->levels);
    master->levels = NULL;
}

static void tell_service(struct master *master)
{
    double *mean_s = calloc(master->config.workers, sizeof *mean_s);
    if (mean_s == NULL)
        return;
    probe_compare(master->levels, master->config.workers, mean_s);
    service_note_speeds(&master->service, mean_s);
    free(mean_s);
}

void master_note_speed(struct master *master, unsigned w, const struct speed *speed)
{
    if (master->levels == NULL || master->levels[w].count > 0)
        return; /* this SPEED is a repetition, which the supermaster will refuse */
    master->levels[w] = speed_levels_of(speed);
    if (++master->speeds < master->config.workers)
        return;
    tell_service(master);
    master_speeds_fini(master);
}
