/* SPDX-License-Identifier: MIT */
/* A lost rank ends a run without a supermaster, for two reasons: no other rank knows which iterations the lost rank
 * had, and other ranks might wait for it in MPI forever. If all ranks are on one machine, a thread of another rank
 * (common/mpi/guard.h) detects the loss, prints which rank was lost, and ends its own process. The remaining ranks
 * detect the end of that process in the same way. Ranks on several machines do not see each other's processes; there
 * the launcher ends all ranks. */
#pragma once

struct dca;

/* Begins to watch the other ranks if all are on this machine. Call it after dca_prepare_waiting(). */
int dca_loss_watch(struct dca *dca);
void dca_loss_ignore(struct dca *dca);
