/* SPDX-License-Identifier: MIT */
/* Joins the trace files of the machines of a run (spool.h) after the run. Each row is written as soon as it is
 * complete, so that memory does not grow with the trace. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_form { TRACE_CSV, TRACE_PERFETTO, TRACE_FORMS };

enum trace_form trace_form_of(const char *path);

int trace_check(const char *path, struct error *error);

struct trace_worker {
    unsigned rank, node, master; /* rank and node of the worker, and rank of its first master */
    double power;                /* virtual power; 0: unknown */
};

struct trace_about {
    const char *version, *kernel, *technique;
    uint64_t iterations;
    unsigned masters, workers;
    const struct trace_worker *worker; /* [workers]; this array and all texts are borrowed */
};

/* Makes the trace `path` from those files of these ranks that exist, and removes the files. Time 0 of the trace is the
 * start of the first rank's file. Times of one node are exact. Times of different nodes differ as much as the clocks of
 * the nodes. On failure the files remain. */
int trace_join(const char *path, const unsigned *ranks, unsigned count, const struct trace_about *about,
               struct error *error);
