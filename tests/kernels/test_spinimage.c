/* SPDX-License-Identifier: MIT */
/* spinimage: the images against a slow reference in double precision straight from the definition, each variant bit for
 * bit as the plain one, and any cut of the loop; the surface against its formula; files of points, right and wrong. */
#include "common/util/error.h"
#include "common/util/random.h"
#include "deploy/examples/kernels/papers/spinimage/spin.h"
#include "deploy/examples/kernels/papers/spinimage/spin_surface.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PI 3.14159265358979324

static char path[] = "/tmp/hdss-spin-XXXXXX", file_word[40];

/* A file that ends with the test. */
static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    snprintf(file_word, sizeof file_word, "file=%s", path);
}

static void set_up(void)
{
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(path);
}

/* --- the reference --- */

struct oriented {
    double position[3], normal[3];
};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Counts that are certain, and those that rounding may have put into this cell or a neighbour. */
struct reference {
    int width;
    double bin_size, angle;
    uint32_t *sure, *maybe;
    unsigned doubts;
};

static void count(struct reference *r, double row, double column, uint32_t *counts)
{
    double k = ceil(row), l = ceil(column);
    if (k >= 0 && k < r->width && l >= 0 && l < r->width)
        counts[(int)k * r->width + (int)l]++;
}

static bool is_near_whole(double number, double tolerance)
{
    return fabs(number - round(number)) < tolerance;
}

/* Algorithm 3, one point x seen from p. */
static void look(struct reference *r, const struct oriented *p, const struct oriented *x)
{
    const double near = 1e-4, near_angle = 0.1;
    double d[3] = {x->position[0] - p->position[0], x->position[1] - p->position[1], x->position[2] - p->position[2]};
    double between = acos(fmax(-1, fmin(1, dot(p->normal, x->normal)))) * 180 / PI, beta = dot(p->normal, d);
    double row = (r->width * r->bin_size / 2 - beta) / r->bin_size;
    double column = sqrt(fmax(0, dot(d, d) - beta * beta)) / r->bin_size;
    bool angle_near = r->angle < 180 && fabs(between - r->angle) < near_angle;
    if (between > r->angle && !angle_near)
        return;
    if (!angle_near && !is_near_whole(row, near) && !is_near_whole(column, near)) {
        count(r, row, column, r->sure);
        return;
    }
    r->doubts++;
    for (int corner = 0; corner < 4; corner++)
        count(r, row + (corner / 2 ? near : -near), column + (corner % 2 ? near : -near), r->maybe);
}

static void check_image(struct reference *r, const struct oriented *points, size_t number, size_t p,
                        const uint32_t *image)
{
    size_t cells = (size_t)r->width * (size_t)r->width;
    r->sure = calloc(cells, sizeof *r->sure);
    r->maybe = calloc(cells, sizeof *r->maybe);
    for (size_t x = 0; x < number; x++)
        look(r, &points[p], &points[x]);
    for (size_t c = 0; c < cells; c++)
        ck_assert_msg(image[c] >= r->sure[c] && image[c] <= r->sure[c] + r->maybe[c],
                      "point %d, cell %d: %u, expected %u to %u", (int)p, (int)c, image[c], r->sure[c],
                      r->sure[c] + r->maybe[c]);
    free(r->sure);
    free(r->maybe);
}

enum { POINTS = 3000, IMAGES = 12 };

static double longest_side(const struct oriented *points)
{
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        double from = INFINITY, to = -INFINITY;
        for (int i = 0; i < POINTS; i++) {
            from = fmin(from, points[i].position[k]);
            to = fmax(to, points[i].position[k]);
        }
        longest = fmax(longest, to - from);
    }
    return longest;
}

static const struct {
    int width;
    double bin_size, angle;
} shapes[] = {{32, 0, 60}, {32, 0.03, 180}, {7, 0.2, 20}, {1, 0.5, 90}, {64, 0.01, 135}, {5, 100, 180}, {16, 0.1, 0}};

