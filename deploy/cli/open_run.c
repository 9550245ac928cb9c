/* SPDX-License-Identifier: MIT */
/* A run that pods can join: see open_run.h. The supermaster treats such a run as a set with one job
 * (supermaster/lead/elastic.c). This file only decides at which interface pods can join, and where their ticket is. */
#include "deploy/cli/open_run.h"

#include "common/config/serve_options.h"
#include "common/stream/ticket.h"
#include "deploy/cli/host_pods.h"
#include "deploy/cli/sets.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *option_for_pods(const struct launch_plan *launch_plan)
{
    return launch_plan->line_up.has_pods ? "--pods" : launch_plan->elastic ? "--elastic" : "--listen";
}

/* The run's own folder is named after the ID of this process, which stays the same if the run is restarted. */
static int find_folder(const struct launch_plan *launch_plan, char folder[PATH_MAX], struct error *error)
{
    char name[SET_NAME_MAX];
    struct error unused;
    snprintf(name, sizeof name, "run-%d", (int)getpid());
    if (sets_state_folder(name, folder, &unused) == 0)
        return 0;
    return error_set(error,
                     "%s: neither XDG_STATE_HOME nor HOME says where the file can be by which pods join; "
                     "accepted: with --pods-file FILE",
                     option_for_pods(launch_plan));
}

static int find_ticket(const struct launch_plan *launch_plan, char ticket[JOB_PATH_MAX], struct error *error)
{
    char folder[PATH_MAX];
    if (find_folder(launch_plan, folder, error) < 0)
        return -1;
    const int length = snprintf(ticket, JOB_PATH_MAX, "%s/" TICKET_NAME, folder);
    /* A longer path leaves no room for the name of the socket. */
    if (length >= JOB_PATH_MAX || (size_t)length > TICKET_PATH_LENGTH_MAX)
        return error_set(error, "%s: the path of the run's folder is too long; accepted: with --pods-file FILE",
                         option_for_pods(launch_plan));
    return 0;
}

static const char *listen_value(const struct launch_plan *launch_plan)
{
    return launch_plan->line_up.has_pods ? HOST_PODS_ANYWHERE ":0" : "local";
}

/* Adds the option first, so that the user's option wins. */
static void add_option(struct launch_plan *launch_plan, const char *name, const char *value)
{
    argv_insert(&launch_plan->request.words, 1, value);
    argv_insert(&launch_plan->request.words, 1, name);
}

static void add_options(struct launch_plan *launch_plan, const char *ticket)
{
    if (ticket != NULL)
        add_option(launch_plan, "--pods-file", ticket);
    add_option(launch_plan, "--listen", listen_value(launch_plan));
}

int open_run_add_words(struct launch_plan *launch_plan, struct error *error)
{
    char ticket[JOB_PATH_MAX];
    if (!launch_plan->has_pods_file && find_ticket(launch_plan, ticket, error) < 0)
        return -1;
    add_options(launch_plan, launch_plan->has_pods_file ? NULL : ticket);
    return 0;
}

int open_run_add_late(struct launch_plan *launch_plan, struct error *error)
{
    struct job *job = &launch_plan->request.setup.job;
    if (find_ticket(launch_plan, job->pods_file, error) < 0)
        return -1;
    add_options(launch_plan, job->pods_file);
    launch_plan->listens = job->listens = true;
    return serve_parse_listen(listen_value(launch_plan), &job->listen, error);
}

int open_run_check(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->has_pods_file && !launch_plan->listens)
        return error_set(error, "--pods-file: no pod could join; accepted: with --pods, --elastic or --listen ADDRESS");
    if (launch_plan->request.dca.count > 0 && launch_plan->listens)
        return error_set(error,
                         "%s: workers alone (--dca) have no supermaster that pods could join; accepted: "
                         "without --dca",
                         option_for_pods(launch_plan));
    return 0;
}

void open_run_clear(const struct launch_plan *launch_plan)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct error unused;
    if (!launch_plan->listens || find_folder(launch_plan, folder, &unused) < 0)
        return;
    if (snprintf(path, sizeof path, "%s/" TICKET_NAME, folder) < PATH_MAX)
        unlink(path);
    if (snprintf(path, sizeof path, "%s/" TICKET_NAME TICKET_SOCKET_ENDING, folder) < PATH_MAX)
        unlink(path);
    rmdir(folder);
}
