/* SPDX-License-Identifier: MIT */
/* Reads all kinds of PNG by libpng: with palettes, 1 to 16 bits, with or without alpha, interlaced or not. A build
 * without libpng recognizes PNG files, but refuses them and gives the reason. */
#include "deploy/examples/kernels/papers/image/formats.h"

#ifdef HDSS_HAVE_PNG

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    png_structp png;
    png_infop info;
    const uint8_t *at, *end;
    uint8_t *samples;
    uint8_t **rows;
    struct error *error;
    jmp_buf failed;
};

static _Noreturn void png_reader_on_failure(png_structp png, png_const_charp text)
{
    struct reader *reader = png_get_error_ptr(png);
    error_set(reader->error, "%.200s; " IMAGE_ACCEPTED, text);
    longjmp(reader->failed, 1);
}

static void png_reader_on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t length)
{
    struct reader *reader = png_get_io_ptr(png);
    if ((size_t)(reader->end - reader->at) < length)
        png_error(png, "it is cut off");
    memcpy(out, reader->at, length);
    reader->at += length;
}

static void set_samples(struct reader *reader, struct image *image)
{
    int type = png_get_color_type(reader->png, reader->info);
    bool keyed = png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) != 0;
    image->has_colour = (type & PNG_COLOR_MASK_COLOR) != 0;
    image->has_alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || keyed;
    image->is_deep = png_get_bit_depth(reader->png, reader->info) == 16;
    png_set_expand(reader->png);
    png_set_scale_16(reader->png);
}

static int png_reader_read_head(struct reader *reader, struct image *image)
{
    png_set_read_fn(reader->png, reader, on_read);
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(reader->png, reader->info);
    uint32_t width = png_get_image_width(reader->png, reader->info);
    uint32_t height = png_get_image_height(reader->png, reader->info);
    if (image_check_size(width, height, reader->error) < 0)
        return -1;
    image->width = width;
    image->height = height;
    set_samples(reader, image);
    return 0;
}

/* A compressed byte becomes at most this many bytes. */
#define DEFLATE_MOST 1032u

static int prepare_rows(struct reader *reader, uint32_t rows)
{
    size_t bytes = png_get_rowbytes(reader->png, reader->info);
    reader->samples = malloc(bytes * rows);
    reader->rows = calloc(rows, sizeof *reader->rows);
    if (reader->samples == NULL || reader->rows == NULL)
        return error_set(reader->error, "out of memory for %u rows of %zu bytes", rows, bytes);
    for (uint32_t i = 0; i < rows; i++)
        reader->rows[i] = reader->samples + i * bytes;
    return 0;
}

static void png_reader_take_row(struct image *image, uint32_t y, const uint8_t *samples, unsigned channels)
{
    for (uint32_t x = 0; x < image->width; x++)
        image->gray[(size_t)y * image->width + x] = image_level(samples + (size_t)x * channels, channels);
}

static int read_pixels(struct reader *reader, struct image *image)
{
    bool passes = png_set_interlace_handling(reader->png) > 1;
    png_read_update_info(reader->png, reader->info);
    unsigned channels = png_get_channels(reader->png, reader->info);
    if ((uint64_t)image->width * image->height / 8 / DEFLATE_MOST > (uint64_t)(reader->end - reader->at))
        return error_set(reader->error, "it is cut off: it is too short for its %u x %u pixels", image->width,
                         image->height);
    if (image_allocate(image, reader->error) < 0 || prepare_rows(reader, passes ? image->height : 1) < 0)
        return -1;
    if (passes)
        png_read_image(reader->png, reader->rows);
    for (uint32_t y = 0; y < image->height; y++) {
        if (!passes)
            png_read_row(reader->png, reader->samples, NULL);
        png_reader_take_row(image, y, reader->rows[passes ? y : 0], channels);
    }
    png_read_end(reader->png, NULL);
    return 0;
}

static int read_guarded(struct reader *reader, struct image *image, bool pixels)
{
    if (setjmp(reader->failed) != 0)
        return -1;
    if (png_reader_read_head(reader, image) < 0)
        return -1;
    return pixels ? read_pixels(reader, image) : 0;
}

int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error)
{
    struct reader reader = {.at = bytes, .end = bytes + size, .error = error};
    reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, png_reader_on_failure, png_reader_on_warning);
    reader.info = reader.png != NULL ? png_create_info_struct(reader.png) : NULL;
    int result = reader.info == NULL ? error_set(error, "out of memory") : read_guarded(&reader, image, pixels);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    free(reader.samples);
    free(reader.rows);
    return result;
}

#else

int image_read_png(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error)
{
    (void)image, (void)bytes, (void)size, (void)pixels;
    return error_set(error, "it is a PNG, and this build has no libpng; accepted: PGM or PPM");
}

#endif
