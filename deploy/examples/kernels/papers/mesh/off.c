/* SPDX-License-Identifier: MIT */
/* Reads the Object File Format of Geomview, as text. A file has a keyword, which may be missing, the numbers of
 * vertices, faces and edges, and a line for each vertex and each face. With N in the keyword, a normal follows each
 * vertex. Colours and texture coordinates are skipped. */
#include "deploy/examples/kernels/papers/mesh/kinds.h"

#include "common/util/number.h"

#include <string.h>

enum { VERTEX_LEAST = 6, FACE_LEAST = 2 };

static bool off_take(const char **text, const char *prefix)
{
    size_t length = strlen(prefix);
    bool there = strncmp(*text, prefix, length) == 0;
    *text += there ? length : 0;
    return there;
}

bool off_is_keyword(const char *word, bool *has_normals)
{
    off_take(&word, "ST");
    off_take(&word, "C");
    *has_normals = off_take(&word, "N");
    return strcmp(word, "OFF") == 0;
}

static int read_keyword(struct reader *reader, bool *has_normals)
{
    char word[READER_WORD_MAX], next[READER_WORD_MAX];
    struct reader before = *reader;
    if (!reader_any_word(reader, word))
        return reader_refuse(reader, "the file is empty; accepted: OFF, COFF, NOFF, ..");
    /* the word is a number, and not the keyword 4OFF, which also begins with a digit */
    if (word[0] >= '0' && word[0] <= '9' && word[strlen(word) - 1] != 'F') {
        *has_normals = false;
        *reader = before;
        return 0;
    }
    if (!off_is_keyword(word, has_normals))
        return reader_refuse(reader, "'%s': accepted: OFF, COFF, NOFF, CNOFF or STOFF, of three dimensions", word);
    struct reader ahead = *reader;
    if (reader_word(&ahead, next) && strcmp(next, "BINARY") == 0)
        return reader_refuse(reader, "binary OFF; accepted: OFF as text, or PLY");
    return 0;
}

static int read_count(struct reader *reader, const char *what, size_t least, size_t *count)
{
    char word[READER_WORD_MAX];
    if (!reader_any_word(reader, word))
        return reader_refuse(reader, "the file ends before it says how many %s there are", what);
    return reader_count(reader, word, what, least, count);
}

static bool find_line(struct reader *reader)
{
    char word[READER_WORD_MAX];
    struct reader before = *reader;
    while (!reader_word(reader, word)) {
        if (!reader_next_line(reader))
            return false;
        before = *reader;
    }
    *reader = before;
    return true;
}

static int read_vertices(struct reader *reader, struct mesh_builder *builder, bool has_normals)
{
    double normal[3];
    for (size_t i = 0; i < builder->points; i++) {
        reader_next_line(reader);
        if (!find_line(reader))
            return reader_refuse(reader, "the file ends before vertex %zu of %zu", i + 1, builder->points);
        if (reader_vector(reader, "vertex", builder->position[i]) < 0)
            return -1;
        if (!has_normals)
            continue;
        if (reader_vector(reader, "normal", normal) < 0)
            return -1;
        mesh_builder_give_normal(builder, i, normal);
    }
    return 0;
}

static int read_corner(struct reader *reader, struct mesh_builder *builder, size_t done, size_t corners)
{
    char word[READER_WORD_MAX];
    uint64_t index;
    if (!reader_word(reader, word))
        return reader_refuse(reader, "a face of %zu corners has %zu%s", corners, done,
                             reader->at == reader->size ? ", and the file ends" : "");
    if (number_parse_u64(word, &index) < 0 || index >= builder->points)
        return reader_refuse(reader, "vertex '%s': accepted: 0 to %zu", word, builder->points - 1);
    return mesh_builder_corner(builder, (size_t)index, reader->error);
}

static int read_face(struct reader *reader, struct mesh_builder *builder)
{
    char word[READER_WORD_MAX];
    size_t corners;
    reader_word(reader, word);
    if (reader_count(reader, word, "corners", 2, &corners) < 0)
        return -1;
    for (size_t i = 0; i < corners; i++)
        if (read_corner(reader, builder, i, corners) < 0)
            return -1;
    mesh_builder_face(builder);
    return 0;
}

static int read_faces(struct reader *reader, struct mesh_builder *builder, size_t faces)
{
    for (size_t i = 0; i < faces; i++) {
        reader_next_line(reader);
        if (!find_line(reader))
            return reader_refuse(reader, "the file ends before face %zu of %zu", i + 1, faces);
        if (read_face(reader, builder) < 0)
            return -1;
    }
    return 0;
}

int off_read(struct reader *reader, struct mesh_builder *builder)
{
    bool has_normals;
    size_t vertices, faces;
    reader->has_comments = true;
    if (read_keyword(reader, &has_normals) < 0 || read_count(reader, "vertices", VERTEX_LEAST, &vertices) < 0)
        return -1;
    if (vertices == 0)
        return reader_refuse(reader, "0 vertices; accepted: at least one");
    if (read_count(reader, "faces", FACE_LEAST, &faces) < 0 || mesh_builder_init(builder, vertices, reader->error) < 0)
        return -1;
    if (read_vertices(reader, builder, has_normals) == 0 && read_faces(reader, builder, faces) == 0)
        return 0;
    mesh_builder_fini(builder);
    return -1;
}
