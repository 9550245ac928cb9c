/* SPDX-License-Identifier: MIT */
/* The checksum: see digest.h. */
#define XXH_INLINE_ALL
#include "common/util/digest.h"

#include <xxhash.h>

uint64_t digest_record(uint64_t iteration, const void *record, size_t bytes)
{
    return XXH3_64bits_withSeed(record, bytes, iteration);
}

uint64_t digest_streams(uint64_t iteration, unsigned streams, const void *const *bytes, const uint32_t *lengths)
{
    uint64_t digest = iteration;
    for (unsigned s = 0; s < streams; s++)
        digest = XXH3_64bits_withSeed(bytes[s], lengths[s], digest);
    return digest;
}

/* For records of one 64-bit number, which are the most frequent. Their constant length lets the compiler reduce the
 * hash to a few instructions. */
static uint64_t digest_words(uint64_t first, uint64_t count, const char *word)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++, word += sizeof(uint64_t))
        sum += XXH3_64bits_withSeed(word, sizeof(uint64_t), first + i);
    return sum;
}

static uint64_t digest_halfwords(uint64_t first, uint64_t count, const char *word)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++, word += sizeof(uint32_t))
        sum += XXH3_64bits_withSeed(word, sizeof(uint32_t), first + i);
    return sum;
}

uint64_t digest_records(uint64_t first, uint64_t count, const void *records, size_t record_bytes)
{
    const char *record = records;
    uint64_t sum = 0;
    if (record_bytes == sizeof(uint64_t))
        return digest_words(first, count, record);
    if (record_bytes == sizeof(uint32_t))
        return digest_halfwords(first, count, record);
    for (uint64_t i = 0; i < count; i++, record += record_bytes)
        sum += XXH3_64bits_withSeed(record, record_bytes, first + i);
    return sum;
}
