/* SPDX-License-Identifier: MIT */
/* Colour maps: see palette.h. */
#include "common/results/palette.h"

#include <math.h>

#define STOPS_MAX 16

const struct palette_stop palette_counts[] = {
    {0.00, {5, 7, 26}},      {0.28, {13, 30, 84}},    {0.48, {28, 96, 186}},
    {0.62, {134, 200, 240}}, {0.71, {244, 246, 232}}, {0.79, {255, 200, 80}},
    {0.88, {226, 104, 22}},  {0.96, {120, 22, 30}},   {1.00, {34, 4, 22}},
};
const size_t palette_counts_stops = sizeof palette_counts / sizeof palette_counts[0];

const struct palette_stop palette_values[] = {
    {0.0, {24, 10, 60}}, {0.25, {70, 46, 150}}, {0.5, {26, 124, 150}}, {0.75, {88, 190, 110}}, {1.0, {250, 240, 140}},
};
const size_t palette_values_stops = sizeof palette_values / sizeof palette_values[0];

const struct palette_stop palette_greys[] = {{0.0, {255, 255, 255}}, {1.0, {0, 0, 0}}};
const size_t palette_greys_stops = sizeof palette_greys / sizeof palette_greys[0];

struct oklab {
    double c[3]; /* L, a, b */
};

static double linear_of(uint8_t byte)
{
    double x = byte / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static uint8_t byte_of(double linear)
{
    double x = fmin(1, fmax(0, linear));
    x = x <= 0.0031308 ? x * 12.92 : 1.055 * pow(x, 1 / 2.4) - 0.055;
    return (uint8_t)lround(x * 255);
}

static void palette_multiply(const double matrix[3][3], const double in[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = matrix[i][0] * in[0] + matrix[i][1] * in[1] + matrix[i][2] * in[2];
}

static struct oklab oklab_of(const uint8_t rgb[3])
{
    static const double to_lms[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                        {0.2119034982, 0.6806995451, 0.1073969566},
                                        {0.0883024619, 0.2817188376, 0.6299787005}};
    static const double to_lab[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                        {1.9779984951, -2.4285922050, 0.4505937099},
                                        {0.0259040371, 0.7827717662, -0.8086757660}};
    double linear[3] = {linear_of(rgb[0]), linear_of(rgb[1]), linear_of(rgb[2])}, lms[3];
    struct oklab lab;
    palette_multiply(to_lms, linear, lms);
    for (int i = 0; i < 3; i++)
        lms[i] = cbrt(lms[i]);
    palette_multiply(to_lab, lms, lab.c);
    return lab;
}

static void rgb_of(const struct oklab *lab, uint8_t rgb[3])
{
    static const double to_lms[3][3] = {
        {1, 0.3963377774, 0.2158037573}, {1, -0.1055613458, -0.0638541728}, {1, -0.0894841775, -1.2914855480}};
    static const double to_linear[3][3] = {{4.0767416621, -3.3077115913, 0.2309699292},
                                           {-1.2684380046, 2.6097574011, -0.3413193965},
                                           {-0.0041960863, -0.7034186147, 1.7076147010}};
    double lms[3], linear[3];
    palette_multiply(to_lms, lab->c, lms);
    for (int i = 0; i < 3; i++)
        lms[i] = lms[i] * lms[i] * lms[i];
    palette_multiply(to_linear, lms, linear);
    for (int i = 0; i < 3; i++)
        rgb[i] = byte_of(linear[i]);
}

/* Slope of a coordinate at stop i: Catmull-Rom, but 0 at local extrema, so that no colour overshoots. */
static double slope(const struct palette_stop *stops, const struct oklab *labs, size_t count, size_t i, int coordinate)
{
    if (i == 0 || i + 1 == count)
        return 0;
    double before = labs[i].c[coordinate] - labs[i - 1].c[coordinate];
    double after = labs[i + 1].c[coordinate] - labs[i].c[coordinate];
    return before * after <= 0 ? 0 : (before + after) / (stops[i + 1].at - stops[i - 1].at);
}

/* Cubic Hermite interpolation between stops i and i + 1. */
static struct oklab between(const struct palette_stop *stops, const struct oklab *labs, size_t count, size_t i,
                            double at)
{
    double width = stops[i + 1].at - stops[i].at, t = (at - stops[i].at) / width, u = 1 - t;
    struct oklab lab;
    for (int c = 0; c < 3; c++) {
        double left = labs[i].c[c], right = labs[i + 1].c[c];
        double rise_left = slope(stops, labs, count, i, c) * width,
               rise_right = slope(stops, labs, count, i + 1, c) * width;
        lab.c[c] =
            (1 + 2 * t) * u * u * left + t * u * u * rise_left + t * t * (3 - 2 * t) * right - t * t * u * rise_right;
    }
    return lab;
}

void palette_fill(const struct palette_stop *stops, size_t count, uint8_t (*rgb)[3], size_t steps)
{
    struct oklab labs[STOPS_MAX];
    for (size_t i = 0; i < count; i++)
        labs[i] = oklab_of(stops[i].rgb);
    size_t i = 0;
    for (size_t step = 0; step < steps; step++) {
        double at = (double)step / (double)(steps - 1);
        while (i + 2 < count && at > stops[i + 1].at)
            i++;
        struct oklab lab = between(stops, labs, count, i, at);
        rgb_of(&lab, rgb[step]);
    }
}
