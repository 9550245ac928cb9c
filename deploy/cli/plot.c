/* SPDX-License-Identifier: MIT */
/* The picture of chunk sizes: see plot.h. Writes the input of hdss-plot. It begins with the title and the caption. For
 * each series it has the points of its line. Then come "marks", with the chunks that may have a marker, and "end", with
 * the number of chunks, the least and greatest size, and the spec. */
#include "deploy/cli/plot.h"

#include "common/metrics/human.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/curve.h"
#include "deploy/cli/picture.h"
#include "deploy/cli/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool plot_accepts(const char *path)
{
    return picture_format(path) != NULL;
}

static bool take_chunks(struct curve *curve, struct series *series)
{
    struct chunk chunk;
    uint64_t iterations = series->sched.iterations, size;
    if (series_is_equal(series, &size)) {
        curve_take_equal(curve, size, iterations / size);
        if (iterations % size > 0)
            curve_take(curve, iterations % size);
        return true;
    }
    while (!ferror(curve->file) && series_next(series, &chunk)) {
        if (curve->chunks == PLOT_CHUNKS_MAX)
            return false;
        curve_take(curve, chunk.count);
    }
    return true;
}

static enum plot_result write_series(const struct plot *plot, const char *spec, struct curve *curve, FILE *data,
                                     struct error *error)
{
    struct series series;
    if (series_init(&series, plot->setup, spec, error) < 0)
        return PLOT_FAILED;
    curve_begin(curve, data);
    const bool is_taken = take_chunks(curve, &series);
    curve_end(curve);
    fputs("marks\n", data);
    for (unsigned i = 0; i < curve->mark_count; i++)
        fprintf(data, "%" PRIu64 " %" PRIu64 "\n", curve->marks[i].step, curve->marks[i].size);
    say(data, "end %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", curve->chunks, curve->least, curve->most, spec);
    const bool has_failed = series.sched.failure != NULL;
    if (has_failed)
        error_set(error, "%s", series.sched.failure);
    series_fini(&series);
    if (has_failed)
        return PLOT_FAILED;
    if (is_taken)
        return PLOT_DRAWN;
    error_set(error,
              "--plot of %s with %" PRIu64 " iterations is not accepted: it has more than %" PRIu64
              " chunks; fewer are, as with a larger --min-chunk",
              spec, plot->setup->config.iterations, PLOT_CHUNKS_MAX);
    return PLOT_TOO_LONG;
}

static void write_head(const struct series_setup *setup, FILE *data)
{
    const struct sched_config *config = &setup->config;
    char iterations[HUMAN_MAX], workers[HUMAN_MAX];
    fprintf(data, "Chunk sizes for N = %s iterations and P = %s worker%s\n",
            human_count(iterations, config->iterations), human_count(workers, config->workers),
            config->workers == 1 ? "" : "s");
    fputs(setup->form == SCHED_FORM_CLOSED ? "closed form" : "recursive form", data);
    if (config->min_chunk > 1)
        fprintf(data, "; no chunk but the last below %" PRIu64, config->min_chunk);
    if (config->max_chunk > 0)
        fprintf(data, "; K is at most %" PRIu64, config->max_chunk);
    if (config->weighting != SCHED_WEIGHTING_NONE)
        fprintf(data, "; weighted by %s", sched_weighting_name(config->weighting));
    if (config->powers != NULL)
        fputs("; workers of the given powers", data);
    putc('\n', data);
}

static enum plot_result write_data(const struct plot *plot, FILE *data, struct error *error)
{
    struct curve *curve = malloc(sizeof *curve);
    bool is_grouped = false;
    enum plot_result result = PLOT_DRAWN;
    if (curve == NULL) {
        error_set(error, "out of memory for a line");
        return PLOT_FAILED;
    }
    write_head(plot->setup, data);
    for (unsigned k = 0; k < plot->count && result == PLOT_DRAWN; k++) {
        result = write_series(plot, plot->specs[k], curve, data, error);
        is_grouped |= curve->grouped;
    }
    if (is_grouped)
        fprintf(data, "after chunk %u neighbouring chunks are drawn as the range of their sizes\n", CURVE_EXACT);
    free(curve);
    return result;
}

enum plot_result plot_draw(const struct plot *plot, struct error *error)
{
    if (file_check_writable(plot->path, error) < 0)
        return PLOT_FAILED;
    FILE *data = tmpfile();
    if (data == NULL) {
        error_set(error, "cannot make a temporary file: %s", strerror(errno));
        return PLOT_FAILED;
    }
    enum plot_result result = write_data(plot, data, error);
    if (result == PLOT_DRAWN && picture_draw(data, plot->path, error) < 0)
        result = PLOT_FAILED;
    fclose(data);
    return result;
}
