/* SPDX-License-Identifier: MIT */
/* The kinds of pictures that image.c chooses from. Inside deploy/examples/kernels/papers/image only. */
#pragma once

#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"

#define IMAGE_ACCEPTED "accepted: PGM, PPM or PNG"

/* Refuses what is larger than the limits. */
int image_check_size(uint64_t width, uint64_t height, struct error *error);

/* Room for the pixels. */
int image_allocate(struct image *image, struct error *error);

/* A pixel of `channels` 8-bit samples: gray, gray and alpha, red green and blue, or these and alpha. */
uint8_t image_level(const uint8_t *sample, unsigned channels);

/* With or without the pixels. -1 with one line; the pixels stay with `image` for the caller to free. */
int image_read_pnm(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error);
