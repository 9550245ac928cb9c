/* SPDX-License-Identifier: MIT */
/* Refused allocations: see memory.h. The linker gives what calls malloc() the function __wrap_malloc(), and what calls
 * __real_malloc() the C library's. */
#include "tests/seeds/memory.h"

#include <stddef.h>

static struct {
    bool inside;
    struct refusal refusal;
    uint64_t count, refused;
} memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void memory_refuse(const struct refusal *refusal)
{
    memory.refusal = *refusal;
    memory.count = memory.refused = 0;
}

void memory_in_machine(bool inside)
{
    memory.inside = inside;
}

uint64_t memory_refused(void)
{
    return memory.refused;
}

static bool is_refused(void)
{
    if (!memory.inside || memory.refusal.nth == 0)
        return false;
    memory.count++;
    bool refused = memory.count == memory.refusal.nth || (memory.refusal.for_good && memory.count > memory.refusal.nth);
    memory.refused += refused;
    return refused;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_refused() ? NULL : __real_realloc(old, size);
}
