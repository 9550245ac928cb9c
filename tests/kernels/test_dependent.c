/* SPDX-License-Identifier: MIT */
/* The kernels with dependencies: cut into any chunks and steps they yield what a serial loop does, which stands here
 * once more, as simple as can be. */
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <unistd.h>

/* --- floyd-steinberg --- */

/* The generated picture, after its description. */
static int level(int width, int height, int x, int y)
{
    int ramp = width > 1 ? 255 * x / (width - 1) : 128;
    if (y < height / 8)
        return ramp;
    long dx = 2 * x + 1 - width, dy = 2 * y + 1 - height, scale = (long)width * width + (long)height * height;
    long phase = (dx * dx * 2048 / scale + dy * dy * 2048 / scale) % 512;
    return (int)((ramp + (phase < 256 ? phase : 511 - phase)) / 2);
}

static int floor_16(int value)
{
    return value >= 0 ? value / 16 : -((-value + 15) / 16);
}

/* Pushes errors to the pixels that come later, as the textbooks have it. */
static uint8_t *dither(int width, int height, int (*of)(int, int, int, int))
{
    uint8_t *white = malloc((size_t)width * (size_t)height);
    int *owed = calloc((size_t)(width + 2) * (size_t)(height + 1), sizeof *owed);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int *here = &owed[y * (width + 2) + x + 1];
            int value = of(width, height, x, y) + floor_16(*here + 8);
            white[y * width + x] = value >= 128;
            int error = value - (value >= 128 ? 255 : 0);
            if (x + 1 < width)
                here[1] += 7 * error;
            if (x > 0)
                here[width + 1] += 3 * error;
            here[width + 2] += 5 * error;
            if (x + 1 < width)
                here[width + 3] += error;
        }
    free(owed);
    return white;
}

static const int sides[] = {1, 2, 3, 7, 40, 97};
static const uint64_t intervals[] = {1, 2, 5, 31, 1000};

static void compare_with_serial(struct kernel_run *run, const void *expected, const char *what)
{
    size_t bytes = run->loop.iterations * hdss_record_size(&run->loop);
    const uint64_t chunks[] = {1, 2, 3, 7, run->loop.iterations};
    for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
        for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
            void *found = kernel_run_blocks(run, chunks[c], intervals[k]);
            ck_assert_msg(memcmp(found, expected, bytes) == 0, "%s: chunks of %llu in steps of %llu", what,
                          (unsigned long long)chunks[c], (unsigned long long)intervals[k]);
            free(found);
        }
}

START_TEST(dithering_equals_the_serial_one_whatever_the_chunks)
{
    for (size_t w = 0; w < sizeof sides / sizeof *sides; w++)
        for (size_t h = 0; h < sizeof sides / sizeof *sides; h++) {
            char width[32], height[32], what[80];
            struct kernel_run run;
            snprintf(width, sizeof width, "width=%d", sides[w]);
            snprintf(height, sizeof height, "height=%d", sides[h]);
            snprintf(what, sizeof what, "%s %s", width, height);
            kernel_run_open(&run, "floyd-steinberg", WORDS(width, height));
            ck_assert_uint_eq(run.loop.iterations, (uint64_t)sides[h]);
            uint8_t *expected = dither(sides[w], sides[h], level);
            compare_with_serial(&run, expected, what);
            free(expected);
            kernel_run_close(&run);
        }
}
END_TEST

static int half(int width, int height, int x, int y)
{
    (void)width, (void)height, (void)x, (void)y;
    return 100;
}

