/* SPDX-License-Identifier: MIT */
/* Writes and reads findings: see findings.h. */
#include "common/config/findings.h"

#include "common/sched/plugin.h"
#include "common/util/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "found:"

char *findings_text(const struct findings *findings)
{
    struct text text;
    text_init(&text);
    text_add(&text, BEGIN);
    if (findings->has_inputs)
        text_add(&text, " inputs=%" PRIu64, findings->inputs);
    if (findings->grows)
        text_add(&text, " grows=1");
    if (findings->is_counted)
        text_add(&text, " added=%" PRIu64, findings->added);
    if (findings->unprobed)
        text_add(&text, " unprobed=1");
    if (findings->plugin_traits != 0)
        text_add(&text, " traits=%u", findings->plugin_traits);
    if (findings->loop != NULL)
        text_add(&text, " loop=%s", findings->loop);
    return text_take(&text);
}

static bool read_number(const char **at, const char *name, uint64_t most, uint64_t *number)
{
    const size_t length = strlen(name);
    char *end;
    if (strncmp(*at, name, length) != 0 || (*at)[length] < '0' || (*at)[length] > '9')
        return false;
    *number = strtoull(*at + length, &end, 10);
    if ((*end != ' ' && *end != '\0') || *number > most)
        return false;
    *at = end;
    return true;
}

static bool read_field(const char **at, struct findings *findings)
{
    uint64_t number;
    if (read_number(at, "inputs=", UINT64_MAX, &findings->inputs))
        return findings->has_inputs = true;
    if (read_number(at, "grows=", 1, &number))
        return findings->grows = number == 1, true;
    if (read_number(at, "added=", UINT64_MAX, &findings->added))
        return findings->is_counted = true;
    if (read_number(at, "unprobed=", 1, &number))
        return findings->unprobed = number == 1, true;
    if (read_number(at, "traits=", PLUGIN_TRAITS_ALL, &number))
        return findings->plugin_traits = (unsigned)number, true;
    if (strncmp(*at, "loop=", 5) != 0)
        return false;
    findings->loop = *at + 5;
    *at += strlen(*at);
    return true;
}

int findings_read(struct findings *findings, const char *word, struct error *error)
{
    *findings = (struct findings){0};
    if (word == NULL || strncmp(word, BEGIN, strlen(BEGIN)) != 0)
        return 0;
    for (const char *at = word + strlen(BEGIN); *at != '\0';)
        if (*at++ != ' ' || !read_field(&at, findings))
            return error_set(error, "what the supermaster has found of the job cannot be read: %.100s", word);
    return 0;
}
