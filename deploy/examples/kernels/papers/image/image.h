/* SPDX-License-Identifier: MIT */
/* Pictures as grayscale, from files in memory: PGM, PPM and PNG. Colours are converted, and the caller can say so.
 *
 * Levels are 8 bits, 0 black and 255 white. Deeper pictures are rounded to that; colours become their luma, the nearest
 * to 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601); what is transparent lies on white. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_SIDE_MAX   (1u << 20)
#define IMAGE_PIXELS_MAX (UINT64_C(1) << 32)

struct image {
    uint32_t width, height;
    bool has_colour, has_alpha, is_deep; /* properties of the file that need conversion */
    uint8_t *gray;                       /* [height * width], owned; NULL after image_look() */
};

/* Reads the head of the file without its pixels. */
int image_look(struct image *image, const void *bytes, size_t size, struct error *error);

/* Reads the whole image. On failure nothing is owned. */
int image_parse(struct image *image, const void *bytes, size_t size, struct error *error);
void image_fini(struct image *image);

/* Describes the conversion of a file that is not 8-bit grayscale: "its colours are converted to gray"; false if there
 * is none. */
bool image_conversion(const struct image *image, char *text, size_t size);
