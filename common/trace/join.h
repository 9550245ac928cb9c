/* SPDX-License-Identifier: MIT */
/* The trace of a run, made of the files that its machines have written (spool.h) when the run is over. A row is written
 * as soon as it is known, so that memory does not grow with the trace. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The forms of a trace, by the ending of its name. */
enum trace_form { TRACE_CSV, TRACE_PERFETTO, TRACE_FORMS };

/* The form of a name; TRACE_FORMS: it has none of the endings. */
enum trace_form trace_form_of(const char *path);

/* Says before a run whether its trace can have this name. -1 with one line, for wrong use: it cannot be written there.
 */
int trace_check(const char *path, struct error *error);

struct trace_worker {
    unsigned rank, node, master; /* master: rank that served it at first */
    double power;                /* virtual power; 0: not known */
};

/* What a trace says of its run. Borrowed texts. */
struct trace_about {
    const char *version, *kernel, *technique;
    uint64_t iterations; /* of the loop */
    unsigned masters, workers;
    const struct trace_worker *worker; /* [workers] */
};

/* Makes the trace `path` of the files of these ranks, as far as they are there, and removes them. Time 0 is the moment
 * at which the file of the first rank was begun. Between machines of one node times are as exact as the clock; those of
 * other nodes are as far apart as the nodes' clocks. -1 with one line, and the files stay. */
int trace_join(const char *path, const unsigned *ranks, unsigned count, const struct trace_about *about,
               struct error *error);
