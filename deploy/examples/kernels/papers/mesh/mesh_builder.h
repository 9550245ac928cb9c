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
    /* for each point, the sum of the normals of its faces; the length of a face's normal is twice the face's area */
    double (*area)[3];
    bool any_given, any_face;
    size_t *corner;
    size_t corners, corners_capacity;
};

/* Allocates the points; all positions and normals are 0 at first. On failure the caller has nothing to free. */
int mesh_builder_init(struct mesh_builder *builder, size_t points, struct error *error);
void mesh_builder_fini(struct mesh_builder *builder);

void mesh_builder_give_normal(struct mesh_builder *builder, size_t point, const double normal[3]);

int mesh_builder_corner(struct mesh_builder *builder, size_t point, struct error *error);

/* Ends the current face; the next corner begins a new face. All points must have been read. A face of fewer than three
 * corners is ignored. */
void mesh_builder_face(struct mesh_builder *builder);

/* Makes the mesh. Frees the builder, also on failure. */
int mesh_builder_finish(struct mesh_builder *builder, struct mesh *mesh, struct error *error);
