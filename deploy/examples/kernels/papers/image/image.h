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
    bool has_colour, has_alpha, is_deep; /* properties of the file that were converted */
    uint8_t *gray;                       /* [height * width], owned; NULL after image_look() */
};

/* Reads the file's head, without its pixels. -1 with one line: what is wrong, and what is accepted. */
int image_look(struct image *image, const void *bytes, size_t size, struct error *error);

/* Reads the whole image. -1 with one line, and nothing is owned. */
int image_parse(struct image *image, const void *bytes, size_t size, struct error *error);
void image_fini(struct image *image);

/* "its colours are converted to gray", for what is no 8-bit grayscale; false where nothing was converted. */
bool image_conversion(const struct image *image, char *text, size_t size);
