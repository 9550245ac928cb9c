/* See perturb.h. SimGrid has profiles of the speeds of its hosts, too. Not these: what a worker does beside computing
 * it does while it computes, so that it must be known beforehand when a chunk is over. */
#include "common/runtime/simgrid/perturb.h"

#include <stdlib.h>

/* --- slowdowns --- */

static int compare_slowings(const void *a, const void *b)
{
    const struct slowing *first = a, *second = b;
    return (first->at_ns > second->at_ns) - (first->at_ns < second->at_ns);
}

/* Sets first_slowing[rank + 1] to how many there are of the ranks up to this one. Returns how many in all. */
static unsigned count_slowings(struct perturbations *perturbations, const struct virtual_config *config)
{
    unsigned *first = perturbations->first_slowing;
    for (unsigned i = 0; i < config->fault_count; i++)
        first[config->faults[i].rank + 1] += config->faults[i].type == VIRTUAL_SLOW;
    for (unsigned rank = 0; rank < cluster_ranks(config); rank++)
        first[rank + 1] += first[rank];
    return first[cluster_ranks(config)];
}

/* Those of a rank in the order of their times, each with what those before it come to. */
static void order_slowings(struct slowing *slowings, unsigned count)
{
    qsort(slowings, count, sizeof *slowings, compare_slowings);
    for (unsigned i = 1; i < count; i++)
        slowings[i].factor *= slowings[i - 1].factor;
}

static int list_slowings(struct perturbations *perturbations, const struct virtual_config *config)
{
    const unsigned ranks = cluster_ranks(config);
    unsigned *first = perturbations->first_slowing = calloc(ranks + 1, sizeof *first);
    const unsigned count = first != NULL ? count_slowings(perturbations, config) : 0;
    unsigned *next = calloc(ranks, sizeof *next);
    if (count > 0)
        perturbations->slowings = calloc(count, sizeof *perturbations->slowings);
    bool failed = first == NULL || next == NULL || (count > 0 && perturbations->slowings == NULL);
    for (unsigned i = 0; !failed && i < config->fault_count; i++) {
        const struct virtual_fault *fault = &config->faults[i];
        if (fault->type == VIRTUAL_SLOW)
            perturbations->slowings[first[fault->rank] + next[fault->rank]++] =
                (struct slowing){fault->at_ns, fault->factor};
    }
    for (unsigned rank = 0; !failed && count > 0 && rank < ranks; rank++)
        order_slowings(&perturbations->slowings[first[rank]], first[rank + 1] - first[rank]);
    free(next);
    return failed ? -1 : 0;
}

int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config, struct error *error)
{
    *perturbations = (struct perturbations){.slowings = NULL};
    if (config->fault_count == 0 || list_slowings(perturbations, config) == 0)
        return 0;
    return error_set(error, "out of memory for %u ranks", cluster_ranks(config));
}

void perturbations_fini(struct perturbations *perturbations)
{
    free(perturbations->slowings);
    free(perturbations->first_slowing);
}

double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns)
{
    const unsigned *first = perturbations->first_slowing;
    double at_ns = from_ns, factor = 1;
    if (perturbations->slowings == NULL || first[rank] == first[rank + 1])
        return ns;
    for (unsigned i = first[rank]; i < first[rank + 1]; i++) {
        const struct slowing *slowing = &perturbations->slowings[i];
        double until_ns = (double)slowing->at_ns;
        if (until_ns > at_ns) {
            if (at_ns + ns * factor <= until_ns)
                break;
            ns -= (until_ns - at_ns) / factor;
            at_ns = until_ns;
        }
        factor = slowing->factor;
    }
    return at_ns + ns * factor - from_ns;
}

double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns)
{
    const unsigned *first = perturbations->first_slowing;
    double at_ns = from_ns, factor = 1, ns = 0;
    if (perturbations->slowings == NULL || first[rank] == first[rank + 1])
        return until_ns - from_ns;
    for (unsigned i = first[rank]; i < first[rank + 1]; i++) {
        const struct slowing *slowing = &perturbations->slowings[i];
        if ((double)slowing->at_ns >= until_ns)
            break;
        if ((double)slowing->at_ns > at_ns) {
            ns += ((double)slowing->at_ns - at_ns) / factor;
            at_ns = (double)slowing->at_ns;
        }
        factor = slowing->factor;
    }
    return ns + (until_ns - at_ns) / factor;
}
