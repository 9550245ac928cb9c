/* SPDX-License-Identifier: MIT */
/* Reading "1-12:00:00": see duration.h. */
#include "deploy/cli/duration.h"

#include <string.h>

/* "90s", "30m", "2h", "1d". */
static const char units[] = "smhd";
static const uint64_t unit_seconds[] = {1, 60, 3600, 24 * 3600};

enum { DIGITS_MAX = 10, LONGEST = INT32_MAX };

/* The number before `*text`'s next separator. */
static int duration_take_part(const char **text, uint64_t *number)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > DIGITS_MAX)
        return -1;
    *number = 0;
    for (; length > 0; length--, ++*text)
        *number = 10 * *number + (uint64_t)(**text - '0');
    return 0;
}

int duration_parse(const char *text, uint64_t *seconds)
{
    uint64_t days = 0, total = 0, part;
    if (duration_take_part(&text, &part) < 0)
        return -1;
    const char *unit = *text != '\0' && text[1] == '\0' ? strchr(units, *text) : NULL;
    if (unit != NULL) {
        total = part * unit_seconds[unit - units];
        if (total > LONGEST)
            return -1;
        *seconds = total;
        return 0;
    }
    int parts = 1, least = 1;
    if (*text == '-') { /* hours, minutes and seconds follow */
        days = part;
        least = 3;
        text++;
        if (duration_take_part(&text, &part) < 0)
            return -1;
    }
    for (total = part; *text == ':'; parts++) {
        text++;
        if (duration_take_part(&text, &part) < 0 || part > 59)
            return -1;
        total = 60 * total + part;
    }
    total += 24 * 3600 * days;
    if (*text != '\0' || parts < least || parts > 3 || total > LONGEST)
        return -1;
    *seconds = total;
    return 0;
}

int duration_parse_some(const char *text, uint64_t *seconds)
{
    uint64_t parsed;
    if (duration_parse(text, &parsed) < 0 || parsed == 0)
        return -1;
    *seconds = parsed;
    return 0;
}
