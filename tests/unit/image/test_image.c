/* SPDX-License-Identifier: MIT */
/* Pictures from memory: each kind of PGM and PPM, what is converted and how, each way to be wrong. Those of PNG are in
 * tests/system/test_dependent.py, which writes them by itself. */
#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"
#include "tests/lib/suite.h"

#include <string.h>

static struct image image;
static struct error error;

static int parse(const char *text, size_t size)
{
    struct image head;
    error.text[0] = '\0';
    int looked = image_look(&head, text, size, &error);
    int parsed = looked < 0 ? -1 : image_parse(&image, text, size, &error);
    if (parsed == 0)
        ck_assert(head.width == image.width && head.height == image.height && head.gray == NULL);
    else
        ck_assert_uint_gt(strlen(error.text), 0);
    return parsed;
}

#define PARSE(text) parse(text, sizeof(text) - 1)

static void expect(uint32_t width, uint32_t height, const char *levels, const char *conversion)
{
    char text[120];
    ck_assert_uint_eq(image.width, width);
    ck_assert_uint_eq(image.height, height);
    ck_assert_int_eq(memcmp(image.gray, levels, (size_t)width * height), 0);
    ck_assert_int_eq(image_conversion(&image, text, sizeof text), conversion[0] != '\0');
    ck_assert_str_eq(text, conversion);
    image_fini(&image);
}

START_TEST(grays_are_taken_as_they_are)
{
    ck_assert_int_eq(PARSE("P5 3 2 255\n\0\1\2\xfd\xfe\xff"), 0);
    expect(3, 2, "\0\1\2\xfd\xfe\xff", "");
    ck_assert_int_eq(PARSE("P5\n# made by hand\n1 # width\n2\n#\n255\n\n "), 0);
    expect(1, 2, "\n ", "");
    ck_assert_int_eq(PARSE("P2 2 2 255 0 7\n99 255"), 0);
    expect(2, 2, "\0\7\x63\xff", "");
    ck_assert_int_eq(PARSE("P5 1 1 255\n\7 more behind it"), 0);
    expect(1, 1, "\7", "");
}
END_TEST

START_TEST(other_levels_are_brought_to_256)
{
    ck_assert_int_eq(PARSE("P2 4 1 3 0 1 2 3"), 0);
    expect(4, 1, "\0\x55\xaa\xff", "");
    ck_assert_int_eq(PARSE("P5 3 1 65535\n\0\0\x80\0\xff\xff"), 0);
    expect(3, 1, "\0\x80\xff", "its levels are rounded to 8 bits");
    ck_assert_int_eq(PARSE("P2 1 1 9 12"), 0); /* above the highest */
    expect(1, 1, "\xff", "");
}
END_TEST

START_TEST(colours_become_their_luma)
{
    ck_assert_int_eq(PARSE("P6 4 1 255\n\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff"), 0);
    expect(4, 1, "\x4c\x96\x1d\xff", "its colours are converted to gray");
    ck_assert_int_eq(PARSE("P3 1 1 65535 65535 65535 65535"), 0);
    expect(1, 1, "\xff", "its colours are converted to gray, its levels are rounded to 8 bits");
}
END_TEST

START_TEST(what_is_no_picture_is_refused)
{
    static const struct {
        const char *text;
        size_t size;
        const char *part;
    } wrong[] = {
        {"", 0, "empty"},
        {"P5", 2, "no picture"},
        {"P4 8 1\n\0", 8, "accepted: PGM, PPM or PNG"},
        {"P5 2 2 255\n\1\2\3", 14, "row 2 of 2"},
        {"P5 2 2 255", 10, "cut off"},
        {"P5 2 2", 6, "cut off"},
        {"P5 2 2 0\n", 9, "highest value is 0"},
        {"P5 2 2 65536\n", 13, "highest value is 65536"},
        {"P5 0 2 255\n", 11, "0 x 2"},
        {"P5 1048577 1 255\n", 17, "1048577 x 1"},
        {"P5 1048576 4097 255\n", 20, "2^32"},
        {"P5 1048576 4096 255\n", 20, "row 1 of 4096"},
        {"P2 2 1 255 1", 12, "row 1 of 1"},
        {"P2 2 1 255 1 x", 14, "row 1 of 1"},
        {"P5 -2 1 255 1", 13, "accepted"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(parse(wrong[i].text, wrong[i].size), -1);
        ck_assert_msg(strstr(error.text, wrong[i].part) != NULL, "%s: %s", wrong[i].part, error.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tcase = tcase_create("image");
    tcase_add_test(tcase, grays_are_taken_as_they_are);
    tcase_add_test(tcase, other_levels_are_brought_to_256);
    tcase_add_test(tcase, colours_become_their_luma);
    tcase_add_test(tcase, what_is_no_picture_is_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
