/* SPDX-License-Identifier: MIT */
/* A lost rank ends a flat run: no other rank knows which iterations it had, and others might wait for it in MPI
 * forever. A thread (common/mpi/guard.h) detects the loss, prints which rank it was, and ends its process; the other
 * ranks detect that in turn. If ranks do not see each other's processes, as on several machines, the launcher ends
 * them. */
#pragma once

struct dca;

/* Starts watching the other ranks if they are all on this machine. Call after dca_prepare_waiting(). */
int dca_loss_watch(struct dca *dca);
/* Stops watching. */
void dca_loss_ignore(struct dca *dca);
