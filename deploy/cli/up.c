/* SPDX-License-Identifier: MIT */
/* hdss up: launches a set that waits for jobs.
 *
 * The launch line is that of `hdss run`, but the supermaster serves. The set runs in a session of its own; the command
 * waits until the set answers. */
#include "common/config/address.h"
#include "common/config/serve_options.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/control_client.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/restarts.h"
#include "deploy/cli/run.h"
#include "deploy/cli/sets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS   2000
#define LOOK_MS     10
#define AT_ONCE_MAX 64
#define SHOWN_MAX   65536
/* How long a set may take to end after the end of standard input. */
#define END_S 60

static const char program[] = "hdss up";

struct up_request {
    struct launch_plan plan;
    const char *name;
    const char *state;
    const char *http;
    const char *listen;
    const char *metrics_file;
    uint64_t idle_s;
    const char *chunk_time;
    unsigned at_once;
    bool group_even, group_given, restarts_given;
    bool foreground, until_eof, resumes, forgets, is_json;
};

static int take_idle(void *target, const char *value, struct error *error)
{
    (void)error;
    return duration_parse_some(value, &((struct up_request *)target)->idle_s);
}

static int up_take_http(void *target, const char *value, struct error *error)
{
    struct address address;
    ((struct up_request *)target)->http = value;
    return address_parse(&address, value, error);
}

static int up_take_listen(void *target, const char *value, struct error *error)
{
    struct address address;
    struct up_request *request = target;
    request->listen = value;
    request->plan.listens = true;
    return serve_parse_listen(value, &address, error);
}

static int take_chunk_time(void *target, const char *value, struct error *error)
{
    uint64_t unused;
    (void)error;
    ((struct up_request *)target)->chunk_time = value;
    return serve_parse_chunk_time(value, &unused);
}

static const struct option_row up_rows[] = {
    {"name", 0, "NAME", NULL, "give the set this name (default: HDSS_SET, else the ID of the batch job, else main)",
     TAKES_WORD(struct up_request, name), .least = 1},
    {"foreground", 0, NULL, NULL, "return only when the set has ended", TAKES_FLAG(struct up_request, foreground)},
    {"until-eof", 0, NULL, NULL,
     "end the set when standard input ends, for a program at the other end of a pipe; implies --foreground",
     TAKES_FLAG(struct up_request, until_eof)},
    {"idle-timeout", 0, "TIME", DURATION_ACCEPTED, "end the set after TIME without a job (default: never)", take_idle},
    {"jobs-at-once", 0, "N", NULL, "run up to N jobs at once (default 8)",
     TAKES_INTEGER(struct up_request, at_once, 1, AT_ONCE_MAX)},
    {"max-chunk-time", 0, "SECONDS", SERVE_CHUNK_TIME_TEXT,
     "if other jobs wait for a worker, interrupt its chunk after SECONDS (0.001 to 60 s) and continue the chunk in its "
     "turn (default 0.01)",
     take_chunk_time},
    {"group-by", 0, "node|even", NULL,
     "node: workers and their master share a node. even: all masters serve about equally many workers (default node)",
     TAKES_CHOICE(struct up_request, group_even), .given = offsetof(struct up_request, group_given)},
    {"resume", 0, NULL, NULL, "continue the jobs that an earlier set of this name has left",
     TAKES_FLAG(struct up_request, resumes)},
    {"forget", 0, NULL, NULL, "drop the jobs that an earlier set of this name has left",
     TAKES_FLAG(struct up_request, forgets)},
    {"restarts", 0, "N", NULL,
     "if the set loses its supermaster, its launcher or all workers, start it again with --resume, up to N times "
     "(default 3; 0 with --until-eof)",
     TAKES_INTEGER(struct up_request, plan.limits.restarts, 0, RESTARTS_MAX),
     .given = offsetof(struct up_request, restarts_given)},
    {"http", 0, "ADDRESS", ADDRESS_ACCEPTED,
     "also answer at a TCP port, but only clients with the set's token. PORT: for this machine. HOST:PORT: also for "
     "other machines, not encrypted (default: no port)",
     up_take_http},
    {"listen", 0, "ADDRESS", SERVE_LISTEN_TEXT,
     "let pods of more workers join by `hdss join`. local: from this machine. HOST:PORT: also from other machines, "
     "encrypted with the key in the file pods of the folder --state (default: no pods)",
     up_take_listen},
    {"pods-only", 0, NULL, NULL, "with --listen: start no worker here",
     TAKES_FLAG(struct up_request, plan.line_up.has_no_workers)},
    {"metrics-file", 0, "FILE", "the name of a file",
     "write figures for Prometheus's textfile collector to this file every 10 s and at the end; its name should end in "
     ".prom (default: none)",
     TAKES_WORD(struct up_request, metrics_file), .least = 1},
    {"state", 0, "FOLDER", NULL,
     "keep the jobs and their output in this folder (default: hdss/NAME in XDG_STATE_HOME or ~/.local/state)",
     TAKES_WORD(struct up_request, state), .least = 1},
    {"dry-run", 0, NULL, NULL, "print the launch line and start nothing", TAKES_FLAG(struct up_request, plan.dry_run)},
    {"format", 0, "text|json", NULL, "when the set is ready, print a line, or JSON (default text)",
     TAKES_CHOICE(struct up_request, is_json)},
    {NULL},
};

