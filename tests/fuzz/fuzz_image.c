/* SPDX-License-Identifier: MIT */
/* image_look() and image_parse(): a picture is refused with one line, or all of its pixels are there and it is as large
 * as its head says. */
#include "common/util/error.h"
#include "deploy/examples/kernels/papers/image/image.h"
#include "tests/fuzz/fuzz.h"

/* A small file may stand for a large picture: what takes long finds nothing. */
#define PIXELS_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image head, image;
    struct error error = {0};
    char text[100];
    unsigned sum = 0;
    if (image_look(&head, bytes, size, &error) < 0) {
        require_one_line(error.text);
        return 0;
    }
    REQUIRE(head.gray == NULL && head.width >= 1 && head.height >= 1);
    if ((uint64_t)head.width * head.height > PIXELS_MAX)
        return 0;
    if (image_parse(&image, bytes, size, &error) < 0) {
        require_one_line(error.text);
        return 0;
    }
    REQUIRE(image.width == head.width && image.height == head.height);
    REQUIRE(image_conversion(&image, text, sizeof text) == (image.has_colour || image.has_alpha || image.is_deep));
    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        sum += image.gray[i];
    REQUIRE(sum <= 255u * PIXELS_MAX);
    image_fini(&image);
    return 0;
}
