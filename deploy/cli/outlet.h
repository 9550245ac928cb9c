/* SPDX-License-Identifier: MIT */
/* Output to a descriptor that others may hold, too, and whose reader may be slow: it is written as far as that does not
 * wait. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlet {
    int fd;           /* -1: what is put there is dropped */
    const char *name; /* for errors; borrowed */
    bool is_file;     /* writing to it never waits for a reader */
    bool is_terminal;
    bool is_in_line;     /* the last byte that was written ends no line */
    char *buffer;        /* owned */
    size_t length, sent; /* bytes in it, and those that are written */
    uint64_t written;    /* bytes in all */
};

/* -1 with one line. */
int outlet_init(struct outlet *outlet, int fd, const char *name, struct error *error);
void outlet_fini(struct outlet *outlet);

/* Takes as many of the bytes as there is room for, and returns how many. */
size_t outlet_put(struct outlet *outlet, const void *bytes, size_t count);

/* Writes what is there. 1 when all is written, 0 where its reader is slow, -1 with one line. */
int outlet_flush(struct outlet *outlet, struct error *error);

static inline bool outlet_is_empty(const struct outlet *outlet)
{
    return outlet->length == outlet->sent;
}
