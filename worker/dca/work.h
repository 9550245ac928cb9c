/* SPDX-License-Identifier: MIT */
/* The work of a DCA worker between its first draw and its last chunk. */
#pragma once

struct dca;

/* Prepares signals and sleeping. -1 when memory is out. After runtime_prepare(). */
int dca_prepare_waiting(struct dca *dca);
void dca_finish_waiting(struct dca *dca);

/* Draws and computes until no chunk is left; flat->figures and flat->failed say how it went. All ranks together. */
void dca_work(struct dca *dca);