/* What is lost at the rims, and a pixel at most, is all that the mean may differ by. */
START_TEST(dithering_keeps_the_mean)
{
    const int side = 200;
    uint8_t *white = dither(side, side, half);
    int count = 0;
    for (int i = 0; i < side * side; i++)
        count += white[i];
    ck_assert_double_eq_tol(255.0 * count / (side * side), 100, 1);
    free(white);
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static int from_file(int width, int height, int x, int y)
{
    (void)height;
    return (x * 37 + y * 91 + x * y) % 256 % (width + 200);
}

START_TEST(a_picture_is_read_from_a_file)
{
    enum { WIDTH = 23, HEIGHT = 11 };
    char path[] = "/tmp/hdss-dither-XXXXXX", word[64], bytes[32 + WIDTH * HEIGHT];
    int fd = mkstemp(path), head = snprintf(bytes, sizeof bytes, "P5 %d %d 255\n", WIDTH, HEIGHT);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        bytes[head + i] = (char)from_file(WIDTH, HEIGHT, i % WIDTH, i / WIDTH);
    write_file(path, bytes, (size_t)head + WIDTH * HEIGHT);
    snprintf(word, sizeof word, "file=%s", path);
    struct kernel_run run;
    kernel_run_open(&run, "floyd-steinberg", WORDS(word));
    ck_assert_str_eq(run.loop.note, "");
    ck_assert_uint_ne(run.loop.inputs, 0);
    uint8_t *expected = dither(WIDTH, HEIGHT, from_file);
    compare_with_serial(&run, expected, "a file");
    free(expected);
    kernel_run_close(&run);
    unlink(path);
}
END_TEST

/* --- hydro --- */

enum { ROWS = 4 };

static double element(unsigned array, uint64_t j, uint64_t k)
{
    uint64_t bits = ((((uint64_t)array * 6 + j) << 32) + k + 1) * 0x9e3779b97f4a7c15u >> 40;
    return array == 0 ? (double)bits / 16777216 : ((double)bits / 16777216 + 1) / 8;
}

/* The loop as it is written: za[l][j][k] with rims all around. */
static double *serial_hydro(uint64_t sweeps, uint64_t columns)
{
    double(*za)[ROWS + 2][1000] = malloc((sweeps + 1) * sizeof *za);
    double *records = malloc(sweeps * ROWS * columns * sizeof *records), *record = records;
    for (uint64_t l = 0; l <= sweeps; l++)
        for (uint64_t j = 0; j < ROWS + 2; j++)
            for (uint64_t k = 0; k < columns + 2; k++)
                za[l][j][k] = element(0, j, k);
    for (uint64_t l = 1; l <= sweeps; l++)
        for (uint64_t j = 1; j <= ROWS; j++)
            for (uint64_t k = 1; k <= columns; k++) {
                double qa = za[l - 1][j + 1][k] * element(1, j, k) + za[l][j - 1][k] * element(2, j, k) +
                            za[l - 1][j][k + 1] * element(3, j, k) + za[l][j][k - 1] * element(4, j, k) +
                            element(5, j, k);
                *record++ = za[l][j][k] = za[l - 1][j][k] + 0.175 * (qa - za[l - 1][j][k]);
            }
    free(za);
    return records;
}

START_TEST(hydro_equals_the_serial_one_to_the_last_bit)
{
    for (size_t w = 0; w < sizeof sides / sizeof *sides; w++)
        for (size_t h = 0; h < 5; h++) {
            char l[32], k[32], what[80];
            struct kernel_run run;
            snprintf(l, sizeof l, "l=%d", sides[h]);
            snprintf(k, sizeof k, "k=%d", sides[w]);
            snprintf(what, sizeof what, "%s %s", l, k);
            kernel_run_open(&run, "hydro", WORDS(l, k));
            double *expected = serial_hydro((uint64_t)sides[h], (uint64_t)sides[w]);
            compare_with_serial(&run, expected, what);
            free(expected);
            kernel_run_close(&run);
        }
}
END_TEST

/* A long run neither dies out nor overflows: the arithmetic is that of ordinary numbers throughout. */
START_TEST(hydro_stays_within_bounds)
{
    struct kernel_run run;
    kernel_run_open(&run, "hydro", WORDS("l=2000", "k=20"));
    double *records = kernel_run_blocks(&run, 100, 7), *last = records + 1999 * ROWS * 20;
    for (int i = 0; i < ROWS * 20; i++)
        ck_assert(last[i] > 0.01 && last[i] < 10);
    free(records);
    kernel_run_close(&run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dependent");
    TCase *tcase = tcase_create("dependent");
    tcase_add_test(tcase, dithering_equals_the_serial_one_whatever_the_chunks);
    tcase_add_test(tcase, dithering_keeps_the_mean);
    tcase_add_test(tcase, a_picture_is_read_from_a_file);
    tcase_add_test(tcase, hydro_equals_the_serial_one_to_the_last_bit);
    tcase_add_test(tcase, hydro_stays_within_bounds);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
