/* SPDX-License-Identifier: MIT */
/* Error diffusion after Floyd and Steinberg (1976), the dependent loop of the papers on synchronized self-scheduling.
 * It turns a grayscale picture into a similar picture of black and white pixels. Each pixel is rounded, and its error
 * is divided among four later neighbours. The pixel to the right gets 7/16. In the row below, the left pixel gets 3/16,
 * the middle pixel 5/16 and the right pixel 1/16. An iteration is a row of the picture.
 *
 * All numbers are integers, so each order that respects the dependencies gives the same picture. A pixel with gray
 * value p has the level p + floor((7 e(left) + 1 e(above left) + 5 e(above) + 3 e(above right) + 8) / 16). The pixel is
 * white if its level is 128 or more. Its error e is the level minus 0 or 255, at most 128 in either direction. Errors
 * that would go to pixels outside the picture are dropped.
 *
 * A chunk passes on the errors of its last row, a byte per pixel. While the chunk is computed, the same array is also
 * used for its other rows. It then has the errors of the present row up to the present pixel, and behind that pixel the
 * errors of the previous row. */
#include "common/util/digest.h"
#include "deploy/examples/kernels/papers/image/image.h"
#include "deploy/examples/kernels/papers/input.h"
#include "hdss/kernel.h"
#include "worker/kernels/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum param { FILE_NAME, WIDTH, HEIGHT };

static const struct hdss_param params[] = {
    [FILE_NAME] = {"file", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
                   "the picture, as PGM, PPM or PNG; without a file: a generated picture"},
    [WIDTH] = {"width", HDSS_PARAM_INTEGER, "2048", 1, IMAGE_SIDE_MAX, NULL, "pixels",
               "width of the generated picture"},
    [HEIGHT] = {"height", HDSS_PARAM_INTEGER, "2048", 1, IMAGE_SIDE_MAX, NULL, "pixels",
                "height of the generated picture"},
    {NULL},
};

struct diffusion {
    struct image image;
    uint64_t width, height;
    /* The arrays are owned. `ring` ([width]) is for a generated picture: the contribution of each column to the squared
     * distance from the middle. */
    uint16_t *ring;
    uint8_t *ramp;
    uint8_t *levels;
    int8_t *no_error;
    int8_t *corner;
    uint64_t corners;
};

static int read_image(const char *path, struct image *image, uint64_t *digest,
                      int (*read)(struct image *, const void *, size_t, struct error *), char line[HDSS_ERROR_MAX])
{
    struct error error = {""};
    size_t size = 0;
    char *bytes = input_read(path, &size, &error);
    int result = bytes == NULL ? -1 : read(image, bytes, size, &error);
    if (result < 0)
        snprintf(line, HDSS_ERROR_MAX, "file=%.160s: %.220s", path, error.text);
    else
        *digest = digest_record(0, bytes, size) | 1;
    free(bytes);
    return result;
}

#define RINGS 2048u

static uint16_t ring_part(uint64_t at, uint64_t side, uint64_t width, uint64_t height)
{
    uint64_t from_middle = 2 * at + 1 > side ? 2 * at + 1 - side : side - 2 * at - 1;
    return (uint16_t)(from_middle * from_middle * RINGS / (width * width + height * height));
}

/* Generates a picture. Its upper eighth is a ramp from black to white. The rest is the mean of this ramp and of rings
 * around the middle, which become narrower outwards. */
static void generate(struct diffusion *d, uint64_t y, uint64_t begin, uint64_t end)
{
    if (y < d->height / 8) {
        memcpy(d->levels + begin, d->ramp + begin, end - begin);
        return;
    }
    unsigned row = ring_part(y, d->height, d->width, d->height);
    for (uint64_t x = begin; x < end; x++) {
        unsigned phase = (d->ring[x] + row) & 511u, wave = phase < 256 ? phase : 511 - phase;
        d->levels[x] = (uint8_t)((d->ramp[x] + wave) / 2);
    }
}

static const uint8_t *levels_of(struct diffusion *d, uint64_t y, uint64_t begin, uint64_t end)
{
    if (d->image.gray != NULL)
        return d->image.gray + y * d->width;
    generate(d, y, begin, end);
    return d->levels;
}

static int floyd_steinberg_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    const char *path = values[FILE_NAME].text;
    uint64_t width = (uint64_t)values[WIDTH].integer, height = (uint64_t)values[HEIGHT].integer, inputs = 0;
    char converted[200] = "";
    struct image image;
    if (path[0] != '\0') {
        if (read_image(path, &image, &inputs, image_look, error) < 0)
            return -1;
        width = image.width;
        height = image.height;
        image_conversion(&image, converted, sizeof converted);
    }
    *loop = (struct hdss_loop){.iterations = height,
                               .type = HDSS_UINT8,
                               .record_length = width,
                               .dims = 2,
                               .shape = {height, width},
                               .is_bilevel = true,
                               .inputs = inputs,
                               .sync = width,
                               .distance = 1,
                               .reach = 1,
                               .boundary_bytes = 1};
    if (converted[0] != '\0')
        snprintf(loop->note, sizeof loop->note, "file=%.100s: %s", path, converted);
    return 0;
}

