/* SPDX-License-Identifier: MIT */
/* Numbers as few characters of a page: each as its difference from one that is expected, in as many bytes as that
 * needs, and the bytes in base64. numbers.js has the other half.
 *
 * A number that is not known is the byte 0. Else the difference d is taken as 2d + 1 from 0 on and as -2d below, and
 * written seven bits to a byte, the least significant ones first, each but the last with its top bit set (LEB128). */
#pragma once

#include "common/util/text.h"

#include <stdint.h>

struct pack {
    struct text *text; /* borrowed: takes the characters */
    char characters[4096];
    unsigned length;
    uint32_t bits; /* bytes that make no whole group of three yet */
    unsigned bytes;
};

void pack_begin(struct pack *pack, struct text *text);

/* A number; both below 2^62. */
void pack_put(struct pack *pack, int64_t value, int64_t expected);
void pack_put_unknown(struct pack *pack);

/* Brings all to the text. Behind the last number up to two bytes may follow that belong to none. */
void pack_end(struct pack *pack);
