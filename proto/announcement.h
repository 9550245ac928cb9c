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
    void *memory; /* memory of all strings after announcement_unpack(); owned */
};

/* The result may exceed ANNOUNCEMENT_MAX; such an announcement cannot be sent. */
size_t announcement_size(const struct announcement *announcement);

void announcement_pack(const struct announcement *announcement, unsigned char *out);

/* Copies all that it needs from `bytes`. On failure nothing is owned. */
int announcement_unpack(struct announcement *announcement, const unsigned char *bytes, size_t size,
                        struct error *error);
void announcement_fini(struct announcement *announcement);
