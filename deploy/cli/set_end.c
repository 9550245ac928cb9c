/* SPDX-License-Identifier: MIT */
/* hdss drain and hdss down: end a set. */
#include "common/os/process.h"
#include "common/os/say.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/pods.h"
#include "deploy/cli/sets.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS   10000
#define LOOK_MS     20
#define LOOK_MAX_MS 500
/* How long to wait for the last process of a set that has ended. */
#define LAST_MS 10000

struct end_request {
    const char *set;
    bool waits;
    bool takes_pods;
};

#define SET_ROW                                                                                                        \
    {                                                                                                                  \
        "set", 0, "SET", NULL, "use this set (default: HDSS_SET, else the batch job's set, else the only set)",        \
            TAKES_WORD(struct end_request, set), .least = 1                                                            \
    }

static const struct option_row drain_rows[] = {
    SET_ROW,
    {"wait", 'w', NULL, NULL, "return only when the set has ended", TAKES_FLAG(struct end_request, waits)},
    {NULL},
};

static const struct option_row down_rows[] = {SET_ROW, {NULL}};

static const struct options drain_options = {
    .usage = "hdss drain [SET|POD] [--wait]",
    .about = "Makes a set end when all of its jobs are over; the set takes no further jobs. Returns at once. POD is "
             "one that `hdss pods` lists: that pod leaves its set, after its running iterations are finished, and "
             "others compute the rest.",
    .sections = {{"Options", drain_rows}, {"Help", options_common}},
};

static const struct options down_options = {
    .usage = "hdss down [SET]",
    .about = "Ends a set: running jobs drain, which means that running iterations are finished and kept and no other "
             "begins. Returns when the set has ended.",
    .sections = {{"Options", down_rows}, {"Help", options_common}},
    .notes = "`hdss up --resume` continues the unfinished jobs.",
};

static int take_set(void *target, const char *word, struct error *error)
{
    struct end_request *request = target;
    if (request->set != NULL && strcmp(request->set, word) != 0)
        return error_set(error, "one set is accepted; '%.60s' would be a second one", word);
    request->set = word;
    return 0;
}

/* True if a set listens at the socket, even if it is too busy to accept a connection. */
static bool is_there(const char *path)
{
    const int fd = control_connect(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EAGAIN;
}

/* Returns the process of the set that ends last. That is the `hdss up` that has started the supermaster; if there is
 * none, it is the supermaster itself. 0: unknown. */
static int find_last(int socket)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
        return 0;
    for (int pid = process_parent(peer.pid); pid > 1; pid = process_parent(pid))
        if (process_is_named(pid, "hdss"))
            return pid;
    return peer.pid;
}

/* Waits until nothing listens at the socket. Then waits, at most LAST_MS, for the last process, which removes the set's
 * files. */
static void wait_for_end(const char *path, int last)
{
    for (int ms = LOOK_MS; is_there(path); ms = ms < LOOK_MAX_MS ? ms + LOOK_MS : ms)
        poll(NULL, 0, ms);
    for (int left_ms = LAST_MS; last > 0 && process_runs(process_state(last)); left_ms -= LOOK_MS) {
        if (left_ms <= 0) {
            say_note("hdss", "the set is over, and one of its processes goes on: it is not waited for any longer");
            return;
        }
        poll(NULL, 0, LOOK_MS);
    }
}

static int end_set(const char *program, const struct end_request *request, const char *body, const char *said,
                   struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct set_place set;
    struct control_client client;
    struct control_answer answer;
    if (sets_find(request->set, &set, error) < 0)
        return EXIT_STATUS_USAGE;
    control_client_init(&client, set.path);
    const enum ask_end end = control_client_ask(&client, "POST", "/v1/end", body, ANSWER_MS, &answer, error);
    const int last = find_last(client.fd);
    control_answer_fini(&answer);
    control_client_fini(&client);
    if (end == ASK_GONE) {
        sets_refuse_lost(set.name, error);
        return EXIT_STATUS_USAGE;
    }
    if (end != ASK_ANSWERED) {
        error_before(error, "the set %s: ", set.name);
        return EXIT_STATUS_FAILED;
    }
    error->text[0] = '\0';
    if (request->waits)
        wait_for_end(set.path, last);
    say(stdout, "%s %s", set.name, request->waits ? "has ended" : said);
    return commands_end_page(program);
}

static int end_pod(const char *program, const struct end_request *request, const char *name, unsigned rank,
                   struct error *error)
{
    struct set_place set;
    if (request->waits) {
        error_set(error, "--wait: accepted for a set alone");
        return EXIT_STATUS_USAGE;
    }
    if (sets_find_with_pods(name[0] != '\0' ? name : NULL, &set, error) < 0)
        return EXIT_STATUS_USAGE;
    const int status = pods_send_away(&set, rank, error);
    if (status != EXIT_STATUS_DONE)
        return status;
    say(stdout, "%s/pod%u leaves when what runs there is finished", set.name, rank);
    return commands_end_page(program);
}

static int end_set_or_pod(const char *program, const struct end_request *request, const char *body, const char *said,
                          struct error *error)
{
    char name[SET_NAME_MAX];
    unsigned rank;
    return request->takes_pods && request->set != NULL && pods_read_name(request->set, name, &rank)
               ? end_pod(program, request, name, rank, error)
               : end_set(program, request, body, said, error);
}

static int run_end(const char *program, const struct options *options, int argc, char **argv,
                   struct end_request request, const char *body, const char *said)
{
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    const int result = options_parse(options, argc, argv, &request, take_set, &error);
    if (result > 0)
        status = show_page(program, options, result);
    else if (result == 0)
        status = end_set_or_pod(program, &request, body, said, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    return status;
}

int command_drain(int argc, char **argv)
{
    const struct end_request request = {.takes_pods = true};
    return run_end("hdss drain", &drain_options, argc, argv, request, "{\"mode\": \"drain\"}",
                   "drains: it ends when its jobs are over");
}

int command_down(int argc, char **argv)
{
    const struct end_request request = {.waits = true};
    return run_end("hdss down", &down_options, argc, argv, request, "{\"mode\": \"now\"}", "");
}

void drain_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){drain_options, OPERANDS_SETS};
}

void down_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){down_options, OPERANDS_SETS};
}
