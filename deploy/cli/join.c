/* SPDX-License-Identifier: MIT */
/* hdss join: launches a pod, a master with workers that takes part in a set.
 *
 * The launch line is that of `hdss run`, with a master instead of the supermaster. The pod leaves when the set ends,
 * at a signal, and before its own time limit. */
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
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "hdss join";

struct join_request {
    struct launch_plan plan;
    const char *set;
    uint64_t patience_s;
    char *ticket;
    bool was_there;
};

static int take_patience(void *target, const char *value, struct error *error)
{
    (void)error;
    return duration_parse_some(value, &((struct join_request *)target)->patience_s);
}

static const struct option_row join_rows[] = {
    {"wait", 0, "TIME", DURATION_ACCEPTED,
     "wait TIME for a set that does not answer, and join again after a loss (default: wait 10 s, and do not join "
     "again)",
     take_patience},
    {"dry-run", 0, NULL, NULL, "print the launch line and start nothing",
     TAKES_FLAG(struct join_request, plan.dry_run)},
    {NULL},
};

_Static_assert(offsetof(struct join_request, plan) == 0, "options of the launch take the request for its plan");

static const struct options join_options = {
    .usage = "hdss join [OPTION]... [SET|RUN|FILE|HOST:PORT]",
    .about =
        "Starts a master and workers here, as a pod of a set that was started with `hdss up --listen` or of a run with "
        "`hdss run --elastic`, and returns when the pod has left. SET is the name of a set whose folder is here; RUN "
        "is run-PID, a run of this machine. FILE is the file `pods` of the set's folder, the file that the run names "
        "when it begins, or a copy with mode 0600; - reads it from standard input. On the set's own machine the socket "
        "beside that file will do. If munge runs, HOST:PORT joins a set or a run of the same user without FILE.",
    .sections = {{"Pod", join_rows}, {"Launch", launch_place_rows}, {"Help", options_common}},
    .notes = "In a job of Slurm, PBS or LSF, the pod uses the hosts and cores of that job and leaves before the job's "
             "time limit; others compute what the pod has not begun.\n"
             "Ctrl-C (or SIGTERM) makes the pod leave: its running iterations are finished and kept. A second Ctrl-C "
             "ends the pod at once.\n"
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
        return error_set(error, "unexpected word '%.100s': one set, or run, is joined", word);
    request->set = word;
    return 0;
}

/* How long a pod may take to leave by itself after the end of its standard input. */
#define LEAVES_MS 5000

/* State of a pod that gets its ticket on standard input, and must end when standard input ends. */
struct tether {
    const struct launch *how;
    int ticket; /* descriptor of the ticket in memory until the pod has joined, then -1 */
    bool ends;  /* standard input continues after the ticket, and its end ends the pod */
    bool is_cut;
    int64_t end_ms;
};

static void forget_ticket(struct tether *tether)
{
    if (tether->ticket >= 0)
        close(tether->ticket);
    tether->ticket = -1;
}

/* At the end of standard input, a pod that is still starting is killed. If all its ranks exist, the pod gets LEAVES_MS
 * to leave its run or set, and is killed after that. */
static enum launch_wish look_at_tether(void *context, enum launch_stage stage)
{
    struct tether *tether = context;
    char byte;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (stage != LAUNCH_STARTS && tether->how->reports)
        forget_ticket(tether);
    if (tether->ends && !tether->is_cut && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0) {
        tether->is_cut = true;
        tether->end_ms = launch_clock_ms() + (stage != LAUNCH_STARTS ? LEAVES_MS : 0);
    }
    return tether->is_cut && launch_clock_ms() >= tether->end_ms ? LAUNCH_KILLS : LAUNCH_GOES_ON;
}

static int wait_for_tether_ms(void *context)
{
    const struct tether *tether = context;
    const int64_t left_ms = tether->end_ms - launch_clock_ms();
    return !tether->is_cut ? -1 : left_ms > 0 ? (int)left_ms : 100;
}

static unsigned wait_for_input(void *context, struct pollfd *polled)
{
    *polled = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    const struct tether *tether = context;
    return tether->ends && !tether->is_cut ? 1 : 0;
}

static bool has_ended(const struct join_request *request)
{
    return request->was_there && request->ticket[0] == '/' && access(request->ticket, F_OK) < 0;
}

static int say_ended(void)
{
    say_note(program, "it has ended meanwhile");
    return EXIT_STATUS_DONE;
}

static int join(struct join_request *request, bool *again, struct error *error)
{
    struct launch_plan *plan = &request->plan;
    if (plan->line_up.masters_given && plan->line_up.masters != 1) {
        error_set(error, "--masters %u: accepted: 1, as a pod has one master", plan->line_up.masters);
        return EXIT_STATUS_USAGE;
    }
    const bool is_handed = request->set != NULL && strcmp(request->set, "-") == 0;
    struct launch how = {0};
    struct tether tether = {.how = &how, .ticket = -1};
    if (is_handed) {
        tether.ticket = pods_keep_ticket(request->ticket, &tether.ends, error);
        if (tether.ticket < 0)
            return EXIT_STATUS_USAGE;
    } else if (has_ended(request)) {
        return say_ended();
    } else if (!request->was_there && pods_find_ticket(request->set, request->ticket, error) < 0) {
        return EXIT_STATUS_USAGE;
    }
    job_init(&plan->request.setup.job);
    plan->serves = plan->is_pod = plan->line_up.masters_given = true;
    plan->line_up.masters = 0; /* the master that leads is not counted */
    plan->line_up.threads = 1;
    plan->limits.restarts = 0;
    argv_add(&plan->request.words, "master");
    argv_add(&plan->request.words, "--join");
    argv_add(&plan->request.words, request->ticket);
    if (request->patience_s > 0) {
        argv_add(&plan->request.words, "--patience");
        argv_add_format(&plan->request.words, "%ju", (uintmax_t)request->patience_s);
    }
    const struct launch_side side = {look_at_tether, wait_for_tether_ms, wait_for_input, .context = &tether};
    how.side = is_handed ? &side : NULL;
    const int status = run_launch_plan(plan, &how, error);
    if (is_handed)
        forget_ticket(&tether);
    *again = !is_handed && request->patience_s > 0 && status == EXIT_STATUS_FAILED && how.begun && !how.asked;
    return status == EXIT_STATUS_USAGE && has_ended(request) ? say_ended()
                                                             : status; /* the set has ended since its ticket was read */
}

/* `*again` before the call: this process had joined the set, and has lost it. `*again` after the call: the set was
 * lost, and the caller must call this again with the same `ticket`. A run that was restarted has another name, so its
 * ticket cannot be found by the old name. */
static int join_once(int argc, char **argv, char ticket[PATH_MAX], bool *again)
{
    struct join_request request = {.plan = LINEUP_DEFAULT, .ticket = ticket, .was_there = *again};
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
    char ticket[PATH_MAX];
    bool again = false;
    int status;
    do {
        status = join_once(argc, argv, ticket, &again);
        if (again)
            say_note(program, "the set was lost: it is waited for, to join it again");
    } while (again);
    return status;
}
