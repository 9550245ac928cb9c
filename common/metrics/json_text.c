/* SPDX-License-Identifier: MIT */
/* JSON values: see json_text.h. */
#include "common/metrics/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_of_count(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *json_of_number(double value)
{
    return json_real(isfinite(value) ? value : 0);
}

json_t *json_of_text(const char *text)
{
    json_t *value = json_string(text);
    char *copy = value == NULL ? strdup(text) : NULL;
    if (copy == NULL)
        return value;
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(copy);
    free(copy);
    return value;
}
