/* SPDX-License-Identifier: MIT */
/* Values of JSON, of values that it cannot hold as they are. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* A string; a file name may be no UTF-8, which JSON cannot hold: then bytes beyond ASCII become '?'. */
json_t *json_of_text(const char *text);

/* An integer, or beyond 2^63 the nearest number. */
json_t *json_of_count(uint64_t value);

/* A number; 0 for what is none. */
json_t *json_of_number(double value);
