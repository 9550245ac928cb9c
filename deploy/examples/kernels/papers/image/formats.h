/* SPDX-License-Identifier: MIT */
/* The picture formats that image.c can read. Only for deploy/examples/kernels/papers/image. */
#pragma once

#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"

#define IMAGE_ACCEPTED "accepted: PGM, PPM or PNG"

int image_check_size(uint64_t width, uint64_t height, struct error *error);

int image_allocate(struct image *image, struct error *error);

/* Returns the gray level of a pixel with 8-bit samples. The samples are gray (1 channel), gray and alpha (2), red,
 * green and blue (3), or red, green, blue and alpha (4). */
uint8_t image_level(const uint8_t *sample, unsigned channels);

/* Both functions read the size; if `pixels` is true, also the pixels. The caller frees the pixels, even after a
 * failure. */
int image_read_pnm(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
