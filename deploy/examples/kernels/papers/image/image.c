/* SPDX-License-Identifier: MIT */
/* Recognizes the format of a picture. Also has the code that all formats share: see image.h. */
#include "deploy/examples/kernels/papers/image/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int image_check_size(uint64_t width, uint64_t height, struct error *error)
{
    if (width >= 1 && height >= 1 && width <= IMAGE_SIDE_MAX && height <= IMAGE_SIDE_MAX &&
        width * height <= IMAGE_PIXELS_MAX)
        return 0;
    return error_set(error,
                     "it has %llu x %llu pixels; accepted: sides of 1 to %u pixels, and up to 2^32 pixels together",
                     (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX);
}

int image_allocate(struct image *image, struct error *error)
{
    image->gray = malloc((size_t)image->width * image->height);
    return image->gray != NULL ? 0 : error_set(error, "out of memory for %u x %u pixels", image->width, image->height);
}

uint8_t image_level(const uint8_t *sample, unsigned channels)
{
    unsigned level = channels < 3 ? sample[0] : (299u * sample[0] + 587u * sample[1] + 114u * sample[2] + 500u) / 1000u;
    if (channels % 2 == 1)
        return (uint8_t)level;
    unsigned alpha = sample[channels - 1];
    return (uint8_t)((level * alpha + 255u * (255u - alpha) + 127u) / 255u);
}

static int image_read_any(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error)
{
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    *image = (struct image){0};
    if (size == 0)
        return error_set(error, "it is empty; " IMAGE_ACCEPTED);
    size_t known = size < sizeof png ? size : sizeof png;
    int result = memcmp(bytes, png, known) == 0 ? image_read_png(image, bytes, size, pixels, error)
                                                : image_read_pnm(image, bytes, size, pixels, error);
    if (result < 0)
        image_fini(image);
    return result;
}

int image_look(struct image *image, const void *bytes, size_t size, struct error *error)
{
    return image_read_any(image, bytes, size, false, error);
}

int image_parse(struct image *image, const void *bytes, size_t size, struct error *error)
{
    return image_read_any(image, bytes, size, true, error);
}

void image_fini(struct image *image)
{
    free(image->gray);
    image->gray = NULL;
}

bool image_conversion(const struct image *image, char *text, size_t size)
{
    const char *const what[] = {image->has_colour ? "its colours are converted to gray" : NULL,
                                image->has_alpha ? "what is transparent is laid on white" : NULL,
                                image->is_deep ? "its levels are rounded to 8 bits" : NULL};
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < sizeof what / sizeof *what; i++)
        if (what[i] != NULL && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", what[i]);
    return length > 0;
}