START_TEST(images_are_those_of_the_definition)
{
    static struct oriented points[POINTS];
    char width[40], bin_size[40], angle[40];
    struct kernel_run run;
    for (size_t i = 0; i < POINTS; i++)
        spin_surface_point(i, POINTS, points[i].position, points[i].normal);
    snprintf(width, sizeof width, "image_width=%d", shapes[_i].width);
    snprintf(bin_size, sizeof bin_size, "bin_size=%g", shapes[_i].bin_size);
    snprintf(angle, sizeof angle, "support_angle=%g", shapes[_i].angle);
    kernel_run_open(&run, "spinimage", WORDS("points=3000", "images=12", width, bin_size, angle));
    ck_assert_uint_eq(run.loop.iterations, IMAGES);
    uint32_t *images = kernel_run_all(&run, 5);
    struct reference r = {.width = shapes[_i].width, .bin_size = shapes[_i].bin_size, .angle = shapes[_i].angle};
    if (r.bin_size == 0)
        r.bin_size = longest_side(points) / r.width;
    for (size_t i = 0; i < IMAGES; i++)
        check_image(&r, points, POINTS, i * POINTS / IMAGES, images + i * run.loop.record_length);
    ck_assert_uint_lt(r.doubts, IMAGES * POINTS / 100); /* or it would say little */
    free(images);
    kernel_run_close(&run);
}
END_TEST

/* --- by hand --- */

START_TEST(cells_by_hand)
{
    static const uint32_t expected[4][4] = {{1, 0, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 0}, {1, 0, 0, 0}};
    struct kernel_run run;
    write_file("NOFF\n9 0 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n1.5 0 0.5 0 0 1\n0 3 2 0 0 1\n0 3.5 0 0 0 1\n0 0 2.5 0 0 1\n"
               "0 0 3 0 0 1\n0 0 -1 0 0 1\n0 0 -2 0 0 1\n");
    kernel_run_open(&run, "spinimage", WORDS(file_word, "image_width=4", "bin_size=1"));
    ck_assert_uint_eq(run.loop.iterations, 9);
    ck_assert_uint_eq(run.loop.dims, 3);
    ck_assert_uint_eq(run.loop.shape[0], 9);
    ck_assert_uint_eq(run.loop.shape[2], 4);
    uint32_t *images = kernel_run_all(&run, 9);
    ck_assert_mem_eq(images, expected, sizeof expected);
    free(images);
    kernel_run_close(&run);
}
END_TEST

/* All points are in one place, their normals at 0, 30, 60, 90 and 180 degrees from the first one's. */
START_TEST(the_support_angle_limits_the_points)
{
    static const struct {
        const char *angle;
        uint32_t count;
    } cases[] = {{"support_angle=0", 1},   {"support_angle=29.9", 1}, {"support_angle=30", 2},
                 {"support_angle=60", 3},  {"support_angle=89", 3},   {"support_angle=90", 4},
                 {"support_angle=179", 4}, {"support_angle=180", 5}};
    write_file("NOFF\n5 0 0\n1 1 1 0 0 1\n1 1 1 0.5 0 0.86602540378443865\n1 1 1 0 0.86602540378443865 0.5\n"
               "1 1 1 1 0 0\n1 1 1 0 0 -1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_run run;
        kernel_run_open(&run, "spinimage", WORDS(file_word, "image_width=2", "images=1", cases[i].angle));
        uint32_t *image = kernel_run_all(&run, 1);
        ck_assert_msg(image[2] == cases[i].count, "%s: %u", cases[i].angle, image[2]);
        free(image);
        kernel_run_close(&run);
    }
}
END_TEST

/* --- variants, cuts, places --- */

static double uniform(uint64_t i)
{
    return random_to_uniform(random_at(7, i)) * 2 - 1;
}

/* Points in a ball and some very far away. */
static void fill(struct spin_cloud *cloud, size_t points, double size, double angle)
{
    ck_assert_int_eq(spin_cloud_init(cloud, points), 0);
    for (size_t i = 0; i < points; i++) {
        double normal[3] = {uniform(6 * i), uniform(6 * i + 1), uniform(6 * i + 2)}, position[3];
        double length = sqrt(dot(normal, normal));
        for (int k = 0; k < 3; k++) {
            normal[k] /= length;
            position[k] = size * uniform(6 * i + 3 + (uint64_t)k) * (i % 97 == 96 ? 1e22 : 1);
        }
        spin_cloud_add(cloud, position, normal);
    }
    ck_assert_int_eq(spin_cloud_arrange(cloud, angle), 0);
}

START_TEST(every_variant_gives_the_same_counts)
{
    static const size_t sizes[] = {1, 2, 511, 512, 513, 2000};
    static const uint32_t widths[] = {1, 2, 15, 64, SPIN_WIDTH_MAX, 33};
    size_t variants, cells = (size_t)widths[_i] * widths[_i];
    const struct spin_variant *variant = spin_variants(&variants);
    uint32_t *expected = calloc(cells, sizeof *expected), *got = calloc(cells, sizeof *got);
    struct spin_cloud cloud;
    fill(&cloud, sizes[_i], 0.7 * widths[_i], 70);
    for (size_t v = 0; v < variants; v++)
        for (size_t p = 0; p < sizes[_i] && variant[v].usable(); p += 1 + sizes[_i] / 8) {
            spin_scalar(&cloud, p, widths[_i], expected);
            variant[v].run(&cloud, p, widths[_i], got);
            ck_assert_msg(memcmp(got, expected, cells * sizeof *got) == 0, "%s differs: %d points, width %u",
                          variant[v].name, (int)sizes[_i], widths[_i]);
        }
    spin_cloud_fini(&cloud);
    free(expected);
    free(got);
}
END_TEST

