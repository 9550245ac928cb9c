/* SPDX-License-Identifier: MIT */
/* A lost rank ends a flat run: nobody else knows which iterations it had, and the others may wait for it in MPI for
 * ever. So a thread (common/mpi/guard.h) finds the loss, says which rank it was, and ends its process; the other ranks
 * find that end in the same way. If the ranks do not see each other's processes, as on several machines, the launcher
 * ends them. */
#pragma once

struct dca;

/* Watches the others from now on, if they are all on this machine. After dca_prepare_waiting(). -1 with one line. */
int dca_loss_watch(struct dca *dca);
/* Ends the watch. */
void dca_loss_ignore(struct dca *dca);
