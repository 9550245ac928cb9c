/* SPDX-License-Identifier: MIT */
/* PNG pictures of two-dimensional results, and contact sheets of three-dimensional results. A contact sheet has a
 * picture for each value of the first index, in an almost square grid with thin gaps. Pictures have 8-bit RGB pixels
 * coloured by colour.h, and are written row by row with libpng. If two-dimensional results are declared black and
 * white, pictures have one bit per pixel. Without libpng the format is refused with an explanation. */
#include "common/results/colour.h"
#include "common/results/formats.h"
#include "common/results/rows.h"

#include <math.h>

#ifdef HDSS_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#endif

#define PNG_SIDE_MAX    0x7fffffffu
#define SHEET_GAP       2
#define SHEET_GAP_SHADE 172

struct sheet {
    uint64_t pictures, picture_width, picture_height;
    uint64_t across;
    uint64_t width, height;
    uint64_t row_height;
};

static uint64_t pictures_across(const struct sheet *sheet)
{
    double cell_width = (double)sheet->picture_width + SHEET_GAP,
           cell_height = (double)sheet->picture_height + SHEET_GAP;
    double across = ceil(sqrt((double)sheet->pictures * cell_height / cell_width));
    if (!(across < (double)sheet->pictures))
        return sheet->pictures;
    return across > 1 ? (uint64_t)across : 1;
}

static void sheet_init(struct sheet *sheet, const struct hdss_loop *loop)
{
    const uint64_t *sides = loop->shape + (loop->dims == 3);
    *sheet = (struct sheet){.pictures = 1, .picture_width = sides[1], .picture_height = sides[0], .across = 1};
    if (loop->dims == 3) {
        sheet->pictures = loop->shape[0];
        sheet->across = pictures_across(sheet);
    }
    uint64_t down = sheet->across > 0 ? (sheet->pictures + sheet->across - 1) / sheet->across : 0;
    bool is_empty = down == 0 || sheet->picture_width == 0 || sheet->picture_height == 0;
    sheet->width = is_empty ? sheet->picture_width : sheet->across * (sheet->picture_width + SHEET_GAP) - SHEET_GAP;
    sheet->height = is_empty ? 0 : down * (sheet->picture_height + SHEET_GAP) - SHEET_GAP;
    sheet->row_height = sheet->picture_height + (down > 1 ? SHEET_GAP : 0);
}

static int png_check(const char *path, const struct hdss_loop *loop, struct error *error)
{
#ifndef HDSS_HAVE_PNG
    return error_set(error, "%.200s: this build has no libpng; accepted: .npy, .csv, .bin or .raw", path);
#endif
    if (loop->dims != 2 && loop->dims != 3)
        return error_set(error,
                         "%.200s: a picture needs a two- or three-dimensional result, this one has %u dimension%s; "
                         "accepted: .npy, .csv, .bin or .raw",
                         path, loop->dims, loop->dims == 1 ? "" : "s");
    if (loop->dims == 3 && loop->layout != HDSS_LAYOUT_ROWS)
        return error_set(error, "%.200s: a contact sheet needs pictures row by row; accepted: .npy, .csv, .bin or .raw",
                         path);
    struct sheet sheet;
    sheet_init(&sheet, loop);
    if (sheet.height - 1 >= PNG_SIDE_MAX || sheet.width - 1 >= PNG_SIDE_MAX)
        return error_set(error, "%.200s: a picture's sides are 1 to %u pixels, this result is %llu x %llu", path,
                         PNG_SIDE_MAX, (unsigned long long)sheet.width, (unsigned long long)sheet.height);
    return 0;
}

#ifdef HDSS_HAVE_PNG

/* If libpng detects an error, it jumps to `failed`. */
struct painter {
    png_structp png;
    png_infop info;
    struct colours colours;
    struct sheet sheet;
    uint8_t *rgb;
    char *pixels;
    struct rows *rows;
    struct error *error;
    jmp_buf failed;
};

static _Noreturn void png_writer_on_failure(png_structp png, png_const_charp text)
{
    struct painter *painter = png_get_error_ptr(png);
    error_set(painter->error, "%.200s: %s", painter->rows->path, text);
    longjmp(painter->failed, 1);
}

static void png_writer_on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep bytes, size_t length)
{
    fwrite(bytes, 1, length, png_get_io_ptr(png));
}

static void on_flush(png_structp png)
{
    (void)png;
}

static int see_rows(struct painter *painter, void (*see)(struct colours *, const void *, uint64_t))
{
    const void *row;
    rows_rewind(painter->rows);
    do {
        if (rows_next(painter->rows, &row, painter->error) < 0)
            return -1;
        if (row != NULL)
            see(&painter->colours, row, painter->rows->columns);
    } while (row != NULL);
    return 0;
}

static bool is_bilevel(const struct hdss_loop *loop)
{
    return loop->is_bilevel && loop->type == HDSS_UINT8 && loop->dims == 2;
}

static int png_writer_choose_colours(struct painter *painter)
{
    if (is_bilevel(&painter->rows->loop))
        return 0;
    if (see_rows(painter, colours_see_range) < 0)
        return -1;
    if (colours_need_counts(&painter->colours) && see_rows(painter, colours_see_counts) < 0)
        return -1;
    colours_settle(&painter->colours);
    return 0;
}

