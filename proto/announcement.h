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
    char *const *words; /* [word_count + 1] command line, ends with NULL */
    unsigned word_count;
    char *const *environment; /* [variable_count + 1] NAME=VALUE, ends with NULL */
    unsigned variable_count;
    void *memory; /* of an unpacked announcement; owned */
};

/* Returns the packed size; above ANNOUNCEMENT_MAX the announcement cannot be sent. */
size_t announcement_size(const struct announcement *announcement);

void announcement_pack(const struct announcement *announcement, unsigned char *out);

/* Unpacks a copy. Fails for invalid bytes and if memory runs out; nothing is owned then. */
int announcement_unpack(struct announcement *announcement, const unsigned char *bytes, size_t size,
                        struct error *error);
void announcement_fini(struct announcement *announcement);
