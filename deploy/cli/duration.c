/* SPDX-License-Identifier: MIT */
/* Parses times such as "1-12:00:00": see duration.h. */
#include "deploy/cli/duration.h"

#include "common/util/number.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 10, LONGEST = INT32_MAX };

static double unit_seconds(const char *name, size_t length)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1},     {"sec", 1},   {"m", 60},
                 {"min", 60},  {"h", 3600},  {"hr", 3600}, {"d", 86400}, {"w", 604800}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return units[i].seconds;
    return 0;
}

static int parse_units(const char *text, double *seconds)
{
    double total = 0, number;
    char digits[40];
    for (bool is_first = true; is_first || *text != '\0'; is_first = false) {
        const size_t length = strspn(text, "0123456789."), unit = strspn(text + length, "abcdefghijklmnopqrstuvwxyz");
        const bool is_plain = is_first && text[length] == '\0';
        const double factor = is_plain ? 1 : unit_seconds(text + length, unit);
        if (length == 0 || length >= sizeof digits || factor == 0)
            return -1;
        snprintf(digits, sizeof digits, "%.*s", (int)length, text);
        if (number_parse_real(digits, &number) < 0)
            return -1;
        total += number * factor;
        text += length + unit;
    }
    *seconds = total;
    return 0;
}

static int duration_take_part(const char **text, uint64_t *number)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > DIGITS_MAX)
        return -1;
    *number = 0;
    for (; length > 0; length--, ++*text)
        *number = 10 * *number + (uint64_t)(**text - '0');
    return 0;
}

static int parse_clock(const char *text, uint64_t *seconds)
{
    uint64_t days = 0, total = 0, part;
    if (duration_take_part(&text, &part) < 0)
        return -1;
    int parts = 1, least = 1;
    if (*text == '-') {
        days = part;
        least = 3;
        text++;
        if (duration_take_part(&text, &part) < 0)
            return -1;
    }
    for (total = part; *text == ':'; parts++) {
        text++;
        if (duration_take_part(&text, &part) < 0 || part > 59)
            return -1;
        total = 60 * total + part;
    }
    total += 24 * 3600 * days;
    if (*text != '\0' || parts < least || parts > 3 || total > LONGEST)
        return -1;
    *seconds = total;
    return 0;
}

int duration_parse_ns(const char *text, uint64_t *time_ns)
{
    double seconds;
    uint64_t whole;
    if (parse_units(text, &seconds) < 0) {
        if (parse_clock(text, &whole) < 0)
            return -1;
        seconds = (double)whole;
    }
    if (seconds > LONGEST)
        return -1;
    *time_ns = (uint64_t)(seconds * 1e9 + 0.5);
    return 0;
}

int duration_parse(const char *text, uint64_t *seconds)
{
    uint64_t time_ns;
    if (duration_parse_ns(text, &time_ns) < 0 || time_ns % 1000000000 != 0)
        return -1;
    *seconds = time_ns / 1000000000;
    return 0;
}

int duration_parse_some(const char *text, uint64_t *seconds)
{
    uint64_t parsed;
    if (duration_parse(text, &parsed) < 0 || parsed == 0)
        return -1;
    *seconds = parsed;
    return 0;
}
