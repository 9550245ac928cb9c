/* SPDX-License-Identifier: MIT */
/* Items that are added to an open job, as JSON: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITEMS_FIELDS_MAX 4096 /* of a row */
/* Iterations that are added at once. */
#define ITEMS_AT_ONCE_MAX 1000000000000

struct items {
    char *text; /* [bytes] the rows as lines of a list, as the kernel exec reads it; owned */
    size_t bytes;
    uint64_t rows, iterations; /* one of both is 0 */
    bool has_rows, has_iterations;
    bool ends; /* no others will come */
};

/* Reads an object. -1 with one line; then there is nothing to release. */
int items_read(struct items *items, const json_t *object, struct error *error);
void items_fini(struct items *items);
