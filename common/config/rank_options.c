/* The options of master and worker: see rank_options.h. */
#include "common/config/rank_options.h"
#include "common/util/number.h"

int slowdown_parse(const char *text, double *slowdown)
{
    double value;
    if (number_parse_real(text, &value) < 0 || value < 1 || value > WORKER_SLOWDOWN_MAX)
        return -1;
    *slowdown = value;
    return 0;
}

static int take_slowdown(void *target, const char *value, struct error *error)
{
    (void)error;
    return slowdown_parse(value, &((struct worker_options *)target)->slowdown);
}

static int take_dca(void *target, const char *value, struct error *error)
{
    (void)error;
    int index = option_choice("rma|two-sided|node", value);
    if (index >= 0)
        ((struct worker_options *)target)->dca = (enum worker_dca)(WORKER_DCA_RMA + index);
    return index < 0 ? -1 : 0;
}

static const struct option_row worker_rows[] = {
    {"slowdown", 0, "X", "a number from 1 to 1000",
     "run X times slower than this core can, for studies of unequal machines (default 1)", take_slowdown},
    {"dca", 0, "rma|two-sided|node", "rma, two-sided, node",
     "for launches without a supermaster, which this version does not run: refused beside one", take_dca},
    {NULL},
};

static const struct options master_table = {
    .usage = "master",
    .about =
        "Serves chunks to the workers of its node and collects their results. The job is given to the supermaster.",
    .sections = {{"Options", options_common}},
    .notes = "It is launched beside a supermaster and workers:\n"
             "    mpirun -n 1 supermaster mandelbrot width=4096 : -n 4 master : -n 64 worker",
};

static const struct options worker_table = {
    .usage = "worker [--slowdown X]",
    .about = "Computes the chunks that its master serves. The job is given to the supermaster.",
    .sections = {{"Options", worker_rows}, {"Help", options_common}},
    .notes = "It is launched beside a supermaster and, if wanted, masters:\n"
             "    mpirun -n 1 supermaster mandelbrot width=4096 : -n 4 master : -n 64 worker",
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

/* With --dca the words are a job, and the line-up says what is wrong with it. */
static int refuse_worker_operand(void *target, const char *word, struct error *error)
{
    return ((struct worker_options *)target)->dca != WORKER_DCA_NONE ? 0 : refuse_operand(error, "worker", word);
}

int master_options_parse(int argc, char *const *argv, struct error *error)
{
    return options_parse(&master_table, argc, argv, NULL, refuse_master_operand, error);
}

int worker_options_parse(struct worker_options *options, int argc, char *const *argv, struct error *error)
{
    *options = (struct worker_options){.slowdown = 1};
    return options_parse(&worker_table, argc, argv, options, refuse_worker_operand, error);
}
