/* SPDX-License-Identifier: MIT */
/* A lost rank ends a flat run. Nobody else knows which iterations it had, and the others may wait for it in MPI for
 * ever: so a thread finds the loss (common/mpi/guard.h), says which rank it was, and ends its process, and with each
 * process that ends so the next one finds a loss. Where the ranks do not see each other's processes, as on several
 * machines, the launcher ends them. */
#pragma once

struct dca;

/* Watches the others from now on, where that can be done. After dca_prepare_waiting(). -1 with one line. */
int dca_loss_watch(struct dca *dca);
/* Watches nobody any more. */
void dca_loss_ignore(struct dca *dca);
