/* SPDX-License-Identifier: MIT */
/* Allotments: see allotment.h. */
#include "worker/kernels/exec/allotment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int allotment_open(struct allotment *allotment, const char *path, bool any_core, struct error *error)
{
    allotment->settings = calloc(ALLOTMENT_SETTINGS, sizeof *allotment->settings);
    if (allotment->settings == NULL)
        return error_set(error, "out of memory");
    if (resources_init(&allotment->resources, any_core, error) < 0)
        return -1;
    return claim_init(&allotment->claim, path, &allotment->resources.has, error);
}

int allotment_init(struct allotment *allotment, const struct needs_source *source, const char *path, bool any_core,
                   struct error *error)
{
    *allotment = (struct allotment){.source = *source};
    if (!needs_are_given(source))
        return 0;
    if (allotment_open(allotment, path, any_core, error) == 0) {
        allotment->is_used = true;
        return 0;
    }
    resources_fini(&allotment->resources);
    free(allotment->settings);
    allotment->settings = NULL;
    return -1;
}

void allotment_fini(struct allotment *allotment)
{
    if (!allotment->is_used)
        return;
    claim_fini(&allotment->claim);
    resources_fini(&allotment->resources);
    free(allotment->settings);
    *allotment = (struct allotment){0};
}

int allotment_begin(struct allotment *allotment, const struct tasks *tasks, struct error *error)
{
    if (!allotment->is_used)
        return ALLOTMENT_THERE;
    if (needs_of_task(&allotment->source, tasks, &allotment->needs, error) < 0 ||
        needs_check(&allotment->needs, &allotment->claim.has, error) < 0)
        return ALLOTMENT_REFUSED;
    if (claim_begin(&allotment->claim, &allotment->needs, error) < 0)
        return -1;
    return allotment_advance(allotment, error);
}

int allotment_advance(struct allotment *allotment, struct error *error)
{
    int granted = claim_advance(&allotment->claim, error);
    return granted < 0 ? -1 : granted > 0 ? ALLOTMENT_THERE : ALLOTMENT_WAITS;
}

void allotment_end(struct allotment *allotment)
{
    if (allotment->is_used)
        claim_end(&allotment->claim);
}

/* True if all GPUs are from AMD. The runtime of AMD applies CUDA_VISIBLE_DEVICES to the devices that
 * ROCR_VISIBLE_DEVICES has selected. So with AMD only ROCR_VISIBLE_DEVICES is set. */
static bool is_of_amd(void)
{
    return access("/dev/kfd", F_OK) == 0 && access("/dev/nvidiactl", F_OK) < 0;
}

static void tell_gpus(struct allotment *allotment, struct environment *environment)
{
    static const char *const names[] = {RESOURCES_GPUS, "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"};
    const unsigned count = is_of_amd() ? 2 : 3;
    for (unsigned i = 0; i < count; i++)
        environment_set(environment,
                        resources_name_gpus(&allotment->resources, allotment->claim.gpus, names[i],
                                            allotment->settings[2 + i], sizeof allotment->settings[2 + i]));
}

void allotment_tell(struct allotment *allotment, struct environment *environment)
{
    static const char *const names[] = {RESOURCES_CORES, RESOURCES_MEMORY};
    const uint64_t *amount = allotment->needs.amount;
    if (!allotment->is_used)
        return;
    for (unsigned i = NEED_CORES; i <= NEED_MEMORY; i++) {
        if (amount[i] == 0)
            continue;
        snprintf(allotment->settings[i], sizeof allotment->settings[i], "%s=%" PRIu64, names[i], amount[i]);
        environment_set(environment, allotment->settings[i]);
    }
    if (amount[NEED_CORES] > 0 && environment_value(environment, "OMP_NUM_THREADS") == NULL) {
        snprintf(allotment->settings[ALLOTMENT_SETTINGS - 1], sizeof *allotment->settings, "OMP_NUM_THREADS=%" PRIu64,
                 amount[NEED_CORES]);
        environment_set(environment, allotment->settings[ALLOTMENT_SETTINGS - 1]);
    }
    if (allotment->source.is_counted[NEED_GPUS])
        tell_gpus(allotment, environment);
}
