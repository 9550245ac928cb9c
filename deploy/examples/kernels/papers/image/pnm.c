/* SPDX-License-Identifier: MIT */
/* Reads PGM and PPM, the portable pixmaps of Netpbm, as text (P2, P3) or as bytes (P5, P6): a magic number, the
 * width, the height and the highest value, then the samples row by row. A # begins a comment, which ends with the
 * line. */
#include "deploy/examples/kernels/papers/image/formats.h"

#include <ctype.h>

struct reader {
    const uint8_t *at, *end;
    unsigned channels, highest;
    bool is_text;
};

#define NUMBER_MAX UINT32_MAX

static void pnm_skip_blanks(struct reader *reader)
{
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '#')
            while (reader->at < reader->end && *reader->at != '\n')
                reader->at++;
        else if (!isspace(*reader->at))
            return;
        if (reader->at == reader->end)
            return;
    }
}

static bool pnm_take_number(struct reader *reader, uint64_t *number)
{
    pnm_skip_blanks(reader);
    if (reader->at == reader->end || !isdigit(*reader->at))
        return false;
    for (*number = 0; reader->at < reader->end && isdigit(*reader->at); reader->at++)
        *number = *number < NUMBER_MAX ? *number * 10 + (uint64_t)(*reader->at - '0') : *number;
    return true;
}

static int read_magic(struct reader *reader, struct image *image, struct error *error)
{
    const uint8_t *bytes = reader->at;
    bool known = reader->end - bytes >= 3 && bytes[0] == 'P' && isspace(bytes[2]);
    int kind = known ? bytes[1] : 0;
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
        return error_set(error, "it is no picture of a known kind; " IMAGE_ACCEPTED);
    reader->is_text = kind <= '3';
    reader->channels = kind == '3' || kind == '6' ? 3 : 1;
    image->has_colour = reader->channels == 3;
    reader->at += 2;
    return 0;
}

static int pnm_read_head(struct reader *reader, struct image *image, struct error *error)
{
    uint64_t width, height, highest;
    if (read_magic(reader, image, error) < 0)
        return -1;
    if (!pnm_take_number(reader, &width) || !pnm_take_number(reader, &height) || !pnm_take_number(reader, &highest))
        return error_set(error,
                         "its head is cut off or no head of a PGM: accepted: width, height and the highest value");
    if (highest < 1 || highest > UINT16_MAX)
        return error_set(error, "its highest value is %llu; accepted: 1 to 65535", (unsigned long long)highest);
    if (image_check_size(width, height, error) < 0)
        return -1;
    if (!reader->is_text && (reader->at == reader->end || !isspace(*reader->at++)))
        return error_set(error, "it is cut off behind its head");
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->is_deep = highest > UINT8_MAX;
    reader->highest = (unsigned)highest;
    return 0;
}

static bool pnm_take_sample(struct reader *reader, uint8_t *sample)
{
    uint64_t value;
    unsigned bytes = reader->highest > UINT8_MAX ? 2 : 1;
    if (reader->is_text) {
        if (!pnm_take_number(reader, &value))
            return false;
    } else {
        if ((size_t)(reader->end - reader->at) < bytes)
            return false;
        value = bytes == 2 ? (uint64_t)reader->at[0] << 8 | reader->at[1] : reader->at[0];
        reader->at += bytes;
    }
    value = value < reader->highest ? value : reader->highest;
    *sample = (uint8_t)((value * 255 + reader->highest / 2) / reader->highest);
    return true;
}

static bool take_pixel(struct reader *reader, uint8_t *level)
{
    uint8_t sample[3];
    for (unsigned i = 0; i < reader->channels; i++)
        if (!pnm_take_sample(reader, &sample[i]))
            return false;
    *level = image_level(sample, reader->channels);
    return true;
}

static int refuse_row(const struct image *image, uint64_t row, struct error *error)
{
    return error_set(error, "it is cut off: row %llu of %u is not complete", (unsigned long long)row + 1,
                     image->height);
}

static int check_length(const struct reader *reader, const struct image *image, struct error *error)
{
    uint64_t row = (uint64_t)image->width * reader->channels * (reader->is_text || reader->highest > UINT8_MAX ? 2 : 1);
    uint64_t left = (uint64_t)(reader->end - reader->at) + reader->is_text;
    return left / row >= image->height ? 0 : refuse_row(image, left / row, error);
}

int image_read_pnm(struct image *image, const uint8_t *bytes, size_t size, bool pixels, struct error *error)
{
    struct reader reader = {.at = bytes, .end = bytes + size};
    if (pnm_read_head(&reader, image, error) < 0)
        return -1;
    if (!pixels)
        return 0;
    if (check_length(&reader, image, error) < 0 || image_allocate(image, error) < 0)
        return -1;
    const uint64_t count = (uint64_t)image->width * image->height;
    for (uint64_t i = 0; i < count; i++)
        if (!take_pixel(&reader, &image->gray[i]))
            return refuse_row(image, i / image->width, error);
    return 0;
}
