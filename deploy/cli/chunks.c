/* hdss chunks: the chunk sequence of a technique, without a run.
 *
 * The chunks are written as they are cut, so that a series of any length needs no memory. Workers ask round robin,
 * or in the order that is given, which starts again when it is exhausted. */
#include "deploy/cli/commands.h"

#include "common/sched/sched.h"
#include "common/util/number.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: hdss chunks SPEC --iterations N --workers P [options]\n"
    "\n"
    "Prints the chunks that a technique cuts a loop into, in the order of the requests.\n"
    "SPEC is NAME or NAME:PARAM=VALUE,...; `hdss techniques` lists what there is.\n"
    "\n"
    "  --iterations N      length of the loop, 0 to 2^63\n"
    "  --workers P         number of workers (default: as many as --power has)\n"
    "  --power V1,V2,..    virtual power of each worker, taken as given (default: 1 each)\n"
    "  --order 1,3,2,..    the workers in the order in which they ask, from 1; starts again at its end\n"
    "                      (default: round robin)\n"
    "  --min-chunk K       no chunk but the last is smaller (default 1)\n"
    "  --weighting W       none or power: multiply each chunk by the power of its worker (default none;\n"
    "                      dtss, dfss and dgss are weighted by nature)\n"
    "  --form F            recursive (from what remains) or closed (from the scheduling step alone)\n"
    "                      (default recursive)\n"
    "  --format F          text, json or csv (default text)\n"
    "  --help              this text\n"
    "\n"
    "Example: hdss chunks gss --iterations 1000 --workers 4\n";

struct chunk {
    unsigned worker; /* from 1 */
    uint64_t first, count;
};

/* What has been written so far. */
struct tally {
    uint64_t chunks, largest, smallest;
    int width, worker_width; /* of the columns, text only */
};

struct writer {
    const char *name;
    void (*begin)(const struct tally *tally);
    void (*chunk)(const struct tally *tally, const struct chunk *chunk); /* the tally includes the chunk */
    void (*end)(const struct tally *tally);
};

enum form { FORM_RECURSIVE, FORM_CLOSED };

struct request {
    bool help;
    const char *spec, *power, *order; /* as given; NULL where they are not */
    bool iterations_given, workers_given;
    struct sched_config config;
    double *powers;  /* owned, also config.powers */
    unsigned *asked; /* owned; the order, from 0; NULL for round robin */
    size_t asked_count;
    enum form form;
    const struct writer *writer;
};

static void text_begin(const struct tally *tally)
{
    printf("%*s  %*s  %*s  %*s\n", tally->width, "chunk", tally->worker_width, "worker", tally->width, "first",
           tally->width, "count");
}

static void text_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%*" PRIu64 "  %*u  %*" PRIu64 "  %*" PRIu64 "\n", tally->width, tally->chunks, tally->worker_width,
           chunk->worker, tally->width, chunk->first, tally->width, chunk->count);
}

static void text_end(const struct tally *tally)
{
    if (tally->chunks == 0)
        puts("no chunks");
    else
        printf("%" PRIu64 " chunk%s, largest %" PRIu64 ", smallest %" PRIu64 "\n", tally->chunks,
               tally->chunks == 1 ? "" : "s", tally->largest, tally->smallest);
}

static void json_begin(const struct tally *tally)
{
    (void)tally;
    putchar('[');
}

static void json_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%s{\"worker\":%u,\"first\":%" PRIu64 ",\"count\":%" PRIu64 "}", tally->chunks == 1 ? "\n" : ",\n",
           chunk->worker, chunk->first, chunk->count);
}

static void json_end(const struct tally *tally)
{
    puts(tally->chunks == 0 ? "]" : "\n]");
}

static void csv_begin(const struct tally *tally)
{
    (void)tally;
    puts("chunk,worker,first,count");
}

