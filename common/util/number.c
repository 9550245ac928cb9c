/* SPDX-License-Identifier: MIT */
/* Parsing numbers: see number.h. */
#include "common/util/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_plain(const char *text, uint64_t *value)
{
    if (!isdigit((unsigned char)*text))
        return -1;
    uint64_t sum = 0;
    bool after_digit = false;
    for (; *text != '\0'; text++) {
        if (*text == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        if (!isdigit((unsigned char)*text))
            return -1;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum))
            return -1;
        after_digit = true;
    }
    if (!after_digit)
        return -1;
    *value = sum;
    return 0;
}

/* Computes base^exponent, or mantissa times 10^exponent, exactly. */
static int parse_power(const char *text, size_t length, const char *exponent, bool decimal, uint64_t *value)
{
    char head[32];
    uint64_t base, power;
    if (length == 0 || length >= sizeof head)
        return -1;
    memcpy(head, text, length);
    head[length] = '\0';
    if (parse_plain(head, &base) < 0 || parse_plain(exponent, &power) < 0 || power > 64)
        return -1;
    uint64_t result = decimal ? base : 1, factor = decimal ? 10 : base;
    for (uint64_t i = 0; i < power; i++)
        if (__builtin_mul_overflow(result, factor, &result))
            return -1;
    *value = result;
    return 0;
}

int number_parse_u64(const char *text, uint64_t *value)
{
    size_t length = strcspn(text, "eE^");
    if (text[length] == '\0')
        return parse_plain(text, value);
    return parse_power(text, length, text + length + 1, text[length] != '^', value);
}

int number_parse_i64(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    uint64_t magnitude;
    if (number_parse_u64(text + negative, &magnitude) < 0 || magnitude > (uint64_t)INT64_MAX)
        return -1;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}

int number_parse_real(const char *text, double *value)
{
    if (*text == '\0' || strspn(text, "0123456789.eE+-") != strlen(text))
        return -1;
    char *end;
    errno = 0;
    double result = strtod(text, &end);
    if (*end != '\0' || !isfinite(result) || (errno == ERANGE && result != 0))
        return -1;
    *value = result;
    return 0;
}

const char *number_bound_text(double bound, char text[NUMBER_BOUND_MAX])
{
    int exponent;
    double power = 1e6;
    const double size = fabs(bound);
    const size_t room = NUMBER_BOUND_MAX - 1;
    char *number = bound < 0 ? text + 1 : text;
    text[0] = '-';
    snprintf(number, room, size < 0x1p63 && size == rint(size) ? "%.0f" : "%g", size);
    if (size >= 0x1p20 && frexp(size, &exponent) == 0.5)
        snprintf(number, room, "2^%d", exponent - 1);
    for (int digits = 6; power <= size && digits <= 18; digits++, power *= 10)
        if (power == size)
            snprintf(number, room, "1e%d", digits);
    return text;
}
