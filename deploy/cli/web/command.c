/* SPDX-License-Identifier: MIT */
/* hdss page: a run or set as it goes on, in a browser. The command serves the page at a port of this machine as long as
 * it runs (server.c), says its address, and opens it where somebody sits at a screen. */
#include "common/control/socket.h"
#include "common/os/say.h"
#include "deploy/cli/ask_control.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/find_job.h"
#include "deploy/cli/sets.h"
#include "deploy/cli/web/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 5000
/* The room for the address with the token and a job. */
#define URL_MAX 160

extern char **environ;

struct page_request {
    unsigned port;
    enum { OPEN_AUTO, OPEN_NO } open;
    const char *word; /* a set or a job; NULL: the only one; borrowed from argv */
};

/* What is shown. */
struct page_subject {
    char name[CONTROL_NAME_MAX]; /* of the session */
    char path[CONTROL_PATH_MAX]; /* of its socket */
    uint64_t job;                /* the one that is selected; 0: none */
};

static const char program[] = "hdss page";

static const struct option_row page_rows[] = {
    {"port", 0, "PORT", "0 to 65535", "port of this machine at which the page is (default 0: any that is free)",
     TAKES_INTEGER(struct page_request, port, 0, 65535)},
    {"open", 0, "auto|no", "auto or no",
     "open the page by xdg-open where there is a display and standard output is a terminal, or only say where it is "
     "(default auto)",
     TAKES_CHOICE(struct page_request, open)},
    {NULL},
};

static const struct options page_options = {
    .usage = "hdss page [SET|ID] [--port PORT] [--open auto|no]",
    .about =
        "Shows a run or set in a browser as it goes on: its jobs with rate and expected end, and of a job its workers "
        "by node, its rate over the last minutes, and what was lost. The page is served until Ctrl-C.",
    .sections = {{"Options", page_rows}, {"Help", options_common}},
    .notes =
        "SET is one of `hdss jobs`; ID is that of a job, which the page begins with: NAME/3 or 3 of a set, run-PID of "
        "a run. Without it the only set, or else the only run, is meant.\n"
        "The address has a token behind its '#': whoever has it can look at the session from this machine, and "
        "change nothing. On another machine have ssh carry the port, as the second line says, and open the same "
        "address there.",
};

void page_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){page_options, OPERANDS_SESSIONS};
}

static int take_page_word(void *target, const char *word, struct error *error)
{
    struct page_request *request = target;
    if (request->word != NULL)
        return error_set(error, "'%.60s' is one word too many; accepted: one set or one ID", word);
    request->word = word;
    return 0;
}

static int page_fail(const char *text, int status)
{
    fflush(stdout);
    say(stderr, "%s: %s", program, text);
    return status;
}

/* --- what is shown --- */

/* Finds the set or job that the word names; without one the set that is meant, or else the only job. -1 with one line.
 */
static int find_subject(const char *word, struct page_subject *subject, struct error *error)
{
    struct set_place set;
    struct job_list found = {0};
    if (sets_find(word, &set, error) == 0) {
        snprintf(subject->name, sizeof subject->name, "%s", set.name);
        snprintf(subject->path, sizeof subject->path, "%s", set.path);
        return 0;
    }
    const int result = word != NULL ? find_job(&found, NULL, word, error) : find_only_job(&found, NULL, error);
    if (result == 0) {
        const struct job_view *view = &found.items[0];
        snprintf(subject->name, sizeof subject->name, "%s", view->session);
        snprintf(subject->path, sizeof subject->path, "%s", view->path);
        subject->job = strchr(view->id, '/') != NULL ? find_job_number(view->id) : 0;
    }
    job_list_fini(&found);
    return result;
}

/* Asks the session whether it is there. -1 with one line. */
static int check_subject(const struct page_subject *subject, struct error *error)
{
    struct control_answer answer;
    struct error reason;
    const enum ask_end end = control_ask(subject->path, "GET", "/v1", ANSWER_MS, &answer, &reason);
    control_answer_fini(&answer);
    return end == ASK_ANSWERED ? 0 : error_set(error, "%s: %s", subject->name, reason.text);
}

