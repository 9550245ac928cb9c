/* SPDX-License-Identifier: MIT */
/* The options of master and worker: see rank_options.h. */
#include "common/config/rank_options.h"
#include "common/config/options.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/number.h"

#include <string.h>

int slowdown_parse(const char *text, double *slowdown)
{
    double value;
    if (number_parse_real(text, &value) < 0 || value < 1 || value > WORKER_SLOWDOWN_MAX)
        return -1;
    *slowdown = value;
    return 0;
}

int load_parse_count(const char *text, unsigned *load)
{
    uint64_t value;
    if (number_parse_u64(text, &value) < 0 || value > WORKER_LOAD_MAX)
        return -1;
    *load = (unsigned)value;
    return 0;
}

static int rank_options_take_slowdown(void *target, const char *value, struct error *error)
{
    (void)error;
    return slowdown_parse(value, &((struct worker_options *)target)->slowdown);
}

static int rank_options_take_dca(void *target, const char *value, struct error *error)
{
    (void)error;
    static const struct {
        const char *value;
        enum worker_dca dca;
        bool two_counters;
    } modes[] = {
        {"rma", WORKER_DCA_RMA, false},
        {"rma:atomics=1", WORKER_DCA_RMA, false},
        {"rma:atomics=2", WORKER_DCA_RMA, true},
        {"two-sided", WORKER_DCA_TWO_SIDED, false},
        {"two-sided:exchanges=1", WORKER_DCA_TWO_SIDED, false},
        {"two-sided:exchanges=2", WORKER_DCA_TWO_SIDED, true},
        {"node", WORKER_DCA_NODE, false},
    };
    struct worker_options *options = target;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].value, value) == 0) {
            options->dca = modes[i].dca;
            options->two_counters = modes[i].two_counters;
            return 0;
        }
    return -1;
}

static const struct option_row worker_rows[] = {
    {"slowdown", 0, "X", "a number from 1 to 1000",
     "run X times slower than this core can (1 to 1000), for studies of unequal machines (default 1)",
     rank_options_take_slowdown},
    {"load", 0, "N", NULL,
     "bind to one core and start N processes there that compute without end, for studies of shared machines (default: "
     "do neither)",
     TAKES_INTEGER(struct worker_options, load, 0, WORKER_LOAD_MAX), .given = offsetof(struct worker_options, loaded)},
    {"no-threads", 0, NULL, NULL,
     "run no second thread in this worker: MPI is asked for MPI_THREAD_SINGLE, which saves some libraries a lock for "
     "each message (default: MPI_THREAD_FUNNELED)",
     TAKES_FLAG(struct worker_options, no_threads)},
    {NULL},
};

static const struct option_row dca_rows[] = {
    {"dca", 0, "rma|two-sided|node", "rma, rma:atomics=2, two-sided, two-sided:exchanges=2, node",
     "let each worker compute its own chunks from shared counters: by one-sided operations (rma), by messages to rank "
     "0 (two-sided), or from a queue on each node (node). rma:atomics=2 and two-sided:exchanges=2 fetch step and start "
     "of a chunk separately",
     rank_options_take_dca},
    {"node-technique", 0, "SPEC", "a technique with a closed form: NAME or NAME:PARAM=VALUE,...",
     "with --dca node: share the chunks of a node among its workers by this technique (default " WORKER_NODE_TECHNIQUE
     ")",
     TAKES_TECHNIQUE(struct worker_options, node_technique),
     .given = offsetof(struct worker_options, node_technique_given)},
    {"break-after", 0, "N", NULL,
     "with --dca two-sided or rma: let rank 0 answer requests every N iterations (default: about every 50 us)",
     TAKES_INTEGER(struct worker_options, break_after, 1, SCHED_ITERATIONS_MAX)},
    {NULL},
};

