/* Little-endian integers in bytes, on any machine. */
#pragma once

#include <stdint.h>

static inline void wire_put16(unsigned char *out, uint16_t value)
{
    out[0] = (unsigned char)value;
    out[1] = (unsigned char)(value >> 8);
}

static inline void wire_put32(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static inline void wire_put64(unsigned char *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static inline uint16_t wire_get16(const unsigned char *in)
{
    return (uint16_t)(in[0] | in[1] << 8);
}

static inline uint32_t wire_get32(const unsigned char *in)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)in[i] << (8 * i);
    return value;
}

static inline uint64_t wire_get64(const unsigned char *in)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}
