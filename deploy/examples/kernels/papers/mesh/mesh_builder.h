/* SPDX-License-Identifier: MIT */
/* A mesh that is being read: its points and normals so far. Only for deploy/examples/kernels/papers/mesh. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

struct mesh_builder {
    size_t points;
    double (*position)[3];
    double (*given)[3];
    /* sums of the normals of the adjacent faces; the length of each normal is twice the face's area */
    double (*area)[3];
    bool any_given, any_face;
    size_t *corner;
    size_t corners, corners_capacity;
};

/* All points and normals are 0 at first. On failure the caller has nothing to free. */
int mesh_builder_init(struct mesh_builder *builder, size_t points, struct error *error);
void mesh_builder_fini(struct mesh_builder *builder);

void mesh_builder_give_normal(struct mesh_builder *builder, size_t point, const double normal[3]);

int mesh_builder_corner(struct mesh_builder *builder, size_t point, struct error *error);

/* Ends the face; the next corner belongs to another face. All points must have been read. Ignores a face of fewer
 * than three corners. */
void mesh_builder_face(struct mesh_builder *builder);

/* Makes the mesh. Frees the builder, also on failure. */
int mesh_builder_finish(struct mesh_builder *builder, struct mesh *mesh, struct error *error);
