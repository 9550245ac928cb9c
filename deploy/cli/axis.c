/* SPDX-License-Identifier: MIT */
/* Ticks at 1, 2 or 5 times a power of ten, and numbers as people write them: see axis.h. gnuplot's own choice prints
 * 1e+06, and 1000000 on the same axis. */
#include "deploy/cli/axis.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINEAR_TICKS = 8 };  /* about so many */
enum { FINE_DECADES = 3 };  /* up to so many decades 2 and 5 have a number, too */
enum { DECADE_TICKS = 10 }; /* with more decades some have no number */
#define PLAIN_BELOW 1e6     /* from here on 3×10⁶ */

void axis_linear(struct axis *axis, double high)
{
    *axis = (struct axis){false, false, 0, high > 0 ? high : 1};
}

void axis_logarithmic(struct axis *axis, double low, double high)
{
    *axis = (struct axis){true, false, low, high};
}

double axis_place(const struct axis *axis, double value)
{
    if (axis->logarithmic)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

void axis_group_digits(uint64_t value, char *text, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
}

static void raise_digits(int exponent, char *text, size_t size)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent);
    text[0] = '\0';
    for (const char *digit = digits; *digit != '\0'; digit++)
        strncat(text, raised[*digit - '0'], size - strlen(text) - 1);
}

static void write_tick(double value, FILE *script)
{
    char text[64];
    if ((value < 1 && value != 0) || (value < 1000 && fabs(value - round(value)) > 1e-9)) {
        snprintf(text, sizeof text, "%g", value);
    } else if (value < PLAIN_BELOW) {
        axis_group_digits((uint64_t)(value + 0.5), text, sizeof text);
    } else {
        int exponent = (int)floor(log10(value) + 1e-9);
        double mantissa = value / pow(10, exponent);
        raise_digits(exponent, text, sizeof text);
        if (fabs(mantissa - 1) < 1e-9)
            fprintf(script, "'10%s' %.17g", text, value);
        else
            fprintf(script, "'%.4g×10%s' %.17g", mantissa, text, value);
        return;
    }
    fprintf(script, "'%s' %.17g", text, value);
}

/* The least of 1, 2 and 5 times a power of ten that is not below `value`. */
static double round_up(double value)
{
    double power = pow(10, floor(log10(value) + 1e-9));
    for (int i = 0; i < 3; i++) {
        double step = power * (const double[]){1, 2, 5}[i];
        if (step >= value * (1 - 1e-9))
            return step;
    }
    return 10 * power;
}

static void write_linear_ticks(const struct axis *axis, FILE *script)
{
    double least = axis->real ? 0 : 1; /* counted values are whole */
    double step = round_up(fmax((axis->high - axis->low) / LINEAR_TICKS, least));
    int first = (int)ceil(axis->low / step - 1e-9);
    for (int i = first; i * step <= axis->high; i++) {
        fputs(i > first ? ", " : "", script);
        write_tick(i * step, script);
    }
}

static void write_decade(double decade, bool numbered, bool fine, FILE *script)
{
    if (numbered)
        write_tick(decade, script);
    else
        fprintf(script, "'' %.17g 1", decade);
    for (int digit = 2; digit <= 9; digit++) {
        fputs(", ", script);
        if (fine && (digit == 2 || digit == 5))
            write_tick(digit * decade, script);
        else
            fprintf(script, "'' %.17g 1", digit * decade);
    }
}

static void write_logarithmic_ticks(const struct axis *axis, FILE *script)
{
    int first = (int)floor(log10(axis->low)), last = (int)floor(log10(axis->high));
    first = first > 0 || axis->real ? first : 0;
    int stride = (last - first) / DECADE_TICKS + 1;
    for (int exponent = first; exponent <= last; exponent++) {
        fputs(exponent > first ? ", " : "", script);
        write_decade(pow(10, exponent), (exponent - first) % stride == 0, last - first <= FINE_DECADES, script);
    }
}

void axis_write(const struct axis *axis, const char *name, FILE *script)
{
    if (axis->logarithmic)
        fprintf(script, "set logscale %s 10\n", name);
    fprintf(script, "set %srange [%.17g:%.17g]\nset %stics (", name, axis->low, axis->high, name);
    if (axis->logarithmic)
        write_logarithmic_ticks(axis, script);
    else
        write_linear_ticks(axis, script);
    fputs(")\n", script);
}
