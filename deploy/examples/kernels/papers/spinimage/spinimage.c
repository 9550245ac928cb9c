/* SPDX-License-Identifier: MIT */
/* Spin images (PSIA): see spin.h. An iteration makes the image that one point sees. The points of the images are spread
 * evenly over all points. An iteration visits all points, except for blocks that are entirely beyond the support angle
 * or outside the image.
 *
 * The points come from a file, which must be the same on all ranks, or from a formula (spin_surface.h). Positions are
 * converted to single precision. Before that, the origin is moved to the middle of the points' bounding box, and a cell
 * becomes the unit of length. So a model far from the original origin keeps its precision. */
#include "common/util/digest.h"
#include "deploy/examples/kernels/papers/input.h"
#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "deploy/examples/kernels/papers/spinimage/spin.h"
#include "deploy/examples/kernels/papers/spinimage/spin_surface.h"
#include "hdss/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum param { FILE_NAME, POINTS, IMAGES, IMAGE_WIDTH, BIN_SIZE, SUPPORT_ANGLE };

#define POINTS_MAX     1e8
#define IMAGES_DEFAULT 10000

static const struct hdss_param params[] = {
    [FILE_NAME] = {"file", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
                   "points with normals, or a mesh, as OFF, OBJ or PLY; without a file: a torus with bumps"},
    [POINTS] = {"points", HDSS_PARAM_INTEGER, "100000", 1, POINTS_MAX, NULL, "", "points on the torus, without file="},
    [IMAGES] = {"images", HDSS_PARAM_INTEGER, "0", 0, POINTS_MAX, NULL, "",
                "number of images, each of another point; 0: of all points, but at most 10000"},
    [IMAGE_WIDTH] = {"image_width", HDSS_PARAM_INTEGER, "32", 1, SPIN_WIDTH_MAX, NULL, "cells",
                     "width and height of an image"},
    [BIN_SIZE] = {"bin_size", HDSS_PARAM_REAL, "0", 0, 1e9, NULL, "",
                  "side of a cell, in the points' unit; 0: the longest side of their box is one image wide"},
    [SUPPORT_ANGLE] = {"support_angle", HDSS_PARAM_REAL, "60", 0, 180, NULL, "degrees",
                       "largest angle between the normals of the image and of a point that counts; 180: all count"},
    {NULL},
};

/* Reads the mesh, and sets the digest of the file, which is never 0. */
static int read_mesh(const char *path, struct mesh *mesh, uint64_t *digest, char line[HDSS_ERROR_MAX])
{
    struct error error = {""};
    enum mesh_kind kind;
    size_t size = 0;
    char *bytes = input_read(path, &size, &error);
    int status = bytes == NULL || mesh_kind_of(&kind, path, bytes, size, &error) < 0
                     ? -1
                     : mesh_parse(mesh, kind, bytes, size, &error);
    if (status < 0)
        snprintf(line, HDSS_ERROR_MAX, "file=%.160s: %.220s", path, error.text);
    else
        *digest = digest_record(0, bytes, size) | 1;
    free(bytes);
    return status;
}

static int make_surface(size_t points, struct mesh *mesh, char error[HDSS_ERROR_MAX])
{
    *mesh = (struct mesh){points, calloc(points, sizeof *mesh->position), calloc(points, sizeof *mesh->normal)};
    if (mesh->position == NULL || mesh->normal == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory for points=%zu", points);
        mesh_fini(mesh);
        return -1;
    }
    for (size_t i = 0; i < points; i++)
        spin_surface_point(i, points, mesh->position[i], mesh->normal[i]);
    return 0;
}

static int count_points(const union hdss_value *values, uint64_t *points, uint64_t *inputs, char error[HDSS_ERROR_MAX])
{
    struct mesh mesh;
    *points = (uint64_t)values[POINTS].integer;
    if (values[FILE_NAME].text[0] == '\0')
        return 0;
    if (read_mesh(values[FILE_NAME].text, &mesh, inputs, error) < 0)
        return -1;
    *points = mesh.points;
    mesh_fini(&mesh);
    return 0;
}

