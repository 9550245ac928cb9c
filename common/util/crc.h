/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli, used by iSCSI and ext4), for data that may be truncated or corrupted. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of all bytes so far and `bytes`: `before` is the checksum so far, at first 0. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t count);