/* --- opening it --- */

/* Makes a file that leads a browser to the address, beside the socket, where only this user can read it: the words of a
 * command line can be seen by all users of the machine, and the address has the token in it. False where there is none.
 */
static bool write_leader(const struct page_subject *subject, const char *url, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/page-%d.html", (int)(strrchr(subject->path, '/') - subject->path), subject->path,
             (int)getpid());
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    dprintf(
        fd,
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url=%s\"><title>HDSS</title>"
        "<a href=\"%s\">the page of hdss</a>\n",
        url, url);
    close(fd);
    return true;
}

static bool may_open(const struct page_request *request)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return request->open == OPEN_AUTO && isatty(STDOUT_FILENO) &&
           ((x11 != NULL && *x11 != '\0') || (wayland != NULL && *wayland != '\0'));
}

/* Has the desktop open the file, in a session of its own: Ctrl-C must not end a browser that this has started. */
static void open_browser(char *path)
{
    static char opener[] = "xdg-open";
    char *argv[] = {opener, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, opener, &actions, &attributes, argv, environ) != 0)
        say(stderr, "%s: xdg-open is not there; open the address in a browser", program);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
}

/* --- the command --- */

static void tell_change(const char *name, bool has_ended)
{
    if (has_ended)
        say(stderr, "%s: %s has ended; the page keeps its last state until Ctrl-C", program, name);
    else
        say(stderr, "%s: %s is there again", program, name);
}

/* Returns EXIT_STATUS_DONE; where the address cannot be printed, which nobody learns then, that has been said. */
static int tell_address(const struct page_subject *subject, const struct web_server *server, char url[URL_MAX])
{
    char host[256] = "", job[40] = "";
    const unsigned port = web_server_port(server);
    gethostname(host, sizeof host - 1);
    if (subject->job > 0)
        snprintf(job, sizeof job, "&job=%llu", (unsigned long long)subject->job);
    snprintf(url, URL_MAX, "http://127.0.0.1:%u/#token=%s%s", port, web_server_token(server), job);
    say(stdout, "%s shows %s: %s", program, subject->name, url);
    say(stdout, "to reach it from elsewhere: ssh -L %u:127.0.0.1:%u %s", port, port, host);
    return commands_end_page(program);
}

static int serve_page(const struct page_request *request, const struct page_subject *subject, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    char url[URL_MAX], leader[PATH_MAX] = "";
    struct web_server *server = web_server_new(subject->name, subject->path, (uint16_t)request->port, error);
    if (server == NULL)
        return page_fail(error->text, EXIT_STATUS_USAGE);
    if (tell_address(subject, server, url) != EXIT_STATUS_DONE) {
        web_server_free(server);
        return EXIT_STATUS_FAILED;
    }
    if (may_open(request) && write_leader(subject, url, leader))
        open_browser(leader);
    const int result = web_server_run(server, tell_change, error);
    web_server_free(server);
    if (leader[0] != '\0') {
        unlink(leader);
        control_clear(); /* the folder, where the session has ended and it was the last */
    }
    return result < 0 ? page_fail(error->text, EXIT_STATUS_FAILED) : EXIT_STATUS_DONE;
}

int command_page(int argc, char **argv)
{
    struct page_request request = {0};
    struct page_subject subject = {0};
    struct error error;
    const int status = options_parse(&page_options, argc, argv, &request, take_page_word, &error);
    if (status > 0)
        return show_page(program, &page_options, status);
    if (status < 0 || web_server_check(&error) < 0 || find_subject(request.word, &subject, &error) < 0 ||
        check_subject(&subject, &error) < 0)
        return page_fail(error.text, EXIT_STATUS_USAGE);
    return serve_page(&request, &subject, &error);
}
