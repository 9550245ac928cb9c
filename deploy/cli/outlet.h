/* SPDX-License-Identifier: MIT */
/* Output to a descriptor that other processes may share, and whose reader may be slow. No more is written than does
 * not block. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlet {
    int fd;
    const char *name;
    bool is_file; /* no reader has to be waited for */
    bool is_terminal;
    bool is_in_line; /* the last byte that was written ends no line */
    char *buffer;
    size_t length, sent;
    uint64_t written;
};

int outlet_init(struct outlet *outlet, int fd, const char *name, struct error *error);
void outlet_fini(struct outlet *outlet);

/* Copies as many bytes as there is room for. Returns how many. */
size_t outlet_put(struct outlet *outlet, const void *bytes, size_t count);

/* Writes the buffer. Returns 1: all is written; 0: the reader is slow; -1. */
int outlet_flush(struct outlet *outlet, struct error *error);

static inline bool outlet_is_empty(const struct outlet *outlet)
{
    return outlet->length == outlet->sent;
}
