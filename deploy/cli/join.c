/* SPDX-License-Identifier: MIT */
/* hdss join: a launch of its own, a master with its workers, that takes part in a set.
 *
 * The line is that of `hdss run`, with a master in the place of the supermaster. It leaves when the set ends, or when
 * it is asked to by a signal, which is how its own time limit comes, too. */
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/pods.h"
#include "deploy/cli/run.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

static const char program[] = "hdss join";

struct join_request {
    struct launch_plan plan; /* the target of the launch's options */
    const char *set;         /* or the file or port by which it is joined; borrowed; NULL: none is given */
    uint64_t patience_s;     /* for so long a set that is not there is waited for; 0: not given */
};

static int take_patience(void *target, const char *value, struct error *error)
{
    (void)error;
    return duration_parse_some(value, &((struct join_request *)target)->patience_s);
}

static const struct option_row join_rows[] = {
    {"wait", 0, "TIME", DURATION_ACCEPTED,
     "wait so long for a set that does not answer, and join again where it was lost: one that is started again by "
     "`hdss up "
     "--resume` has its pods back (default: 10 seconds at the start, and not again)",
     take_patience},
    {"dry-run", 0, NULL, NULL, "print the line; start nothing", TAKES_FLAG(struct join_request, plan.dry_run)},
    {NULL},
};

_Static_assert(offsetof(struct join_request, plan) == 0, "options of the launch take the request for its plan");

static const struct options join_options = {
    .usage = "hdss join [OPTION]... [SET|FILE|HOST:PORT]",
    .about =
        "Starts a master and workers here, as a pod of a set that was started with `hdss up --listen`, and returns "
        "when the pod has left it. FILE is the file `pods` of the set's folder; a set whose folder is here is found "
        "by its name. Where munge runs, HOST:PORT joins a set of the same user without that file.",
    .sections = {{"Pod", join_rows}, {"Launch", launch_place_rows}, {"Help", options_common}},
    .notes =
        "In a job of Slurm, PBS or LSF the hosts and their cores are those of the job, and the pod leaves before its "
        "time limit: what it has not begun others compute.\n"
        "Ctrl-C (or SIGTERM) has the pod leave: what runs is finished and kept. Once more ends it at once.\n"
        "Example:\n"
        "    hdss up --listen local --workers 4\n"
        "    hdss join --workers 2\n"
        "Exit status: 0 left or the set has ended, 1 failed or the set was lost, 2 wrong use.",
};

void join_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){join_options, OPERANDS_SETS};
}

static int join_take_operand(void *target, const char *word, struct error *error)
{
    struct join_request *request = target;
    if (request->set != NULL)
        return error_set(error, "unexpected word '%.100s': one set is joined", word);
    request->set = word;
    return 0;
}

/* --- the launch --- */

static int join(struct join_request *request, bool *again, struct error *error)
{
    struct launch_plan *plan = &request->plan;
    char ticket[PATH_MAX];
    if (plan->masters_given && plan->masters != 1) {
        error_set(error, "--masters %u: accepted: 1, as a pod has one master", plan->masters);
        return EXIT_STATUS_USAGE;
    }
    if (pods_find_ticket(request->set, ticket, error) < 0)
        return EXIT_STATUS_USAGE;
    job_init(&plan->setup.job); /* for the time that ranks have to drain */
    plan->serves = plan->is_pod = plan->masters_given = true;
    plan->masters = 0; /* beside the one that leads */
    plan->threads = 1;
    plan->restarts = 0;
    argv_add(&plan->job, "master");
    argv_add(&plan->job, "--join");
    argv_add(&plan->job, ticket);
    if (request->patience_s > 0) {
        argv_add(&plan->job, "--patience");
        argv_add_format(&plan->job, "%ju", (uintmax_t)request->patience_s);
    }
    struct launch how = {0};
    const int status = run_launch_plan(plan, &how, error);
    *again = request->patience_s > 0 && status == EXIT_STATUS_FAILED && how.begun && !how.asked;
    return status;
}

/* Joins once; `*again`: the set was lost, and is to be waited for. */
static int join_once(int argc, char **argv, bool *again)
{
    struct join_request request = {.plan = LINEUP_DEFAULT};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    const int result = options_parse(&join_options, argc, argv, &request, join_take_operand, &error);
    *again = false;
    if (result > 0)
        status = show_page(program, &join_options, result);
    else if (result == 0)
        status = join(&request, again, &error);
    else
        mistakes_explain(&join_options, argc, argv, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    launch_plan_fini(&request.plan);
    return status;
}

int command_join(int argc, char **argv)
{
    bool again;
    int status;
    do {
        status = join_once(argc, argv, &again);
        if (again)
            say_note(program, "the set was lost: it is waited for, to join it again");
    } while (again);
    return status;
}
