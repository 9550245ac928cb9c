/* SPDX-License-Identifier: MIT */
/* The work of a flat worker from its first draw to its last chunk. */
#pragma once

struct dca;

/* Prepares signals and sleeping; call after runtime_prepare(). */
int dca_prepare_waiting(struct dca *dca);
void dca_finish_waiting(struct dca *dca);

/* Draws and computes until no chunk is left; the result is in dca->figures and dca->failed. Collective. */
void dca_work(struct dca *dca);