_Static_assert(offsetof(struct up_request, plan) == 0, "options of the launch take the request for its plan");

static const struct options up_options = {
    .usage = "hdss up [OPTION]...",
    .about = "Starts a supermaster, masters and workers once, as a set that takes jobs by `hdss submit`, and returns "
             "when the set is ready.",
    .sections = {{"Set", up_rows}, {"Launch", launch_place_rows}, {"Help", options_common}},
    .notes = "In a job of Slurm, PBS or LSF, the set uses the hosts and cores of that job.\n"
             "The daemons write their messages to the file `log` in the folder --state.\n"
             "Example:\n"
             "    hdss up --workers 8\n"
             "    hdss submit --wait mandelbrot width=2048\n"
             "    hdss down",
};

void up_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){up_options, OPERANDS_NONE};
}

static int find_state(const struct up_request *request, const char *name, char path[PATH_MAX], struct error *error)
{
    const char *given = request->state;
    char folder[PATH_MAX] = "";
    if (given != NULL && given[0] != '/' && getcwd(folder, sizeof folder) == NULL)
        return error_set(error, "cannot tell the working directory: %s", strerror(errno));
    if (given == NULL)
        return sets_state_folder(name, path, error);
    const int length = snprintf(path, PATH_MAX, "%s%s%s", folder, given[0] != '/' ? "/" : "", given);
    return length < PATH_MAX ? 0 : error_set(error, "the path of the set's folder is too long");
}

/* True if a set of that name answers. The caller then owns `session`. */
static bool is_up(const char *name, json_t **session)
{
    struct set_place set;
    struct control_client client;
    struct control_answer answer;
    struct error error;
    *session = NULL;
    if (sets_find(name, &set, &error) < 0)
        return false;
    control_client_init(&client, set.path);
    const enum ask_end end = control_client_ask(&client, "GET", "/v1", NULL, ANSWER_MS, &answer, &error);
    if (end == ASK_ANSWERED)
        *session = json_incref(answer.json);
    control_answer_fini(&answer);
    control_client_fini(&client);
    return end == ASK_ANSWERED;
}

static void say_port(const struct up_request *request, const json_t *session)
{
    struct address address;
    struct error error;
    const char *url = json_string_value(json_object_get(session, "http"));
    const char *file = json_string_value(json_object_get(session, "token_file"));
    if (url == NULL || file == NULL)
        return;
    say(stdout, "  %s answers whoever has the token in %s", url, file);
    if (!request->foreground && request->http != NULL && address_parse(&address, request->http, &error) == 0 &&
        !address_is_loopback(&address))
        say_error(program, "--http: " ADDRESS_WARNING);
}

static int say_up(const struct up_request *request, const char *name, const json_t *session)
{
    const json_int_t workers = json_integer_value(json_object_get(session, "workers"));
    /* In the foreground the JSON is printed as one line, so that a reader knows when the JSON is complete. */
    if (request->is_json) {
        char *text = json_dumps(session, request->foreground ? JSON_COMPACT : JSON_INDENT(2));
        printf("%s\n", text != NULL ? text : "null");
        free(text);
    } else if (workers > 0)
        say(stdout, "%s is up: %jd worker%s", name, (intmax_t)workers, workers > 1 ? "s" : "");
    else
        say(stdout, "%s is up", name);
    if (!request->is_json)
        say_port(request, session);
    return commands_end_page(program);
}

