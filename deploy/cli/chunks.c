/* SPDX-License-Identifier: MIT */
/* hdss chunks: prints or draws the chunks that a technique cuts, without a run. */
#include "deploy/cli/colour.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"
#include "common/util/error.h"
#include "deploy/cli/chunk_writers.h"
#include "deploy/cli/chunks_request.h"
#include "deploy/cli/plot.h"
#include "deploy/cli/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int chunks_command_wrong_use(const struct error *error)
{
    say_error("hdss chunks", error->text);
    return EXIT_STATUS_USAGE;
}

static int chunks_command_failed(const struct error *error)
{
    say_error("hdss chunks", error->text);
    return EXIT_STATUS_FAILED;
}

static int write_failed(void)
{
    say(stderr, "hdss chunks: cannot write: %s", strerror(errno));
    return EXIT_STATUS_FAILED;
}

static int print_series(const struct chunks_request *request, const char *spec)
{
    static const char usual[] = "text";
    const struct chunk_writer *writer = request->writer != NULL ? request->writer : chunk_writer_find(usual);
    struct series series;
    struct error error;
    if (series_init(&series, &request->setup, spec, &error) < 0)
        return chunks_command_wrong_use(&error);
    bool written = chunk_writer_run(writer, &series);
    int status = written ? EXIT_STATUS_DONE : write_failed();
    if (written && series.sched.failure != NULL) {
        error_set(&error, "%s", series.sched.failure);
        status = chunks_command_failed(&error);
    }
    series_fini(&series);
    return status;
}

static int column_width(const struct chunks_request *request, const char *spec)
{
    const int number = snprintf(NULL, 0, "%" PRIu64, request->setup.config.iterations), name = (int)strlen(spec);
    return name > number ? name : number;
}

static void print_heading(const struct chunks_request *request, bool is_csv)
{
    printf(is_csv ? "chunk" : "%*s", column_width(request, "chunk"), "chunk");
    for (unsigned k = 0; k < request->spec_count; k++)
        if (is_csv)
            printf(strchr(request->specs[k], ',') != NULL ? ",\"%s\"" : ",%s", request->specs[k]);
        else
            printf("  %*s", column_width(request, request->specs[k]), request->specs[k]);
    putchar('\n');
}

static bool print_step(const struct chunks_request *request, struct series *series, uint64_t step, bool is_csv)
{
    struct chunk chunk;
    uint64_t counts[PLOT_SERIES_MAX] = {0};
    unsigned columns = 0;
    for (unsigned k = 0; k < request->spec_count; k++)
        if (series_next(&series[k], &chunk)) {
            counts[k] = chunk.count;
            columns = k + 1;
        }
    if (columns == 0)
        return false;
    if (is_csv)
        columns = request->spec_count;
    printf("%*" PRIu64, is_csv ? 0 : column_width(request, "chunk"), step);
    for (unsigned k = 0; k < columns; k++) {
        char number[24] = "";
        if (counts[k] > 0)
            snprintf(number, sizeof number, "%" PRIu64, counts[k]);
        printf("%s%*s", is_csv ? "," : "  ", is_csv ? 0 : column_width(request, request->specs[k]), number);
    }
    putchar('\n');
    return true;
}

static int print_table(const struct chunks_request *request)
{
    const bool is_csv = request->writer != NULL && strcmp(request->writer->name, "csv") == 0;
    static struct series series[PLOT_SERIES_MAX];
    struct error error = {0};
    unsigned count = 0;
    while (count < request->spec_count &&
           series_init(&series[count], &request->setup, request->specs[count], &error) == 0)
        count++;
    int status = EXIT_STATUS_DONE;
    if (count < request->spec_count)
        status = chunks_command_wrong_use(&error);
    else
        print_heading(request, is_csv);
    for (uint64_t step = 1; status == EXIT_STATUS_DONE && print_step(request, series, step, is_csv); step++)
        continue;
    for (unsigned k = 0; k < count; k++) {
        if (status == EXIT_STATUS_DONE && series[k].sched.failure != NULL) {
            error_set(&error, "%s: %s", request->specs[k], series[k].sched.failure);
            status = chunks_command_failed(&error);
        }
        series_fini(&series[k]);
    }
    return fflush(stdout) != 0 || ferror(stdout) ? write_failed() : status;
}

static int check_specs(const struct chunks_request *request, struct error *error)
{
    struct series series;
    for (unsigned k = 0; k < request->spec_count; k++) {
        if (series_init(&series, &request->setup, request->specs[k], error) < 0)
            return -1;
        series_fini(&series);
    }
    return 0;
}

static int draw_series(const struct chunks_request *request)
{
    struct plot plot = {request->plot, &request->setup, request->specs, request->spec_count};
    FILE *log = request->writer != NULL ? stderr : stdout;
    struct error error;
    if (check_specs(request, &error) < 0)
        return chunks_command_wrong_use(&error);
    enum plot_result result = plot_draw(&plot, &error);
    if (result != PLOT_DRAWN)
        return result == PLOT_TOO_LONG ? chunks_command_wrong_use(&error) : chunks_command_failed(&error);
    say(log, "%s: the chunk sizes of %u technique%s", plot.path, plot.count, plot.count == 1 ? "" : "s");
    return fflush(log) != 0 ? write_failed() : EXIT_STATUS_DONE;
}

static int chunks_command_answer(const struct chunks_request *request)
{
    int status = request->plot != NULL ? draw_series(request) : EXIT_STATUS_DONE;
    if (status == EXIT_STATUS_DONE && (request->plot == NULL || request->writer != NULL))
        status = request->spec_count > 1 ? print_table(request) : print_series(request, request->specs[0]);
    return status;
}

int command_chunks(int argc, char **argv)
{
    struct chunks_request request;
    struct error error;
    int result = chunks_request_init(&request, argc, argv, &error);
    int status = result < 0   ? chunks_command_wrong_use(&error)
                 : result > 0 ? show_page("hdss chunks", &chunks_options, result)
                              : chunks_command_answer(&request);
    chunks_request_fini(&request);
    return status;
}

void chunks_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){chunks_options, OPERANDS_TECHNIQUES};
}
