/* SPDX-License-Identifier: MIT */
/* The header of a PLY file. Only for deploy/examples/kernels/papers/mesh. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/reader.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLY_ELEMENTS_MAX = 16, PLY_PROPERTIES_MAX = 256 };

enum ply_encoding { PLY_TEXT, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN };

enum ply_type { PLY_INT8, PLY_UINT8, PLY_INT16, PLY_UINT16, PLY_INT32, PLY_UINT32, PLY_FLOAT32, PLY_FLOAT64 };

enum ply_role { PLY_SKIP, PLY_X, PLY_Y, PLY_Z, PLY_NX, PLY_NY, PLY_NZ, PLY_CORNERS };

struct ply_property {
    bool is_list;
    enum ply_type type, count_type;
    enum ply_role role;
};

struct ply_element {
    char name[READER_WORD_MAX];
    size_t count, line;
    size_t first, properties;
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

/* Reads the header; then the reader is at the first byte behind the header. Fails unless there is exactly one element
 * of vertices, with x, y and z. The vertices must be before any faces. Also fails if an element has more items than fit
 * in the rest of the file. */
int ply_read_header(struct reader *reader, struct ply_header *header);
