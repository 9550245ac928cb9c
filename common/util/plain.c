/* SPDX-License-Identifier: MIT */
/* Making words safe to print: see plain.h. */
#include "common/util/plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static uint32_t decode(const char *at, size_t *length)
{
    const unsigned char first = (unsigned char)*at;
    const unsigned bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t code = bytes < 2 ? first : first & (0x7fu >> bytes);
    *length = 0;
    if (bytes == 0 || first > 0xf4)
        return 0;
    for (unsigned i = 1; i < bytes; i++) {
        if (!is_continuation(at[i]))
            return 0;
        code = code << 6 | ((unsigned char)at[i] & 0x3f);
    }
    const uint32_t least = bytes == 3 ? 0x800 : bytes == 4 ? 0x10000 : 0;
    const bool is_none =
        code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || (code & 0xfffe) == 0xfffe;
    *length = is_none ? 0 : bytes;
    return code;
}

static bool is_obeyed(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static size_t plain_utf8(const char *at)
{
    size_t length;
    decode(at, &length);
    return length;
}

size_t plain_length(const char *at)
{
    size_t length;
    const uint32_t code = decode(at, &length);
    return is_obeyed(code) ? 0 : length;
}

const char *plain_next(const char *at)
{
    const size_t length = plain_utf8(at);
    if (length > 0)
        return at + length;
    do
        at++;
    while (is_continuation(*at));
    return at;
}

unsigned plain_columns(const char *text)
{
    unsigned columns = 0;
    for (; *text != '\0'; text = plain_next(text))
        columns++;
    return columns;
}

char *plain(char *text)
{
    char *to = text;
    for (const char *from = text, *next; *from != '\0'; from = next) {
        const size_t length = plain_length(from);
        next = plain_next(from);
        if (length == 0)
            *to++ = *from == '\t' ? ' ' : '?';
        for (size_t i = 0; i < length; i++)
            *to++ = from[i];
    }
    *to = '\0';
    return text;
}
