/* SPDX-License-Identifier: MIT */
/* The steps of a pipeline whose kernel runs in a helper, and what it shares with its other file. Inside worker/exec
 * only. See pipeline.h. */
#pragma once

#include "worker/exec/pipeline.h"

#include <stdint.h>

/* --- pipeline.c --- */

static inline struct pipeline_buffer *pipeline_buffer(struct pipeline *pipeline)
{
    return &pipeline->buffers[pipeline->filling];
}

/* The boundary at an iteration; NULL where there is none. */
struct halo *pipeline_find_seam(struct pipeline *pipeline, uint64_t at);

/* Notes why nothing more can be computed: one line, or exec.error itself. The first reason stays. */
void pipeline_note_problem(struct pipeline *pipeline, const char *text);

/* Begins to compute so many rows of the chunk, from `piece` on. */
void pipeline_begin_piece(struct pipeline *pipeline, uint64_t piece, uint64_t rows);

/* Takes account of a step up to element `to`. */
void pipeline_count_block(struct pipeline *pipeline, uint64_t to, uint64_t began_ns, uint64_t elapsed_ns);

/* --- pieces.c --- */

/* Makes ready to share memory with the helper, which has opened the kernel. */
void pieces_init(struct pipeline *pipeline);

/* Makes room for the records of the chunk in shared memory. -1 when it is out. */
int pieces_share_rows(struct pipeline *pipeline, struct pipeline_buffer *buffer);

/* Gives the memory of a buffer back, shared or not. */
void pieces_free_rows(struct pipeline_buffer *buffer);

/* Goes on with the next piece of the chunk. */
void pieces_next(struct pipeline *pipeline);

/* Has the helper compute up to element `to`. Begins a helper where there is none; then nothing is computed yet. */
void pieces_post(struct pipeline *pipeline, uint64_t to);

/* Takes over what the helper has done, or how it has died. */
void pieces_look(struct pipeline *pipeline);

/* Copies boundary data that the piece has completed, `from` to `to` of them, to `data`. */
void pieces_take_edge(const struct pipeline *pipeline, unsigned char *data, uint64_t from, uint64_t to);