static void add_words(struct up_request *request, const char *name, const char *state)
{
    struct argv *words = &request->plan.request.words;
    argv_add(words, "supermaster");
    argv_add_format(words, "--serve=%s", name);
    argv_add(words, "--state");
    argv_add(words, state);
    if (request->idle_s > 0) {
        argv_add(words, "--idle-timeout");
        argv_add_format(words, "%ju", (uintmax_t)request->idle_s);
    }
    if (request->at_once > 0) {
        argv_add(words, "--jobs-at-once");
        argv_add_format(words, "%u", request->at_once);
    }
    if (request->chunk_time != NULL) {
        argv_add(words, "--max-chunk-time");
        argv_add(words, request->chunk_time);
    }
    if (request->group_given) {
        argv_add(words, "--group-by");
        argv_add(words, request->group_even ? "even" : "node");
    }
    if (request->http != NULL) {
        argv_add(words, "--http");
        argv_add(words, request->http);
    }
    if (request->listen != NULL) {
        argv_add(words, "--listen");
        argv_add(words, request->listen);
    }
    if (request->metrics_file != NULL) {
        argv_add(words, "--metrics-file");
        argv_add(words, request->metrics_file);
    }
    if (request->resumes)
        argv_add(words, "--resume");
    if (request->forgets)
        argv_add(words, "--forget");
}

struct attended_set {
    const struct up_request *request;
    const char *name;
    bool is_said;
    int64_t late_ms; /* after the end of standard input: when the set must have ended; 0: no limit */
    bool late_said;
};

static bool has_input_ended(void)
{
    char bytes[4096];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, 0) <= 0)
        return false;
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

static enum launch_wish end_in_time(struct attended_set *set)
{
    char text[80];
    if (launch_clock_ms() < set->late_ms)
        return LAUNCH_DRAINS;
    snprintf(text, sizeof text, "the set has not ended in %d s: its ranks are ended", END_S);
    if (!set->late_said)
        say_note(program, text);
    set->late_said = true;
    return LAUNCH_ENDS;
}

static enum launch_wish look_at_set(void *context, enum launch_stage stage)
{
    struct attended_set *set = context;
    json_t *session;
    if (set->request->until_eof && set->late_ms == 0 && has_input_ended()) {
        set->late_ms = launch_clock_ms() + 1000 * END_S;
        signal(SIGPIPE, SIG_IGN); /* the output may have no reader any more */
    }
    if (set->late_ms > 0)
        return end_in_time(set);
    if (stage == LAUNCH_STARTS || set->is_said || !is_up(set->name, &session))
        return LAUNCH_GOES_ON;
    set->is_said = true;
    say_up(set->request, set->name, session);
    json_decref(session);
    return LAUNCH_GOES_ON;
}

static int wait_for_set_ms(void *context)
{
    const struct attended_set *set = context;
    if (set->late_said || (!set->is_said && set->late_ms == 0))
        return LOOK_MS;
    const int64_t left_ms = set->late_ms - launch_clock_ms();
    return set->late_ms == 0 ? -1 : left_ms > 0 ? (int)left_ms : 0;
}

static unsigned wait_for_input(void *context, struct pollfd *polled)
{
    const struct attended_set *set = context;
    if (!set->request->until_eof || set->late_ms > 0)
        return 0;
    *polled = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    return 1;
}

static int launch_set(struct up_request *request, const char *name, FILE *log, struct error *error)
{
    struct attended_set set = {.request = request, .name = name};
    const struct launch_side side = {look_at_set, wait_for_set_ms, wait_for_input, &set};
    struct launch how = {.log = log,
                         .side = log == NULL ? &side : NULL,
                         .ends_soon = request->until_eof /* the parent of this process may be waiting for its end */};
    return run_launch_plan(&request->plan, &how, error);
}

