/* SPDX-License-Identifier: MIT */
/* Losses in runs without a supermaster: see loss.h. */
#include "worker/dca/loss.h"

#include "common/job/root.h"
#include "common/job/status.h"
#include "common/machine/topology.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "worker/dca/dca.h"

static void end_by_loss(void *context, unsigned rank)
{
    struct dca *dca = context;
    struct error text;
    if (runtime_claim_report(dca->runtime)) {
        error_set(&text,
                  "worker rank %u on node %u was lost: the run ends, and nothing of it can be resumed; without --dca a "
                  "lost worker costs only time",
                  rank, dca->topology->worker_node[rank]);
        root_print_failure(&dca->root, text.text, dca->rank);
        status_tell_end(STATUS_LEAD, EXIT_STATUS_FAILED, true);
    }
    runtime_exit_alone(dca->runtime);
}

int dca_loss_watch(struct dca *dca)
{
    if (dca->ranks == 1 || !runtime_sees_all(dca->runtime))
        return 0;
    if (runtime_guard_alone(dca->runtime, end_by_loss, dca) < 0)
        return error_set(&dca->root.error, "cannot watch the other ranks: out of memory, files or threads");
    return 0;
}

void dca_loss_ignore(struct dca *dca)
{
    guard_end(&dca->runtime->guard);
}
