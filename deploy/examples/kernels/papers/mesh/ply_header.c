/* SPDX-License-Identifier: MIT */
/* The header of a PLY file: see ply.h. */
#include "deploy/examples/kernels/papers/mesh/ply.h"

#include <string.h>

static const struct {
    const char *name, *other;
    size_t bytes;
} types[] = {
    [PLY_INT8] = {"char", "int8", 1},        [PLY_UINT8] = {"uchar", "uint8", 1},
    [PLY_INT16] = {"short", "int16", 2},     [PLY_UINT16] = {"ushort", "uint16", 2},
    [PLY_INT32] = {"int", "int32", 4},       [PLY_UINT32] = {"uint", "uint32", 4},
    [PLY_FLOAT32] = {"float", "float32", 4}, [PLY_FLOAT64] = {"double", "float64", 8},
};

size_t ply_type_size(enum ply_type type)
{
    return types[type].bytes;
}

static bool is_integer(enum ply_type type)
{
    return type < PLY_FLOAT32;
}

static int need_word(struct reader *reader, const char *what, char word[READER_WORD_MAX])
{
    return reader_word(reader, word) ? 0 : reader_refuse(reader, "%s is missing", what);
}

static int read_type(struct reader *reader, enum ply_type *type)
{
    char word[READER_WORD_MAX];
    if (need_word(reader, "the property's type", word) < 0)
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(word, types[i].name) == 0 || strcmp(word, types[i].other) == 0) {
            *type = (enum ply_type)i;
            return 0;
        }
    return reader_refuse(reader,
                         "type '%s': accepted: char, uchar, short, ushort, int, uint, float or double, or int8 "
                         "to float64",
                         word);
}

static int read_format(struct reader *reader, struct ply_header *header)
{
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    char word[READER_WORD_MAX], version[READER_WORD_MAX];
    if (!reader_any_word(reader, word) || strcmp(word, "format") != 0 || !reader_word(reader, word) ||
        !reader_word(reader, version))
        return reader_refuse(reader, "accepted: format ascii 1.0, or binary_little_endian or binary_big_endian");
    for (int i = 0; i < 3; i++)
        if (strcmp(word, encodings[i]) == 0 && strcmp(version, "1.0") == 0) {
            header->encoding = (enum ply_encoding)i;
            return 0;
        }
    return reader_refuse(reader, "format '%s %s': accepted: ascii, binary_little_endian or binary_big_endian, 1.0",
                         word, version);
}

static int ply_header_read_element(struct reader *reader, struct ply_header *header)
{
    char word[READER_WORD_MAX];
    if (header->elements == PLY_ELEMENTS_MAX)
        return reader_refuse(reader, "accepted: up to %d elements", PLY_ELEMENTS_MAX);
    struct ply_element *element = &header->element[header->elements];
    *element = (struct ply_element){.line = reader->line, .first = header->properties};
    if (need_word(reader, "the element's name", element->name) < 0 ||
        need_word(reader, "how many there are of the element", word) < 0 ||
        reader_count(reader, word, "items", 1, &element->count) < 0)
        return -1;
    element->is_vertex = strcmp(element->name, "vertex") == 0;
    element->is_face = strcmp(element->name, "face") == 0;
    header->elements++;
    return 0;
}

static enum ply_role role_of(const struct ply_element *element, const char *name)
{
    static const char *const vertex[] = {
        [PLY_X] = "x", [PLY_Y] = "y", [PLY_Z] = "z", [PLY_NX] = "nx", [PLY_NY] = "ny", [PLY_NZ] = "nz"};
    if (element->is_face)
        return strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0 ? PLY_CORNERS : PLY_SKIP;
    for (int role = PLY_X; element->is_vertex && role <= PLY_NZ; role++)
        if (strcmp(name, vertex[role]) == 0)
            return (enum ply_role)role;
    return PLY_SKIP;
}

static int check_property(const struct reader *reader, const struct ply_property *property, const char *name)
{
    if (property->is_list && !is_integer(property->count_type))
        return reader_refuse(reader, "list '%s': its length has no type of whole numbers", name);
    if (property->role == PLY_SKIP || property->is_list == (property->role == PLY_CORNERS)) {
        if (property->role != PLY_CORNERS || is_integer(property->type))
            return 0;
        return reader_refuse(reader, "list '%s' has no type of whole numbers", name);
    }
    return reader_refuse(reader, "property '%s': accepted: %s", name, property->is_list ? "a single number" : "a list");
}

