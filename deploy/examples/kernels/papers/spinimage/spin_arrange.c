/* SPDX-License-Identifier: MIT */
/* Sorts the points of a cloud along the Morton curve through the cells of a grid, so that a block of points is a small
 * part of the model. Then computes the bounds of each block. See spin.h. */
#include "deploy/examples/kernels/papers/spinimage/spin.h"
#include "deploy/examples/kernels/papers/spinimage/spin_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bound of the error of the cosine of the angle between two rounded normals. */
#define COSINE_SLACK 1e-6

/* Bound of the error of the angle itself. Near angle 0, the error of an angle is about the square root of the error of
 * its cosine. */
#define ANGLE_SLACK 5e-3

#define HALF_TURN 3.14159265358979324

enum { GRID_BITS = 20 };

struct keyed {
    uint64_t key;
    size_t point;
};

static int spin_arrange_compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static uint64_t spin_arrange_spread(uint64_t number)
{
    uint64_t sum = 0;
    for (unsigned bit = 0; bit < GRID_BITS; bit++)
        sum |= (number >> bit & 1) << 3 * bit;
    return sum;
}

/* Does not use fmin() and fmax(). On x86-64 they are function calls. gcc 12.2 for aarch64 stops with an internal error
 * when it vectorizes them in a nested loop. */
static void spin_arrange_range_of(const float *numbers, size_t count, double *from, double *to)
{
    float lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        lowest = numbers[i] < lowest ? numbers[i] : lowest;
        highest = numbers[i] > highest ? numbers[i] : highest;
    }
    *from = (double)lowest;
    *to = (double)highest;
}

static void spin_arrange_make_keys(const struct spin_cloud *cloud, struct keyed *keyed)
{
    double from[3], to[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        spin_arrange_range_of(cloud->axis[SPIN_X + k], cloud->points, &from[k], &to[k]);
        longest = fmax(longest, to[k] - from[k]);
    }
    double scale = longest > 0 ? ((1 << GRID_BITS) - 1) / longest : 0;
    for (size_t i = 0; i < cloud->points; i++) {
        keyed[i] = (struct keyed){.point = i};
        for (int k = 0; k < 3; k++)
            keyed[i].key |= spin_arrange_spread((uint64_t)(((double)cloud->axis[SPIN_X + k][i] - from[k]) * scale))
                            << k;
    }
    qsort(keyed, cloud->points, sizeof *keyed, spin_arrange_compare);
}

static void move_points(struct spin_cloud *cloud, const struct keyed *keyed, float *spare)
{
    for (int axis = 0; axis < SPIN_AXES; axis++) {
        for (size_t i = 0; i < cloud->points; i++)
            spare[i] = cloud->axis[axis][keyed[i].point];
        memcpy(cloud->axis[axis], spare, cloud->points * sizeof *spare);
    }
    for (size_t i = 0; i < cloud->points; i++)
        cloud->place[keyed[i].point] = i;
}

static double middle_of(const float *numbers, size_t count)
{
    double from, to;
    spin_arrange_range_of(numbers, count, &from, &to);
    return from + (to - from) / 2;
}

static double spin_arrange_mean_of(const float *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)numbers[i];
    return sum / (double)count;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double cosine_of(double angle)
{
    double sine, cosine;
    spin_sine(angle / (2 * HALF_TURN), &sine, &cosine);
    return angle < HALF_TURN ? cosine : -2; /* -2 is less than every cosine, so no normal is refused */
}

static struct spin_bound bound_of(const struct spin_cloud *cloud, size_t first, size_t count, double support_angle)
{
    double middle[3], axis[3], radius = 0, widest = 0;
    for (int k = 0; k < 3; k++) {
        middle[k] = middle_of(cloud->axis[SPIN_X + k] + first, count);
        axis[k] = spin_arrange_mean_of(cloud->axis[SPIN_NX + k] + first, count);
    }
    double length = sqrt(dot(axis, axis));
    for (int k = 0; k < 3; k++)
        axis[k] = length > 1e-3 ? axis[k] / length : k == 0;
    for (size_t i = first; i < first + count; i++) {
        double from[3], normal[3];
        for (int k = 0; k < 3; k++) {
            from[k] = (double)cloud->axis[SPIN_X + k][i] - middle[k];
            normal[k] = (double)cloud->axis[SPIN_NX + k][i];
        }
        radius = fmax(radius, sqrt(dot(from, from)));
        widest = fmax(widest, acos(fmax(-1, fmin(1, dot(axis, normal)))));
    }
    return (struct spin_bound){
        (float)middle[0], (float)middle[1], (float)middle[2], (float)(radius * 1.0001),
        (float)axis[0],   (float)axis[1],   (float)axis[2],   (float)cosine_of(support_angle + widest + ANGLE_SLACK)};
}

int spin_cloud_arrange(struct spin_cloud *cloud, double support_angle_degrees)
{
    size_t blocks = cloud->room / SPIN_BLOCK, points = cloud->points;
    double support_angle = support_angle_degrees * (HALF_TURN / 180), sine, cosine;
    struct keyed *keyed = malloc(points * sizeof *keyed);
    float *spare = malloc(points * sizeof *spare);
    cloud->place = malloc(points * sizeof *cloud->place);
    cloud->bound = malloc(blocks * sizeof *cloud->bound);
    bool there = keyed != NULL && spare != NULL && cloud->place != NULL && cloud->bound != NULL;
    if (there) {
        spin_arrange_make_keys(cloud, keyed);
        move_points(cloud, keyed, spare);
        for (size_t b = 0; b < blocks; b++)
            cloud->bound[b] =
                bound_of(cloud, b * SPIN_BLOCK, b + 1 < blocks ? SPIN_BLOCK : points - b * SPIN_BLOCK, support_angle);
    }
    spin_sine(support_angle_degrees / 360, &sine, &cosine);
    cloud->limit = (float)(cosine - COSINE_SLACK);
    free(keyed);
    free(spare);
    return there ? 0 : -1;
}
