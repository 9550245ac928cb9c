/* SPDX-License-Identifier: MIT */
/* JSON values of C values that JSON cannot represent exactly. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* If the text is not UTF-8, as file names may be, its non-ASCII bytes become '?'. */
json_t *json_of_text(const char *text);

/* An integer, or the nearest real from 2^63 on. */
json_t *json_of_count(uint64_t value);

/* A real; 0 for NaN and infinities. */
json_t *json_of_number(double value);
