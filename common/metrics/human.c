/* SPDX-License-Identifier: MIT */
/* Numbers for people: see human.h. */
#include "common/metrics/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *three_digits(char text[HUMAN_MAX], double value, const char *unit)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, HUMAN_MAX, "%.*f%s", decimals, value, unit);
    return text;
}

static const char *two_units(char text[HUMAN_MAX], double total, double ratio, const char *large, const char *small)
{
    double count = floor(total / ratio);
    snprintf(text, HUMAN_MAX, "%.0f %s %02.0f %s", count, large, total - count * ratio, small);
    return text;
}

const char *human_duration(char text[HUMAN_MAX], double seconds)
{
    if (!(seconds >= 0 && seconds < 1e12))
        return strcpy(text, "?");
    if (seconds == 0)
        return strcpy(text, "0 s");
    if (seconds < 0.9995e-3)
        return three_digits(text, seconds * 1e6, " us");
    if (seconds < 0.9995)
        return three_digits(text, seconds * 1e3, " ms");
    if (seconds < 59.95)
        return three_digits(text, seconds, " s");
    if (seconds < 3599.5)
        return two_units(text, round(seconds), 60, "min", "s");
    if (seconds < 24 * 3600 - 30)
        return two_units(text, round(seconds / 60), 60, "h", "min");
    return two_units(text, round(seconds / 3600), 24, "d", "h");
}

const char *human_count(char text[HUMAN_MAX], uint64_t count)
{
    char digits[HUMAN_MAX];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

#define SI_MAX 1e21

const char *human_si(char text[HUMAN_MAX], double value)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t unit = 0;
    if (!(value >= 0 && value < SI_MAX))
        return strcpy(text, "?");
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    if (unit == 0 && value == floor(value))
        snprintf(text, HUMAN_MAX, "%.0f", value);
    else
        three_digits(text, value, units[unit]);
    return text;
}

const char *human_rate(char text[HUMAN_MAX], double per_second)
{
    bool slow = per_second < 0.9995, slower = per_second * 60 < 0.9995;
    human_si(text, per_second * (slower ? 3600 : slow ? 60 : 1));
    return strcat(text, slower ? "/h" : slow ? "/min" : "/s");
}

static const char *ascii_bar(char *text, double share, unsigned columns)
{
    unsigned filled = (unsigned)lround(share * columns);
    memset(text, '#', filled);
    memset(text + filled, ' ', columns - filled);
    text[columns] = '\0';
    return text;
}

const char *human_bar(char text[3 * HUMAN_BAR_MAX + 1], double share, unsigned columns, bool utf8)
{
    static const char *const blocks[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    columns = columns < HUMAN_BAR_MAX ? columns : HUMAN_BAR_MAX;
    share = share > 0 ? fmin(share, 1) : 0; /* NaN becomes 0. */
    if (!utf8)
        return ascii_bar(text, share, columns);
    unsigned eighths = (unsigned)lround(share * columns * 8);
    char *out = text;
    for (unsigned i = 0; i < eighths / 8; i++)
        out = stpcpy(out, "█");
    out = stpcpy(out, blocks[eighths % 8]);
    for (unsigned i = (eighths + 7) / 8; i < columns; i++)
        *out++ = ' ';
    *out = '\0';
    return text;
}
