/* SPDX-License-Identifier: MIT */
/* Packs and unpacks announcements: see announcement.h. */
#include "proto/announcement.h"

#include "common/util/error.h"
#include "proto/message.h"
#include "proto/wire.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 20

static size_t size_of_all(char *const *strings, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += strlen(strings[i]) + 1;
    return size;
}

size_t announcement_size(const struct announcement *announcement)
{
    return HEAD_BYTES + strlen(announcement->folder) + 1 + size_of_all(announcement->words, announcement->word_count) +
           size_of_all(announcement->environment, announcement->variable_count);
}

static char *put_all(char *out, char *const *strings, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        out = stpcpy(out, strings[i]) + 1;
    return out;
}

void announcement_pack(const struct announcement *announcement, unsigned char *out)
{
    wire_put32(out, announcement->weight);
    wire_put32(out + 4, (uint32_t)announcement->priority);
    wire_put32(out + 8, announcement->umask);
    wire_put32(out + 12, announcement->word_count);
    wire_put32(out + 16, announcement->variable_count);
    char *end = stpcpy((char *)out + HEAD_BYTES, announcement->folder) + 1;
    end = put_all(end, announcement->words, announcement->word_count);
    end = put_all(end, announcement->environment, announcement->variable_count);
    assert((size_t)(end - (char *)out) == announcement_size(announcement));
}

static char *list_strings(char *string, char **list, unsigned count)
{
    for (unsigned i = 0; i < count; i++, string += strlen(string) + 1)
        list[i] = string;
    list[count] = NULL;
    return string;
}

static bool are_variables(char *const *list)
{
    while (*list != NULL && strchr(*list, '=') != NULL && **list != '=')
        list++;
    return *list == NULL;
}

static size_t count_strings(const unsigned char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\0';
    return count;
}

static bool is_whole(const struct announcement *announcement, const unsigned char *bytes, size_t size)
{
    const uint64_t strings = 1 + (uint64_t)announcement->word_count + announcement->variable_count;
    if (announcement->weight < 1 || announcement->weight > ANNOUNCEMENT_WEIGHT_MAX || announcement->umask > 0777 ||
        announcement->word_count < 1)
        return false;
    return size > HEAD_BYTES && bytes[size - 1] == '\0' && bytes[HEAD_BYTES] == '/' &&
           count_strings(bytes + HEAD_BYTES, size - HEAD_BYTES) == strings;
}

int announcement_unpack(struct announcement *announcement, const unsigned char *bytes, size_t size, struct error *error)
{
    *announcement = (struct announcement){0};
    if (size <= HEAD_BYTES || size > ANNOUNCEMENT_MAX)
        return error_set(error, "an announcement of %zu bytes", size);
    announcement->weight = wire_get32(bytes);
    announcement->priority = (int)wire_get32(bytes + 4);
    announcement->umask = wire_get32(bytes + 8);
    announcement->word_count = wire_get32(bytes + 12);
    announcement->variable_count = wire_get32(bytes + 16);
    if (!is_whole(announcement, bytes, size))
        return error_set(error, "an announcement that is none");
    const size_t pointers = (size_t)announcement->word_count + announcement->variable_count + 2;
    char **list = malloc(pointers * sizeof *list + size - HEAD_BYTES);
    if (list == NULL)
        return error_set(error, "out of memory for the words of a job");
    char *string = (char *)(list + pointers), **variables = list + announcement->word_count + 1;
    memcpy(string, bytes + HEAD_BYTES, size - HEAD_BYTES);
    announcement->memory = list;
    announcement->folder = string;
    string = list_strings(string + strlen(string) + 1, list, announcement->word_count);
    list_strings(string, variables, announcement->variable_count);
    announcement->words = list;
    announcement->environment = variables;
    if (are_variables(variables))
        return 0;
    announcement_fini(announcement);
    return error_set(error, "an announcement with a variable that is none");
}

void announcement_fini(struct announcement *announcement)
{
    free(announcement->memory);
    *announcement = (struct announcement){0};
}