static int read_property(struct reader *reader, struct ply_header *header)
{
    char name[READER_WORD_MAX];
    if (header->elements == 0)
        return reader_refuse(reader, "a property before the first element");
    if (header->properties == PLY_PROPERTIES_MAX)
        return reader_refuse(reader, "accepted: up to %d properties", PLY_PROPERTIES_MAX);
    struct ply_element *element = &header->element[header->elements - 1];
    struct ply_property *property = &header->property[header->properties];
    struct reader before = *reader;
    *property = (struct ply_property){0};
    property->is_list = reader_word(reader, name) && strcmp(name, "list") == 0;
    if (!property->is_list)
        *reader = before;
    if ((property->is_list && read_type(reader, &property->count_type) < 0) || read_type(reader, &property->type) < 0 ||
        need_word(reader, "the property's name", name) < 0)
        return -1;
    property->role = role_of(element, name);
    element->properties++;
    header->properties++;
    return check_property(reader, property, name);
}

static size_t least_bytes(const struct ply_header *header, const struct ply_element *element)
{
    size_t bytes = 0;
    for (size_t i = 0; i < element->properties; i++) {
        const struct ply_property *property = &header->property[element->first + i];
        if (header->encoding == PLY_TEXT)
            bytes += 2;
        else
            bytes += ply_type_size(property->is_list ? property->count_type : property->type);
    }
    return bytes;
}

static int check_element(struct reader *reader, const struct ply_header *header, const struct ply_element *element)
{
    size_t least = least_bytes(header, element), left = reader_left(reader);
    reader->line = element->line;
    if (least == 0 && element->count > 0)
        return reader_refuse(reader, "element '%s' has no properties", element->name);
    left += header->encoding == PLY_TEXT; /* one byte more, because the last item of a text may lack its separator */
    if (least > 0 && element->count > left / least)
        return reader_refuse(reader, "element '%s': %zu of it do not fit the %zu bytes that follow the header",
                             element->name, element->count, reader_left(reader));
    return 0;
}

static int roles_of(struct reader *reader, const struct ply_header *header, const struct ply_element *element)
{
    int roles = 0;
    for (size_t i = 0; i < element->properties; i++) {
        int bit = 1 << header->property[element->first + i].role;
        reader->line = element->line;
        if (bit != 1 << PLY_SKIP && (roles & bit) != 0)
            return reader_refuse(reader, "element '%s' has a property twice", element->name);
        roles |= bit;
    }
    return roles;
}

static int check_vertices(struct reader *reader, struct ply_header *header, const struct ply_element *element)
{
    enum { XYZ = 1 << PLY_X | 1 << PLY_Y | 1 << PLY_Z, NORMAL = 1 << PLY_NX | 1 << PLY_NY | 1 << PLY_NZ };
    int roles = roles_of(reader, header, element);
    if (roles < 0)
        return -1;
    if ((roles & XYZ) != XYZ)
        return reader_refuse(reader, "the vertices lack some of the properties x, y and z");
    if ((roles & NORMAL) != 0 && (roles & NORMAL) != NORMAL)
        return reader_refuse(reader, "the vertices have some of the properties nx, ny and nz; accepted: all or none");
    if (element->count == 0)
        return reader_refuse(reader, "0 vertices; accepted: at least one");
    header->vertices = element->count;
    header->has_normals = (roles & NORMAL) != 0;
    return 0;
}

static int check_header(struct reader reader, struct ply_header *header)
{
    bool any_vertices = false;
    for (size_t i = 0; i < header->elements; i++) {
        const struct ply_element *element = &header->element[i];
        if (check_element(&reader, header, element) < 0)
            return -1;
        if (element->is_vertex ? any_vertices : element->is_face && !any_vertices)
            return reader_refuse(&reader, "accepted: one element vertex, and then faces");
        if (element->is_vertex && check_vertices(&reader, header, element) < 0)
            return -1;
        if (element->is_face && roles_of(&reader, header, element) < 0)
            return -1;
        any_vertices |= element->is_vertex;
    }
    return any_vertices ? 0 : reader_refuse(&reader, "there is no element vertex");
}

static int read_statement(struct reader *reader, struct ply_header *header, const char *word)
{
    if (strcmp(word, "element") == 0)
        return ply_header_read_element(reader, header);
    if (strcmp(word, "property") == 0)
        return read_property(reader, header);
    if (strcmp(word, "comment") == 0 || strcmp(word, "obj_info") == 0)
        return 0;
    return reader_refuse(reader, "'%s': accepted: element, property, comment, obj_info or end_header", word);
}

int ply_read_header(struct reader *reader, struct ply_header *header)
{
    char word[READER_WORD_MAX];
    *header = (struct ply_header){0};
    if (!reader_word(reader, word) || strcmp(word, "ply") != 0)
        return reader_refuse(reader, "accepted: ply");
    reader_next_line(reader);
    if (read_format(reader, header) < 0)
        return -1;
    for (;;) {
        reader_next_line(reader);
        if (!reader_any_word(reader, word))
            return reader_refuse(reader, "the file ends before end_header");
        if (strcmp(word, "end_header") == 0)
            break;
        if (read_statement(reader, header, word) < 0)
            return -1;
    }
    reader_next_line(reader);
    return check_header(*reader, header);
}
