/* SPDX-License-Identifier: MIT */
/* Reads pictures as grayscale from files in memory: PGM, PPM and PNG. Colours are converted to gray; image_conversion()
 * reports this.
 *
 * Levels have 8 bits: 0 is black and 255 is white. Samples of more bits are rounded to 8 bits. A colour becomes its
 * luma, 0.299 R + 0.587 G + 0.114 B rounded (ITU-R BT.601). Transparent pixels are shown on a white background. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_SIDE_MAX   (1u << 20)
#define IMAGE_PIXELS_MAX (UINT64_C(1) << 32)

struct image {
    uint32_t width, height;
    bool has_colour, has_alpha, is_deep;
    uint8_t *gray; /* [height * width]; NULL after image_look(), which reads only the head of the file; owned */
};

int image_look(struct image *image, const void *bytes, size_t size, struct error *error);

int image_parse(struct image *image, const void *bytes, size_t size, struct error *error);
void image_fini(struct image *image);

/* Writes how the picture is converted when it is read, for example "its colours are converted to gray". Returns false
 * if nothing must be converted. */
bool image_conversion(const struct image *image, char *text, size_t size);
