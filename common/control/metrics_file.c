/* SPDX-License-Identifier: MIT */
/* Writes the metrics of a run or set to a file at regular intervals. The textfile collector of Prometheus'
 * node-exporter reads files that end in .prom. If Prometheus already scrapes the nodes of a cluster, it also sees these
 * files. So it sees runs that have no open port, and runs that end before the next scrape.
 *
 * A timer in the event base of the rank composes the text between two turns. This takes about 50 us for a run, and half
 * a millisecond for a set with 64 jobs. The machines are not involved. A thread writes the text: renaming the file can
 * take a third of a second on a busy disk, and chunks must not wait for it. The thread does not use MPI. If a text is
 * still unwritten when the next one is ready, the next one replaces it.
 *
 * Files are replaced by renaming, so readers never see an incomplete file. If the first file cannot be written, this is
 * an error. If a later file cannot be written, the run continues and the previous file remains. Its modification time
 * shows its age.
 *
 * The path is made absolute at the start, because the supermaster of a set changes its working directory to the folders
 * of its jobs. */
#include "common/control/metrics_file.h"

#include "common/os/files.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
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
    struct event *timer;
    pthread_t writer;
    bool has_writer;
    pthread_mutex_t turn; /* held while the following members are read or written */
    pthread_cond_t news;
    char *text;
    bool is_over;
    bool fails;
    struct error unsaid;
};

static char *make_text(const struct metrics_file *file)
{
    return control_source_metrics(file->setup.source, &file->session, METRICS_PROMETHEUS);
}

static void write_waiting(struct metrics_file *file)
{
    struct error error;
    char *text = file->text;
    file->text = NULL;
    pthread_mutex_unlock(&file->turn);
    const bool fails = file_publish(file->path, text, strlen(text), &error) < 0;
    free(text);
    pthread_mutex_lock(&file->turn);
    if (fails && !file->fails)
        file->unsaid = error;
    file->fails = fails;
}

static void *run_writer(void *context)
{
    struct metrics_file *file = context;
    pthread_mutex_lock(&file->turn);
    for (;;) {
        if (file->text != NULL)
            write_waiting(file);
        else if (file->is_over)
            break;
        else
            pthread_cond_wait(&file->news, &file->turn);
    }
    pthread_mutex_unlock(&file->turn);
    return NULL;
}

static int start_writer(struct metrics_file *file, struct error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    file->has_writer = pthread_create(&file->writer, NULL, run_writer, file) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return file->has_writer ? 0 : error_set(error, "cannot start a thread that writes %.200s", file->path);
}

static void hand_over(struct metrics_file *file, bool is_last)
{
    char *text = make_text(file);
    pthread_mutex_lock(&file->turn);
    if (text != NULL) {
        free(file->text);
        file->text = text;
    }
    file->is_over = is_last;
    pthread_cond_signal(&file->news);
    pthread_mutex_unlock(&file->turn);
}

static void say_unsaid(struct metrics_file *file)
{
    struct error line = {0};
    pthread_mutex_lock(&file->turn);
    if (file->unsaid.text[0] != '\0')
        error_set(&line, "--metrics-file: %.400s; the run goes on", file->unsaid.text);
    file->unsaid.text[0] = '\0';
    pthread_mutex_unlock(&file->turn);
    if (line.text[0] != '\0')
        file->setup.warn(file->setup.context, line.text);
}

static void on_time(evutil_socket_t unused, short what, void *context)
{
    (void)unused, (void)what;
    say_unsaid(context);
    hand_over(context, false);
}

static int write_first(const struct metrics_file *file, struct error *error)
{
    char *text = make_text(file);
    const int result = text != NULL ? file_publish(file->path, text, strlen(text), error)
                                    : error_set(error, "%.200s: out of memory", file->path);
    free(text);
    return result;
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
    if (make_absolute(file, error) < 0 || file_check_writable(file->path, error) < 0 || write_first(file, error) < 0)
        return -1;
    file->timer = event_new(file->setup.base, -1, EV_PERSIST, on_time, file);
    if (file->timer == NULL || event_add(file->timer, &every) < 0)
        return error_set(error, "out of memory for a timer");
    return start_writer(file, error);
}

static void release_file(struct metrics_file *file)
{
    if (file->has_writer)
        pthread_join(file->writer, NULL);
    say_unsaid(file);
    if (file->timer != NULL)
        event_free(file->timer);
    pthread_cond_destroy(&file->news);
    pthread_mutex_destroy(&file->turn);
    free(file->text);
    free(file);
}

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
    pthread_mutex_init(&file->turn, NULL);
    pthread_cond_init(&file->news, NULL);
    file->session = control_source_session(setup->source, setup->version, file->name);
    if (open_file(file, error) == 0) {
        warn_of_name(file);
        return file;
    }
    release_file(file);
    return NULL;
}

void metrics_file_free(struct metrics_file *file, int status)
{
    if (file == NULL)
        return;
    control_session_end(&file->session, status);
    hand_over(file, true);
    release_file(file);
}
