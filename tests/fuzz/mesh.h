/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of the readers of meshes share: a file is refused with one line, or all of its points are
 * within the limits and have normals of length 1. */
#pragma once

#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

static inline void fuzz_mesh(enum mesh_kind kind, const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {[MESH_OFF] = "a.off", [MESH_OBJ] = "a.obj", [MESH_PLY] = "a.ply"};
    struct mesh mesh;
    struct error error = {0};
    enum mesh_kind found;
    REQUIRE(mesh_kind_of(&found, names[kind], (const char *)bytes, size, &error) == 0);
    if (mesh_parse(&mesh, kind, (const char *)bytes, size, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    REQUIRE(mesh.points > 0 && mesh.points <= size);
    for (size_t i = 0; i < mesh.points; i++) {
        const double *normal = mesh.normal[i];
        double square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
        REQUIRE(fabs(square - 1) < 1e-9);
        for (int k = 0; k < 3; k++)
            REQUIRE(fabs(mesh.position[i][k]) <= MESH_COORDINATE_MAX);
    }
    mesh_fini(&mesh);
}
