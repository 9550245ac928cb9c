/* SPDX-License-Identifier: MIT */
/* Watches a job: see attend.h. There are two connections to the set. On the first one a request waits until the job
 * changes. The second one polls progress and output. */
#include "deploy/cli/attend.h"

#include "common/control/route.h"
#include "common/job/terminal.h"
#include "common/metrics/progress.h"
#include "common/os/clock.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/job_output.h"
#include "deploy/cli/job_view.h"
#include "deploy/cli/sets.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 10000
/* A request waits at most this long for a change. After that it is sent again. */
#define WAIT_S 25
/* How often progress is polled: every LOOK_MS if a progress line is shown, otherwise every REST_MS. Output is requested
 * at most every PRINTED_MS. */
#define LOOK_MS      200
#define REST_MS      10000
#define PRINTED_MS   1000
#define SET_MESSAGES 512

_Static_assert(WAIT_S <= CONTROL_WAIT_MAX_S, "the time for which a request may wait");

struct attendance {
    const struct attended *attended;
    struct control_client *waits;
    struct control_client asks;
    struct terminal terminal;
    struct job_view now;
    uint64_t shown[JOB_STREAMS];
    int64_t printed_ms;
    bool is_over;
    unsigned asked;
    unsigned ends; /* 0: nothing was requested; 1: the job drains; 2: the job was cancelled */
};

int attend_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&taken, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &taken, NULL);
    return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool attend_shows_progress(const struct job *as)
{
    return as->progress != JOB_PROGRESS_NEVER && isatty(STDERR_FILENO);
}

static int64_t now_ms(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

static void say(struct attendance *at, const char *text)
{
    char line[SET_MESSAGES + SET_NAME_MAX + 24];
    terminal_clear(&at->terminal);
    fflush(stdout);
    snprintf(line, sizeof line, "%s/%" PRIu64 " %s", at->attended->set, at->attended->job, text);
    say_note(at->attended->program, line);
}

static void print_first(const char *text, size_t length, int status)
{
    size_t word = 0;
    while (word < length && islower((unsigned char)text[word]))
        word++;
    const bool is_state = word > 0 && word < length && text[word] == ':' && colour_is_on(STDOUT_FILENO);
    if (is_state)
        printf("%s%.*s:" COLOUR_END,
               status == EXIT_STATUS_DONE     ? COLOUR_GOOD
               : status == EXIT_STATUS_FAILED ? COLOUR_BAD
                                              : COLOUR_WARN,
               (int)word, text);
    fwrite(text + (is_state ? word + 1 : 0), 1, length - (is_state ? word + 1 : 0), stdout);
}

static void show_printed(struct attendance *at, struct control_client *client)
{
    struct error error;
    at->printed_ms = now_ms();
    if (at->attended->silent || at->attended->side != NULL)
        return;
    for (int stream = JOB_STREAMS - 1; stream >= 0; stream--) {
        struct control_answer answer;
        uint64_t from;
        do {
            from = at->shown[stream];
            if (job_output_take(client, at->attended->job, stream, &at->shown[stream], &answer, &error) ==
                    ASK_ANSWERED &&
                answer.length > 0) {
                terminal_clear(&at->terminal);
                if (stream == JOB_STREAM_ERR)
                    fwrite(answer.text, 1, answer.length, stderr);
                else if (from == 0 && at->is_over)
                    print_first(answer.text, answer.length, at->now.status);
                else
                    fwrite(answer.text, 1, answer.length, stdout);
                fflush(stream == JOB_STREAM_ERR ? stderr : stdout);
            }
            control_answer_fini(&answer);
        } while (at->shown[stream] - from >= 65536);
    }
}

static void show_line(struct attendance *at)
{
    char line[PROGRESS_LINE_MAX];
    const struct job_view *now = &at->now;
    if (at->terminal.mode != TERMINAL_IN_PLACE || at->is_over)
        return;
    if (strcmp(now->state, "waiting") == 0 && now->elapsed_s <= 0) {
        snprintf(line, sizeof line, "%s/%" PRIu64 " waits%s%.40s", at->attended->set, at->attended->job,
                 now->waits_for[0] != '\0' ? " for " : "", now->waits_for);
        terminal_show(&at->terminal, line);
        return;
    }
    const double earlier = now->done - now->rate * now->elapsed_s;
    const struct progress progress = {
        .name = now->kernel,
        .done = (uint64_t)now->done,
        .total = now->total > 0 ? (uint64_t)now->total : 0,
        .resumed = earlier > 0.5 ? (uint64_t)earlier : 0,
        .elapsed_s = now->elapsed_s,
        .busy = (unsigned)fmin(now->busy, 1e9),
        .workers = (unsigned)fmin(now->workers, 1e9),
        .lost = (unsigned)fmin(now->lost, 1e9),
        .draining = strcmp(now->state, "draining") == 0,
        .grows = now->total < 0,
    };
    terminal_show(&at->terminal, progress_line(&progress, at->terminal.width, at->terminal.utf8, line));
}

static void take_view(struct attendance *at, json_t *json)
{
    struct job_view seen = {0};
    struct error error;
    if (job_view_read(&seen, json, &error) < 0)
        return;
    json_decref(at->now.json);
    at->now = seen;
    at->is_over = seen.status >= 0 || job_state_is_over(seen.state);
}

static void look(struct attendance *at)
{
    struct control_answer answer;
    struct error error;
    char target[64];
    if (at->terminal.mode == TERMINAL_IN_PLACE) {
        snprintf(target, sizeof target, "/v1/jobs/%" PRIu64, at->attended->job);
        if (control_client_ask(&at->asks, "GET", target, NULL, ANSWER_MS, &answer, &error) == ASK_ANSWERED) {
            const bool was_over = at->is_over;
            take_view(at, answer.json);
            at->is_over = was_over; /* only the request that waits for a change reports the end */
        }
        control_answer_fini(&answer);
    }
    if (now_ms() - at->printed_ms >= PRINTED_MS)
        show_printed(at, &at->asks);
    show_line(at);
}

static void end_job(struct attendance *at, bool finishes)
{
    struct control_answer answer;
    struct error error;
    char target[64], text[SET_MESSAGES];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "%s", at->attended->job, finishes ? "?finish=1" : "");
    if (control_client_ask(&at->asks, "DELETE", target, NULL, ANSWER_MS, &answer, &error) != ASK_ANSWERED)
        snprintf(text, sizeof text, "cannot be cancelled: %.400s", error.text);
    else if (at->attended->side == NULL)
        snprintf(text, sizeof text, "is cancelled: what runs is ended, and what is done stays; Ctrl-C again leaves it");
    else
        text[0] = '\0';
    control_answer_fini(&answer);
    if (text[0] != '\0')
        say(at, text);
}

