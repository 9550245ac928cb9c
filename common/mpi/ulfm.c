/* SPDX-License-Identifier: MIT */
/* The detector that an MPI library with ULFM brings (Open MPI 5, mpi-ext.h); without it there is nothing here.
 *
 * The library is asked once a second, and when an operation failed for that reason: the watched peers that it names
 * have ended, as if the kernel had told or their beats had been missed. All are acknowledged, else receives from
 * any rank would fail for ever. Errors are returned then instead of ending the rank; net.c looks at them.
 * The library does all this only under `mpirun --with-ft ulfm`, and else names nobody. */
#include "common/mpi/ulfm.h"

#include "common/mpi/detect.h"
#include "common/mpi/rank.h"

#ifdef HDSS_ULFM

#include <assert.h>
#include <mpi-ext.h>

#define ASK_EVERY_NS 1000000000u

void ulfm_begin(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* Reports the failed ranks. They keep their places in the group: new ones stand behind the others. */
static void ulfm_report(struct runtime *runtime, MPI_Group failed, int count)
{
    MPI_Group all;
    MPI_Comm_group(runtime->world, &all);
    for (int place = runtime->ulfm.known; place < count; place++) {
        int rank;
        MPI_Group_translate_ranks(failed, 1, &place, all, &rank);
        assert(rank >= 0); /* a failed rank is one of the world */
        detect_end(runtime, runtime->first_rank + (unsigned)rank);
    }
    MPI_Group_free(&all);
}

void ulfm_look(struct runtime *runtime, uint64_t now_ns)
{
    struct ulfm *ulfm = &runtime->ulfm;
    MPI_Group failed;
    int count, acknowledged;
    if (runtime->lanes != NULL || (!ulfm->told && now_ns < ulfm->due_ns))
        return;
    ulfm->told = false;
    ulfm->due_ns = now_ns + ASK_EVERY_NS;
    if (MPIX_Comm_get_failed(runtime->world, &failed) != MPI_SUCCESS)
        return;
    MPI_Group_size(failed, &count);
    if (count > ulfm->known) {
        ulfm_report(runtime, failed, count);
        MPIX_Comm_ack_failed(runtime->world, count, &acknowledged);
        ulfm->known = count;
    }
    if (failed != MPI_GROUP_EMPTY)
        MPI_Group_free(&failed);
}

#else

void ulfm_begin(MPI_Comm comm)
{
    (void)comm;
}

void ulfm_look(struct runtime *runtime, uint64_t now_ns)
{
    (void)runtime, (void)now_ns;
}

#endif
