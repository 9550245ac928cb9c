/* SPDX-License-Identifier: MIT */
/* Losses in flat runs: see loss.h.
 *
 * Rank 0 can tell which chunk a lost rank had where it has given it out (two-sided), or on one node, where each rank
 * has written it into shared memory (node): see common/dca/book.h. Its own loss is the end of the run; so is any loss
 * over rma, where the others may wait in MPI for ever: there a thread looks for it, too (common/mpi/guard.c). Here is
 * what is not the loop: rank 0 and the others watch one another (common/mpi/alone.c), and all that is exchanged before
 * the first draw and behind the last one goes between rank 0 and one other rank, so that nobody waits for a third one
 * that is dead. Each message is short enough that MPI sends it without the receiver's help. */
#include "worker/dca/loss.h"

#include "common/config/run_spec.h"
#include "common/dca/share.h"
#include "common/job/root.h"
#include "common/job/status.h"
#include "common/machine/machine.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"
#include "common/util/error.h"
#include "worker/dca/dca.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside those of common/mpi. */
enum { TAG_HERE = 11, TAG_BEGIN, TAG_FAREWELL, TAG_OUTCOME };

/* The end of a rank. */
struct farewell {
    int32_t status;
    struct dca_figures figures;
    char text[ERROR_TEXT_MAX]; /* why it failed */
};

struct outcome {
    int32_t status;
    int32_t degraded; /* a rank was lost: nobody waits for all */
};

/* Bytes that each MPI library sends at once within a node, measured with Open MPI's 4,096, its own header included. */
#define SHORT_MESSAGE_BYTES 3584

_Static_assert(sizeof(struct farewell) <= SHORT_MESSAGE_BYTES, "it is sent to a rank that may be dead");

/* The record of a rank is its figures without the last of them, which it has at the end only. */
#define RECORD_BYTES offsetof(struct dca_figures, sharing)

_Static_assert(RECORD_BYTES <= DCA_RECORD_MAX, "the record of a rank");

void dca_loss_settle(struct dca *dca)
{
    struct share *share = &dca->share;
    const bool knows = share->transport == &transport_two_sided ||
                       (share->transport == &transport_node && share->nodes == 1 && dca->ranks <= DCA_OWNERS);
    dca->watches = dca->ranks > 1 && runtime_sees_all(dca->runtime);
    share->survives = knows && dca->watches;
    share->record = &dca->figures;
    share->record_bytes = RECORD_BYTES;
    share->deaths_max = dca->root.setup.job.spec.retries;
}

/* For rank 0: the others may wait in MPI for the lost one. */
static _Noreturn void end_by_loss(struct dca *dca, unsigned rank, const char *reason)
{
    struct error text;
    runtime_claim_end(dca->runtime);
    error_set(&text, "worker rank %u on node %u was lost%s", rank, dca->topology->worker_node[rank], reason);
    root_print_failure(&dca->root, text.text, dca->rank);
    status_tell_end(STATUS_LEAD, EXIT_STATUS_FAILED, true);
    runtime_abort_alone(dca->runtime);
}

#define BEFORE_BEGIN " before the run had begun: the run ends"
#define DRAWN_BY_RMA                                                                                                   \
    ", and what it had drawn over rma with it: the run ends. --dca two-sided and node survive that on one machine, "   \
    "and so does a run without --dca"

static void end_by_drawn(void *context, unsigned rank)
{
    end_by_loss(context, rank, DRAWN_BY_RMA);
}

int dca_loss_watch(struct dca *dca)
{
    if (!dca->watches)
        return 0;
    dca->lost = calloc(dca->ranks, sizeof *dca->lost);
    dca->all = calloc(dca->ranks, sizeof *dca->all);
    if (dca->lost == NULL || dca->all == NULL)
        return error_set(&dca->root.error, "out of memory for %u workers", dca->ranks);
    if (runtime_watch_alone(dca->runtime, &dca->wait) < 0 ||
        (dca->share.transport == &transport_rma && runtime_guard_alone(dca->runtime, end_by_drawn, dca) < 0))
        return error_set(&dca->root.error, "cannot watch the other ranks: out of memory, files or threads");
    return 0;
}

void dca_loss_stop_guard(struct dca *dca)
{
    guard_end(&dca->runtime->guard);
}

void dca_loss_fini(struct dca *dca)
{
    dca_loss_stop_guard(dca);
    free(dca->lost);
    free(dca->all);
}

bool dca_loss_take(struct share *share, unsigned *rank)
{
    struct dca *dca = share->context;
    struct error text;
    if (!runtime_take_lost(dca->runtime, rank))
        return false;
    dca->lost[*rank] = true;
    dca->lost_count++;
    dca->lost_ns = runtime_now() - dca->start_ns;
    error_set(&text, "worker rank %u on node %u was lost; the others go on", *rank, dca->topology->worker_node[*rank]);
    root_print_failure(&dca->root, text.text, dca->rank);
    return true;
}

