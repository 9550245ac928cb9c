/* SPDX-License-Identifier: MIT */
/* The announcement of a job of a set: see JOB in PROTOCOL.md. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

#define ANNOUNCEMENT_WEIGHT_MAX 1000000u

struct announcement {
    unsigned weight; /* 1 .. ANNOUNCEMENT_WEIGHT_MAX */
    int priority;
    unsigned umask;     /* at most 0777 */
    const char *folder; /* from '/' on */
    char *const *words; /* [word_count + 1] the job's command line, ended by NULL */
    unsigned word_count;
    char *const *environment; /* [variable_count + 1] NAME=VALUE, ended by NULL */
    unsigned variable_count;
    void *memory; /* all of the above where it was unpacked; owned */
};

/* Bytes of the announcement when it is packed; more than ANNOUNCEMENT_MAX cannot be announced. */
size_t announcement_size(const struct announcement *announcement);

/* Packs it into announcement_size() bytes. */
void announcement_pack(const struct announcement *announcement, unsigned char *out);

/* Unpacks a copy. -1 with one line, and nothing owned, for bytes that are none, and when memory is out. */
int announcement_unpack(struct announcement *announcement, const unsigned char *bytes, size_t size,
                        struct error *error);
void announcement_fini(struct announcement *announcement);