static int spinimage_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    uint64_t points, images = (uint64_t)values[IMAGES].integer, width = (uint64_t)values[IMAGE_WIDTH].integer;
    uint64_t inputs = 0;
    if (count_points(values, &points, &inputs, error) < 0)
        return -1;
    if (images > points) {
        snprintf(error, HDSS_ERROR_MAX, "images=%llu: accepted: up to %llu, as many as there are points",
                 (unsigned long long)images, (unsigned long long)points);
        return -1;
    }
    if (images == 0)
        images = points < IMAGES_DEFAULT ? points : IMAGES_DEFAULT;
    *loop = (struct hdss_loop){.iterations = images,
                               .type = HDSS_UINT32,
                               .record_length = width * width,
                               .dims = 3,
                               .shape = {images, width, width},
                               .inputs = inputs};
    return 0;
}

struct spinimage {
    struct spin_cloud cloud;
    uint64_t images;
    uint32_t width;
    const struct spin_variant *variant;
};

static double bounds_of(const struct mesh *mesh, double middle[3])
{
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        double from = INFINITY, to = -INFINITY;
        for (size_t i = 0; i < mesh->points; i++) {
            from = fmin(from, mesh->position[i][k]);
            to = fmax(to, mesh->position[i][k]);
        }
        middle[k] = from + (to - from) / 2;
        longest = fmax(longest, to - from);
    }
    return longest;
}

static int fill_cloud(struct spin_cloud *cloud, const struct mesh *mesh, double bin_size, double width,
                      double support_angle)
{
    double middle[3], longest = bounds_of(mesh, middle);
    if (bin_size == 0)
        bin_size = longest > 0 ? longest / width : 1;
    if (spin_cloud_init(cloud, mesh->points) < 0)
        return -1;
    for (size_t i = 0; i < mesh->points; i++) {
        double position[3];
        for (int k = 0; k < 3; k++)
            position[k] = (mesh->position[i][k] - middle[k]) / bin_size;
        spin_cloud_add(cloud, position, mesh->normal[i]);
    }
    if (spin_cloud_arrange(cloud, support_angle) == 0)
        return 0;
    spin_cloud_fini(cloud);
    return -1;
}

static int read_points(const union hdss_value *values, const struct hdss_loop *loop, struct mesh *mesh,
                       char error[HDSS_ERROR_MAX])
{
    uint64_t inputs;
    if (loop->inputs == 0)
        return make_surface((size_t)values[POINTS].integer, mesh, error);
    if (read_mesh(values[FILE_NAME].text, mesh, &inputs, error) < 0)
        return -1;
    if (inputs == loop->inputs)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "file=%.200s: it has changed since the run began", values[FILE_NAME].text);
    mesh_fini(mesh);
    return -1;
}

static int spinimage_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                   const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    struct mesh mesh;
    if (read_points(values, loop, &mesh, error) < 0)
        return -1;
    struct spinimage *s = calloc(1, sizeof *s);
    if (s == NULL ||
        fill_cloud(&s->cloud, &mesh, values[BIN_SIZE].real, (double)loop->shape[1], values[SUPPORT_ANGLE].real) < 0) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory for %zu points", mesh.points);
        mesh_fini(&mesh);
        free(s);
        return -1;
    }
    s->images = loop->iterations;
    s->width = (uint32_t)loop->shape[1];
    s->variant = spin_best();
    mesh_fini(&mesh);
    *instance = s;
    return 0;
}

static void spinimage_close_instance(void *instance)
{
    struct spinimage *s = instance;
    spin_cloud_fini(&s->cloud);
    free(s);
}

static int spinimage_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const struct spinimage *s = instance;
    uint32_t *counts = records;
    for (uint64_t i = first; i < first + count; i++, counts += (size_t)s->width * s->width)
        s->variant->run(&s->cloud, i * s->cloud.points / s->images, s->width, counts);
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "spinimage",
    .version = "1",
    .summary = "spin images of the points of a mesh, a cloud or a torus with bumps",
    .params = params,
    .describe = spinimage_describe,
    .open = spinimage_open_instance,
    .run = spinimage_run,
    .close = spinimage_close_instance,
};
