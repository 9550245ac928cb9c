/* SPDX-License-Identifier: MIT */
/* A mesh being read: its points and their normals so far. Internal interface of deploy/examples/kernels/papers/mesh. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

struct mesh_builder {
    size_t points;
    double (*position)[3];
    double (*given)[3]; /* sums of normals given by the file */
    double (*area)[3];  /* sums of the normals of adjacent faces, each of twice the face's area */
    bool any_given, any_face;
    size_t *corner; /* corners of the present face */
    size_t corners, corners_capacity;
};

/* Makes a builder with all values 0. On failure nothing is allocated. */
int mesh_builder_init(struct mesh_builder *builder, size_t points, struct error *error);
void mesh_builder_fini(struct mesh_builder *builder);

void mesh_builder_give_normal(struct mesh_builder *builder, size_t point, const double normal[3]);

/* Adds a point as a corner of the face. */
int mesh_builder_corner(struct mesh_builder *builder, size_t point, struct error *error);

/* Ends the face; the next corner belongs to another one. All points must have been read. Faces with fewer than three
 * corners are ignored. */
void mesh_builder_face(struct mesh_builder *builder);

/* Makes the mesh and releases the builder, also on failure. */
int mesh_builder_finish(struct mesh_builder *builder, struct mesh *mesh, struct error *error);
