/* SPDX-License-Identifier: MIT */
/* What a trace tells of an iteration, a worker or a chunk, in words. */
#pragma once

#include "common/util/error.h"
#include "common/util/text.h"
#include "deploy/cli/report/run_trace.h"

/* Who had the iteration, when, and why there; what became of it; or that an earlier run had done it. -1 with one line
 * where the trace has no such iteration. */
int story_of_iteration(struct text *text, const struct run_trace *trace, uint64_t iteration, struct error *error);

/* What the worker of the rank computed, and how it spent its time. -1 with one line where there is no such worker. */
int story_of_worker(struct text *text, const struct run_trace *trace, uint64_t rank, struct error *error);

/* One chunk of the worker, by its number. Where it had two masters there may be two of a number. -1 with one line. */
int story_of_chunk(struct text *text, const struct run_trace *trace, uint64_t rank, uint64_t number,
                   struct error *error);

/* The n-th scheduling step, from 1: the chunk that the technique cut then, and who had its iterations. -1 with one
 * line. */
int story_of_step(struct text *text, const struct run_trace *trace, uint64_t step, struct error *error);
