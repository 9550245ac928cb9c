/* SPDX-License-Identifier: MIT */
/* The header of a PLY file: what its elements are made of. Inside deploy/examples/kernels/papers/mesh only. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/reader.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLY_ELEMENTS_MAX = 16, PLY_PROPERTIES_MAX = 256 };

enum ply_encoding { PLY_TEXT, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN };

enum ply_type { PLY_INT8, PLY_UINT8, PLY_INT16, PLY_UINT16, PLY_INT32, PLY_UINT32, PLY_FLOAT32, PLY_FLOAT64 };

/* The treatment of a property. */
enum ply_role { PLY_SKIP, PLY_X, PLY_Y, PLY_Z, PLY_NX, PLY_NY, PLY_NZ, PLY_CORNERS };

struct ply_property {
    bool is_list;
    enum ply_type type, count_type; /* the latter of a list */
    enum ply_role role;
};

struct ply_element {
    char name[READER_WORD_MAX];
    size_t count, line;       /* the line that declares it */
    size_t first, properties; /* in the header's table */
    bool is_vertex, is_face;
};

struct ply_header {
    enum ply_encoding encoding;
    struct ply_element element[PLY_ELEMENTS_MAX];
    struct ply_property property[PLY_PROPERTIES_MAX];
    size_t elements, properties;
    size_t vertices;
    bool has_normals;
};

size_t ply_type_size(enum ply_type type);

/* Reads to the end of the header, and leaves the reader at the first byte behind it. Then there is one element of
 * vertices, with all of x, y and z, before any of faces, and no element has more items than the file has room for.
 * */
int ply_read_header(struct reader *reader, struct ply_header *header);
