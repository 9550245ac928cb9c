/* The checksum: see digest.h. */
#define XXH_INLINE_ALL
#include "common/util/digest.h"

#include <xxhash.h>

uint64_t digest_record(uint64_t iteration, const void *record, size_t bytes)
{
    return XXH3_64bits_withSeed(record, bytes, iteration);
}

uint64_t digest_records(uint64_t first, uint64_t count, const void *records, size_t record_bytes)
{
    const char *record = records;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++, record += record_bytes)
        sum += XXH3_64bits_withSeed(record, record_bytes, first + i);
    return sum;
}
