/* The command line of `hdss chunks`: see chunks_request.h. */
#include "deploy/cli/chunks_request.h"

#include "common/util/number.h"
#include "deploy/cli/plot.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char chunks_help[] =
    "Usage: hdss chunks SPEC --iterations N --workers P [options]\n"
    "       hdss chunks SPEC... --iterations N --workers P --plot FILE [options]\n"
    "\n"
    "Prints the chunks that a technique cuts a loop into, in the order of the requests.\n"
    "SPEC is NAME or NAME:PARAM=VALUE,...; `hdss techniques` lists what there is.\n"
    "A technique that learns is told of each chunk when its worker asks again: it took\n"
    "count / power seconds.\n"
    "\n"
    "  --iterations N      length of the loop, 0 to 2^63\n"
    "  --workers P         number of workers (default: as many as --power has)\n"
    "  --power V1,V2,..    virtual power of each worker, taken as given (default: 1 each)\n"
    "  --order 1,3,2,..    the workers in the order in which they ask, from 1; starts again at its end\n"
    "                      (default: round robin)\n"
    "  --min-chunk K       no chunk but the last is smaller (default 1)\n"
    "  --weighting W       none or power: multiply each chunk by the power of its worker (default none;\n"
    "                      wf, the awf family, dtss, dfss and dgss are weighted by nature)\n"
    "  --form F            recursive (from what remains) or closed (from the scheduling step alone)\n"
    "                      (default recursive)\n"
    "  --format F          text, json or csv (default text; with --plot nothing)\n"
    "  --plot FILE         draw the chunk sizes of one or several SPECs over the scheduling step, with\n"
    "                      gnuplot; FILE ends in .png or .svg\n"
    "  --help              this text\n"
    "\n"
    "Example: hdss chunks gss --iterations 1000 --workers 4\n"
    "         hdss chunks static gss tss fac2 --iterations 1000 --workers 4 --plot sizes.png\n";

static int read_integer(const char *option, const char *text, uint64_t minimum, uint64_t maximum, uint64_t *value,
                        struct error *error)
{
    uint64_t number;
    if (number_parse_u64(text, &number) < 0 || number < minimum || number > maximum) {
        if (maximum == SCHED_ITERATIONS_MAX)
            return error_set(error, "--%s '%s' is not accepted: an integer from %" PRIu64 " to 2^63", option, text,
                             minimum);
        return error_set(error, "--%s '%s' is not accepted: an integer from %" PRIu64 " to %" PRIu64, option, text,
                         minimum, maximum);
    }
    *value = number;
    return 0;
}

static int read_workers(struct chunks_request *request, const char *text, struct error *error)
{
    uint64_t workers = 0;
    if (read_integer("workers", text, 1, SCHED_WORKERS_MAX, &workers, error) < 0)
        return -1;
    request->setup.config.workers = (unsigned)workers;
    request->workers_given = true;
    return 0;
}

static int read_form(struct chunks_request *request, const char *text, struct error *error)
{
    if (strcmp(text, "recursive") == 0)
        request->setup.form = SCHED_FORM_RECURSIVE;
    else if (strcmp(text, "closed") == 0)
        request->setup.form = SCHED_FORM_CLOSED;
    else
        return error_set(error, "--form '%s' is not accepted: recursive or closed", text);
    return 0;
}

static int read_format(struct chunks_request *request, const char *text, struct error *error)
{
    request->writer = chunk_writer_find(text);
    return request->writer != NULL ? 0 : error_set(error, "--format '%s' is not accepted: text, json or csv", text);
}

static int read_plot(struct chunks_request *request, const char *path, struct error *error)
{
    request->plot = path;
    return plot_check_path(path, error);
}

static int read_iterations(struct chunks_request *request, const char *text, struct error *error)
{
    request->iterations_given = true;
    return read_integer("iterations", text, 0, SCHED_ITERATIONS_MAX, &request->setup.config.iterations, error);
}

enum {
    OPTION_HELP = 256, /* above every letter */
    OPTION_ITERATIONS,
    OPTION_WORKERS,
    OPTION_POWER,
    OPTION_ORDER,
    OPTION_MIN_CHUNK,
    OPTION_WEIGHTING,
    OPTION_FORM,
    OPTION_FORMAT,
    OPTION_PLOT,
};

static const struct option options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"iterations", required_argument, NULL, OPTION_ITERATIONS},
    {"workers", required_argument, NULL, OPTION_WORKERS},
    {"power", required_argument, NULL, OPTION_POWER},
    {"order", required_argument, NULL, OPTION_ORDER},
    {"min-chunk", required_argument, NULL, OPTION_MIN_CHUNK},
    {"weighting", required_argument, NULL, OPTION_WEIGHTING},
    {"form", required_argument, NULL, OPTION_FORM},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {NULL, 0, NULL, 0},
};