static int floyd_steinberg_check(const union hdss_value *values, const struct hdss_loop *loop,
                                 char error[HDSS_ERROR_MAX])
{
    struct image image;
    uint64_t digest;
    if (loop->inputs == 0)
        return 0;
    if (read_image(values[FILE_NAME].text, &image, &digest, image_parse, error) < 0)
        return -1;
    image_fini(&image);
    return 0;
}

static void floyd_steinberg_close_instance(void *instance)
{
    struct diffusion *d = instance;
    image_fini(&d->image);
    free(d->ring);
    free(d->ramp);
    free(d->levels);
    free(d->no_error);
    free(d->corner);
    free(d);
}

static int prepare_generated(struct diffusion *d)
{
    d->ring = calloc(d->width, sizeof *d->ring);
    d->ramp = malloc(d->width);
    d->levels = malloc(d->width);
    if (d->ring == NULL || d->ramp == NULL || d->levels == NULL)
        return -1;
    for (uint64_t x = 0; x < d->width; x++) {
        d->ring[x] = ring_part(x, d->width, d->width, d->height);
        d->ramp[x] = (uint8_t)(d->width > 1 ? 255 * x / (d->width - 1) : 128);
    }
    return 0;
}

static int read_again(struct diffusion *d, const char *path, uint64_t inputs, char error[HDSS_ERROR_MAX])
{
    uint64_t digest;
    if (read_image(path, &d->image, &digest, image_parse, error) < 0)
        return -1;
    if (digest == inputs)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "file=%.200s: it has changed since the run began", path);
    return -1;
}

static int floyd_steinberg_prepare(struct diffusion *d, const union hdss_value *values, const struct hdss_loop *loop,
                                   char error[HDSS_ERROR_MAX])
{
    if (loop->inputs != 0)
        return read_again(d, values[FILE_NAME].text, loop->inputs, error);
    if (prepare_generated(d) == 0)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "out of memory for width=%llu", (unsigned long long)d->width);
    return -1;
}

static int floyd_steinberg_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                         const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    struct diffusion *d = calloc(1, sizeof *d);
    if (d == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory");
        return -1;
    }
    *d = (struct diffusion){.width = loop->shape[1], .height = loop->shape[0]};
    d->no_error = calloc(d->width, sizeof *d->no_error);
    if (d->no_error == NULL)
        snprintf(error, HDSS_ERROR_MAX, "out of memory for %llu pixels a row", (unsigned long long)d->width);
    if (d->no_error == NULL || floyd_steinberg_prepare(d, values, loop, error) < 0) {
        floyd_steinberg_close_instance(d);
        return -1;
    }
    *instance = d;
    return 0;
}

static int floyd_steinberg_begin_chunk(struct diffusion *d, uint64_t rows, char error[HDSS_ERROR_MAX])
{
    if (rows <= d->corners)
        return 0;
    free(d->corner);
    d->corner = malloc(rows);
    d->corners = d->corner != NULL ? rows : 0;
    if (d->corner != NULL)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "out of memory for a chunk of %llu rows", (unsigned long long)rows);
    return -1;
}

/* Computes the pixels [begin, end) of a row. `above` has the errors of the row above, from `begin` on. `own` has the
 * errors of this row before `begin`, and receives the errors of [begin, end). `above` and `own` may be the same array.
 * `*corner` is the error of the pixel above and left of `begin`. On return it is the error of the pixel above and left
 * of `end`. */
static void diffuse(const uint8_t *level, uint8_t *white, const int8_t *above, int8_t *own, uint64_t begin,
                    uint64_t end, uint64_t width, int8_t *corner)
{
    int left = begin > 0 ? own[begin - 1] : 0, before = *corner, here = above[begin];
    for (uint64_t x = begin; x < end; x++) {
        int next = x + 1 < width ? above[x + 1] : 0;
        int passed = before + 5 * here + 3 * next + 8;
        int value = level[x] + ((7 * left + passed) >> 4); /* the shift rounds down, like floor() */
        int is_white = value >= 128;
        white[x] = (uint8_t)is_white;
        left = value - (is_white ? 255 : 0);
        own[x] = (int8_t)left;
        before = here;
        here = next;
    }
    *corner = (int8_t)before;
}

static int floyd_steinberg_run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    struct diffusion *d = instance;
    const int8_t *above = block->before != NULL ? block->before : d->no_error;
    if (block->from == 0 && floyd_steinberg_begin_chunk(d, block->count, error) < 0)
        return -1;
    for (uint64_t i = 0; i < block->count; i++, above = block->after) {
        uint64_t begin = hdss_block_begin(block, i), end = hdss_block_end(block, i);
        if (begin == end)
            continue;
        if (begin == 0)
            d->corner[i] = 0;
        diffuse(levels_of(d, block->first + i, begin, end), (uint8_t *)block->records + i * d->width, above,
                block->after, begin, end, d->width, &d->corner[i]);
    }
    return 0;
}

#define PIXEL_NS 2.9

double hdss_kernel_iteration_ns(const struct hdss_loop *loop)
{
    return (double)loop->sync * PIXEL_NS;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "floyd-steinberg",
    .version = "1",
    .summary = "error-diffusion dithering of a picture: each row depends on the row before it",
    .params = params,
    .describe = floyd_steinberg_describe,
    .check = floyd_steinberg_check,
    .open = floyd_steinberg_open_instance,
    .run_block = floyd_steinberg_run_block,
    .close = floyd_steinberg_close_instance,
};
