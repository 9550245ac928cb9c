/* SPDX-License-Identifier: MIT */
/* Output to a descriptor that other processes may share, and whose reader may be slow. Writes only as much as does not
 * block. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlet {
    int fd;
    const char *name;
    bool is_file;
    bool is_terminal;
    bool is_in_line;
    char *buffer;
    size_t length, sent;
    uint64_t written;
};

int outlet_init(struct outlet *outlet, int fd, const char *name, struct error *error);
void outlet_fini(struct outlet *outlet);

size_t outlet_put(struct outlet *outlet, const void *bytes, size_t count);

/* Writes the buffer. Returns 1 if all is written, 0 if the reader is slow, or -1. */
int outlet_flush(struct outlet *outlet, struct error *error);

static inline bool outlet_is_empty(const struct outlet *outlet)
{
    return outlet->length == outlet->sent;
}
