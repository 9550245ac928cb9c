/* SPDX-License-Identifier: MIT */
/* Options of masters and workers, which take no job. Workers launched without a supermaster take a job as well: see
 * dca_options.h. */
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
    double slowdown; /* 1 .. WORKER_SLOWDOWN_MAX: run this many times slower */
    bool loaded;     /* bind to one core, next to `load` busy processes */
    unsigned load;
    bool no_threads;
    enum worker_dca dca;
    bool two_counters; /* rma:atomics=2, two-sided:exchanges=2 */
    bool node_technique_given;
    struct sched_spec node_technique;
    uint64_t break_after; /* iterations between two checks for messages; 0: automatic */
};

struct master_options {
    char join[MASTER_PATH_MAX]; /* ticket of the set that the master joins as a pod; empty: it joins none */
    uint64_t patience_ns;
};

/* Each returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1. argv[0] is the program's name. */
int master_options_parse(struct master_options *options, int argc, char *const *argv, struct error *error);
int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error);

const struct options *master_options(void);
const struct options *worker_options(void);
void worker_options_init(struct worker_options *options);

/* Fails if options for --dca are incompatible. */
int worker_options_check(const struct worker_options *options, struct error *error);

/* The pages for --help, which the caller frees. */
char *master_help_text(void);
char *worker_help_text(void);

/* Parses "3" or "2.5" within 1 .. WORKER_SLOWDOWN_MAX; -1 for anything else. */
int slowdown_parse(const char *text, double *slowdown);

/* Parses an integer within 0 .. WORKER_LOAD_MAX; -1 for anything else. */
int load_parse_count(const char *text, unsigned *load);
