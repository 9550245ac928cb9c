/* SPDX-License-Identifier: MIT */
/* The readers of the kinds of files: what mesh_parse() calls. Inside deploy/examples/kernels/papers/mesh only. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh_builder.h"
#include "deploy/examples/kernels/papers/mesh/reader.h"

/* The readers read all of the text or the bytes into the builder, which they initialise, and
 * have nothing allocated when they return */
int off_read(struct reader *reader, struct mesh_builder *builder);
int obj_read(struct reader *reader, struct mesh_builder *builder);
int ply_read(struct reader *reader, struct mesh_builder *builder);

/* True if the word is the first one of an OFF file, such as NOFF; then whether the points have normals. */
bool off_is_keyword(const char *word, bool *has_normals);
