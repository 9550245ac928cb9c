/* SPDX-License-Identifier: MIT */
/* The part of pipeline.h that runs the kernel in a helper. Internal interface of worker/exec. */
#pragma once

#include "worker/exec/pipeline.h"

#include <stdint.h>

static inline struct pipeline_buffer *pipeline_buffer(struct pipeline *pipeline)
{
    return &pipeline->buffers[pipeline->filling];
}

struct halo *pipeline_find_seam(struct pipeline *pipeline, uint64_t at);

/* Records why nothing more can be computed. Only the first reason is kept. `text` may be exec.error itself. */
void pipeline_note_problem(struct pipeline *pipeline, const char *text);

void pipeline_begin_piece(struct pipeline *pipeline, uint64_t piece, uint64_t rows);

void pipeline_count_block(struct pipeline *pipeline, uint64_t to, uint64_t began_ns, uint64_t elapsed_ns);

void pieces_init(struct pipeline *pipeline);

int pieces_share_rows(struct pipeline *pipeline, struct pipeline_buffer *buffer);

void pieces_free_rows(struct pipeline_buffer *buffer);

void pieces_next(struct pipeline *pipeline);

void pieces_post(struct pipeline *pipeline, uint64_t to);

void pieces_look(struct pipeline *pipeline);

void pieces_take_edge(const struct pipeline *pipeline, unsigned char *data, uint64_t from, uint64_t to);
