/* SPDX-License-Identifier: MIT */
/* The loads of the workers' cores, by which chunks are scaled with --weighting acp: of those that are served here their
 * requests tell them, of the others their masters do. Who has told nothing is taken to have its core for itself. */
#include "supermaster/core.h"

static double processes(uint16_t load)
{
    return load > LOAD_ONE ? (double)load / LOAD_ONE : 1;
}

void supermaster_weigh_load(struct supermaster *supermaster, unsigned w)
{
    const struct served *served = &supermaster->service.workers[w];
    struct worker_statistics *statistics = &supermaster->statistics[w];
    uint16_t told = served->load > 0 ? served->load : statistics->load;
    double load = processes(told);
    sched_set_load(&supermaster->sched, supermaster->seat[w], load);
    statistics->load_sum += told > 0 ? load : 0;
    statistics->load_chunks += told > 0;
}

void supermaster_receive_loads(struct supermaster *supermaster, const struct message *message)
{
    const struct topology *topology = supermaster->config.topology;
    struct load_record record;
    for (unsigned i = 0; i < message->record_count; i++) {
        load_record_get(message->records, i, &record);
        unsigned w = topology_worker(topology, record.worker);
        if (w == topology->workers || !supermaster_speaks_for(supermaster, record.worker)) {
            supermaster_refuse(supermaster, "sent the load of a rank that it does not serve");
            return;
        }
        supermaster->statistics[w].load = record.load;
    }
}