static void csv_chunk(const struct tally *tally, const struct chunk *chunk)
{
    printf("%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 "\n", tally->chunks, chunk->worker, chunk->first, chunk->count);
}

static void csv_end(const struct tally *tally)
{
    (void)tally;
}

static const struct writer writers[] = {
    {"text", text_begin, text_chunk, text_end},
    {"json", json_begin, json_chunk, json_end},
    {"csv", csv_begin, csv_chunk, csv_end},
};

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

static int read_workers(struct request *request, const char *text, struct error *error)
{
    uint64_t workers = 0;
    if (read_integer("workers", text, 1, SCHED_WORKERS_MAX, &workers, error) < 0)
        return -1;
    request->config.workers = (unsigned)workers;
    request->workers_given = true;
    return 0;
}

static int read_form(struct request *request, const char *text, struct error *error)
{
    if (strcmp(text, "recursive") == 0)
        request->form = FORM_RECURSIVE;
    else if (strcmp(text, "closed") == 0)
        request->form = FORM_CLOSED;
    else
        return error_set(error, "--form '%s' is not accepted: recursive or closed", text);
    return 0;
}

static int read_format(struct request *request, const char *text, struct error *error)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        if (strcmp(writers[i].name, text) == 0) {
            request->writer = &writers[i];
            return 0;
        }
    }
    return error_set(error, "--format '%s' is not accepted: text, json or csv", text);
}

static int read_iterations(struct request *request, const char *text, struct error *error)
{
    request->iterations_given = true;
    return read_integer("iterations", text, 0, SCHED_ITERATIONS_MAX, &request->config.iterations, error);
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
    {NULL, 0, NULL, 0},
};

static int bad_option(char **argv, struct error *error)
{
    if (optopt > 0 && optopt < OPTION_HELP)
        return error_set(error, "-%c is not an option: see hdss chunks --help", optopt);
    return error_set(error, "%s is not an option: see hdss chunks --help", argv[optind - 1]);
}

static int read_option(struct request *request, int option, char **argv, struct error *error)
{
    switch (option) {
    case 'h':
    case OPTION_HELP: request->help = true; return 0;
    case OPTION_ITERATIONS: return read_iterations(request, optarg, error);
    case OPTION_WORKERS: return read_workers(request, optarg, error);
    case OPTION_POWER: request->power = optarg; return 0;
    case OPTION_ORDER: request->order = optarg; return 0;
    case OPTION_MIN_CHUNK:
        return read_integer("min-chunk", optarg, 1, SCHED_ITERATIONS_MAX, &request->config.min_chunk, error);
    case OPTION_WEIGHTING: return sched_weighting_parse(&request->config.weighting, optarg, error);
    case OPTION_FORM: return read_form(request, optarg, error);
    case OPTION_FORMAT: return read_format(request, optarg, error);
    case ':': return error_set(error, "%s has no value: see hdss chunks --help", argv[optind - 1]);
    default: return bad_option(argv, error);
    }
}

static int read_arguments(struct request *request, int argc, char **argv, struct error *error)
{
    optind = 0; /* glibc: start anew, the caller has parsed its own options */
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1 && !request->help;)
        if (read_option(request, option, argv, error) < 0)
            return -1;
    if (request->help)
        return 0;
    if (optind == argc)
        return error_set(error, "no technique given: hdss chunks SPEC --iterations N --workers P");
    if (optind < argc - 1)
        return error_set(error, "'%s' is one argument too many: one technique is accepted", argv[optind + 1]);
    request->spec = argv[optind];
    return 0;
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

static int read_powers(struct request *request, struct error *error)
{
    char word[64];
    size_t count = count_words(request->power), j = 0;
    if (!request->workers_given)
        request->config.workers = (unsigned)count;
    if (count != request->config.workers)
        return error_set(error, "--power has %zu values: accepted is one for each of the %u workers", count,
                         request->config.workers);
    request->powers = malloc(count * sizeof *request->powers);
    if (request->powers == NULL)
        return error_set(error, "out of memory for %zu powers", count);
    for (const char *list = request->power; next_word(&list, word, sizeof word); j++) {
        double *power = &request->powers[j];
        if (number_parse_real(word, power) < 0 || *power < SCHED_POWER_MIN || *power > SCHED_POWER_MAX)
            return error_set(error, "--power '%s' of worker %zu is not accepted: a number from %g to %g", word, j + 1,
                             SCHED_POWER_MIN, SCHED_POWER_MAX);
    }
    request->config.powers = request->powers;
    return 0;
}

static int read_order(struct request *request, struct error *error)
{
    char word[64];
    request->asked = malloc(count_words(request->order) * sizeof *request->asked);
    if (request->asked == NULL)
        return error_set(error, "out of memory for the order");
    for (const char *list = request->order; next_word(&list, word, sizeof word); request->asked_count++) {
        uint64_t worker = 0;
        if (read_integer("order", word, 1, request->config.workers, &worker, error) < 0)
            return -1;
        request->asked[request->asked_count] = (unsigned)worker - 1;
    }
    return 0;
}

