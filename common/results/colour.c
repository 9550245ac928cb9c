/* SPDX-License-Identifier: MIT */
/* Colours for numbers: see colour.h. */
#include "common/results/colour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STOPS_MAX 16

/* Colour maps are smooth curves through a few colours in Oklab (Ottosson 2020), in which equal distances look equal. */
struct stop {
    double at;
    uint8_t rgb[3];
};

static const struct stop counts[] = {
    {0.00, {5, 7, 26}},      {0.28, {13, 30, 84}},    {0.48, {28, 96, 186}},
    {0.62, {134, 200, 240}}, {0.71, {244, 246, 232}}, {0.79, {255, 200, 80}},
    {0.88, {226, 104, 22}},  {0.96, {120, 22, 30}},   {1.00, {34, 4, 22}},
};

/* Lightness rises evenly from dark violet to light yellow. */
static const struct stop values[] = {
    {0.0, {24, 10, 60}}, {0.25, {70, 46, 150}}, {0.5, {26, 124, 150}}, {0.75, {88, 190, 110}}, {1.0, {250, 240, 140}},
};

static const struct stop greys[] = {{0.0, {255, 255, 255}}, {1.0, {0, 0, 0}}};

struct oklab {
    double c[3];
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

static void multiply_matrix(const double matrix[3][3], const double in[3], double out[3])
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
    multiply_matrix(to_lms, linear, lms);
    for (int i = 0; i < 3; i++)
        lms[i] = cbrt(lms[i]);
    multiply_matrix(to_lab, lms, lab.c);
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
    multiply_matrix(to_lms, lab->c, lms);
    for (int i = 0; i < 3; i++)
        lms[i] = lms[i] * lms[i] * lms[i];
    multiply_matrix(to_linear, lms, linear);
    for (int i = 0; i < 3; i++)
        rgb[i] = byte_of(linear[i]);
}

/* Returns the slope of a coordinate at stop i, as in a Catmull-Rom spline. At local extrema the slope is 0, so that no
 * colour lies beyond the colours of the stops. */
static double slope(const struct stop *stops, const struct oklab *labs, size_t count, size_t i, int coordinate)
{
    if (i == 0 || i + 1 == count)
        return 0;
    double before = labs[i].c[coordinate] - labs[i - 1].c[coordinate];
    double after = labs[i + 1].c[coordinate] - labs[i].c[coordinate];
    return before * after <= 0 ? 0 : (before + after) / (stops[i + 1].at - stops[i - 1].at);
}

static struct oklab between(const struct stop *stops, const struct oklab *labs, size_t count, size_t i, double at)
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

static void fill_map(uint8_t map[COLOUR_STEPS][3], const struct stop *stops, size_t count)
{
    struct oklab labs[STOPS_MAX];
    for (size_t i = 0; i < count; i++)
        labs[i] = oklab_of(stops[i].rgb);
    size_t i = 0;
    for (size_t step = 0; step < COLOUR_STEPS; step++) {
        double at = (double)step / (COLOUR_STEPS - 1);
        while (i + 2 < count && at > stops[i + 1].at)
            i++;
        struct oklab lab = between(stops, labs, count, i, at);
        rgb_of(&lab, map[step]);
    }
}

/* Histogram of the distances of all values from the smallest value. Each distance below 2^MANTISSA has a bin of its
 * own. Above, each doubling of the distance has 2^MANTISSA bins. */
enum { MANTISSA = 12, BINS = (64 - MANTISSA + 1) << MANTISSA };

static size_t bin_of(uint64_t distance)
{
    if (distance >> MANTISSA == 0)
        return distance;
    int shift = 63 - __builtin_clzll(distance) - MANTISSA;
    return ((size_t)(shift + 1) << MANTISSA) + (size_t)((distance >> shift) & ((1u << MANTISSA) - 1));
}

static uint64_t bin_start(size_t bin)
{
    if (bin >> MANTISSA == 0)
        return bin;
    int shift = (int)(bin >> MANTISSA) - 1;
    return ((uint64_t)1 << MANTISSA | (bin & ((1u << MANTISSA) - 1))) << shift;
}

static bool is_real(enum hdss_type type)
{
    return type == HDSS_FLOAT32 || type == HDSS_FLOAT64;
}

static uint64_t sign_shift(enum hdss_type type)
{
    return type == HDSS_INT32 || type == HDSS_INT64 ? (uint64_t)1 << 63 : 0;
}

static uint64_t integer_at(enum hdss_type type, const void *row, uint64_t i)
{
    switch (type) {
    case HDSS_UINT8: return ((const uint8_t *)row)[i];
    case HDSS_UINT16: return ((const uint16_t *)row)[i];
    case HDSS_UINT32: return ((const uint32_t *)row)[i];
    case HDSS_UINT64: return ((const uint64_t *)row)[i];
    case HDSS_INT32: return (uint64_t)(int64_t)((const int32_t *)row)[i] ^ sign_shift(type);
    default: return (uint64_t)((const int64_t *)row)[i] ^ sign_shift(type);
    }
}

