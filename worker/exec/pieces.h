/* SPDX-License-Identifier: MIT */
/* Steps of a pipeline whose kernel runs in a helper. Internal interface of worker/exec: see pipeline.h. */
#pragma once

#include "worker/exec/pipeline.h"

#include <stdint.h>

static inline struct pipeline_buffer *pipeline_buffer(struct pipeline *pipeline)
{
    return &pipeline->buffers[pipeline->filling];
}

struct halo *pipeline_find_seam(struct pipeline *pipeline, uint64_t at);

/* Records why nothing more can be computed. `text` may be exec.error itself. The first reason stays. */
void pipeline_note_problem(struct pipeline *pipeline, const char *text);

/* Begins to compute `rows` rows of the chunk, from `piece` on. */
void pipeline_begin_piece(struct pipeline *pipeline, uint64_t piece, uint64_t rows);

void pipeline_count_block(struct pipeline *pipeline, uint64_t to, uint64_t began_ns, uint64_t elapsed_ns);

/* Prepares the shared memory of a helper that has opened the kernel. */
void pieces_init(struct pipeline *pipeline);

/* Provides room for the chunk's records in shared memory. Returns -1 if memory runs out. */
int pieces_share_rows(struct pipeline *pipeline, struct pipeline_buffer *buffer);

void pieces_free_rows(struct pipeline_buffer *buffer);

void pieces_next(struct pipeline *pipeline);

/* Lets the helper compute up to element `to`. If there is no helper, only starts one. */
void pieces_post(struct pipeline *pipeline, uint64_t to);

/* Takes over the helper's results, or handles its death. */
void pieces_look(struct pipeline *pipeline);

/* Copies the piece's finished boundary data from byte `from` to byte `to` into `data`. */
void pieces_take_edge(const struct pipeline *pipeline, unsigned char *data, uint64_t from, uint64_t to);
