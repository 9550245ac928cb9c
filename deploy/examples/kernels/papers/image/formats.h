/* SPDX-License-Identifier: MIT */
/* The formats of pictures among which image.c chooses. Only for deploy/examples/kernels/papers/image. */
#pragma once

#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"

#define IMAGE_ACCEPTED "accepted: PGM, PPM or PNG"

int image_check_size(uint64_t width, uint64_t height, struct error *error);

int image_allocate(struct image *image, struct error *error);

/* A pixel of `channels` 8-bit samples: gray; gray and alpha; red, green and blue; or these and alpha. */
uint8_t image_level(const uint8_t *sample, unsigned channels);

/* `pixels`: with the pixels, which the caller frees, also after a failure. */
int image_read_pnm(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
