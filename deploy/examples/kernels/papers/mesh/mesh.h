/* SPDX-License-Identifier: MIT */
/* Reads oriented points from meshes and point clouds: OFF, Wavefront OBJ, and PLY as text and in binary of either byte
 * order.
 *
 * A point's normal is that of the file or, if there is none, the sum of the normals of its faces, weighted by area.
 * Points without both are left out; scanned meshes often have some. All input is checked; errors name the line, or
 * in binary the byte. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* With this bound products of several coordinates are finite. */
#define MESH_COORDINATE_MAX 1e12

enum mesh_kind { MESH_OFF, MESH_OBJ, MESH_PLY };

struct mesh {
    size_t points;
    double (*position)[3];
    double (*normal)[3];
};

/* By the first word of the file or, if that does not tell, by the extension of its name. */
int mesh_kind_of(enum mesh_kind *kind, const char *name, const char *bytes, size_t size, struct error *error);

/* Errors do not name the file. On failure nothing is owned. */
int mesh_parse(struct mesh *mesh, enum mesh_kind kind, const char *bytes, size_t size, struct error *error);
void mesh_fini(struct mesh *mesh);
