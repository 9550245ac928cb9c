/* SPDX-License-Identifier: MIT */
/* Joins the trace files of a run's machines (spool.h) after the run. Rows are written as soon as they are complete, so
 * that memory does not grow with the trace. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Formats, by file extension. */
enum trace_form { TRACE_CSV, TRACE_PERFETTO, TRACE_FORMS };

/* TRACE_FORMS: unknown extension. */
enum trace_form trace_form_of(const char *path);

/* Checks before a run that the trace can be written there. */
int trace_check(const char *path, struct error *error);

struct trace_worker {
    unsigned rank, node, master; /* rank of its first master */
    double power;                /* virtual power; 0: unknown */
};

/* Description of the run; texts are borrowed. */
struct trace_about {
    const char *version, *kernel, *technique;
    uint64_t iterations;
    unsigned masters, workers;
    const struct trace_worker *worker; /* [workers] */
};

/* Makes the trace `path` from the existing files of these ranks and removes them. Time 0 is the start of the first
 * rank's file. Times of one node are exact; different nodes differ by their clocks. On failure the files remain. */
int trace_join(const char *path, const unsigned *ranks, unsigned count, const struct trace_about *about,
               struct error *error);
