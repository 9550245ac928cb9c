/* SPDX-License-Identifier: MIT */
/* The cube root of a positive number, by operations that are exact to the last bit on every machine; cbrt() is not. */
#pragma once

static inline double cube_root(double number)
{
    double root = number > 1 ? number : 1, before;
    do { /* Newton, from above */
        before = root;
        root -= (root - number / (root * root)) / 3;
    } while (root < before);
    return before;
}
