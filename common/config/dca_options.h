/* SPDX-License-Identifier: MIT */
/* The command line of a worker in a launch without a supermaster. It has options of the worker and options of the job,
 * in any order. */
#pragma once

#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/util/error.h"

struct dca_options {
    struct worker_options worker;
    int words;
    char **word; /* words of the job's command line; the array is owned, the words are borrowed from argv */
};

bool dca_is_asked(int argc, char *const *argv);

struct options dca_options_all(void);

/* Copies the words of the job into `word`, and parses the options of the worker. Returns 0, OPTIONS_HELP,
 * OPTIONS_VERSION or -1. */
int dca_options_parse(struct dca_options *options, int argc, char *const *argv, struct error *error);
void dca_options_fini(struct dca_options *options);
