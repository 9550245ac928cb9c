/* Speeds and virtual powers. Every worker times the same probe iterations, the first 1, 2, 4, ... of them, until it has
 * spent its time; the speeds compare at the largest number that all have reached. */
#include "supermaster/core.h"

void supermaster_receive_speed(struct supermaster *supermaster, const struct speed *speed)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned w = topology_worker(topology, speed->worker);
    if (w == topology->workers || supermaster->speeds_missing == 0 || supermaster->speeds[w].levels > 0) {
        supermaster_fail(supermaster, speed->worker, "sent a speed that was not asked for");
        return;
    }
    supermaster->speeds[w] = *speed;
    supermaster->speeds_missing--;
}

static void compare_speeds(struct supermaster *supermaster)
{
    unsigned workers = supermaster->config.topology->workers, level = LEVELS_MAX;
    for (unsigned w = 0; w < workers; w++)
        level = supermaster->speeds[w].levels < level ? supermaster->speeds[w].levels : level;
    for (unsigned w = 0; w < workers; w++)
        supermaster->figures[w].speed = 1e9 / (double)supermaster->speeds[w].elapsed_ns[level - 1];
}

static int prepare_technique(struct supermaster *supermaster, struct error *error)
{
    const struct supermaster_config *config = &supermaster->config;
    unsigned workers = config->topology->workers;
    double *powers = supermaster->powers;
    for (unsigned w = 0; w < workers; w++)
        powers[w] = supermaster->figures[w].speed;
    sched_powers_from_speeds(config->technique.technique, config->weighting, powers, workers, powers);
    const struct sched_config sched = {
        .iterations = config->count,
        .workers = workers,
        .powers = powers,
        .min_chunk = config->min_chunk,
        .weighting = config->weighting,
    };
    return sched_init(&supermaster->sched, &config->technique, &sched, error);
}

void supermaster_begin(struct supermaster *supermaster, uint64_t now_ns)
{
    struct error error;
    if (supermaster->config.speeds == NULL)
        compare_speeds(supermaster);
    if (prepare_technique(supermaster, &error) < 0) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, error.text);
        return;
    }
    supermaster->sched_ready = true;
    supermaster_move(supermaster, SUPERMASTER_SERVING);
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++)
        if (supermaster->refill_parked[m])
            supermaster_serve_refill(supermaster, m, now_ns);
    service_serve(&supermaster->service, now_ns, supermaster->actions);
}
