/* The options of the ranks that take no job: master and worker. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"

/* How flat workers would share the loop. Recognised so that the check of the line-up can speak of it. */
enum worker_dca { WORKER_DCA_NONE, WORKER_DCA_RMA, WORKER_DCA_TWO_SIDED, WORKER_DCA_NODE };

#define WORKER_SLOWDOWN_MAX 1000

struct worker_options {
    double slowdown; /* 1 .. WORKER_SLOWDOWN_MAX: run so many times slower than the core can */
    enum worker_dca dca;
};

/* Both return 0, OPTIONS_HELP, OPTIONS_VERSION, or -1 with one line in `error`. argv[0] is the program's name. */
int master_options_parse(int argc, char *const *argv, struct error *error);
int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error);

/* The pages for --help. The caller frees them; NULL when memory is out. */
char *master_help_text(void);
char *worker_help_text(void);

/* "3" or "2.5" within 1 .. WORKER_SLOWDOWN_MAX; -1 for anything else. */
int slowdown_parse(const char *text, double *slowdown);