/* Against the plain code, which passes nothing over: the torus, at any angle, from a cell that holds most of it to
 * images that reach its next bump. */
START_TEST(what_is_passed_over_has_nothing_to_see)
{
    enum { NUMBER = 20000, WIDTH = 16 };
    static const double angles[] = {0, 5, 45, 90, 150, 179.99, 180}, sizes[] = {1, 12, 60, 500};
    uint32_t expected[WIDTH * WIDTH], got[WIDTH * WIDTH];
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
        struct spin_cloud cloud;
        ck_assert_int_eq(spin_cloud_init(&cloud, NUMBER), 0);
        for (size_t i = 0; i < NUMBER; i++) {
            double position[3], normal[3];
            spin_surface_point(i, NUMBER, position, normal);
            for (int k = 0; k < 3; k++)
                position[k] *= sizes[_i];
            spin_cloud_add(&cloud, position, normal);
        }
        ck_assert_int_eq(spin_cloud_arrange(&cloud, angles[a]), 0);
        for (size_t p = 0; p < NUMBER; p += 401) {
            spin_scalar(&cloud, p, WIDTH, expected);
            spin_best()->run(&cloud, p, WIDTH, got);
            ck_assert_msg(memcmp(got, expected, sizeof got) == 0, "point %d, angle %g", (int)p, angles[a]);
        }
        spin_cloud_fini(&cloud);
    }
}
END_TEST

START_TEST(every_cut_gives_the_same_images)
{
    struct kernel_run run;
    kernel_run_open(&run, "spinimage", WORDS("points=700", "images=70", "image_width=9"));
    uint32_t *whole = kernel_run_all(&run, 70), *cut = kernel_run_all(&run, (uint64_t)_i);
    ck_assert_mem_eq(whole, cut, 70 * 81 * sizeof *whole);
    free(whole);
    free(cut);
    kernel_run_close(&run);
}
END_TEST

