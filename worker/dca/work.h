/* SPDX-License-Identifier: MIT */
/* The work of a worker without a supermaster, from its first draw to its last chunk. */
#pragma once

struct dca;

/* Prepares signals and sleeping. Call it after runtime_prepare(). */
int dca_prepare_waiting(struct dca *dca);
void dca_finish_waiting(struct dca *dca);

/* Draws and computes until no chunk is left. Sets `figures` and `failed`. Collective. */
void dca_work(struct dca *dca);
