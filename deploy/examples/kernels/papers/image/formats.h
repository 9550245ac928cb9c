/* SPDX-License-Identifier: MIT */
/* The picture formats that image.c can read. Only for deploy/examples/kernels/papers/image. */
#pragma once

#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"

#define IMAGE_ACCEPTED "accepted: PGM, PPM or PNG"

int image_check_size(uint64_t width, uint64_t height, struct error *error);

int image_allocate(struct image *image, struct error *error);

/* The samples of a pixel have 8 bits. They are gray; gray and alpha; red, green and blue; or red, green, blue and
 * alpha. */
uint8_t image_level(const uint8_t *sample, unsigned channels);

/* `pixels`: reads the pixels, too, which the caller frees, also after a failure. */
int image_read_pnm(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
