/* SPDX-License-Identifier: MIT */
/* Options and operands of `hdss chunks`. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/series.h"

struct chunks_request {
    const char **specs; /* as given, borrowed from argv; the list is owned */
    unsigned spec_count;
    const char *power, *order, *plot; /* as given; NULL: not given */
    bool iterations_given, workers_given;
    struct series_setup setup;
    double *powers;                    /* also setup.config.powers; owned */
    unsigned *asked;                   /* also setup.asked; owned */
    const struct chunk_writer *writer; /* NULL: --format is not given */
};

extern const struct options chunks_options;

/* Parses the command line and checks all but the specs. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1;
 * chunks_request_fini() must always be called. */
int chunks_request_init(struct chunks_request *request, int argc, char **argv, struct error *error);
void chunks_request_fini(struct chunks_request *request);
