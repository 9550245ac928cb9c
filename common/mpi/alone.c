/* SPDX-License-Identifier: MIT */
/* Detects lost ranks among workers without a supermaster (--dca) on one machine. In rank 0 a thread watches all other
 * ranks. In each other rank a thread watches rank 0. The threads use the same detectors as all launches (detect.c). */
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"

#include <assert.h>

bool runtime_sees_all(const struct runtime *runtime)
{
    unsigned near = 0;
    for (unsigned i = 0; i < runtime->ranks; i++)
        near += doorbell_reaches(&runtime->doorbell, i);
    return near == runtime->ranks && !runtime->is_blind;
}

int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context)
{
    assert(runtime->prepared && runtime_sees_all(runtime));
    if (runtime->ops->watch_all(runtime) < 0)
        return -1;
    return guard_begin(&runtime->guard, &runtime->watch, lost, context);
}

bool runtime_claim_report(struct runtime *runtime)
{
    return runtime->ops->claim_report(runtime);
}
