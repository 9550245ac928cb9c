/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli, the polynomial of iSCSI and ext4): for bytes that may come back torn or with a bit changed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The checksum of `bytes`, after those that `before` is the checksum of; 0 to begin with. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t count);