static _Noreturn void stay(struct up_request *request, const char *name, int log)
{
    struct error error = {0};
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    FILE *file = fdopen(log, "a");
    setvbuf(file, NULL, _IOLBF, 0);
    const int status = launch_set(request, name, file, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    fflush(stdout);
    fflush(file);
    _exit(status);
}

static void show_log(int log, off_t from)
{
    static char bytes[SHOWN_MAX];
    char text[120];
    const off_t began = from;
    ssize_t count;
    while ((count = pread(log, bytes, sizeof bytes, from)) > 0) {
        fwrite(bytes, 1, (size_t)count, stderr);
        from += count;
    }
    /* If the newline cannot be written, the log cannot say why the set has failed. */
    if (from == began && write(log, "\n", 1) < 0) {
        snprintf(text, sizeof text, "the set has ended, and cannot write why to its log: %s", strerror(errno));
        say_error(program, text);
    }
}

static volatile sig_atomic_t up_is_asked;

static void note_signal_of_up(int number)
{
    (void)number;
    up_is_asked = 1;
}

static void take_signals_of_up(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal_of_up}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

static int wait_until_up(const struct up_request *request, const char *name, pid_t child, int log, off_t from)
{
    bool asked = false;
    for (;;) {
        json_t *session;
        int status;
        if (!asked && is_up(name, &session)) {
            const int result = say_up(request, name, session);
            json_decref(session);
            return result;
        }
        if (waitpid(child, &status, WNOHANG) == child) {
            show_log(log, from);
            const int result = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_STATUS_FAILED;
            return result == EXIT_STATUS_DONE ? EXIT_STATUS_FAILED : result;
        }
        if (up_is_asked && !asked)
            kill(child, SIGTERM);
        asked |= up_is_asked;
        poll(NULL, 0, LOOK_MS);
    }
}

static int open_log(const char *state, struct error *error)
{
    const int folder = file_make_folders(state, error) == 0 ? file_open_own_folder(state, error) : -1;
    if (folder < 0)
        return -1;
    const int log = openat(folder, "log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log < 0)
        error_set(error, "cannot write %.300s/log: %s", state, strerror(errno));
    close(folder);
    return log;
}

static int start_apart(struct up_request *request, const char *name, const char *state, struct error *error)
{
    const int log = open_log(state, error);
    if (log < 0)
        return EXIT_STATUS_USAGE;
    const off_t from = lseek(log, 0, SEEK_END);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        stay(request, name, log);
    if (child < 0) {
        error_set(error, "cannot start a process: %s", strerror(errno));
        return EXIT_STATUS_FAILED;
    }
    take_signals_of_up();
    const int status = wait_until_up(request, name, child, log, from);
    close(log);
    return status;
}

static int start_set(struct up_request *request, struct error *error)
{
    char name[SET_NAME_MAX], state[PATH_MAX];
    json_t *session;
    /* If standard input was closed, file_hold_standard() has opened it for writing only. */
    if (request->until_eof && (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        error_set(error, "--until-eof: standard input is closed; accepted: one that ends, as a pipe does");
        return EXIT_STATUS_USAGE;
    }
    if (request->resumes && request->forgets) {
        error_set(error, "--resume goes on with the jobs that --forget drops; accepted: one of them");
        return EXIT_STATUS_USAGE;
    }
    const char *variable = getenv(SET_VARIABLE);
    if (request->name != NULL && sets_check_name(request->name, error) < 0)
        return EXIT_STATUS_USAGE;
    if (request->name == NULL && variable != NULL && variable[0] != '\0' && sets_check_name(variable, error) < 0) {
        error_before(error, SET_VARIABLE ": ");
        return EXIT_STATUS_USAGE;
    }
    sets_default_name(name);
    if (request->name != NULL)
        snprintf(name, sizeof name, "%s", request->name);
    if (find_state(request, name, state, error) < 0)
        return EXIT_STATUS_USAGE;
    if (compose_check_workers(&request->plan, error) < 0)
        return EXIT_STATUS_USAGE;
    if (is_up(name, &session)) {
        json_decref(session);
        error_set(error, "the set %s is up already; another one needs another name: --name NAME", name);
        return EXIT_STATUS_USAGE;
    }
    request->foreground |= request->until_eof;
    /* By default such a set is not started again: a new set would not have the jobs that the program at the other end
     * of standard input has submitted. */
    if (request->until_eof && !request->restarts_given)
        request->plan.limits.restarts = 0;
    job_init(&request->plan.request.setup.job);
    request->plan.serves = true;
    request->plan.line_up.threads = 1;
    add_words(request, name, state);
    return request->foreground || request->plan.dry_run ? launch_set(request, name, NULL, error)
                                                        : start_apart(request, name, state, error);
}

int command_up(int argc, char **argv)
{
    struct up_request request = {.plan = LINEUP_DEFAULT};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    const int result = options_parse(&up_options, argc, argv, &request, NULL, &error);
    if (result > 0)
        status = show_page(program, &up_options, result);
    else if (result == 0)
        status = start_set(&request, &error);
    else
        mistakes_explain(&up_options, argc, argv, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    launch_plan_fini(&request.plan);
    return status;
}
