/* Pictures of two-dimensional results: 8-bit RGB, coloured by colour.h, row by row through libpng. Without libpng the
 * kind is known all the same, and refused with a line that says why. */
#include "common/results/colour.h"
#include "common/results/formats.h"

#ifdef HDSS_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#endif

#define PNG_SIDE_MAX 0x7fffffffu

static int png_check(const char *path, const struct hdss_loop *loop, struct error *error)
{
#ifndef HDSS_HAVE_PNG
    return error_set(error, "%.200s: this build has no libpng; accepted: .npy, .csv, .bin or .raw", path);
#endif
    if (loop->dims != 2)
        return error_set(error,
                         "%.200s: a picture needs a two-dimensional result, this one has %u dimension%s; accepted: "
                         ".npy, .csv, .bin or .raw",
                         path, loop->dims, loop->dims == 1 ? "" : "s");
    if (loop->shape[0] - 1 >= PNG_SIDE_MAX || loop->shape[1] - 1 >= PNG_SIDE_MAX)
        return error_set(error, "%.200s: a picture's sides are 1 to %u pixels, this result is %llu x %llu", path,
                         PNG_SIDE_MAX, (unsigned long long)loop->shape[1], (unsigned long long)loop->shape[0]);
    return 0;
}

#ifdef HDSS_HAVE_PNG

/* What is under way; `png` jumps to its own handler on a failure. */
struct painter {
    png_structp png;
    png_infop info;
    struct colours colours;
    uint8_t *rgb; /* one row */
    struct rows *rows;
    struct error *error;
    jmp_buf failed;
};

static _Noreturn void on_failure(png_structp png, png_const_charp text)
{
    struct painter *painter = png_get_error_ptr(png);
    error_set(painter->error, "%.200s: %s", painter->rows->path, text);
    longjmp(painter->failed, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* A full disk shows in the stream's error flag, which the caller looks at; the picture is not worth a second message.
 */
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

static int choose_colours(struct painter *painter)
{
    if (see_rows(painter, colours_see_range) < 0)
        return -1;
    if (colours_need_counts(&painter->colours) && see_rows(painter, colours_see_counts) < 0)
        return -1;
    colours_settle(&painter->colours);
    return 0;
}

static void write_head(struct painter *painter, FILE *out)
{
    enum { LEVEL = 4 }; /* a quarter more bytes than level 9, in a tenth of the time */
    png_set_user_limits(painter->png, PNG_SIDE_MAX, PNG_SIDE_MAX);
    png_set_write_fn(painter->png, out, on_write, on_flush);
    png_set_IHDR(painter->png, painter->info, (png_uint_32)painter->rows->columns, (png_uint_32)painter->rows->rows, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(painter->png, painter->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(painter->png, LEVEL);
    png_set_filter(painter->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_write_info(painter->png, painter->info);
}

static int paint(struct painter *painter, FILE *out)
{
    if (setjmp(painter->failed) != 0)
        return -1;
    write_head(painter, out);
    rows_rewind(painter->rows);
    for (uint64_t y = 0; y < painter->rows->rows && !ferror(out); y++) {
        const void *row;
        if (rows_next(painter->rows, &row, painter->error) < 0)
            return -1;
        colours_paint(&painter->colours, row, painter->rows->columns, painter->rgb);
        png_write_row(painter->png, painter->rgb);
    }
    if (!ferror(out))
        png_write_end(painter->png, painter->info);
    return 0;
}

static int png_convert(FILE *out, const char *path, struct rows *rows, struct error *error)
{
    struct painter painter = {.rows = rows, .error = error};
    painter.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &painter, on_failure, on_warning);
    painter.info = painter.png != NULL ? png_create_info_struct(painter.png) : NULL;
    painter.rgb = malloc(rows->columns * 3);
    int status;
    if (colours_init(&painter.colours, &rows->loop) < 0 || painter.info == NULL || painter.rgb == NULL)
        status = error_set(error, "%.200s: out of memory", path);
    else
        status = choose_colours(&painter) < 0 ? -1 : paint(&painter, out);
    png_destroy_write_struct(&painter.png, &painter.info);
    colours_fini(&painter.colours);
    free(painter.rgb);
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
