/* SPDX-License-Identifier: MIT */
/* hdss chunks: the chunk sequence of a technique, without a run, as a table; those of several as a picture. */
#include "deploy/cli/colour.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"
#include "common/util/error.h"
#include "deploy/cli/chunk_writers.h"
#include "deploy/cli/chunks_request.h"
#include "deploy/cli/plot.h"
#include "deploy/cli/series.h"

#include <errno.h>
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

/* Every spec, before the first of them is computed. */
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

/* The line that names the file keeps out of a table's way. */
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
        status = print_series(request, request->specs[0]);
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
