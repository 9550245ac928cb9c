/* SPDX-License-Identifier: MIT */
/* The filter of mpirun's standard error: the bytes come in pieces, whose lengths follow from the first byte. What
 * passes is a part of what came, in its order, and does not depend on how it was cut. */
#include "deploy/cli/stderr_filter.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

struct passed {
    char *bytes;
    size_t length, room;
};

static void take(void *context, const char *bytes, size_t count)
{
    struct passed *passed = context;
    REQUIRE(passed->length + count <= passed->room);
    memcpy(passed->bytes + passed->length, bytes, count);
    passed->length += count;
}

static void filter(struct passed *passed, const uint8_t *bytes, size_t size, size_t piece)
{
    struct stderr_filter stderr_filter;
    passed->room = size;
    passed->length = 0;
    passed->bytes = malloc(size + 1);
    REQUIRE(passed->bytes != NULL);
    stderr_filter_init(&stderr_filter, take, passed);
    for (size_t at = 0; at < size; at += piece)
        stderr_filter_take(&stderr_filter, (const char *)bytes + at, size - at < piece ? size - at : piece);
    stderr_filter_flush(&stderr_filter);
}

static void check_is_part(const struct passed *passed, const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < size && at < passed->length; i++)
        at += passed->bytes[at] == (char)bytes[i];
    REQUIRE(at == passed->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct passed whole, cut;
    if (size == 0)
        return 0;
    filter(&whole, bytes + 1, size - 1, size);
    filter(&cut, bytes + 1, size - 1, bytes[0] + 1u);
    REQUIRE(whole.length == cut.length && memcmp(whole.bytes, cut.bytes, cut.length) == 0);
    check_is_part(&whole, bytes + 1, size - 1);
    free(whole.bytes);
    free(cut.bytes);
    return 0;
}