START_TEST(images_are_spread_evenly_over_the_points)
{
    struct kernel_run all, some;
    kernel_run_open(&all, "spinimage", WORDS("points=100", "image_width=8"));
    kernel_run_open(&some, "spinimage", WORDS("points=100", "images=7", "image_width=8"));
    ck_assert_uint_eq(all.loop.iterations, 100);
    uint32_t *expected = kernel_run_all(&all, 100), *images = kernel_run_all(&some, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_mem_eq(images + 64 * i, expected + 64 * (i * 100 / 7), 64 * sizeof *images);
    free(expected);
    free(images);
    kernel_run_close(&all);
    kernel_run_close(&some);
}
END_TEST

/* The same points around the origin and far from it; all numbers are exact. */
START_TEST(a_model_far_from_the_origin_loses_nothing)
{
    enum { NUMBER = 60 };
    uint32_t *images[2];
    char text[NUMBER * 60] = "";
    for (int far = 0; far < 2; far++) {
        struct kernel_run run;
        snprintf(text, sizeof text, "NOFF\n%d 0 0\n", NUMBER);
        for (uint64_t i = 0; i < NUMBER; i++)
            sprintf(text + strlen(text), "%.4f %.4f %.4f 0 0.6 0.8\n", round(64 * uniform(3 * i)) / 16 + far * 4e6,
                    round(64 * uniform(3 * i + 1)) / 16 - far * 4e6, round(64 * uniform(3 * i + 2)) / 16 + far * 1e6);
        write_file(text);
        kernel_run_open(&run, "spinimage", WORDS(file_word, "image_width=12", "bin_size=0.5"));
        images[far] = kernel_run_all(&run, NUMBER);
        kernel_run_close(&run);
    }
    ck_assert_mem_eq(images[0], images[1], NUMBER * 144 * sizeof(uint32_t));
    free(images[0]);
    free(images[1]);
}
END_TEST

/* --- the surface --- */

static void torus(double u, double v, double position[3])
{
    double r = 0.4 + 0.08 * cos(5 * u) * cos(3 * v);
    position[0] = (1 + r * cos(v)) * cos(u);
    position[1] = (1 + r * cos(v)) * sin(u);
    position[2] = r * sin(v);
}

START_TEST(sines_are_right)
{
    for (int i = -3000; i < 3000; i++) {
        double turns = i / 997.0, sine, cosine;
        spin_sine(turns, &sine, &cosine);
        ck_assert_double_eq_tol(sine, sin(2 * PI * turns), 1e-14);
        ck_assert_double_eq_tol(cosine, cos(2 * PI * turns), 1e-14);
        ck_assert_double_eq_tol(sine * sine + cosine * cosine, 1, 1e-15);
    }
}
END_TEST

START_TEST(the_surface_is_the_formula)
{
    enum { NUMBER = 1000 };
    const double step = 1e-5;
    for (size_t i = 0; i < NUMBER; i++) {
        double position[3], normal[3], expected[3], there[3], u = 2 * PI * ((double)i + 0.5) / NUMBER;
        double v = 2 * PI * fmod((double)i * (sqrt(5) - 1) / 2, 1);
        spin_surface_point(i, NUMBER, position, normal);
        torus(u, v, expected);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(position[k], expected[k], 1e-11);
        ck_assert_double_eq_tol(dot(normal, normal), 1, 1e-14);
        for (int direction = 0; direction < 2; direction++) { /* steps on the surface are across the normal */
            torus(u + (direction == 0 ? step : 0), v + (direction == 1 ? step : 0), there);
            for (int k = 0; k < 3; k++)
                there[k] = (there[k] - expected[k]) / step;
            ck_assert_double_eq_tol(dot(there, normal), 0, 1e-4);
        }
        double middle[3] = {position[0] - cos(u), position[1] - sin(u), position[2]}; /* of the tube */
        ck_assert_double_gt(dot(middle, normal), 0);
    }
}
END_TEST

/* --- wrong use --- */

static void refuse(const char *const *words, const char *start, const char *end)
{
    struct kernel_run run;
    struct error error = {""};
    ck_assert_int_eq(kernel_run_describe(&run, "spinimage", words, &error), -1);
    ck_assert_msg(strncmp(error.text, start, strlen(start)) == 0 && strlen(error.text) >= strlen(end) &&
                      strcmp(error.text + strlen(error.text) - strlen(end), end) == 0,
                  "%s", error.text);
}

START_TEST(wrong_points_are_refused_before_the_run)
{
    refuse(WORDS("points=10", "images=11"), "spinimage: images=11", "accepted: up to 10, as many as there are points");
    refuse(WORDS("file=/nowhere/a.ply"), "spinimage: file=/nowhere/a.ply: ", "No such file or directory");
    refuse(WORDS("file=/dev/zero"), "spinimage: file=/dev/zero: ", "not a regular file");
    refuse(WORDS("file=/tmp"), "spinimage: file=/tmp: ", "not a regular file");
    write_file("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n");
    refuse(WORDS(file_word), "spinimage: file=/tmp/", ": line 6: vertex '7': accepted: 0 to 2");
    write_file("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    refuse(WORDS(file_word, "images=4"), "spinimage: images=4", "accepted: up to 3, as many as there are points");
}
END_TEST

START_TEST(a_file_that_changes_is_noticed)
{
    struct kernel_run run;
    struct error error;
    char line[HDSS_ERROR_MAX] = "";
    write_file("NOFF\n1 0 0\n0 0 0 0 0 1\n");
    ck_assert_int_eq(kernel_run_describe(&run, "spinimage", WORDS(file_word), &error), 0);
    ck_assert_uint_ne(run.loop.inputs, 0);
    write_file("NOFF\n1 0 0\n0 0 1 0 0 1\n");
    ck_assert_int_eq(run.kernel->open(run.values, &run.loop, &(struct hdss_worker){0}, &run.instance, line), -1);
    ck_assert_ptr_nonnull(strstr(line, "it has changed since the run began"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spinimage");
    TCase *tcase = tcase_create("spinimage");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, images_are_those_of_the_definition, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(tcase, cells_by_hand);
    tcase_add_test(tcase, the_support_angle_limits_the_points);
    tcase_add_loop_test(tcase, every_variant_gives_the_same_counts, 0, 6);
    tcase_add_loop_test(tcase, what_is_passed_over_has_nothing_to_see, 0, 4);
    tcase_add_loop_test(tcase, every_cut_gives_the_same_images, 1, 4);
    tcase_add_test(tcase, images_are_spread_evenly_over_the_points);
    tcase_add_test(tcase, a_model_far_from_the_origin_loses_nothing);
    tcase_add_test(tcase, sines_are_right);
    tcase_add_test(tcase, the_surface_is_the_formula);
    tcase_add_test(tcase, wrong_points_are_refused_before_the_run);
    tcase_add_test(tcase, a_file_that_changes_is_noticed);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
