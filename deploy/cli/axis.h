/* SPDX-License-Identifier: MIT */
/* An axis of a picture: where its ends and ticks are, and how the numbers on it read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct axis {
    bool logarithmic;
    bool real; /* ticks may be no whole numbers; set behind axis_linear() or axis_logarithmic() */
    double low, high;
};

/* From 0 to `high`. */
void axis_linear(struct axis *axis, double high);

/* From `low`, above 0, to `high`. */
void axis_logarithmic(struct axis *axis, double low, double high);

/* Returns the place of a value on the axis, 0 at the low end and 1 at the high end. */
double axis_place(const struct axis *axis, double value);

/* The settings of gnuplot's axis `name`, "x", "y" or "cb". */
void axis_write(const struct axis *axis, const char *name, FILE *script);

/* 1,000,000; cut at `size`. */
void axis_group_digits(uint64_t value, char *text, size_t size);
