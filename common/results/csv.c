/* SPDX-License-Identifier: MIT */
/* Results as CSV text. One dimension: a header and `iteration,value` lines. Two dimensions: the rows of the array,
 * without a header. More: one line per record. Reals are written with the fewest digits from which exactly the same
 * value can be read. */
#include "common/results/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define VALUE_TEXT_MAX 40

static size_t csv_file_real_text(double value, int least, int most, char text[VALUE_TEXT_MAX])
{
    size_t length = 0;
    for (int digits = least; digits <= most; digits++) {
        length = (size_t)snprintf(text, VALUE_TEXT_MAX, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (isnan(value) || (most > 9 ? back == value : (float)back == (float)value))
            break;
    }
    return length;
}

static size_t unsigned_text(uint64_t value, char *text)
{
    char digits[VALUE_TEXT_MAX];
    size_t length = 0;
    do {
        digits[length++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < length; i++)
        text[i] = digits[length - 1 - i];
    return length;
}

static size_t signed_text(int64_t value, char *text)
{
    if (value >= 0)
        return unsigned_text((uint64_t)value, text);
    text[0] = '-';
    return 1 + unsigned_text(0 - (uint64_t)value, text + 1);
}

#define ELEMENT(type, row, i) ((const type *)(row))[i]

static size_t value_text(enum hdss_type type, const void *row, uint64_t i, char text[VALUE_TEXT_MAX])
{
    switch (type) {
    case HDSS_UINT8: return unsigned_text(ELEMENT(uint8_t, row, i), text);
    case HDSS_UINT16: return unsigned_text(ELEMENT(uint16_t, row, i), text);
    case HDSS_UINT32: return unsigned_text(ELEMENT(uint32_t, row, i), text);
    case HDSS_UINT64: return unsigned_text(ELEMENT(uint64_t, row, i), text);
    case HDSS_INT32: return signed_text(ELEMENT(int32_t, row, i), text);
    case HDSS_INT64: return signed_text(ELEMENT(int64_t, row, i), text);
    case HDSS_FLOAT32: return csv_file_real_text((double)ELEMENT(float, row, i), 6, 9, text);
    case HDSS_FLOAT64: return csv_file_real_text(ELEMENT(double, row, i), 15, 17, text);
    }
    return 0;
}

static void put_row(FILE *out, enum hdss_type type, const void *row, uint64_t columns)
{
    char text[VALUE_TEXT_MAX];
    for (uint64_t i = 0; i < columns; i++) {
        size_t length = value_text(type, row, i, text);
        text[length] = i + 1 < columns ? ',' : '\n';
        fwrite(text, 1, length + 1, out);
    }
}

/* Write errors are ignored here, because the caller detects them when it closes the file. */
static int csv_convert(FILE *out, const char *path, struct rows *rows, struct error *error)
{
    (void)path;
    bool list = rows->loop.dims == 1;
    if (list)
        fputs(rows->loop.record_length == 1 ? "iteration,value\n" : "index,value\n", out);
    const void *row;
    for (uint64_t i = 0;; i++) {
        if (rows_next(rows, &row, error) < 0)
            return -1;
        if (row == NULL || ferror(out))
            return 0;
        if (list)
            fprintf(out, "%" PRIu64 ",", i);
        put_row(out, rows->loop.type, row, rows->columns);
    }
}

const struct results_format results_csv = {.extension = ".csv", .convert = csv_convert};
