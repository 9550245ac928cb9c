/* SPDX-License-Identifier: MIT */
/* Calls of all functions that have an error to fill in, as table.py finds them in the headers. */
#pragma once

#include "common/util/error.h"

struct null_call {
    const char *name;
    /* Calls it with `number` for each number, `text` for each text, and memory that is zero behind each pointer. */
    void (*call)(unsigned number, const char *text, struct error *error);
};

extern const struct null_call null_calls[];
extern const unsigned null_call_count;

/* Memory of its own for a parameter, all zero, in each process that calls. */
void *null_room(unsigned parameter);

/* A command line. */
extern char *null_words[];
