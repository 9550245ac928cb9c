/* SPDX-License-Identifier: MIT */
/* The command line of `hdss chunks`: see chunks_request.h. */
#include "deploy/cli/chunks_request.h"

#include "common/config/options.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/list.h"
#include "common/util/number.h"
#include "deploy/cli/chunk_writers.h"
#include "deploy/cli/plot.h"
#include "deploy/cli/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_integer(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value)
{
    uint64_t number;
    if (number_parse_u64(text, &number) < 0 || number < minimum || number > maximum)
        return -1;
    *value = number;
    return 0;
}

static int chunks_request_take_weighting(void *target, const char *value, struct error *error)
{
    return sched_weighting_parse(&((struct chunks_request *)target)->setup.config.weighting, value, error);
}

static int take_format(void *target, const char *value, struct error *error)
{
    (void)error;
    struct chunks_request *request = target;
    request->writer = chunk_writer_find(value);
    return request->writer != NULL ? 0 : -1;
}

static int take_plot(void *target, const char *value, struct error *error)
{
    (void)error;
    ((struct chunks_request *)target)->plot = value;
    return plot_accepts(value) ? 0 : -1;
}

static const struct option_row rows[] = {
    {"iterations", 0, "N", NULL, "set the length of the loop",
     TAKES_INTEGER(struct chunks_request, setup.config.iterations, 0, SCHED_ITERATIONS_MAX),
     .given = offsetof(struct chunks_request, iterations_given)},
    {"workers", 0, "P", NULL, "set the number of workers (default: as many as --power lists)",
     TAKES_INTEGER(struct chunks_request, setup.config.workers, 1, SCHED_WORKERS_MAX),
     .given = offsetof(struct chunks_request, workers_given)},
    {"power", 0, "V1,V2,..", "a number for each worker", "set the virtual power of each worker (default: 1 each)",
     TAKES_WORD(struct chunks_request, power)},
    {"order", 0, "1,3,2,..", "numbers of workers, from 1",
     "let workers, counted from 1, ask in this order again and again (default: round robin)",
     TAKES_WORD(struct chunks_request, order)},
    {"min-chunk", 0, "K", NULL, "cut no chunk smaller than K, except the last (default 1)",
     TAKES_INTEGER(struct chunks_request, setup.config.min_chunk, 1, SCHED_ITERATIONS_MAX)},
    {"max-chunk", 0, "K", NULL, "limit each chunk to K iterations before it is weighted (default: no limit)",
     TAKES_INTEGER(struct chunks_request, setup.config.max_chunk, 1, SCHED_ITERATIONS_MAX)},
    {"weighting", 0, "none|power", "none, power",
     "power: multiply each chunk by the power of its worker (default none; wf, the awf family, dtss, dfss and dgss do "
     "so themselves)",
     chunks_request_take_weighting},
    {"form", 0, "recursive|closed", NULL,
     "compute chunks from the remaining iterations (recursive), or from the scheduling step alone (closed; default "
     "recursive)",
     TAKES_CHOICE(struct chunks_request, setup.form)},
    {"format", 0, "text|json|csv", "text, json, csv", "print text, JSON or CSV (default text; with --plot nothing)",
     take_format},
    {"plot", 0, "FILE", "a file name that ends in .png or .svg",
     "draw the chunk sizes over the scheduling step, with matplotlib", take_plot},
    {NULL},
};

const struct options chunks_options = {
    .usage = "hdss chunks SPEC... --iterations N --workers P [OPTION]...",
    .about =
        "Prints the chunks that a technique cuts a loop into, in the order of the requests; for several techniques it "
        "prints the sizes side by side. SPEC is NAME or NAME:PARAM=VALUE,...; `hdss techniques` lists the techniques. "
        "When a worker asks again, a technique that learns is told that the worker's chunk took count / power seconds.",
    .sections = {{"Options", rows}, {"Help", options_common}},
    .notes = "Examples:\n"
             "    hdss chunks gss --iterations 1000 --workers 4\n"
             "    hdss chunks static tss fac2 --iterations 1000 --workers 4 --plot sizes.png",
};

