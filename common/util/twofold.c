/* SPDX-License-Identifier: MIT */
/* Double-double numbers: see twofold.h. */
#include "common/util/twofold.h"

/* Every integer below this is exact as a double. */
#define DIGITS_END  1e15
#define PLACES_MAX  44
#define PLACES_HALF 22 /* 10^22 is the largest power of ten that is exact as a double */

static const double tens[PLACES_HALF + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool twofold_of_decimal(struct twofold *number, double value)
{
    unsigned places = 0;
    double first = 1, second = 1;
    *number = twofold_of(value);
    if (value == floor(value) || !(value > 0 && value < DIGITS_END))
        return value == floor(value);
    while (value * first * second * 10 < DIGITS_END && places < PLACES_MAX) {
        places++;
        first = tens[places < PLACES_HALF ? places : PLACES_HALF];
        second = tens[places > PLACES_HALF ? places - PLACES_HALF : 0];
    }
    struct twofold digits = twofold_of(floor(value * first * second + 0.5));
    struct twofold decimal = twofold_divide(digits, twofold_product_of(first, second));
    if (decimal.high != value)
        return false;
    *number = decimal;
    return true;
}
