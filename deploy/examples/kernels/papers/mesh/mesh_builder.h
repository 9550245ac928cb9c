/* SPDX-License-Identifier: MIT */
/* A mesh that is being read: its points, and what is known of their normals so far. Inside
 * deploy/examples/kernels/papers/mesh only. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

struct mesh_builder {
    size_t points;
    double (*position)[3];
    double (*given)[3]; /* sums of the normals that the file gives each point */
    double (*area)[3];  /* sums of its faces' normals, each as long as twice the face's area */
    bool any_given, any_face;
    size_t *corner; /* corners of the face that is being read */
    size_t corners, corners_capacity;
};

/* Makes a builder in which all is 0, also the points. -1 with one line, and nothing is allocated. */
int mesh_builder_init(struct mesh_builder *builder, size_t points, struct error *error);
void mesh_builder_fini(struct mesh_builder *builder);

void mesh_builder_give_normal(struct mesh_builder *builder, size_t point, const double normal[3]);

/* Adds the corner, a point, to the face. */
int mesh_builder_corner(struct mesh_builder *builder, size_t point, struct error *error);

/* The face is complete: the next corner is the first one of another. All points must be there. Faces of fewer than
 * three corners count for nothing. */
void mesh_builder_face(struct mesh_builder *builder);

/* Makes the mesh of it; the builder is used up either way. */
int mesh_builder_finish(struct mesh_builder *builder, struct mesh *mesh, struct error *error);
