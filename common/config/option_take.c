/* SPDX-License-Identifier: MIT */
/* Reads a value as its row says: see options.h. */
#include "common/config/options.h"
#include "common/sched/sched.h"
#include "common/util/number.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int option_choice(const char *choices, const char *value)
{
    size_t value_length = strlen(value);
    for (int index = 0;; index++) {
        size_t length = strcspn(choices, "|");
        if (length == value_length && strncmp(choices, value, length) == 0)
            return index;
        if (choices[length] == '\0')
            return -1;
        choices += length + 1;
    }
}

const char *option_accepted(const struct option_row *row, char text[OPTION_ACCEPTED_MAX])
{
    char least[NUMBER_BOUND_MAX], most[NUMBER_BOUND_MAX];
    size_t used = 0;
    if (row->accepted != NULL)
        return row->accepted;
    /* The conversion to double is exact for all bounds: these are integers up to 2^53 or powers of two. */
    number_bound_text((double)row->least, least);
    number_bound_text((double)row->most, most);
    switch (row->kind) {
    case OPTION_INTEGER: snprintf(text, OPTION_ACCEPTED_MAX, "an integer from %s to %s", least, most); break;
    case OPTION_SECONDS: snprintf(text, OPTION_ACCEPTED_MAX, "a number of seconds from 0 to %s", most); break;
    case OPTION_CHOICE:
        for (const char *choice = row->value; used + 3 < OPTION_ACCEPTED_MAX && *choice != '\0'; choice++)
            used += (size_t)snprintf(text + used, OPTION_ACCEPTED_MAX - used, *choice == '|' ? ", " : "%c", *choice);
        break;
    default: snprintf(text, OPTION_ACCEPTED_MAX, "%s", row->value); break;
    }
    return text;
}

static void put_number(const struct option_row *row, unsigned char *member, uint64_t number)
{
    const bool truth = number != 0;
    const unsigned narrow = (unsigned)number;
    assert((row->size == sizeof number || row->size == sizeof narrow || row->size == sizeof truth) &&
           "a row's member is one of these three");
    assert((row->size != sizeof narrow || number <= UINT32_MAX) && "a row's bounds fit its member");
    if (row->size == sizeof number)
        memcpy(member, &number, sizeof number);
    else if (row->size == sizeof narrow)
        memcpy(member, &narrow, sizeof narrow);
    else
        memcpy(member, &truth, sizeof truth);
}

static int take_integer(const struct option_row *row, unsigned char *member, const char *value)
{
    uint64_t number = 0;
    const bool is_zero = row->zero != NULL && strcmp(value, row->zero) == 0;
    if (!is_zero && (number_parse_u64(value, &number) < 0 || number < row->least || number > row->most))
        return -1;
    put_number(row, member, number);
    return 0;
}

static int take_seconds(const struct option_row *row, unsigned char *member, const char *value)
{
    double seconds;
    if (number_parse_real(value, &seconds) < 0 || seconds < 0 || seconds > (double)row->most)
        return -1;
    put_number(row, member, (uint64_t)(seconds * 1e9));
    return 0;
}

static int take_choice(const struct option_row *row, unsigned char *member, const char *value)
{
    int index = option_choice(row->value, value);
    if (index < 0)
        return -1;
    put_number(row, member, (uint64_t)index);
    return 0;
}

static int option_take_word(const struct option_row *row, unsigned char *member, const char *value)
{
    if (strlen(value) < row->least)
        return -1;
    memcpy(member, &value, sizeof value);
    return 0;
}

int option_take_path(char *path, size_t size, const char *value, struct error *error)
{
    if (*value == '\0')
        return error_set(error, "the file name is empty");
    if (strlen(value) >= size)
        return error_set(error, "the file name is longer than %zu characters", size - 1);
    strcpy(path, value);
    return 0;
}

int option_take(const struct option_row *row, void *target, const char *value, struct error *error)
{
    /* `target` may be NULL if the row has an apply() that does not use it. */
    unsigned char *member = target != NULL ? (unsigned char *)target + row->offset : NULL;
    const bool given = true;
    int result = 0;
    switch (row->kind) {
    case OPTION_PARSED: result = row->apply(target, value, error); break;
    case OPTION_FLAG: put_number(row, member, 1); break;
    case OPTION_INTEGER: result = take_integer(row, member, value); break;
    case OPTION_SECONDS: result = take_seconds(row, member, value); break;
    case OPTION_CHOICE: result = take_choice(row, member, value); break;
    case OPTION_WORD: result = option_take_word(row, member, value); break;
    case OPTION_PATH: result = option_take_path((char *)member, row->size, value, error); break;
    case OPTION_TECHNIQUE: result = sched_spec_parse((struct sched_spec *)(void *)member, value, error); break;
    }
    if (result == 0 && row->given > 0)
        memcpy((unsigned char *)target + row->given, &given, sizeof given);
    return result;
}
