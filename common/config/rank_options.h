/* SPDX-License-Identifier: MIT */
/* The options of the ranks that take no job of their own: master and worker. A worker of a flat launch takes the job as
 * well: see dca_options.h. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* The means by which flat workers share the loop. */
enum worker_dca { WORKER_DCA_NONE, WORKER_DCA_RMA, WORKER_DCA_TWO_SIDED, WORKER_DCA_NODE };

#define WORKER_SLOWDOWN_MAX   1000
#define WORKER_LOAD_MAX       64
#define MASTER_PATH_MAX       1024
#define MASTER_PATIENCE_S     10 /* unless --patience says another */
#define MASTER_PATIENCE_MAX_S 31536000
#define WORKER_NODE_TECHNIQUE "fac2" /* unless --node-technique says another */

struct worker_options {
    double slowdown; /* 1 .. WORKER_SLOWDOWN_MAX: run so many times slower than the core can */
    bool loaded;     /* bound to one core, beside `load` busy processes */
    unsigned load;   /* 0 .. WORKER_LOAD_MAX */
    bool no_threads; /* the worker makes no second thread */
    enum worker_dca dca;
    bool two_counters; /* rma:atomics=2, two-sided:exchanges=2 */
    bool node_technique_given;
    struct sched_spec node_technique; /* technique among the workers of a node */
    uint64_t break_after;             /* iterations between two looks at the messages; 0: chosen automatically */
};

struct master_options {
    char join[MASTER_PATH_MAX]; /* the ticket of a set that the launch joins as a pod; empty: it does not */
    uint64_t patience_ns;       /* for so long it waits for that set */
};

/* Each returns 0, OPTIONS_HELP, OPTIONS_VERSION, or -1 with one line in `error`. argv[0] is the program's name. */
int master_options_parse(struct master_options *options, int argc, char *const *argv, struct error *error);
int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error);

/* The tables: the worker's own options are for the programs that take others as well, too. */
const struct options *master_options(void);
const struct options *worker_options(void);
void worker_options_init(struct worker_options *options);

/* -1 with one line where options of flat launches do not go together. */
int worker_options_check(const struct worker_options *options, struct error *error);

/* The pages for --help. The caller frees them; NULL when memory is out. */
char *master_help_text(void);
char *worker_help_text(void);

/* "3" or "2.5" within 1 .. WORKER_SLOWDOWN_MAX; -1 for anything else. */
int slowdown_parse(const char *text, double *slowdown);

/* An integer within 0 .. WORKER_LOAD_MAX; -1 for anything else. */
int load_parse_count(const char *text, unsigned *load);
