/* SPDX-License-Identifier: MIT */
/* What the proto tests share: messages at their limits, comparison field by field, bytes that end where the memory
 * ends. */
#pragma once

#include "proto/message.h"

#define SAMPLES_MAX 90

struct sample {
    const char *name;
    struct message message; /* borrows from static memory */
};

/* Fills `samples` with every message at its smallest and its largest; returns how many there are. */
size_t samples_make(struct sample samples[SAMPLES_MAX]);

/* Fails the running test where a field of the message's type differs. What a receiver cannot know (the bytes of a
 * DATA payload) must be absent in `got`. */
void assert_same_message(const struct message *got, const struct message *want);

/* A heap copy of exactly `size` bytes, so that a sanitizer sees the first byte read behind them. Owned by the caller.
 */
unsigned char *exact_copy(const unsigned char *bytes, size_t size);

/* Copies `size` bytes, at most MESSAGE_MAX + 1, to the end of a page with nothing behind it: a read past the end is a
 * SIGSEGV in every build. Valid until the next call. */
const unsigned char *edge_copy(const unsigned char *bytes, size_t size);

/* Encodes what was decoded and fails the running test where that gives other bytes. */
void assert_encodes_to(const struct message *message, uint32_t job, const unsigned char *bytes, size_t size);
