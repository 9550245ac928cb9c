/* SPDX-License-Identifier: MIT */
/* The announcement of a job of a set: see JOB in PROTOCOL.md. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

#define ANNOUNCEMENT_WEIGHT_MAX 1000000u

struct announcement {
    unsigned weight;
    int priority;
    unsigned umask;
    const char *folder;
    char *const *words;
    unsigned word_count;
    char *const *environment;
    unsigned variable_count;
    void *memory; /* memory of all strings if announcement_unpack() has made them; owned */
};

/* Returns the size in bytes. An announcement of more than ANNOUNCEMENT_MAX bytes cannot be sent. */
size_t announcement_size(const struct announcement *announcement);

void announcement_pack(const struct announcement *announcement, unsigned char *out);

/* Reads an announcement. Copies what it needs, so `bytes` may be freed afterwards. If it fails, nothing is owned. */
int announcement_unpack(struct announcement *announcement, const unsigned char *bytes, size_t size,
                        struct error *error);
void announcement_fini(struct announcement *announcement);
