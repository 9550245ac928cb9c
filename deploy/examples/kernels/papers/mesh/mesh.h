/* SPDX-License-Identifier: MIT */
/* Reads oriented points from meshes and point clouds: OFF, Wavefront OBJ, and PLY as text and in binary of either byte
 * order.
 *
 * A point's normal is taken from the file. If the file has no normals, it is the sum of the normals of the point's
 * faces, weighted by area. Points without any normal are left out; scanned meshes often have such points. All input is
 * checked. Errors name the line or, in binary files, the byte. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* Bound of coordinates. With this bound, products of several coordinates are finite. */
#define MESH_COORDINATE_MAX 1e12

enum mesh_kind { MESH_OFF, MESH_OBJ, MESH_PLY };

struct mesh {
    size_t points;
    double (*position)[3];
    double (*normal)[3];
};

int mesh_kind_of(enum mesh_kind *kind, const char *name, const char *bytes, size_t size, struct error *error);

/* Errors do not name the file. On failure the caller has nothing to free. */
int mesh_parse(struct mesh *mesh, enum mesh_kind kind, const char *bytes, size_t size, struct error *error);
void mesh_fini(struct mesh *mesh);
