/* SPDX-License-Identifier: MIT */
/* Little-endian integers and real numbers at any address. On a little-endian machine each access is one load or
 * store. */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void wire_put16(unsigned char *out, uint16_t value)
{
    value = htole16(value);
    memcpy(out, &value, sizeof value);
}

static inline void wire_put32(unsigned char *out, uint32_t value)
{
    value = htole32(value);
    memcpy(out, &value, sizeof value);
}

static inline void wire_put64(unsigned char *out, uint64_t value)
{
    value = htole64(value);
    memcpy(out, &value, sizeof value);
}

static inline uint16_t wire_get16(const unsigned char *in)
{
    uint16_t value;
    memcpy(&value, in, sizeof value);
    return le16toh(value);
}

static inline uint32_t wire_get32(const unsigned char *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return le32toh(value);
}

static inline uint64_t wire_get64(const unsigned char *in)
{
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return le64toh(value);
}

static inline void wire_put_float(unsigned char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_put32(out, bits);
}

static inline void wire_put_double(unsigned char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_put64(out, bits);
}

static inline float wire_get_float(const unsigned char *in)
{
    uint32_t bits = wire_get32(in);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double wire_get_double(const unsigned char *in)
{
    uint64_t bits = wire_get64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns true if the number is negative, infinite or NaN. If the bits of such a number are read as an integer, the
 * integer is above that of the largest finite number. */
static inline bool wire_float_is_bad(const unsigned char *in)
{
    return wire_get32(in) > 0x7f7fffff;
}

static inline bool wire_double_is_bad(const unsigned char *in)
{
    return wire_get64(in) > 0x7fefffffffffffff;
}
