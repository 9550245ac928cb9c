/* SPDX-License-Identifier: MIT */
/* blocks_take(): what a worker finds in the memory that it shares with a helper, of whose user code any byte may be.
 * The first byte says how many streams there are, and whether output of failed iterations is kept. What is believed has
 * iterations of the command only, and leaves as blocks that read back. */
#include "tests/fuzz/fuzz.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "worker/exec/blocks.h"
#include "worker/exec/output.h"

#include <string.h>

enum { FIRST = 1000, COUNT = 100, KEEPS = 4 };

static void take_off(struct output *output)
{
    const struct hdss_loop loop = {.streams = output->streams};
    while (output_count(output) > 0) {
        size_t bytes;
        struct block block;
        uint64_t count = output_fit(output, &bytes);
        unsigned char *out = malloc(bytes);
        REQUIRE(out != NULL && count > 0 && count <= output_count(output));
        output_take(output, count, &loop, out);
        REQUIRE(block_read(&block, out, bytes, output->streams) && block.count == count);
        free(out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct output output;
    uint64_t first = FIRST, taken;
    uint32_t count = 0;
    if (size == 0)
        return 0;
    output_init(&output, 1 + bytes[0] % HDSS_STREAMS_MAX, bytes[0] & KEEPS);
    output_clear(&output, FIRST);
    unsigned char *copy = malloc(size); /* exactly as long as it must be, and aligned as what is shared */
    REQUIRE(copy != NULL);
    memcpy(copy, bytes + 1, size - 1);
    for (uint64_t left = size - 1, at = 0; left > 0; left -= taken < left ? taken : left, at += taken, first += count) {
        taken = blocks_take(&output, copy + at, left, first, FIRST + COUNT, &count);
        if (taken == 0)
            break;
        REQUIRE(count > 0 && count <= FIRST + COUNT - first && taken % 8 == 0 && taken < left + 8);
        REQUIRE(output.next == first + count);
        take_off(&output);
    }
    free(copy);
    output_fini(&output);
    return 0;
}
