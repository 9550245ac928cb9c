/* SPDX-License-Identifier: MIT */
/* The checksum of a run's results: the sum, modulo 2^64, of XXH3-64 over each iteration's record, with the iteration's
 * number as seed.
 *
 * The seed binds each record to its iteration. The sum does not depend on the order of iterations, or on which worker
 * adds which iterations. A lost, duplicated or misplaced record changes the value. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t digest_records(uint64_t first, uint64_t count, const void *records, size_t record_bytes);

/* Digest of an iteration with several streams: the hash of each stream is the seed of the hash of the next stream. For
 * one stream it equals digest_record(). */
uint64_t digest_streams(uint64_t iteration, unsigned streams, const void *const *bytes, const uint32_t *lengths);

uint64_t digest_record(uint64_t iteration, const void *record, size_t bytes);
