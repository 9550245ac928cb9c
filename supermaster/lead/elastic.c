/* SPDX-License-Identifier: MIT */
/* A run that pods can join: see elastic.h. */
#include "supermaster/lead/elastic.h"

#include "common/mpi/runtime.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/stream/ticket.h"
#include "common/util/text.h"
#include "proto/announcement.h"
#include "proto/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELASTIC_JOB 1u

static int elastic_fail(const struct elastic *elastic, int status, const char *text)
{
    const struct root *root = led_job_root(elastic->led);
    say(root->err, "%s: %s", root->name, text);
    return status;
}

/* Makes the path of the ticket absolute, and creates the folders in it. Fails if the path names a file that is not a
 * ticket. */
static int make_place(const char *given, char path[PATH_MAX], struct error *error)
{
    struct ticket earlier;
    struct error why;
    char folder[PATH_MAX] = "";
    if (given[0] == '\0')
        return error_set(error, "--listen: the file by which pods join is not named; accepted: with --pods-file FILE");
    if (given[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        return error_set(error, "cannot tell the working directory: %s", strerror(errno));
    const int length = snprintf(path, PATH_MAX, "%s%s%s", folder, given[0] != '/' ? "/" : "", given);
    if (length < 0 || length >= PATH_MAX)
        return error_set(error, "--pods-file: its path is too long");
    if (access(path, F_OK) == 0 && ticket_read(&earlier, path, &why) < 0)
        return error_set(error, "--pods-file: %.400s", why.text);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return folder[0] != '\0' ? file_make_folders(folder, error) : 0;
}

static void say_how_to_join(const struct root *root, const char *ticket)
{
    struct text text;
    text_init(&text);
    text_add_word(&text, ticket);
    char *word = text_take(&text);
    say(root->err, "%s: `hdss join %s` joins this run", root->name, word != NULL ? word : ticket);
    free(word);
}

static int open_door(struct elastic *elastic)
{
    char path[PATH_MAX];
    struct error error;
    const struct root *root = led_job_root(elastic->led);
    const struct job *job = &root->setup.job;
    if (make_place(job->pods_file, path, &error) < 0 ||
        pods_door_open(&elastic->door, elastic->runtime, &job->listen, path, job_resumes(job), "--pods-file FILE",
                       &error) < 0)
        return elastic_fail(elastic, EXIT_STATUS_USAGE, error.text);
    if (job->await_pods == 0)
        say_how_to_join(root, elastic->door.ticket);
    return EXIT_STATUS_DONE;
}

int elastic_prepare(struct elastic *elastic, struct led_job *led, struct runtime *runtime,
                    const struct topology *launch)
{
    struct error error;
    elastic->led = led;
    elastic->runtime = runtime;
    if (job_setup_check_for_pods(&led_job_root(led)->setup, &error) < 0)
        return elastic_fail(elastic, EXIT_STATUS_USAGE, error.text);
    if (topology_copy(&elastic->topology, launch) < 0)
        return elastic_fail(elastic, EXIT_STATUS_FAILED, "out of memory");
    led_job_expect_pods(led);
    const int status = led_job_prepare(led, runtime, &elastic->topology);
    return status == EXIT_STATUS_DONE ? open_door(elastic) : status;
}

void elastic_close(struct elastic *elastic)
{
    if (elastic->door.streams == NULL)
        return;
    pods_door_close(&elastic->door);
    pods_door_remove_ticket(&elastic->door);
}

void elastic_fini(struct elastic *elastic)
{
    topology_fini(&elastic->topology);
}

static int make_room(void *context, unsigned workers)
{
    const struct elastic *elastic = context;
    return elastic->driver != NULL ? led_job_reserve(elastic->led, workers) : 0;
}

static void take_in(void *context, const struct link_pod *pod)
{
    struct elastic *elastic = context;
    struct root *root = led_job_root(elastic->led);
    char text[160];
    if (elastic->driver == NULL)
        return;
    if (topology_append(&elastic->topology, pod->first_rank, pod->workers + 1, pod->node_rank) < 0) {
        root_print_failure(root, "out of memory for a pod: the run goes on without it", root->rank);
        return;
    }
    led_job_note_joined(elastic->led);
    driver_tell_joined(elastic->driver);
    if (root->setup.job.await_pods > 0)
        return;
    snprintf(text, sizeof text, "rank %u has joined with %u worker%s of %s", pod->first_rank, pod->workers,
             pod->workers > 1 ? "s" : "", pod->name);
    root_print_failure(root, text, root->rank);
}

static void let_go(void *context, unsigned first_rank, bool now)
{
    const struct elastic *elastic = context;
    if (elastic->driver != NULL)
        driver_tell_leaving(elastic->driver, first_rank, now);
}

bool elastic_send_away(struct elastic *elastic, unsigned rank, bool now)
{
    return elastic->link != NULL && link_send_away(elastic->link, rank, now);
}

bool elastic_share(struct elastic *elastic, int *status)
{
    static char program[] = "supermaster", serve[] = "--serve";
    char *const words[] = {program, serve, NULL};
    unsigned count;
    return runtime_share_job(elastic->runtime, 2, words, status, &count) != NULL;
}

static int announce(struct elastic *elastic)
{
    char folder[PATH_MAX];
    const mode_t mask = umask(0);
    umask(mask);
    if (getcwd(folder, sizeof folder) == NULL)
        return elastic_fail(elastic, EXIT_STATUS_USAGE, "cannot tell the working directory");
    struct announcement about = {.weight = 1, .umask = mask & 0777, .folder = folder, .environment = environ};
    while (environ[about.variable_count] != NULL)
        about.variable_count++;
    return led_job_announce(elastic->led, elastic->link, ELASTIC_JOB, &about, true);
}

/* The run has no other job for pods that cannot take part in this one, so they are sent away. Each of these pods has
 * printed the reason. Pods that the run itself has started stay, because the launcher of such a pod would report an
 * early end as an error. */
static void send_unfit_away(struct elastic *elastic)
{
    unsigned rank;
    if (led_job_root(elastic->led)->setup.job.await_pods > 0)
        return;
    for (; led_job_tell_unfit(elastic->led, elastic->unfit, &rank); elastic->unfit++)
        elastic_send_away(elastic, rank, false);
}

static int drive_job(struct elastic *elastic)
{
    const struct machine machine = led_job_machine(elastic->led);
    const struct part_of_job part = {
        .job = ELASTIC_JOB, .weight = 1, .machine = &machine, .effects = led_job_effects(elastic->led)};
    elastic->driver = link_add(elastic->link, &part);
    if (elastic->driver == NULL)
        return EXIT_STATUS_FAILED;
    while (driver_goes_on(elastic->driver)) {
        link_turn(elastic->link);
        send_unfit_away(elastic);
    }
    const int status = link_remove(elastic->link, elastic->driver);
    elastic->driver = NULL;
    return status;
}

int elastic_drive(struct elastic *elastic)
{
    const struct job_source source = {.context = elastic, .reserve = make_room, .joined = take_in, .leaving = let_go};
    elastic->link = link_open(elastic->runtime);
    if (elastic->link == NULL)
        return EXIT_STATUS_FAILED;
    link_expect_jobs(elastic->link, &source);
    int status = announce(elastic);
    if (status == EXIT_STATUS_DONE)
        status = drive_job(elastic);
    link_end(elastic->link);
    while (!link_is_over(elastic->link))
        link_turn(elastic->link);
    link_close(elastic->link);
    elastic->link = NULL;
    return status;
}
