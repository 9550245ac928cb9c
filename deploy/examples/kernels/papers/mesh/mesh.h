/* SPDX-License-Identifier: MIT */
/* Oriented points out of the files that meshes and point clouds come in: OFF, Wavefront OBJ, and PLY as text and in
 * binary of either byte order.
 *
 * A point's normal is the one that the file gives, or the sum of its faces' normals, each weighted with the face's
 * area. Points that have neither, as many scanned meshes do on no face, are left out. Everything is read from memory
 * and nothing in it is believed: what is wrong is refused with one line that names the line, or in binary the byte. */
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

/* Finds the kind of a file: by its first word, or where that says nothing, by the ending of its name. -1 with one
 * line where neither tells. */
int mesh_kind_of(enum mesh_kind *kind, const char *name, const char *bytes, size_t size, struct error *error);

/* -1 with one line, which does not name the file, and nothing is allocated. */
int mesh_parse(struct mesh *mesh, enum mesh_kind kind, const char *bytes, size_t size, struct error *error);
void mesh_fini(struct mesh *mesh);
