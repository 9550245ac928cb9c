/* SPDX-License-Identifier: MIT */
/* Searches the parts of an earlier run before that run is resumed. Finds which of the iterations that are recorded as
 * done exist, are undamaged, or have failed. */
#include "common/results/parts.h"
#include "common/util/digest.h"

struct look {
    const struct hdss_loop *loop;
    const struct ranges *done;
    enum parts_wanted wanted;
    struct ranges *found;
    uint64_t digest;
};

static uint64_t parts_look_take_streams(const struct look *look, uint64_t iteration, const struct block *block,
                                        uint32_t i, const unsigned char *at[HDSS_STREAMS_MAX])
{
    const void *bytes[HDSS_STREAMS_MAX];
    uint32_t lengths[HDSS_STREAMS_MAX];
    unsigned same = 0;
    for (unsigned s = 0; s < block->streams; s++) {
        bytes[same] = at[s];
        lengths[same] = block_length(block, i, s);
        at[s] += lengths[same];
        same += !look->loop->stream[s].differs;
    }
    return digest_streams(iteration, same, bytes, lengths);
}

static int parts_look_take(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                           struct error *error)
{
    struct look *look = context;
    const unsigned char *at[HDSS_STREAMS_MAX];
    for (unsigned s = 0; block != NULL && s < block->streams; s++)
        at[s] = block->stream[s];
    for (uint32_t i = 0; i < from + count; i++) {
        const uint64_t iteration = first + i - from;
        const uint64_t digest = block != NULL ? parts_look_take_streams(look, iteration, block, i, at) : 0;
        const bool is_wanted = look->wanted != PARTS_FAILED || block_failed(block, i);
        if (i < from || !is_wanted || !ranges_contains(look->done, iteration))
            continue;
        look->digest += digest;
        if (ranges_add(look->found, iteration, 1, NULL) < 0)
            return error_set(error, "out of memory for what is in the parts of the output");
    }
    return 0;
}

int parts_look(const char *path, const struct hdss_loop *loop, const struct ranges *done, enum parts_wanted wanted,
               struct ranges *found, uint64_t *digest, struct error *error)
{
    struct look look = {.loop = loop, .done = done, .wanted = wanted, .found = found};
    int result = !parts_begun(path)
                     ? 0
                     : parts_sweep(path, loop, NULL, wanted == PARTS_WITH_HEAD, parts_look_take, &look, error);
    *digest = look.digest;
    return result;
}
