/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli, used by iSCSI and ext4), for data that may be truncated or corrupted. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of all bytes so far, including `bytes`. `before` is the checksum of the bytes before `bytes`; 0:
 * there are none. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t count);
