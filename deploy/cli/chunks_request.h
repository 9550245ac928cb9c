/* SPDX-License-Identifier: MIT */
/* Options and operands of `hdss chunks`. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/series.h"

struct chunks_request {
    const char **specs; /* owned array, whose elements are words of argv */
    unsigned spec_count;
    const char *power, *order, *plot;
    bool iterations_given, workers_given;
    struct series_setup setup;
    double *powers; /* `powers` and `asked` are owned; `setup` points to them */
    unsigned *asked;
    const struct chunk_writer *writer;
};

extern const struct options chunks_options;

/* Parses the command line and checks it, except the specs. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1.
 * chunks_request_fini() must be called in all cases. */
int chunks_request_init(struct chunks_request *request, int argc, char **argv, struct error *error);
void chunks_request_fini(struct chunks_request *request);