static double colour_real_at(enum hdss_type type, const void *row, uint64_t i)
{
    return type == HDSS_FLOAT32 ? (double)((const float *)row)[i] : ((const double *)row)[i];
}

/* Weight of a value's rank among all values in its colour. The rest of the weight is that of the value's logarithm. The
 * rank alone would divide smooth slopes into bands. The logarithm alone would leave most of a picture in few
 * colours. */
#define RANK_WEIGHT 0.4

int colours_init(struct colours *colours, const struct hdss_loop *loop)
{
    *colours = (struct colours){.type = loop->type, .lowest = UINT64_MAX, .has_full = loop->full_value != 0};
    colours->full = loop->full_value ^ sign_shift(loop->type);
    colours->nothing = sign_shift(loop->type);
    colours->from = INFINITY;
    colours->to = -INFINITY;
    colours->rank_weight = loop->dims == 3 ? 0 : RANK_WEIGHT;
    if (loop->dims == 3)
        fill_map(colours->map, greys, sizeof greys / sizeof *greys);
    else if (is_real(loop->type))
        fill_map(colours->map, values, sizeof values / sizeof *values);
    else
        fill_map(colours->map, counts, sizeof counts / sizeof *counts);
    if (is_real(loop->type))
        return 0;
    colours->bins = calloc(BINS, sizeof *colours->bins);
    return colours->bins == NULL ? -1 : 0;
}

void colours_fini(struct colours *colours)
{
    free(colours->bins);
}

static bool is_special(const struct colours *colours, uint64_t value)
{
    return colours->has_full && (value == colours->full || value == colours->nothing);
}

void colours_see_range(struct colours *colours, const void *row, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (is_real(colours->type)) {
            double value = colour_real_at(colours->type, row, i);
            if (!isfinite(value))
                continue;
            colours->from = fmin(colours->from, value);
            colours->to = fmax(colours->to, value);
        } else {
            uint64_t value = integer_at(colours->type, row, i);
            if (is_special(colours, value))
                continue;
            colours->lowest = value < colours->lowest ? value : colours->lowest;
            colours->highest = value > colours->highest ? value : colours->highest;
        }
    }
}

bool colours_need_counts(const struct colours *colours)
{
    return colours->bins != NULL;
}

void colours_see_counts(struct colours *colours, const void *row, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = integer_at(colours->type, row, i);
        if (!is_special(colours, value))
            colours->bins[bin_of(value - colours->lowest)]++;
    }
}

void colours_settle(struct colours *colours)
{
    if (colours->bins == NULL || colours->lowest > colours->highest)
        return;
    double total = 0, below = 0, log_range = log1p((double)(colours->highest - colours->lowest));
    for (size_t bin = 0; bin < BINS; bin++)
        total += (double)colours->bins[bin];
    for (size_t bin = 0; bin < BINS; bin++) {
        double count = (double)colours->bins[bin], rank = (below + count / 2) / total, weight = colours->rank_weight;
        double place = log_range > 0 ? log1p((double)bin_start(bin)) / log_range : 0;
        below += count;
        colours->bins[bin] = (uint64_t)(fmin(1, weight * rank + (1 - weight) * place) * (COLOUR_STEPS - 1));
    }
}

static void paint_integer(const struct colours *colours, uint64_t value, uint8_t *rgb)
{
    static const uint8_t black[3] = {0, 0, 0}, not_computed[3] = {72, 72, 76};
    if (is_special(colours, value))
        memcpy(rgb, value == colours->nothing ? not_computed : black, 3);
    else
        memcpy(rgb, colours->map[colours->bins[bin_of(value - colours->lowest)]], 3);
}

static void paint_real(const struct colours *colours, double value, uint8_t *rgb)
{
    static const uint8_t no_number[3] = {128, 128, 128};
    double range = colours->to - colours->from;
    if (isnan(value)) {
        memcpy(rgb, no_number, 3);
        return;
    }
    double place = range > 0 ? (value - colours->from) / range : 0.5;
    size_t step = (size_t)(fmin(1, fmax(0, place)) * (COLOUR_STEPS - 1));
    memcpy(rgb, colours->map[step], 3);
}

void colours_paint(const struct colours *colours, const void *row, uint64_t count, uint8_t *rgb)
{
    for (uint64_t i = 0; i < count; i++, rgb += 3) {
        if (is_real(colours->type))
            paint_real(colours, colour_real_at(colours->type, row, i), rgb);
        else
            paint_integer(colours, integer_at(colours->type, row, i), rgb);
    }
}