static int check_form(const struct request *request, const struct technique *technique, struct error *error)
{
    if (request->form != FORM_CLOSED)
        return 0;
    if (technique->at == NULL)
        return error_set(error, "%s has no closed form: accepted is --form recursive", technique->name);
    if (request->config.weighting != SCHED_WEIGHTING_NONE)
        return error_set(error,
                         "--weighting %s does not go with --form closed, which does not know the workers: "
                         "accepted is none",
                         sched_weighting_name(request->config.weighting));
    return 0;
}

/* Everything that takes more than one option together. */
static int complete_request(struct request *request, struct sched *sched, struct error *error)
{
    struct sched_spec spec;
    if (sched_spec_parse(&spec, request->spec, error) < 0)
        return -1;
    if (!request->iterations_given)
        return error_set(error, "no --iterations given: an integer from 0 to 2^63");
    if (!request->workers_given && request->power == NULL)
        return error_set(error, "no --workers given: an integer from 1 to %u", SCHED_WORKERS_MAX);
    if (request->power != NULL && read_powers(request, error) < 0)
        return -1;
    if (request->order != NULL && read_order(request, error) < 0)
        return -1;
    if (check_form(request, spec.technique, error) < 0)
        return -1;
    return sched_init(sched, &spec, &request->config, error);
}

static bool next_chunk(const struct request *request, struct sched *sched, uint64_t step, struct chunk *chunk)
{
    uint64_t done = sched->iterations - sched->remaining;
    unsigned worker =
        request->asked != NULL ? request->asked[step % request->asked_count] : (unsigned)(step % sched->workers);
    *chunk = (struct chunk){.worker = worker + 1, .first = done};
    if (request->form == FORM_RECURSIVE) {
        chunk->count = sched_next(sched, worker);
    } else if (sched->remaining > 0) {
        uint64_t count = sched_at(sched, step);
        chunk->count = count < sched->remaining ? count : sched->remaining;
        sched->remaining -= chunk->count;
    }
    return chunk->count > 0;
}

static void count_chunk(struct tally *tally, uint64_t count)
{
    if (tally->chunks == 0 || count > tally->largest)
        tally->largest = count;
    if (tally->chunks == 0 || count < tally->smallest)
        tally->smallest = count;
    tally->chunks++;
}

static int write_failed(void)
{
    fprintf(stderr, "hdss chunks: cannot write: %s\n", strerror(errno));
    return EXIT_STATUS_FAILED;
}

static int width_of(const char *heading, uint64_t largest)
{
    int digits = snprintf(NULL, 0, "%" PRIu64, largest), letters = (int)strlen(heading);
    return digits > letters ? digits : letters;
}

static int write_chunks(const struct request *request, struct sched *sched)
{
    struct tally tally = {.width = width_of("chunk", sched->iterations),
                          .worker_width = width_of("worker", sched->workers)};
    struct chunk chunk;
    request->writer->begin(&tally);
    while (!ferror(stdout) && next_chunk(request, sched, tally.chunks, &chunk)) {
        count_chunk(&tally, chunk.count);
        request->writer->chunk(&tally, &chunk);
    }
    request->writer->end(&tally);
    return fflush(stdout) != 0 || ferror(stdout) ? write_failed() : EXIT_STATUS_DONE;
}

static int print_help(void)
{
    fputs(help, stdout);
    return fflush(stdout) != 0 ? write_failed() : EXIT_STATUS_DONE;
}

static int wrong_use(const struct error *error)
{
    fprintf(stderr, "hdss chunks: %s\n", error->text);
    return EXIT_STATUS_USAGE;
}

static int print_series(struct request *request)
{
    struct sched sched;
    struct error error;
    if (complete_request(request, &sched, &error) < 0)
        return wrong_use(&error);
    int status = write_chunks(request, &sched);
    sched_fini(&sched);
    return status;
}

int command_chunks(int argc, char **argv)
{
    struct request request = {.writer = &writers[0]};
    struct error error;
    if (read_arguments(&request, argc, argv, &error) < 0)
        return wrong_use(&error);
    if (request.help)
        return print_help();
    int status = print_series(&request);
    free(request.powers);
    free(request.asked);
    return status;
}
