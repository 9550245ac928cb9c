/* SPDX-License-Identifier: MIT */
/* Makes oriented points from points, normals and faces: see mesh_builder.h. */
#include "deploy/examples/kernels/papers/mesh/mesh_builder.h"

#include "common/util/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int mesh_builder_init(struct mesh_builder *builder, size_t points, struct error *error)
{
    *builder = (struct mesh_builder){.points = points};
    builder->position = calloc(points + 1, sizeof *builder->position);
    builder->given = calloc(points + 1, sizeof *builder->given);
    builder->area = calloc(points + 1, sizeof *builder->area);
    if (builder->position != NULL && builder->given != NULL && builder->area != NULL)
        return 0;
    mesh_builder_fini(builder);
    return error_set(error, "out of memory for %zu points", points);
}

void mesh_builder_fini(struct mesh_builder *builder)
{
    free(builder->position);
    free(builder->given);
    free(builder->area);
    free(builder->corner);
    *builder = (struct mesh_builder){0};
}

void mesh_builder_give_normal(struct mesh_builder *builder, size_t point, const double normal[3])
{
    builder->any_given = true;
    for (int i = 0; i < 3; i++)
        builder->given[point][i] += normal[i];
}

int mesh_builder_corner(struct mesh_builder *builder, size_t point, struct error *error)
{
    size_t *corner = grow(builder->corner, builder->corners, &builder->corners_capacity, sizeof *corner);
    if (corner == NULL)
        return error_set(error, "out of memory for a face of %zu corners", builder->corners + 1);
    builder->corner = corner;
    corner[builder->corners++] = point;
    return 0;
}

static void subtract(const double a[3], const double b[3], double difference[3])
{
    for (int i = 0; i < 3; i++)
        difference[i] = a[i] - b[i];
}

static void add_cross(const double a[3], const double b[3], double sum[3])
{
    sum[0] += a[1] * b[2] - a[2] * b[1];
    sum[1] += a[2] * b[0] - a[0] * b[2];
    sum[2] += a[0] * b[1] - a[1] * b[0];
}

/* Treats the face as a fan of triangles around its first corner. The area vectors of the triangles add up to the area
 * vector of the polygon, even if its corners are not in one plane. */
void mesh_builder_face(struct mesh_builder *builder)
{
    double sum[3] = {0}, left[3], right[3];
    const size_t *corner = builder->corner;
    for (size_t i = 1; i + 1 < builder->corners; i++) {
        subtract(builder->position[corner[i]], builder->position[corner[0]], left);
        subtract(builder->position[corner[i + 1]], builder->position[corner[0]], right);
        add_cross(left, right, sum);
    }
    for (size_t i = 0; i < builder->corners; i++)
        for (int k = 0; k < 3; k++)
            builder->area[corner[i]][k] += sum[k];
    builder->any_face |= builder->corners >= 3;
    builder->corners = 0;
}

static bool normalise(double vector[3])
{
    double square = vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2];
    if (!(square > 1e-290))
        return false;
    double factor = 1 / sqrt(square);
    for (int i = 0; i < 3; i++)
        vector[i] *= factor;
    return true;
}

static size_t keep_oriented(struct mesh_builder *builder)
{
    size_t kept = 0;
    for (size_t i = 0; i < builder->points; i++) {
        double *normal = normalise(builder->given[i]) ? builder->given[i] : builder->area[i];
        if (normal == builder->area[i] && !normalise(normal))
            continue;
        memmove(builder->given[kept], normal, sizeof builder->given[kept]);
        memmove(builder->position[kept], builder->position[i], sizeof builder->position[kept]);
        kept++;
    }
    return kept;
}

static int mesh_builder_refuse(const struct mesh_builder *builder, struct error *error)
{
    if (builder->points == 0)
        return error_set(error, "there are no points; accepted: at least one");
    if (!builder->any_given && !builder->any_face)
        return error_set(error, "the points have no normals, and there are no faces to make them from; accepted: nx, "
                                "ny and nz (PLY), NOFF, vn (OBJ), or faces");
    return error_set(error, "no point has a normal that is not 0, given or from faces of some area");
}

int mesh_builder_finish(struct mesh_builder *builder, struct mesh *mesh, struct error *error)
{
    size_t kept = keep_oriented(builder);
    if (kept == 0) {
        mesh_builder_refuse(builder, error);
        mesh_builder_fini(builder);
        return -1;
    }
    *mesh = (struct mesh){kept, builder->position, builder->given};
    builder->position = builder->given = NULL;
    mesh_builder_fini(builder);
    return 0;
}
