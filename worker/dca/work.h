/* SPDX-License-Identifier: MIT */
/* What a flat worker does between its first draw and its last chunk. */
#pragma once

struct flat;

/* Signals and sleeping. -1 when memory is out. After runtime_prepare(). */
int flat_prepare_waiting(struct flat *flat);
void flat_finish_waiting(struct flat *flat);

/* Draws and computes until there is no more; flat->figures and flat->failed say how it went. All ranks together. */
void flat_work(struct flat *flat);
