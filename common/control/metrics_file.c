/* SPDX-License-Identifier: MIT */
/* The metrics of a run or a set in a file, written anew now and then, as Prometheus' node-exporter reads it: its
 * textfile collector takes whole files whose names end in .prom. So a cluster whose nodes Prometheus scrapes already
 * sees runs, too, also those that are too short to be scraped themselves, and no port is opened.
 *
 * A timer in the base that the rank waits in has the text made and written, between two turns: no step of a machine
 * knows of it. A reader finds the text before or the one after, and never a part, as each is renamed into place. What
 * cannot be written at the start is an error of the user's; later on the run goes on, and the last text that was
 * written stays, with its age in the time of the file.
 *
 * The path is made absolute at the start, as the supermaster of a set goes to the folders of its jobs. */
#include "common/control/metrics_file.h"

#include "common/os/files.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".prom"

struct metrics_file {
    struct metrics_file_setup setup;
    struct control_session session;
    char name[CONTROL_NAME_MAX];
    char path[PATH_MAX];
    struct event *timer; /* owned */
    bool fails;          /* that has been said */
};

static int write_text(const struct metrics_file *file, struct error *error)
{
    char *text = control_source_metrics(file->setup.source, &file->session, METRICS_PROMETHEUS);
    const int result = text != NULL ? file_publish(file->path, text, strlen(text), error)
                                    : error_set(error, "%.200s: out of memory", file->path);
    free(text);
    return result;
}

/* Writes a text while the run goes on, or its last one. What is wrong is said once, until a text is written again. */
static void write_or_warn(struct metrics_file *file)
{
    struct error error, line;
    const bool fails = write_text(file, &error) < 0;
    if (fails && !file->fails) {
        error_set(&line, "--metrics-file: %.400s; the run goes on", error.text);
        file->setup.warn(file->setup.context, line.text);
    }
    file->fails = fails;
}

static void on_time(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what;
    write_or_warn(context);
}

static int make_absolute(struct metrics_file *file, struct error *error)
{
    const char *given = file->setup.path;
    char folder[PATH_MAX] = "";
    if (given[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        return error_set(error, "cannot tell the working directory: %s", strerror(errno));
    const int length = snprintf(file->path, sizeof file->path, "%s%s%s", folder, given[0] != '/' ? "/" : "", given);
    return length < (int)sizeof file->path ? 0 : error_set(error, "%.200s: the path is too long", given);
}

static int open_file(struct metrics_file *file, struct error *error)
{
    const struct timeval every = {.tv_sec = file->setup.every_ms / 1000,
                                  .tv_usec = (suseconds_t)(file->setup.every_ms % 1000) * 1000};
    if (make_absolute(file, error) < 0 || file_check_writable(file->path, error) < 0 || write_text(file, error) < 0)
        return -1;
    file->timer = event_new(file->setup.base, -1, EV_PERSIST, on_time, file);
    if (file->timer == NULL || event_add(file->timer, &every) < 0)
        return error_set(error, "out of memory for a timer");
    return 0;
}

/* Says where the collector will not read the file: another program may. */
static void warn_of_name(const struct metrics_file *file)
{
    struct error line;
    const size_t length = strlen(file->path), ending = strlen(ENDING);
    if (length > ending && strcmp(file->path + length - ending, ENDING) == 0)
        return;
    error_set(&line, "--metrics-file: %.200s: node-exporter reads only files whose names end in " ENDING,
              file->setup.path);
    file->setup.warn(file->setup.context, line.text);
}

struct metrics_file *metrics_file_new(const struct metrics_file_setup *setup, struct error *error)
{
    struct metrics_file *file = setup->base != NULL ? calloc(1, sizeof *file) : NULL;
    if (file == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    file->setup = *setup;
    file->session = control_source_session(setup->source, setup->version, file->name);
    if (open_file(file, error) == 0) {
        warn_of_name(file);
        return file;
    }
    if (file->timer != NULL)
        event_free(file->timer);
    free(file);
    return NULL;
}

void metrics_file_free(struct metrics_file *file, int status)
{
    if (file == NULL)
        return;
    control_session_end(&file->session, status);
    write_or_warn(file);
    event_free(file->timer);
    free(file);
}
