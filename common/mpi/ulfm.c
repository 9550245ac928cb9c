/* SPDX-License-Identifier: MIT */
/* Detection of failed ranks by an MPI library with ULFM (Open MPI 5); no effect with other libraries.
 *
 * The library is asked once per second, and after an operation has failed because of a lost rank. Each rank that the
 * library names is reported as ended, as by any other detector. All failures are acknowledged: otherwise receives from
 * any rank would fail forever. MPI returns errors instead of ending this rank, and net.c handles these errors. The
 * library reports failures only under `mpirun --with-ft ulfm`. */
#include "common/mpi/ulfm.h"

#include "common/mpi/detect.h"
#include "common/mpi/rank.h"

#define ASK_EVERY_NS 1000000000u
#define LOSSES_MAX   16

void ulfm_begin(carrier_comm comm)
{
    if (carrier->heed_losses != NULL)
        carrier->heed_losses(comm);
}

void ulfm_look(struct runtime *runtime, uint64_t now_ns)
{
    struct ulfm *ulfm = &runtime->ulfm;
    int lost[LOSSES_MAX], count;
    if (runtime->lanes != NULL || carrier->next_losses == NULL || (!ulfm->told && now_ns < ulfm->due_ns))
        return;
    ulfm->told = false;
    ulfm->due_ns = now_ns + ASK_EVERY_NS;
    do {
        count = carrier->next_losses(runtime->world, ulfm->known, lost, LOSSES_MAX);
        for (int i = 0; i < count; i++)
            detect_end(runtime, runtime->first_rank + (unsigned)lost[i]);
        ulfm->known += count;
    } while (count == LOSSES_MAX);
}
