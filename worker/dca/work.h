/* SPDX-License-Identifier: MIT */
/* The work of a worker without a supermaster (--dca), from its first draw to its last chunk. */
#pragma once

struct dca;

int dca_prepare_waiting(struct dca *dca);
void dca_finish_waiting(struct dca *dca);

/* Draws and computes until no chunk is left; sets dca->figures and dca->failed. Collective. */
void dca_work(struct dca *dca);
