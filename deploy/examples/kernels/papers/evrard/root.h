/* SPDX-License-Identifier: MIT */
/* The cube root of a positive number. Unlike cbrt(), it gives the same bits on every machine, because it uses only
 * exactly defined operations. */
#pragma once

static inline double cube_root(double number)
{
    double root = number > 1 ? number : 1, before;
    do {
        before = root;
        root -= (root - number / (root * root)) / 3;
    } while (root < before);
    return before;
}
