/* SPDX-License-Identifier: MIT */
/* mandelbrot: the same picture from every unit of work and every cut of the loop, each pixel as the definition has it.
 */
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/escape.h"

#include <string.h>

enum { WIDTH = 45, HEIGHT = 31, TILE = 8, MAX_ITER = 300 };
static const double xmin = -2.1, xmax = 0.8, ymin = -1.1, ymax = 1.2;

static uint32_t expected_at(int x, int y, unsigned exponent)
{
    double cx = xmin + (x + 0.5) * ((xmax - xmin) / WIDTH), cy = ymax - (y + 0.5) * ((ymax - ymin) / HEIGHT);
    return escape_scalar(cx, cy, &(struct escape_rule){exponent, ESCAPE_BOUND, MAX_ITER});
}

static void open_picture(struct kernel_run *run, const char *unit, const char *exponent)
{
    kernel_run_open(run, "mandelbrot",
                    WORDS("width=45", "height=31", "xmin=-2.1", "xmax=0.8", "ymin=-1.1", "ymax=1.2", "max_iter=300",
                          "tile=8", unit, exponent));
}

/* Where pixel (x, y) is among all records of the unit. */
static size_t place_of(const char *unit, int x, int y)
{
    if (strcmp(unit, "unit=column") == 0)
        return (size_t)(x * HEIGHT + y);
    if (strcmp(unit, "unit=tile") != 0)
        return (size_t)(y * WIDTH + x);
    int across = (WIDTH + TILE - 1) / TILE, tile = y / TILE * across + x / TILE;
    return (size_t)(tile * TILE * TILE + y % TILE * TILE + x % TILE);
}

static const char *const units[] = {"unit=row", "unit=column", "unit=pixel", "unit=tile"};
static const char *const exponents[] = {"exponent=2", "exponent=4"};

START_TEST(every_unit_gives_the_counts_of_the_definition)
{
    static const uint64_t chunks[] = {1, 3, 1000000};
    const char *unit = units[_i % 4], *exponent = exponents[_i / 4];
    for (int c = 0; c < 3; c++) {
        struct kernel_run run;
        open_picture(&run, unit, exponent);
        uint32_t *records = kernel_run_all(&run, chunks[c]);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ck_assert_uint_eq(records[place_of(unit, x, y)], expected_at(x, y, _i / 4 == 0 ? 2 : 4));
        free(records);
        kernel_run_close(&run);
    }
}
END_TEST

START_TEST(pixels_beyond_the_edge_of_a_tile_count_1)
{
    struct kernel_run run;
    open_picture(&run, "unit=tile", "exponent=2");
    ck_assert_uint_eq(run.loop.iterations, 6 * 4);
    uint32_t *records = kernel_run_all(&run, 5);
    uint32_t *last = records + 23 * TILE * TILE;
    ck_assert_uint_eq(last[WIDTH % TILE], 1);
    ck_assert_uint_eq(last[HEIGHT % TILE * TILE], 1);
    ck_assert_uint_eq(last[TILE * TILE - 1], 1);
    free(records);
    kernel_run_close(&run);
}
END_TEST

START_TEST(escape_is_the_bound_of_the_square)
{
    struct kernel_run run;
    kernel_run_open(&run, "mandelbrot",
                    WORDS("width=45", "height=31", "xmin=-2.1", "xmax=0.8", "ymin=-1.1", "ymax=1.2", "max_iter=300",
                          "tile=8", "unit=tile", "escape=2"));
    uint32_t *records = kernel_run_all(&run, 5);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double cx = xmin + (x + 0.5) * ((xmax - xmin) / WIDTH), cy = ymax - (y + 0.5) * ((ymax - ymin) / HEIGHT);
            ck_assert_uint_eq(records[place_of("unit=tile", x, y)],
                              escape_scalar(cx, cy, &(struct escape_rule){2, 2, MAX_ITER}));
        }
    ck_assert_uint_eq(records[23 * TILE * TILE + WIDTH % TILE], 1);
    free(records);
    kernel_run_close(&run);
}
END_TEST

