/* SPDX-License-Identifier: MIT */
/* Reads oriented points from meshes and point clouds: OFF, Wavefront OBJ, and PLY as text and in binary of either byte
 * order.
 *
 * A point's normal comes from the file, or is the sum of its faces' normals weighted by area. Points with neither,
 * common in scanned meshes, are omitted. All input is checked; errors name the line, or in binary the byte. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* A bound for each coordinate, so that products of several stay finite. */
#define MESH_COORDINATE_MAX 1e12

enum mesh_kind { MESH_OFF, MESH_OBJ, MESH_PLY };

struct mesh {
    size_t points;         /* at least 1 */
    double (*position)[3]; /* owned */
    double (*normal)[3];   /* owned, of length 1 */
};

/* Determines the kind of a file by its first word or, if that is not conclusive, by its extension. */
int mesh_kind_of(enum mesh_kind *kind, const char *name, const char *bytes, size_t size, struct error *error);

/* Errors do not name the file; nothing is allocated then. */
int mesh_parse(struct mesh *mesh, enum mesh_kind kind, const char *bytes, size_t size, struct error *error);
void mesh_fini(struct mesh *mesh);
