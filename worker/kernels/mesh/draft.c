/* SPDX-License-Identifier: MIT */
/* From points, normals and faces to oriented points: see draft.h. */
#include "worker/kernels/mesh/draft.h"

#include "common/util/grow.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int draft_init(struct draft *draft, size_t points, struct error *error)
{
    *draft = (struct draft){.points = points};
    draft->position = calloc(points + 1, sizeof *draft->position);
    draft->given = calloc(points + 1, sizeof *draft->given);
    draft->area = calloc(points + 1, sizeof *draft->area);
    if (draft->position != NULL && draft->given != NULL && draft->area != NULL)
        return 0;
    draft_fini(draft);
    return error_set(error, "out of memory for %zu points", points);
}

void draft_fini(struct draft *draft)
{
    free(draft->position);
    free(draft->given);
    free(draft->area);
    free(draft->corner);
    *draft = (struct draft){0};
}

void draft_give_normal(struct draft *draft, size_t point, const double normal[3])
{
    draft->any_given = true;
    for (int i = 0; i < 3; i++)
        draft->given[point][i] += normal[i];
}

int draft_corner(struct draft *draft, size_t point, struct error *error)
{
    size_t *corner = grow(draft->corner, draft->corners, &draft->corners_capacity, sizeof *corner);
    if (corner == NULL)
        return error_set(error, "out of memory for a face of %zu corners", draft->corners + 1);
    draft->corner = corner;
    corner[draft->corners++] = point;
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

/* The sum over the fan of triangles from the first corner is the area vector of the polygon, plane or not. */
void draft_face(struct draft *draft)
{
    double sum[3] = {0}, left[3], right[3];
    const size_t *corner = draft->corner;
    for (size_t i = 1; i + 1 < draft->corners; i++) {
        subtract(draft->position[corner[i]], draft->position[corner[0]], left);
        subtract(draft->position[corner[i + 1]], draft->position[corner[0]], right);
        add_cross(left, right, sum);
    }
    for (size_t i = 0; i < draft->corners; i++)
        for (int k = 0; k < 3; k++)
            draft->area[corner[i]][k] += sum[k];
    draft->any_face |= draft->corners >= 3;
    draft->corners = 0;
}

/* Makes the vector one of length 1; false where it is 0 or so short that its square is. */
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

/* Moves the points that have a normal together, and their normals into `given`. */
static size_t keep_oriented(struct draft *draft)
{
    size_t kept = 0;
    for (size_t i = 0; i < draft->points; i++) {
        double *normal = normalise(draft->given[i]) ? draft->given[i] : draft->area[i];
        if (normal == draft->area[i] && !normalise(normal))
            continue;
        memmove(draft->given[kept], normal, sizeof draft->given[kept]);
        memmove(draft->position[kept], draft->position[i], sizeof draft->position[kept]);
        kept++;
    }
    return kept;
}

static int refuse(const struct draft *draft, struct error *error)
{
    if (draft->points == 0)
        return error_set(error, "there are no points; accepted: at least one");
    if (!draft->any_given && !draft->any_face)
        return error_set(error, "the points have no normals, and there are no faces to make them from; accepted: nx, "
                                "ny and nz (PLY), NOFF, vn (OBJ), or faces");
    return error_set(error, "no point has a normal that is not 0, given or from faces of some area");
}

int draft_finish(struct draft *draft, struct mesh *mesh, struct error *error)
{
    size_t kept = keep_oriented(draft);
    if (kept == 0) {
        refuse(draft, error);
        draft_fini(draft);
        return -1;
    }
    *mesh = (struct mesh){kept, draft->position, draft->given};
    draft->position = draft->given = NULL;
    draft_fini(draft);
    return 0;
}
