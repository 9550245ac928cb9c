/* SPDX-License-Identifier: MIT */
/* Reads the Polygon File Format of Stanford: a header that describes the elements, then the elements, as text or in
 * binary of either byte order. Uses x, y, z, nx, ny and nz of vertices and vertex_indices of faces, and skips the
 * rest. */
#include "deploy/examples/kernels/papers/mesh/ply.h"

#include "deploy/examples/kernels/papers/mesh/kinds.h"
#include "common/util/number.h"

#include <stdio.h>
#include <string.h>

struct ply {
    struct reader *reader;
    struct mesh_builder *builder;
    struct ply_header header;
    const struct ply_element *element;
    size_t item;
};

static int refuse_end(const struct ply *ply)
{
    return reader_refuse(ply->reader, "the file ends in %s %zu of %zu", ply->element->name, ply->item + 1,
                         ply->element->count);
}

static uint64_t bytes_to_word(const unsigned char *bytes, size_t count, bool is_big_endian)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << 8 * (is_big_endian ? count - 1 - i : i);
    return word;
}

static double word_to_number(enum ply_type type, uint64_t word)
{
    float single;
    double number;
    switch (type) {
    case PLY_INT8: return (int8_t)word;
    case PLY_INT16: return (int16_t)word;
    case PLY_INT32: return (int32_t)word;
    case PLY_FLOAT32: memcpy(&single, &(uint32_t){(uint32_t)word}, sizeof single); return (double)single;
    case PLY_FLOAT64: memcpy(&number, &word, sizeof number); return number;
    default: return (double)word;
    }
}

/* Reads a number of a binary file. The number may be infinite or NaN. */
static int read_binary(struct ply *ply, enum ply_type type, double *number)
{
    size_t bytes = ply_type_size(type);
    if (reader_left(ply->reader) < bytes)
        return refuse_end(ply);
    *number = word_to_number(type, bytes_to_word((const unsigned char *)ply->reader->bytes + ply->reader->at, bytes,
                                                 ply->header.encoding == PLY_BIG_ENDIAN));
    return 0;
}

static int read_coordinate(struct ply *ply, enum ply_type type, double *number)
{
    char word[READER_WORD_MAX];
    if (ply->header.encoding == PLY_TEXT)
        return reader_any_word(ply->reader, word) ? reader_coordinate(ply->reader, word, number) : refuse_end(ply);
    if (read_binary(ply, type, number) < 0 || reader_check_coordinate(ply->reader, *number) < 0)
        return -1;
    ply->reader->at += ply_type_size(type);
    return 0;
}

static int read_whole(struct ply *ply, enum ply_type type, const char *what, size_t limit, size_t *number)
{
    char word[READER_WORD_MAX];
    double value;
    uint64_t whole = 0;
    bool is_right;
    if (ply->header.encoding == PLY_TEXT) {
        if (!reader_any_word(ply->reader, word))
            return refuse_end(ply);
        is_right = number_parse_u64(word, &whole) == 0 && whole < limit;
    } else {
        if (read_binary(ply, type, &value) < 0)
            return -1;
        snprintf(word, sizeof word, "%.0f", value);
        is_right = value >= 0 && value < (double)limit;
        whole = is_right ? (uint64_t)value : 0;
    }
    if (!is_right)
        return reader_refuse(ply->reader, "%s '%s' of %s %zu: accepted: 0 to %zu", what, word, ply->element->name,
                             ply->item + 1, limit - 1);
    if (ply->header.encoding != PLY_TEXT)
        ply->reader->at += ply_type_size(type);
    *number = (size_t)whole;
    return 0;
}

static int skip_numbers(struct ply *ply, enum ply_type type, size_t count)
{
    char word[READER_WORD_MAX];
    if (ply->header.encoding != PLY_TEXT) {
        if (count > reader_left(ply->reader) / ply_type_size(type))
            return refuse_end(ply);
        ply->reader->at += count * ply_type_size(type);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!reader_any_word(ply->reader, word))
            return refuse_end(ply);
    return 0;
}

static int ply_read_list(struct ply *ply, const struct ply_property *property)
{
    size_t length = 0, corner = 0;
    if (read_whole(ply, property->count_type, "length", reader_left(ply->reader) + 1, &length) < 0)
        return -1;
    if (property->role != PLY_CORNERS)
        return skip_numbers(ply, property->type, length);
    for (size_t i = 0; i < length; i++)
        if (read_whole(ply, property->type, "vertex", ply->header.vertices, &corner) < 0 ||
            mesh_builder_corner(ply->builder, corner, ply->reader->error) < 0)
            return -1;
    mesh_builder_face(ply->builder);
    return 0;
}

static int read_item(struct ply *ply, double normal[3])
{
    const struct ply_property *property = &ply->header.property[ply->element->first];
    for (size_t i = 0; i < ply->element->properties; i++, property++) {
        int status;
        if (property->is_list)
            status = ply_read_list(ply, property);
        else if (property->role == PLY_SKIP)
            status = skip_numbers(ply, property->type, 1);
        else if (property->role < PLY_NX)
            status = read_coordinate(ply, property->type, &ply->builder->position[ply->item][property->role - PLY_X]);
        else
            status = read_coordinate(ply, property->type, &normal[property->role - PLY_NX]);
        if (status < 0)
            return -1;
    }
    return 0;
}

static int ply_read_element(struct ply *ply)
{
    double normal[3] = {0};
    for (ply->item = 0; ply->item < ply->element->count; ply->item++) {
        if (read_item(ply, normal) < 0)
            return -1;
        if (ply->element->is_vertex && ply->header.has_normals)
            mesh_builder_give_normal(ply->builder, ply->item, normal);
    }
    return 0;
}

int ply_read(struct reader *reader, struct mesh_builder *builder)
{
    struct ply ply = {.reader = reader, .builder = builder};
    if (ply_read_header(reader, &ply.header) < 0 || mesh_builder_init(builder, ply.header.vertices, reader->error) < 0)
        return -1;
    reader->is_binary = ply.header.encoding != PLY_TEXT;
    for (size_t i = 0; i < ply.header.elements; i++) {
        ply.element = &ply.header.element[i];
        if (ply_read_element(&ply) < 0) {
            mesh_builder_fini(builder);
            return -1;
        }
    }
    return 0;
}