static int take_spec(void *target, const char *word, struct error *error)
{
    (void)error;
    struct chunks_request *request = target;
    request->specs[request->spec_count++] = word;
    return 0;
}

static int check_spec_count(const struct chunks_request *request, struct error *error)
{
    if (request->spec_count == 0)
        return error_set(error, "no technique given: hdss chunks SPEC --iterations N --workers P");
    if (request->spec_count > 1 && request->writer != NULL && strcmp(request->writer->name, "json") == 0)
        return error_set(error, "--format json with %u techniques is not accepted: text, csv, or one technique",
                         request->spec_count);
    if (request->spec_count > PLOT_SERIES_MAX)
        return error_set(error, "%u techniques at once are not accepted: up to %d", request->spec_count,
                         PLOT_SERIES_MAX);
    return 0;
}

static int read_powers(struct chunks_request *request, struct error *error)
{
    char word[64];
    size_t count = list_count(request->power), j = 0;
    if (!request->workers_given)
        request->setup.config.workers = (unsigned)count;
    if (count != request->setup.config.workers)
        return error_set(error, "--power has %zu values: accepted is one for each of the %u workers", count,
                         request->setup.config.workers);
    request->powers = malloc(count * sizeof *request->powers);
    if (request->powers == NULL)
        return error_set(error, "out of memory for %zu powers", count);
    for (const char *list = request->power; list_next(&list, word, sizeof word); j++) {
        double *power = &request->powers[j];
        if (number_parse_real(word, power) < 0 || *power < SCHED_POWER_MIN || *power > SCHED_POWER_MAX)
            return error_set(error, "--power '%s' of worker %zu is not accepted: a number from %g to %g", word, j + 1,
                             SCHED_POWER_MIN, SCHED_POWER_MAX);
    }
    request->setup.config.powers = request->powers;
    return 0;
}

static int read_order(struct chunks_request *request, struct error *error)
{
    char word[64];
    request->asked = malloc(list_count(request->order) * sizeof *request->asked);
    if (request->asked == NULL)
        return error_set(error, "out of memory for the order");
    for (const char *list = request->order; list_next(&list, word, sizeof word); request->setup.asked_count++) {
        uint64_t worker = 0;
        if (read_integer(word, 1, request->setup.config.workers, &worker) < 0)
            return error_set(error, "--order '%s': accepted: an integer from 1 to %u", word,
                             request->setup.config.workers);
        request->asked[request->setup.asked_count] = (unsigned)worker - 1;
    }
    request->setup.asked = request->asked;
    return 0;
}

int chunks_request_init(struct chunks_request *request, int argc, char **argv, struct error *error)
{
    *request = (struct chunks_request){.specs = calloc((size_t)argc + 1, sizeof *request->specs)};
    if (request->specs == NULL)
        return error_set(error, "out of memory for the command line");
    int result = options_parse(&chunks_options, argc, argv, request, take_spec, error);
    if (result != 0)
        return result;
    if (check_spec_count(request, error) < 0)
        return -1;
    if (!request->iterations_given)
        return error_set(error, "no --iterations given: an integer from 0 to 2^63");
    if (!request->workers_given && request->power == NULL)
        return error_set(error, "no --workers given: an integer from 1 to %u", SCHED_WORKERS_MAX);
    const struct sched_config *config = &request->setup.config;
    if (config->max_chunk > 0 && config->max_chunk < config->min_chunk)
        return error_set(error, "--max-chunk %" PRIu64 " is below --min-chunk %" PRIu64, config->max_chunk,
                         config->min_chunk);
    if (request->power != NULL && read_powers(request, error) < 0)
        return -1;
    return request->order != NULL ? read_order(request, error) : 0;
}

void chunks_request_fini(struct chunks_request *request)
{
    free(request->specs);
    free(request->powers);
    free(request->asked);
}