static void png_writer_write_head(struct painter *painter, FILE *out)
{
    enum { LEVEL = 4 }; /* level 4 makes files a quarter larger than level 9, in a tenth of the time */
    bool bits = is_bilevel(&painter->rows->loop);
    png_set_user_limits(painter->png, PNG_SIDE_MAX, PNG_SIDE_MAX);
    png_set_write_fn(painter->png, out, on_write, on_flush);
    png_set_IHDR(painter->png, painter->info, (png_uint_32)painter->sheet.width, (png_uint_32)painter->sheet.height,
                 bits ? 1 : 8, bits ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(painter->png, painter->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(painter->png, LEVEL);
    png_set_filter(painter->png, PNG_FILTER_TYPE_BASE, bits ? PNG_FILTER_NONE : PNG_FILTER_SUB);
    png_write_info(painter->png, painter->info);
    if (bits)
        png_set_packing(painter->png);
}

static int paint_rows(struct painter *painter, FILE *out)
{
    const bool bits = is_bilevel(&painter->rows->loop);
    for (uint64_t y = 0; y < painter->rows->rows && !ferror(out); y++) {
        const void *row;
        if (rows_next(painter->rows, &row, painter->error) < 0)
            return -1;
        if (!bits)
            colours_paint(&painter->colours, row, painter->rows->columns, painter->rgb);
        png_write_row(painter->png, bits ? row : painter->rgb);
    }
    return 0;
}

struct sheet_source {
    const char *row;
    uint64_t left;
};

static int sheet_take(struct sheet_source *source, struct rows *rows, uint64_t count, char *elements,
                      struct error *error)
{
    while (count > 0) {
        const void *row;
        if (source->left == 0) {
            if (rows_next(rows, &row, error) < 0)
                return -1;
            if (row == NULL || rows->columns == 0)
                return error_set(error, "%.200s: ends too early", rows->path);
            source->row = row;
            source->left = rows->columns;
        }
        uint64_t some = count < source->left ? count : source->left;
        memcpy(elements, source->row, some * rows->element);
        elements += some * rows->element;
        source->row += some * rows->element;
        source->left -= some;
        count -= some;
    }
    return 0;
}

static int paint_pictures(struct painter *painter, struct sheet_source *source, uint64_t count)
{
    const struct sheet *sheet = &painter->sheet;
    memset(painter->rgb, SHEET_GAP_SHADE, 3 * sheet->width * sheet->row_height);
    for (uint64_t picture = 0; picture < count; picture++)
        for (uint64_t y = 0; y < sheet->picture_height; y++) {
            if (sheet_take(source, painter->rows, sheet->picture_width, painter->pixels, painter->error) < 0)
                return -1;
            colours_paint(&painter->colours, painter->pixels, sheet->picture_width,
                          painter->rgb + 3 * (y * sheet->width + picture * (sheet->picture_width + SHEET_GAP)));
        }
    return 0;
}

static int paint_sheet(struct painter *painter, FILE *out)
{
    const struct sheet *sheet = &painter->sheet;
    struct sheet_source source = {0};
    for (uint64_t done = 0; done < sheet->pictures && !ferror(out); done += sheet->across) {
        uint64_t left = sheet->pictures - done, count = left < sheet->across ? left : sheet->across;
        if (paint_pictures(painter, &source, count) < 0)
            return -1;
        for (uint64_t y = 0; y < (left > count ? sheet->row_height : sheet->picture_height); y++)
            png_write_row(painter->png, painter->rgb + 3 * y * sheet->width);
    }
    return 0;
}

static int paint(struct painter *painter, FILE *out)
{
    if (setjmp(painter->failed) != 0)
        return -1;
    png_writer_write_head(painter, out);
    rows_rewind(painter->rows);
    if ((painter->rows->loop.dims == 3 ? paint_sheet : paint_rows)(painter, out) < 0)
        return -1;
    if (!ferror(out))
        png_write_end(painter->png, painter->info);
    return 0;
}

static int png_convert(FILE *out, const char *path, struct rows *rows, struct error *error)
{
    struct painter painter = {.rows = rows, .error = error};
    painter.png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &painter, png_writer_on_failure, png_writer_on_warning);
    painter.info = painter.png != NULL ? png_create_info_struct(painter.png) : NULL;
    sheet_init(&painter.sheet, &rows->loop);
    painter.rgb = malloc(painter.sheet.width * painter.sheet.row_height * 3);
    painter.pixels = malloc(painter.sheet.picture_width * rows->element);
    int status;
    if (colours_init(&painter.colours, &rows->loop) < 0 || painter.info == NULL || painter.rgb == NULL ||
        painter.pixels == NULL)
        status = error_set(error, "%.200s: out of memory", path);
    else
        status = png_writer_choose_colours(&painter) < 0 ? -1 : paint(&painter, out);
    png_destroy_write_struct(&painter.png, &painter.info);
    colours_fini(&painter.colours);
    free(painter.rgb);
    free(painter.pixels);
    return status;
}

#else

static int png_convert(FILE *out, const char *path, struct rows *rows, struct error *error)
{
    (void)out;
    return png_check(path, &rows->loop, error);
}

#endif

const struct results_format results_png = {.extension = ".png", .check = png_check, .convert = png_convert};
