/* SPDX-License-Identifier: MIT */
/* The request to `hdss chunks`. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/series.h"

struct chunks_request {
    const char **specs; /* specs as given, borrowed from argv; the list is owned */
    unsigned spec_count;
    const char *power, *order, *plot; /* texts as given; NULL where they are not */
    bool iterations_given, workers_given;
    struct series_setup setup;
    double *powers;                    /* owned, also setup.config.powers */
    unsigned *asked;                   /* owned, also setup.asked */
    const struct chunk_writer *writer; /* NULL where --format is not given */
};

/* The table. */
extern const struct options chunks_options;

/* Reads the request, and checks everything but the specs themselves. Returns 0, OPTIONS_HELP, OPTIONS_VERSION, or -1
 * with one line; chunks_request_fini() is due all the same. */
int chunks_request_init(struct chunks_request *request, int argc, char **argv, struct error *error);
void chunks_request_fini(struct chunks_request *request);