static int bad_option(char **argv, struct error *error)
{
    if (optopt > 0 && optopt < OPTION_HELP)
        return error_set(error, "-%c is not an option: see hdss chunks --help", optopt);
    return error_set(error, "%s is not an option: see hdss chunks --help", argv[optind - 1]);
}

static int read_option(struct chunks_request *request, int option, char **argv, struct error *error)
{
    switch (option) {
    case 'h':
    case OPTION_HELP: request->help = true; return 0;
    case OPTION_ITERATIONS: return read_iterations(request, optarg, error);
    case OPTION_WORKERS: return read_workers(request, optarg, error);
    case OPTION_POWER: request->power = optarg; return 0;
    case OPTION_ORDER: request->order = optarg; return 0;
    case OPTION_MIN_CHUNK:
        return read_integer("min-chunk", optarg, 1, SCHED_ITERATIONS_MAX, &request->setup.config.min_chunk, error);
    case OPTION_WEIGHTING: return sched_weighting_parse(&request->setup.config.weighting, optarg, error);
    case OPTION_FORM: return read_form(request, optarg, error);
    case OPTION_FORMAT: return read_format(request, optarg, error);
    case OPTION_PLOT: return read_plot(request, optarg, error);
    case ':': return error_set(error, "%s has no value: see hdss chunks --help", argv[optind - 1]);
    default: return bad_option(argv, error);
    }
}

static int read_specs(struct chunks_request *request, int argc, char **argv, struct error *error)
{
    request->specs = argv + optind;
    request->spec_count = (unsigned)(argc - optind);
    if (optind == argc)
        return error_set(error, "no technique given: hdss chunks SPEC --iterations N --workers P");
    if (request->spec_count > 1 && request->plot == NULL)
        return error_set(error, "'%s' is one argument too many: one technique is accepted, several with --plot",
                         request->specs[1]);
    if (request->spec_count > 1 && request->writer != NULL)
        return error_set(error, "--format %s with %u techniques is not accepted: one, or --plot alone",
                         request->writer->name, request->spec_count);
    if (request->spec_count > PLOT_SERIES_MAX)
        return error_set(error, "%u techniques in one picture are not accepted: up to %d", request->spec_count,
                         PLOT_SERIES_MAX);
    return 0;
}

static int read_arguments(struct chunks_request *request, int argc, char **argv, struct error *error)
{
    optind = 0; /* glibc: start anew, the caller has parsed its own options */
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1 && !request->help;)
        if (read_option(request, option, argv, error) < 0)
            return -1;
    return request->help ? 0 : read_specs(request, argc, argv, error);
}

/* The next word of a comma-separated list, cut at the size of `word`. Moves `*list` on; NULL at the end. */
static bool next_word(const char **list, char *word, size_t size)
{
    if (*list == NULL)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static size_t count_words(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

static int read_powers(struct chunks_request *request, struct error *error)
{
    char word[64];
    size_t count = count_words(request->power), j = 0;
    if (!request->workers_given)
        request->setup.config.workers = (unsigned)count;
    if (count != request->setup.config.workers)
        return error_set(error, "--power has %zu values: accepted is one for each of the %u workers", count,
                         request->setup.config.workers);
    request->powers = malloc(count * sizeof *request->powers);
    if (request->powers == NULL)
        return error_set(error, "out of memory for %zu powers", count);
    for (const char *list = request->power; next_word(&list, word, sizeof word); j++) {
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
    request->asked = malloc(count_words(request->order) * sizeof *request->asked);
    if (request->asked == NULL)
        return error_set(error, "out of memory for the order");
    for (const char *list = request->order; next_word(&list, word, sizeof word); request->setup.asked_count++) {
        uint64_t worker = 0;
        if (read_integer("order", word, 1, request->setup.config.workers, &worker, error) < 0)
            return -1;
        request->asked[request->setup.asked_count] = (unsigned)worker - 1;
    }
    request->setup.asked = request->asked;
    return 0;
}

int chunks_request_init(struct chunks_request *request, int argc, char **argv, struct error *error)
{
    *request = (struct chunks_request){0};
    if (read_arguments(request, argc, argv, error) < 0)
        return -1;
    if (request->help)
        return 0;
    if (!request->iterations_given)
        return error_set(error, "no --iterations given: an integer from 0 to 2^63");
    if (!request->workers_given && request->power == NULL)
        return error_set(error, "no --workers given: an integer from 1 to %u", SCHED_WORKERS_MAX);
    if (request->power != NULL && read_powers(request, error) < 0)
        return -1;
    return request->order != NULL ? read_order(request, error) : 0;
}

void chunks_request_fini(struct chunks_request *request)
{
    free(request->powers);
    free(request->asked);
}
