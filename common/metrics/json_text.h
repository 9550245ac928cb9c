/* SPDX-License-Identifier: MIT */
/* Makes JSON values of C values that JSON cannot always represent exactly. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* If the text is not UTF-8, as file names may be, its non-ASCII bytes become '?'. */
json_t *json_of_text(const char *text);

/* Returns a JSON integer, or from 2^63 on the nearest real. */
json_t *json_of_count(uint64_t value);

/* Returns a JSON real; 0 for NaN and infinities. */
json_t *json_of_number(double value);
