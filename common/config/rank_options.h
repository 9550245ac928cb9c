/* SPDX-License-Identifier: MIT */
/* Options of masters and workers. Their command lines do not contain a job, except that of a worker without a
 * supermaster: see dca_options.h. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

enum worker_dca { WORKER_DCA_NONE, WORKER_DCA_RMA, WORKER_DCA_TWO_SIDED, WORKER_DCA_NODE };

#define WORKER_SLOWDOWN_MAX   1000
#define WORKER_LOAD_MAX       64
#define MASTER_PATH_MAX       1024
#define MASTER_PATIENCE_S     10
#define MASTER_PATIENCE_MAX_S 31536000
#define WORKER_NODE_TECHNIQUE "fac2"

struct worker_options {
    double slowdown; /* for studies: factor from 1 to WORKER_SLOWDOWN_MAX by which the worker computes slower */
    bool loaded;
    unsigned load;
    bool no_threads;
    enum worker_dca dca;
    bool two_counters;
    bool node_technique_given;
    struct sched_spec node_technique;
    uint64_t break_after; /* number of iterations between two checks for messages; 0: chosen automatically */
};

struct master_options {
    /* path of the ticket of the set that the master joins as a pod; empty: the master joins no set */
    char join[MASTER_PATH_MAX];
    uint64_t patience_ns;
};

/* The parsing functions return 0, OPTIONS_HELP, OPTIONS_VERSION or -1. argv[0] is the name of the program. */
int master_options_parse(struct master_options *options, int argc, char *const *argv, struct error *error);
int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error);

const struct options *master_options(void);
const struct options *worker_options(void);
void worker_options_init(struct worker_options *options);

int worker_options_check(const struct worker_options *options, struct error *error);

/* Each of these functions returns the page for --help, which the caller frees. */
char *master_help_text(void);
char *worker_help_text(void);

/* Parses a number from 1 to WORKER_SLOWDOWN_MAX, such as "2.5". Returns -1 if the text is anything else. */
int slowdown_parse(const char *text, double *slowdown);

/* Parses an integer from 0 to WORKER_LOAD_MAX. Returns -1 if the text is anything else. */
int load_parse_count(const char *text, unsigned *load);
