/* SPDX-License-Identifier: MIT */
/* The detector that an MPI library with ULFM brings (Open MPI 5); with another library nothing happens here.
 *
 * The library is asked once a second, and when an operation failed for that reason: the watched peers that it names
 * have ended, as if the kernel had told or their beats had been missed. All are acknowledged, else receives from
 * any rank would fail for ever. Errors are returned then instead of ending the rank; net.c looks at them.
 * The library does all this only under `mpirun --with-ft ulfm`, and else names nobody. */
#include "common/mpi/ulfm.h"

#include "common/mpi/detect.h"
#include "common/mpi/rank.h"

#define ASK_EVERY_NS 1000000000u
/* Failed ranks that are taken from the library at once. */
#define LOSSES_MAX 16

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
