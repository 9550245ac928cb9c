/* SPDX-License-Identifier: MIT */
/* The checksum of a run's results.
 *
 * It is the sum, modulo 2^64, of XXH3-64 over each iteration's record, seeded with the iteration's number.
 * The seed ties every record to its place, so that the value is that of the results in iteration order; the
 * sum lets each worker compute its own part, in any order and any cut. A range that is done once contributes
 * once; a lost, doubled or misplaced record changes the value. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Digest of `count` records of `record_bytes` each that follow one another at `records`, of iterations
 * first .. first + count - 1. */
uint64_t digest_records(uint64_t first, uint64_t count, const void *records, size_t record_bytes);

/* Digest of an iteration that yields bytes on streams: that of each, begun with that of the one before. Of one stream
 * it is that of a record. */
uint64_t digest_streams(uint64_t iteration, unsigned streams, const void *const *bytes, const uint32_t *lengths);

/* Digest of the one record of `iteration`. */
uint64_t digest_record(uint64_t iteration, const void *record, size_t bytes);
