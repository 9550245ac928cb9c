/* SPDX-License-Identifier: MIT */
/* Losses in a flat run. One that survives the loss of any rank but 0 begins and ends without MPI's collectives, which
 * do not return where a rank is dead; others end at once, with a line. See loss.c. */
#pragma once

#include <stdbool.h>

struct dca;
struct share;

/* Settles whether losses are noticed: where all ranks see one another; and survived: where the transport can, too. The
 * same on all ranks. After dca_prepare_waiting(). */
void dca_loss_settle(struct dca *dca);

/* Watches the others, where losses are noticed. -1 with one line. */
int dca_loss_watch(struct dca *dca);
void dca_loss_fini(struct dca *dca);

/* Returns when all ranks have called it, asleep. Where one of them is lost the run ends. */
void dca_loss_wait_for_all(struct dca *dca);
/* Ends the thread that finds losses over rma: what is left to do needs the others no more than to hear how it went. */
void dca_loss_stop_guard(struct dca *dca);
/* Ends the run where rank 0 is gone, or another one whose loss is not survived. */
void dca_loss_look(struct dca *dca);

/* From here on all is for runs that survive losses. */

/* Returns when all ranks are here. */
void dca_loss_meet(struct dca *dca);

/* The host's of a transport: see share.h. */
bool dca_loss_take(struct share *share, unsigned *rank);

/* Collects at rank 0 what all have done, in dca->all, of a lost rank as of its last draw; `status` is what this rank
 * has come to. Returns at rank 0 the status of all, which is said, else `status`. */
int dca_loss_collect(struct dca *dca, int status);

/* Tells the others the status at which rank 0 has arrived, and returns it. */
int dca_loss_share_status(struct dca *dca, int status);