static const struct option_row master_rows[] = {
    {"join", 0, "FILE|HOST:PORT", "the file `pods` of a set that was started with --listen, its socket, or its port",
     "join this set as a pod, with the workers of this launch; HOST:PORT needs munge (default: the launch has a "
     "supermaster)",
     TAKES_PATH(struct master_options, join)},
    {"patience", 0, "SECONDS", NULL, "with --join: wait SECONDS for a set that does not answer (default 10)",
     TAKES_SECONDS(struct master_options, patience_ns, MASTER_PATIENCE_MAX_S)},
    {NULL},
};

static const struct options master_table = {
    .usage = "master [--join FILE|HOST:PORT]",
    .about =
        "Serves chunks to the workers of its node and collects their results. Only the supermaster is given the job.",
    .sections = {{"Options", master_rows}, {"Help", options_common}},
    .notes = "A master is launched beside a supermaster and workers:\n"
             "    mpirun -n 1 supermaster mandelbrot width=4096 : -n 4 master : -n 64 worker\n"
             "or with only workers, as a pod of a set:\n"
             "    mpirun -n 1 master --join ~/.local/state/hdss/main/pods : -n 16 worker",
};

static const struct options worker_table = {
    .usage = "worker [--slowdown X] [--load N] [--no-threads]\nworker --dca MODE [OPTION]... KERNEL [KEY=VALUE]...",
    .about = "Computes the chunks that its master serves, or with --dca the chunks that it cuts itself.",
    .sections = {{"Options", worker_rows}, {"Without a supermaster", dca_rows}, {"Help", options_common}},
    .notes =
        "A worker is launched beside a supermaster, which is given the job, and masters, if wanted:\n"
        "    mpirun -n 1 supermaster mandelbrot width=4096 : -n 4 master : -n 64 worker\n"
        "or only workers are launched, and each is given the job, with the options that `supermaster --help` shows:\n"
        "    mpirun -n 64 worker --dca rma --technique gss mandelbrot width=4096",
};

char *master_help_text(void)
{
    return options_help(&master_table);
}

char *worker_help_text(void)
{
    return options_help(&worker_table);
}

static int refuse_operand(struct error *error, const char *program, const char *word)
{
    return error_set(error, "unexpected word '%.100s': %s takes no job, it is given to the supermaster", word, program);
}

static int refuse_master_operand(void *target, const char *word, struct error *error)
{
    (void)target;
    return refuse_operand(error, "master", word);
}

/* With --dca, operands are words of the job, and the parser of the job checks them. Without --dca, operands are
 * errors. */
static int refuse_worker_operand(void *target, const char *word, struct error *error)
{
    return ((struct worker_options *)target)->dca != WORKER_DCA_NONE ? 0 : refuse_operand(error, "worker", word);
}

int master_options_parse(struct master_options *options, int argc, char *const *argv, struct error *error)
{
    *options = (struct master_options){.patience_ns = MASTER_PATIENCE_S * UINT64_C(1000000000)};
    return options_parse(&master_table, argc, argv, options, refuse_master_operand, error);
}

int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error)
{
    worker_options_init(options);
    int result = options_parse(&worker_table, argc, argv, options, refuse_worker_operand, error);
    return result != 0 ? result : worker_options_check(options, error);
}

const struct options *master_options(void)
{
    return &master_table;
}

const struct options *worker_options(void)
{
    return &worker_table;
}

void worker_options_init(struct worker_options *options)
{
    *options = (struct worker_options){.slowdown = 1};
    sched_spec_parse(&options->node_technique, WORKER_NODE_TECHNIQUE, NULL);
}

int worker_options_check(const struct worker_options *options, struct error *error)
{
    if (options->node_technique_given && options->dca != WORKER_DCA_NODE)
        return error_set(error, "--node-technique is for --dca node");
    if (options->break_after > 0 && options->dca != WORKER_DCA_RMA && options->dca != WORKER_DCA_TWO_SIDED)
        return error_set(error, "--break-after is for --dca rma and --dca two-sided");
    return 0;
}
