/* SPDX-License-Identifier: MIT */
/* The readers that mesh_parse() calls, one for each kind of file. Only for deploy/examples/kernels/papers/mesh. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh_builder.h"
#include "deploy/examples/kernels/papers/mesh/reader.h"

/* Each function reads the whole file into the builder, which it also initialises. */
int off_read(struct reader *reader, struct mesh_builder *builder);
int obj_read(struct reader *reader, struct mesh_builder *builder);
int ply_read(struct reader *reader, struct mesh_builder *builder);

bool off_is_keyword(const char *word, bool *has_normals);
