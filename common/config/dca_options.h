/* SPDX-License-Identifier: MIT */
/* The command line of a worker that takes a job, in a launch without a supermaster: its own options and the job's,
 * mixed in any order. */
#pragma once

#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/util/error.h"

struct dca_options {
    struct worker_options worker;
    int words;
    char **word; /* the job's command line, borrowed from argv; the list is owned, freed by dca_options_fini() */
};

/* True if --dca is among the words. */
bool dca_is_asked(int argc, char *const *argv);

/* The worker's options and those of a job, in one table. */
struct options dca_options_all(void);

/* Sorts the words and reads the worker's own. The job's are only known to be options of a job, and such that make sense
 * without a supermaster. Returns 0, OPTIONS_HELP, OPTIONS_VERSION, or -1 with one line. */
int dca_options_parse(struct dca_options *options, int argc, char *const *argv, struct error *error);
void dca_options_fini(struct dca_options *options);
