/* SPDX-License-Identifier: MIT */
/* Needs of tasks: see needs.h. */
#include "worker/kernels/exec/needs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX UINT64_C(1000000)

static const char *const names[NEEDS] = {"cores", "memory", "gpus"};
static const char units[] = "KMGT";

static int refuse_need(enum need need, const char *text, size_t length, struct error *error)
{
    static const char *const accepted[NEEDS] = {
        "a number of cores, such as 2",
        "bytes, or a number with K, M, G or T behind it, such as 512M or 2GB",
        "a number of GPUs, such as 1",
    };
    return error_set(error, "%s '%.*s': accepted: %s", names[need], (int)(length < 60 ? length : 60), text,
                     accepted[need]);
}

static int unit_shift(char unit)
{
    const char *found = strchr(units, toupper((unsigned char)unit));
    return unit == '\0' || found == NULL ? -1 : 10 * (int)(found - units + 1);
}

int need_parse(enum need need, const char *text, size_t length, uint64_t *amount, struct error *error)
{
    uint64_t value = 0, most = need == NEED_MEMORY ? UINT64_MAX >> 1 : COUNT_MAX;
    size_t at = 0;
    for (; at < length && isdigit((unsigned char)text[at]); at++) {
        unsigned digit = (unsigned)(text[at] - '0');
        if (value > (most - digit) / 10)
            return refuse_need(need, text, length, error);
        value = 10 * value + digit;
    }
    size_t unit = length - at;
    if (unit > 1 && toupper((unsigned char)text[length - 1]) == 'B')
        unit -= 1 + (unit == 3 && text[length - 2] == 'i');
    if (at > 0 && unit == 1 && need == NEED_MEMORY) {
        int shift = unit_shift(text[at]);
        if (shift < 0 || value > most >> shift)
            return refuse_need(need, text, length, error);
        value <<= shift;
        at = length;
    }
    if (at == 0 || at < length)
        return refuse_need(need, text, length, error);
    *amount = value;
    return 0;
}

static const char *memory_text(uint64_t bytes, char text[NEED_TEXT_MAX])
{
    unsigned unit = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit < sizeof units - 1) {
        value /= 1024;
        unit++;
    }
    const char letter[] = {unit > 0 ? units[unit - 1] : '\0', '\0'};
    snprintf(text, NEED_TEXT_MAX, unit > 0 ? "%.4g%s of memory" : "%.0f%s bytes of memory", value, letter);
    return text;
}

const char *need_text(enum need need, uint64_t amount, char text[NEED_TEXT_MAX])
{
    if (need == NEED_MEMORY)
        return memory_text(amount, text);
    const char *name = need == NEED_CORES ? "core" : "GPU";
    snprintf(text, NEED_TEXT_MAX, "%" PRIu64 " %s%s", amount, name, amount == 1 ? "" : "s");
    return text;
}

int needs_init(struct needs_source *source, const struct tasks *tasks, uint64_t cores, const char *memory,
               uint64_t gpus, struct error *error)
{
    *source = (struct needs_source){.all = {{[NEED_CORES] = cores, [NEED_GPUS] = gpus}}};
    if (memory[0] != '\0' &&
        need_parse(NEED_MEMORY, memory, strlen(memory), &source->all.amount[NEED_MEMORY], error) < 0)
        return -1;
    for (unsigned i = 0; i < NEEDS; i++) {
        source->column[i] = tasks_column(tasks, names[i]);
        source->is_counted[i] = source->column[i] >= 0 || source->all.amount[i] > 0;
    }
    if (source->is_counted[NEED_CORES] && cores == 0)
        source->all.amount[NEED_CORES] = 1; /* a task whose row does not say how many cores it needs gets one core */
    return 0;
}

int needs_of_task(const struct needs_source *source, const struct tasks *tasks, struct needs *needs,
                  struct error *error)
{
    *needs = source->all;
    for (enum need i = 0; i < NEEDS; i++) {
        if (source->column[i] < 0)
            continue;
        struct piece field = tasks_field(tasks, (unsigned)source->column[i]);
        if (field.length > 0 && need_parse(i, field.text, field.length, &needs->amount[i], error) < 0)
            return -1;
    }
    return 0;
}

int needs_check(const struct needs *needs, const struct needs *has, struct error *error)
{
    char wanted[NEED_TEXT_MAX], there[NEED_TEXT_MAX];
    for (enum need i = 0; i < NEEDS; i++)
        if (needs->amount[i] > has->amount[i])
            return error_set(error, "needs %s; this node has %s", need_text(i, needs->amount[i], wanted),
                             need_text(i, has->amount[i], there));
    return 0;
}
