/* SPDX-License-Identifier: MIT */
/* Comma-separated lists: see list.h. */
#include "common/util/list.h"

#include <stdio.h>
#include <string.h>

bool list_next(const char **list, char *word, size_t size)
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

size_t list_count(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}