void dca_loss_look(struct dca *dca)
{
    unsigned rank;
    if (dca->watches && (dca->rank != 0 || !dca->share.survives) && runtime_take_lost(dca->runtime, &rank))
        end_by_loss(dca, rank, DRAWN_BY_RMA);
}

void dca_loss_wait_for_all(struct dca *dca)
{
    unsigned rank;
    runtime_wait_for_all(dca->runtime);
    if (dca->watches && runtime_take_lost(dca->runtime, &rank))
        end_by_loss(dca, rank, dca->share.survives ? BEFORE_BEGIN : DRAWN_BY_RMA);
}

/* --- messages between rank 0 and another rank --- */

static bool poll_request(void *context)
{
    int done;
    MPI_Test(context, &done, MPI_STATUS_IGNORE); /* true again and again, once it is done */
    return done;
}

/* Waits for a message, asleep. False where the rank it is to come from was lost. */
static bool dca_loss_receive(struct dca *dca, unsigned from, int tag, void *data, size_t bytes)
{
    MPI_Request request;
    unsigned rank;
    MPI_Irecv(data, (int)bytes, MPI_BYTE, (int)from, tag, dca->runtime->world, &request);
    while (!poll_request(&request)) {
        if (dca->rank == 0 && dca->lost[from]) {
            if (poll_request(&request)) /* it was told before the end */
                break;
            MPI_Cancel(&request);
            MPI_Request_free(&request);
            return false;
        }
        wait_idle(&dca->wait, &dca->runtime->doorbell, runtime_now(), NEVER, false, poll_request, &request);
        wait_look(&dca->wait, runtime_now());
        while (dca->rank == 0 && dca_loss_take(&dca->share, &rank))
            ;
        dca_loss_look(dca);
    }
    wait_reset(&dca->wait);
    return true;
}

static void dca_loss_send(struct dca *dca, unsigned to, int tag, const void *data, size_t bytes)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, (int)to, tag, dca->runtime->world);
    doorbell_ring(&dca->runtime->doorbell, to);
}

/* --- begin and end --- */

void dca_loss_meet(struct dca *dca)
{
    char nothing = 0;
    if (dca->rank != 0) {
        dca_loss_send(dca, 0, TAG_HERE, &nothing, 0);
        dca_loss_receive(dca, 0, TAG_BEGIN, &nothing, 0);
        return;
    }
    for (unsigned r = 1; r < dca->ranks; r++)
        if (!dca_loss_receive(dca, r, TAG_HERE, &nothing, 0))
            end_by_loss(dca, r, BEFORE_BEGIN);
    status_tell_begun();
    for (unsigned r = 1; r < dca->ranks; r++)
        dca_loss_send(dca, r, TAG_BEGIN, &nothing, 0);
}

/* What is known of a lost rank. It worked until it was found to be lost, but for what it has told. */
static void take_record(struct dca *dca, unsigned rank)
{
    struct dca_figures *figures = &dca->all[rank];
    memcpy(figures, dca->share.transport->record(&dca->share, rank), RECORD_BYTES);
    if (figures->chunks == 0)
        figures->first_ns = figures->finish_ns = NEVER;
    else if (figures->finish_ns == NEVER)
        figures->finish_ns = dca->lost_ns;
}

int dca_loss_collect(struct dca *dca, int status)
{
    struct farewell farewell = {.status = status, .figures = dca->figures};
    if (dca->rank != 0) {
        memcpy(farewell.text, dca->root.error.text, sizeof farewell.text);
        dca_loss_send(dca, 0, TAG_FAREWELL, &farewell, sizeof farewell);
        return status;
    }
    dca->all[0] = dca->figures;
    if (status != EXIT_STATUS_DONE)
        root_print_failure(&dca->root, dca->root.error.text, 0);
    for (unsigned r = 1; r < dca->ranks; r++) {
        if (!dca_loss_receive(dca, r, TAG_FAREWELL, &farewell, sizeof farewell)) {
            take_record(dca, r);
            continue;
        }
        dca->all[r] = farewell.figures;
        if (status == EXIT_STATUS_DONE && farewell.status != EXIT_STATUS_DONE) {
            farewell.text[sizeof farewell.text - 1] = '\0';
            root_print_failure(&dca->root, farewell.text, r);
            status = farewell.status;
        }
    }
    return status;
}

int dca_loss_share_status(struct dca *dca, int status)
{
    struct outcome outcome = {.status = status, .degraded = runtime_is_degraded(dca->runtime)};
    if (dca->rank != 0)
        dca_loss_receive(dca, 0, TAG_OUTCOME, &outcome, sizeof outcome);
    for (unsigned r = 1; dca->rank == 0 && r < dca->ranks; r++)
        if (!dca->lost[r])
            dca_loss_send(dca, r, TAG_OUTCOME, &outcome, sizeof outcome);
    if (outcome.degraded)
        runtime_note_loss(dca->runtime);
    return outcome.status;
}
