/* SPDX-License-Identifier: MIT */
/* CRC-32C: see crc.h. Four bits are processed at a time, with a table of 16 words. This is fast enough for occasional
 * kilobytes. */
#include "common/util/crc.h"

/* Remainders of the 16 values of four bits. The polynomial is 0x1EDC6F41, reflected. */
static const uint32_t remainders[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c(uint32_t before, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    uint32_t crc = ~before;
    for (size_t i = 0; i < count; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}
