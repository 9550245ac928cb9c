/* SPDX-License-Identifier: MIT */
/* Meshes of any kind: see mesh.h. */
#include "deploy/examples/kernels/papers/mesh/mesh.h"

#include "deploy/examples/kernels/papers/mesh/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_told_by_bytes(enum mesh_kind *kind, const char *bytes, size_t size)
{
    char word[READER_WORD_MAX];
    bool has_normals;
    struct reader reader;
    reader_init(&reader, bytes, size, NULL);
    if (size >= 4 && memcmp(bytes, "ply", 3) == 0 && (bytes[3] == '\n' || bytes[3] == '\r')) {
        *kind = MESH_PLY;
        return true;
    }
    reader.has_comments = true;
    *kind = MESH_OFF;
    return reader_any_word(&reader, word) && off_is_keyword(word, &has_normals);
}

int mesh_kind_of(enum mesh_kind *kind, const char *name, const char *bytes, size_t size, struct error *error)
{
    static const char *const endings[] = {[MESH_OFF] = ".off", [MESH_OBJ] = ".obj", [MESH_PLY] = ".ply"};
    const char *dot = strrchr(name, '.');
    if (is_told_by_bytes(kind, bytes, size))
        return 0;
    for (int i = 0; i < 3 && dot != NULL; i++)
        if (strcasecmp(dot, endings[i]) == 0) {
            *kind = (enum mesh_kind)i;
            return 0;
        }
    return error_set(error, "line 1: neither OFF nor ply, and the name does not end in .obj; accepted: OFF, PLY, OBJ");
}

int mesh_parse(struct mesh *mesh, enum mesh_kind kind, const char *bytes, size_t size, struct error *error)
{
    static int (*const readers[])(struct reader *, struct mesh_builder *) = {
        [MESH_OFF] = off_read, [MESH_OBJ] = obj_read, [MESH_PLY] = ply_read};
    struct reader reader;
    struct mesh_builder builder;
    reader_init(&reader, bytes, size, error);
    *mesh = (struct mesh){0};
    return readers[kind](&reader, &builder) < 0 ? -1 : mesh_builder_finish(&builder, mesh, error);
}

void mesh_fini(struct mesh *mesh)
{
    free(mesh->position);
    free(mesh->normal);
    *mesh = (struct mesh){0};
}