static void end_for_side(struct attendance *at, bool now)
{
    const bool finishes = !now && at->ends == 0;
    if (at->ends == 2)
        return;
    at->ends = finishes ? 1 : 2;
    end_job(at, finishes);
}

static void look_aside(struct attendance *at)
{
    const struct launch_side *side = at->attended->side;
    const enum launch_wish wish = side->look(side->context, LAUNCH_RUNS);
    if (wish == LAUNCH_DRAINS ? at->ends == 0 : wish != LAUNCH_GOES_ON)
        end_for_side(at, wish != LAUNCH_DRAINS);
}

static bool take_signals(struct attendance *at)
{
    struct signalfd_siginfo info;
    while (read(at->attended->signals, &info, sizeof info) == sizeof info)
        at->asked++;
    if (at->asked == 0)
        return false;
    if (at->attended->side != NULL && at->asked < 3) {
        say(at,
            at->asked == 1 ? "stops: what runs is finished; Ctrl-C again ends it" : "is cancelled: what runs is ended");
        end_for_side(at, at->asked > 1);
        return false;
    }
    if (at->attended->leaves || at->asked > 1) {
        say(at, "goes on; `hdss wait` waits for it, `hdss output` shows what it prints");
        return true;
    }
    end_job(at, false);
    return false;
}

static enum ask_end ask_for_change(struct attendance *at, struct error *error)
{
    char target[64];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "?wait=%d", at->attended->job, WAIT_S);
    return control_client_send(at->waits, "GET", target, NULL, ANSWER_MS, error);
}

static enum ask_end take_change(struct attendance *at, struct error *error)
{
    struct control_answer answer;
    const enum ask_end end = control_client_take(at->waits, ANSWER_MS, &answer, error);
    if (end == ASK_ANSWERED) {
        take_view(at, answer.json);
        show_line(at);
    }
    control_answer_fini(&answer);
    return end == ASK_ANSWERED && !at->is_over ? ask_for_change(at, error) : end == ASK_SILENT ? ASK_ANSWERED : end;
}

/* Returns an exit status, or -1 if the job is over. */
static int attend_until_over(struct attendance *at)
{
    struct error error;
    const struct launch_side *side = at->attended->side;
    const int tick_ms = at->terminal.mode == TERMINAL_IN_PLACE ? LOOK_MS : REST_MS;
    enum ask_end end = ask_for_change(at, &error);
    int64_t look_ms = now_ms() + tick_ms;
    while (end == ASK_ANSWERED && !at->is_over) {
        struct pollfd ready[2 + LAUNCH_SIDE_DESCRIPTORS] = {{at->waits->fd, POLLIN, 0},
                                                            {at->attended->signals, POLLIN, 0}};
        const unsigned more = side != NULL ? side->wait_for(side->context, ready + 2) : 0;
        const int side_ms = side != NULL ? side->wait_ms(side->context) : -1;
        const int64_t due_ms = look_ms - now_ms(), left_ms = side_ms >= 0 && side_ms < due_ms ? side_ms : due_ms;
        const int count = poll(ready, 2 + more, left_ms > 0 ? (int)left_ms : 0);
        if (count > 0 && ready[1].revents != 0 && take_signals(at))
            return EXIT_STATUS_DRAINED;
        if (count > 0 && ready[0].revents != 0)
            end = take_change(at, &error);
        if (side != NULL)
            look_aside(at);
        if (now_ms() >= look_ms) {
            if (!at->is_over)
                look(at);
            look_ms = now_ms() + tick_ms;
        }
    }
    if (end == ASK_ANSWERED)
        return -1;
    char text[SET_MESSAGES];
    snprintf(text, sizeof text,
             "is out of sight: %.200s; `hdss up --resume` goes on with the jobs of a set that was lost", error.text);
    say(at, text);
    return EXIT_STATUS_FAILED;
}

int attend_job(struct control_client *client, const struct attended *attended, json_t **last, bool *asked)
{
    struct attendance at = {
        .attended = attended, .waits = client, .now = {.state = "waiting", .kernel = "", .waits_for = ""}};
    control_client_init(&at.asks, client->path);
    terminal_init(&at.terminal, attended->as);
    if (attended->silent || !attend_shows_progress(attended->as))
        at.terminal.mode = TERMINAL_NONE;
    int status = attend_until_over(&at);
    terminal_clear(&at.terminal);
    if (status < 0) {
        show_printed(&at, client);
        status = at.now.status >= 0 ? at.now.status : EXIT_STATUS_FAILED;
    }
    *asked = at.asked > 0;
    if (last != NULL)
        *last = json_incref(at.now.json);
    json_decref(at.now.json);
    control_client_fini(&at.asks);
    return status;
}
