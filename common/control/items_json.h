/* SPDX-License-Identifier: MIT */
/* JSON of items for an open job: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITEMS_FIELDS_MAX  4096
#define ITEMS_AT_ONCE_MAX 1000000000000

struct items {
    char *text; /* [bytes] rows to add, as lines of a task list for the kernel exec; owned */
    size_t bytes;
    uint64_t rows, iterations;
    bool has_rows, has_iterations;
    bool is_total; /* true: `iterations` is the total that the job is to have; false: it is the number to add */
    bool ends;
};

/* On failure nothing is owned. */
int items_read(struct items *items, const json_t *object, struct error *error);
void items_fini(struct items *items);
