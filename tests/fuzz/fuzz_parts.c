/* SPDX-License-Identifier: MIT */
/* A file of parts, whatever is in it: what is handed over is in the loop, in order, each iteration once, and of blocks
 * that hold what they say. Who follows the parts gets all of that, too. The first HEAD_BYTES bytes are the number of
 * streams and the loop's length; what follows is the file. So that a made-up entry gets past its checksums, they are
 * corrected where the third byte says so. */
#include "tests/fuzz/fuzz.h"
#include "common/results/parts.h"
#include "common/results/tail.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 3 };

enum { ITERATIONS_MAX = 256 };

struct seen {
    const struct hdss_loop *loop;
    uint64_t next;
    bool swept[ITERATIONS_MAX];
};

static int take(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                struct error *error)
{
    (void)error;
    struct seen *seen = context;
    unsigned sum = 0;
    REQUIRE(count > 0 && from <= block->count && count <= block->count - from);
    REQUIRE(first >= seen->next && first + count <= seen->loop->iterations);
    seen->next = first + count;
    for (uint64_t i = first; i < first + count; i++)
        seen->swept[i] = true;
    for (unsigned s = 0; s < block->streams; s++)
        for (uint64_t i = 0; i < block->bytes[s]; i++)
            sum |= block->stream[s][i];
    return sum > UINT8_MAX ? -1 : 0; /* never: all of it is read */
}

/* Follows the file: whole entries in their order, and each iteration that was swept. */
static void follow(const char *output, unsigned streams, const struct seen *seen)
{
    struct error error = {0};
    struct results_entry entry;
    uint64_t first;
    bool followed[ITERATIONS_MAX] = {false};
    struct results_tail *tail = results_tail_begin(output, streams, true, &error);
    REQUIRE(tail != NULL);
    while (results_tail_next(tail, true, &entry, &error) > 0) {
        const struct block *block = results_tail_block(tail);
        REQUIRE(block->count > 0);
        for (uint64_t i = 0; i < block->count; i++)
            if (entry.first + i < ITERATIONS_MAX)
                followed[entry.first + i] = true;
        REQUIRE(results_tail_load(tail, entry.place, &first, &error) == 0 && first == entry.first);
    }
    for (unsigned i = 0; i < ITERATIONS_MAX; i++)
        REQUIRE(followed[i] || !seen->swept[i]);
    results_tail_end(tail);
}

/* Writes the checksums of all entries as far as there are whole ones. */
static void correct(unsigned char *bytes, size_t size)
{
    for (size_t at = 0; size - at > PART_HEAD_BYTES;) {
        uint64_t length = wire_get64(bytes + at + 24), left = size - at - PART_HEAD_BYTES;
        memcpy(bytes + at, "HDSB", 4);
        if (length > left)
            wire_put64(bytes + at + 24, length = left);
        wire_put64(bytes + at + 32, digest_record(wire_get64(bytes + at + 8), bytes + at + PART_HEAD_BYTES, length));
        wire_put64(bytes + at + 40, digest_record(0, bytes + at, 40));
        at += PART_HEAD_BYTES + length;
    }
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[] = "/tmp/hdss-fuzz-parts-XXXXXX";
    static char output[sizeof folder + 10], parts[sizeof output + 10], file[sizeof parts + 10];
    if (size < HEAD_BYTES)
        return 0;
    if (output[0] == '\0') {
        REQUIRE(mkdtemp(folder) != NULL);
        snprintf(output, sizeof output, "%s/out", folder);
        snprintf(parts, sizeof parts, "%s.parts", output);
        snprintf(file, sizeof file, "%s/1-0", parts);
    }
    REQUIRE(mkdir(parts, 0700) == 0);
    const struct hdss_loop loop = {.iterations = bytes[1], .streams = bytes[0] % HDSS_STREAMS_MAX + 1};
    struct seen seen = {.loop = &loop};
    struct error error = {0};
    unsigned char *copy = malloc(size);
    REQUIRE(copy != NULL);
    memcpy(copy, bytes + HEAD_BYTES, size - HEAD_BYTES);
    if (bytes[2] & 1)
        correct(copy, size - HEAD_BYTES);
    write_file(file, copy, size - HEAD_BYTES);
    REQUIRE(parts_sweep(output, &loop, NULL, false, take, &seen, &error) == 0);
    follow(output, loop.streams, &seen);
    free(copy);
    parts_remove(output);
    return 0;
}
