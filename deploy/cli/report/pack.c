/* SPDX-License-Identifier: MIT */
/* Numbers as few characters: see pack.h. */
#include "deploy/cli/report/pack.h"

void pack_begin(struct pack *pack, struct text *text)
{
    pack->text = text;
    pack->length = pack->bytes = 0;
    pack->bits = 0;
}

static void flush_characters(struct pack *pack)
{
    text_add(pack->text, "%.*s", (int)pack->length, pack->characters);
    pack->length = 0;
}

/* Writes the group of three bytes that is complete. */
static void put_group(struct pack *pack)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int shift = 18; shift >= 0; shift -= 6)
        pack->characters[pack->length++] = digits[pack->bits >> shift & 63];
    pack->bits = pack->bytes = 0;
    if (pack->length + 4 > sizeof pack->characters)
        flush_characters(pack);
}

static void put_byte(struct pack *pack, unsigned byte)
{
    pack->bits = pack->bits << 8 | byte;
    if (++pack->bytes == 3)
        put_group(pack);
}

void pack_put(struct pack *pack, int64_t value, int64_t expected)
{
    const int64_t difference = value - expected;
    uint64_t coded = difference >= 0 ? 2 * (uint64_t)difference + 1 : 2 * (uint64_t)-difference;
    for (; coded >= 0x80; coded >>= 7)
        put_byte(pack, 0x80 | (coded & 0x7f));
    put_byte(pack, (unsigned)coded);
}

void pack_put_unknown(struct pack *pack)
{
    put_byte(pack, 0);
}

void pack_end(struct pack *pack)
{
    while (pack->bytes > 0) /* who reads knows how many numbers there are */
        put_byte(pack, 0);
    flush_characters(pack);
}
