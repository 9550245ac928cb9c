/* SPDX-License-Identifier: MIT */
/* Reads Wavefront OBJ: the statements v, vn and f; others are skipped. The text is read three times: to count vertices
 * and normals, to read vertices and normals, and to read faces, which may refer to later vertices.
 *
 * A corner of a face names a vertex and perhaps a normal (1/2/3, 1//3). If several corners give different normals to a
 * vertex, the vertex gets their sum. A file without faces is a point cloud. It has as many normals as vertices, in the
 * same order. */
#include "deploy/examples/kernels/papers/mesh/kinds.h"

#include "common/util/error.h"
#include "common/util/number.h"

#include <stdlib.h>
#include <string.h>

struct obj {
    struct reader reader;
    struct mesh_builder *builder;
    double (*normal)[3];
    size_t normals, faces;
    size_t vertices_here, normals_here;
};

typedef int obj_line(struct obj *obj, const char *keyword);

static bool is_other_statement(const char *word)
{
    static const char *const known[] = {
        "vt",   "vp",     "g",      "o",          "s",         "mg",    "usemtl", "mtllib",   "l",
        "p",    "cstype", "deg",    "bmat",       "step",      "curv",  "curv2",  "surf",     "parm",
        "trim", "hole",   "scrv",   "sp",         "end",       "con",   "bevel",  "c_interp", "d_interp",
        "lod",  "usemap", "maplib", "shadow_obj", "trace_obj", "ctech", "stech",  "call",     "csh",
        "res",  "bsp",    "bzp",    "cdc",        "cdp",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

static int each_line(struct obj *obj, const char *bytes, size_t size, obj_line *take)
{
    char word[READER_WORD_MAX];
    struct error *error = obj->reader.error;
    reader_init(&obj->reader, bytes, size, error);
    obj->reader.has_comments = obj->reader.has_continuation = true;
    obj->vertices_here = obj->normals_here = 0;
    do {
        if (!reader_word(&obj->reader, word))
            continue;
        if (take(obj, word) < 0)
            return -1;
        obj->vertices_here += strcmp(word, "v") == 0;
        obj->normals_here += strcmp(word, "vn") == 0;
    } while (reader_next_line(&obj->reader));
    return 0;
}

static int obj_count_line(struct obj *obj, const char *keyword)
{
    static const char *const ours[] = {"v", "vn", "f"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(keyword, ours[i]) == 0) {
            obj->faces += ours[i][0] == 'f';
            return 0;
        }
    return is_other_statement(keyword) ? 0
                                       : reader_refuse(&obj->reader,
                                                       "'%s': accepted: v, vn, f and the other "
                                                       "statements of OBJ",
                                                       keyword);
}

static int obj_read_line(struct obj *obj, const char *keyword)
{
    if (strcmp(keyword, "v") == 0)
        return reader_vector(&obj->reader, "vertex", obj->builder->position[obj->vertices_here]);
    if (strcmp(keyword, "vn") == 0)
        return reader_vector(&obj->reader, "normal", obj->normal[obj->normals_here]);
    return 0;
}

static int obj_find(const struct obj *obj, const char *text, const char *what, size_t here, size_t count, size_t *index)
{
    int64_t number;
    if (number_parse_i64(text, &number) == 0) {
        if (number > 0 && (uint64_t)number <= count) {
            *index = (size_t)number - 1;
            return 0;
        }
        if (number < 0 && (uint64_t)-number <= here) {
            *index = here - (size_t)-number;
            return 0;
        }
    }
    return reader_refuse(&obj->reader, "%s '%s': accepted: 1 to %zu, or back from here -1 to -%zu", what, text, count,
                         here);
}

/* Takes a corner in one of the forms VERTEX, VERTEX/TEXTURE, VERTEX//NORMAL and VERTEX/TEXTURE/NORMAL. Modifies the
 * word. */
static int take_corner(struct obj *obj, char *word)
{
    char *slash = strchr(word, '/'), *second = slash != NULL ? strchr(slash + 1, '/') : NULL;
    size_t vertex = 0, normal = 0;
    if (slash != NULL)
        *slash = '\0';
    if (obj_find(obj, word, "vertex", obj->vertices_here, obj->builder->points, &vertex) < 0)
        return -1;
    if (second != NULL) {
        if (obj_find(obj, second + 1, "normal", obj->normals_here, obj->normals, &normal) < 0)
            return -1;
        mesh_builder_give_normal(obj->builder, vertex, obj->normal[normal]);
    }
    return mesh_builder_corner(obj->builder, vertex, obj->reader.error);
}

static int face_line(struct obj *obj, const char *keyword)
{
    char word[READER_WORD_MAX];
    size_t corners = 0;
    if (strcmp(keyword, "f") != 0)
        return 0;
    for (; reader_word(&obj->reader, word); corners++)
        if (take_corner(obj, word) < 0)
            return -1;
    if (corners < 3)
        return reader_refuse(&obj->reader, "a face has at least three corners, there %s %zu%s",
                             corners == 1 ? "is" : "are", corners,
                             obj->reader.at == obj->reader.size ? ", and the file ends" : "");
    mesh_builder_face(obj->builder);
    return 0;
}

static int obj_read_all(struct obj *obj, const char *bytes, size_t size)
{
    if (each_line(obj, bytes, size, obj_read_line) < 0 || each_line(obj, bytes, size, face_line) < 0)
        return -1;
    if (obj->faces == 0 && obj->normals == obj->builder->points)
        for (size_t i = 0; i < obj->normals; i++)
            mesh_builder_give_normal(obj->builder, i, obj->normal[i]);
    return 0;
}

int obj_read(struct reader *reader, struct mesh_builder *builder)
{
    struct obj obj = {.reader = *reader, .builder = builder};
    if (each_line(&obj, reader->bytes, reader->size, obj_count_line) < 0)
        return -1;
    obj.normals = obj.normals_here;
    if (mesh_builder_init(builder, obj.vertices_here, reader->error) < 0)
        return -1;
    obj.normal = calloc(obj.normals + 1, sizeof *obj.normal);
    int status = obj.normal == NULL ? error_set(reader->error, "out of memory for %zu normals", obj.normals)
                                    : obj_read_all(&obj, reader->bytes, reader->size);
    free(obj.normal);
    if (status < 0)
        mesh_builder_fini(builder);
    return status;
}