/* Neither a row nor a tile's row ends where a batch does. */
START_TEST(more_pixels_than_one_batch)
{
    static const char *const sizes[] = {"unit=row", "unit=column", "unit=pixel", "unit=tile"};
    struct kernel_run run;
    kernel_run_open(&run, "mandelbrot", WORDS("width=301", "height=70", "max_iter=40", "tile=70", sizes[_i]));
    uint64_t n = run.loop.iterations, pixels = n * run.loop.record_length;
    uint32_t *at_once = kernel_run_all(&run, n), *one_by_one = kernel_run_all(&run, 1);
    ck_assert_int_eq(memcmp(at_once, one_by_one, pixels * sizeof *at_once), 0);
    for (uint64_t y = 0; y < 70 && _i == 3; y++)
        for (uint64_t x = 0; x < 301; x++)
            ck_assert_uint_eq(at_once[x / 70 * 4900 + y * 70 + x % 70],
                              escape_scalar(-2.1 + ((double)x + 0.5) * ((0.8 + 2.1) / 301),
                                            1.45 - ((double)y + 0.5) * ((1.45 + 1.45) / 70),
                                            &(struct escape_rule){2, ESCAPE_BOUND, 40}));
    free(at_once);
    free(one_by_one);
    kernel_run_close(&run);
}
END_TEST

/* The region is not symmetric: its top row is far from the set, its bottom row crosses it. */
START_TEST(row_0_is_the_top_of_the_picture)
{
    struct kernel_run run;
    kernel_run_open(&run, "mandelbrot",
                    WORDS("width=9", "height=9", "xmin=-0.5", "xmax=0.1", "ymin=-0.1", "ymax=3", "max_iter=50"));
    uint32_t *records = kernel_run_all(&run, 9);
    ck_assert_uint_lt(records[4], 5);
    ck_assert_uint_eq(records[8 * 9 + 4], 50);
    free(records);
    kernel_run_close(&run);
}
END_TEST

START_TEST(the_loop_fits_the_unit)
{
    struct kernel_run run;
    struct error error;
    ck_assert_int_eq(kernel_run_describe(&run, "mandelbrot", WORDS("width=4096", "height=1000", "unit=column"), &error),
                     0);
    ck_assert_uint_eq(run.loop.iterations, 4096);
    ck_assert_uint_eq(run.loop.record_length, 1000);
    ck_assert_int_eq(run.loop.layout, HDSS_LAYOUT_COLUMNS);
    ck_assert_uint_eq(run.loop.shape[0], 1000);
    ck_assert_uint_eq(run.loop.shape[1], 4096);
    ck_assert_uint_eq(run.loop.full_value, 2000);
    ck_assert_int_eq(kernel_run_describe(&run, "mandelbrot", WORDS("width=2^20", "height=2^20", "unit=pixel"), &error),
                     0);
    ck_assert_uint_eq(run.loop.iterations, (uint64_t)1 << 40);
}
END_TEST

START_TEST(an_empty_region_is_refused)
{
    struct kernel_run run;
    struct error error;
    ck_assert_int_eq(kernel_run_describe(&run, "mandelbrot", WORDS("xmin=0.8"), &error), -1);
    ck_assert_str_eq(error.text,
                     "mandelbrot: the region x 0.8 .. 0.8, y -1.45 .. 1.45 is empty; accepted: xmin < xmax, "
                     "ymin < ymax");
    ck_assert_int_eq(kernel_run_describe(&run, "mandelbrot", WORDS("ymax=-3"), &error), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mandelbrot");
    TCase *tcase = tcase_create("mandelbrot");
    tcase_add_loop_test(tcase, every_unit_gives_the_counts_of_the_definition, 0, 8);
    tcase_add_test(tcase, pixels_beyond_the_edge_of_a_tile_count_1);
    tcase_add_test(tcase, escape_is_the_bound_of_the_square);
    tcase_add_loop_test(tcase, more_pixels_than_one_batch, 0, 4);
    tcase_add_test(tcase, row_0_is_the_top_of_the_picture);
    tcase_add_test(tcase, the_loop_fits_the_unit);
    tcase_add_test(tcase, an_empty_region_is_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
