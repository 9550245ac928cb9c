/* SPDX-License-Identifier: MIT */
/* The control socket as its clients see it: answers, limits, clients that are stuck or somebody else's, many of them,
 * and the end of the job. The base is looked at as a rank looks at it that has work: without waiting. */
#include "common/control/control.h"
#include "common/control/socket.h"
#include "common/os/clock.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"
#include "tests/unit/control/client.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY     65534
#define CROWD      400
#define LATE       16 /* as many as may wait to be accepted */
#define ANSWER_MAX 8192

static char folder[] = "/tmp/hdss-test-control-XXXXXX";
static char path[CONTROL_PATH_MAX];
static struct event_base *base;
static struct control *control;
static struct control_job state;
static unsigned drains;

static void tell(void *context, struct control_job *job)
{
    (void)context;
    job->kernel = state.kernel;
    job->state = state.state;
    job->progress = state.progress;
    job->topology = "central";
}

static void drain(void *context)
{
    (void)context;
    drains++;
}

static const struct control_source source = {.tell = tell, .drain = drain};

static void set_up(void)
{
    scratch_enter(folder);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("HDSS_CONTROL_DIR", folder, 1);
    signal(SIGPIPE, SIG_IGN); /* as in a rank */
    state = (struct control_job){.kernel = "k", .state = CONTROL_RUNNING, .progress = {.total = 10, .workers = 1}};
    drains = 0;
    base = event_base_new();
    control = control_new(base, "1.2.3", &source);
    ck_assert_ptr_nonnull(control);
    snprintf(path, sizeof path, "%s/hdss-%u/run-%d.sock", folder, (unsigned)geteuid(), (int)getpid());
}

static void tear_down(void)
{
    control_free(control, 0);
    event_base_free(base);
    scratch_leave(folder);
}

static void look(void)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
}

static int begin(const char *request)
{
    const int client = control_connect(path);
    ck_assert_int_ge(client, 0);
    const size_t length = strlen(request);
    ck_assert_int_eq(send(client, request, length, MSG_NOSIGNAL), (ssize_t)length);
    return client;
}

/* All that comes until the connection ends. */
static const char *take(int client)
{
    static char answer[ANSWER_MAX];
    return client_take(client, look, answer, sizeof answer);
}

#define ASK(LINE) take(begin(LINE " HTTP/1.1\r\nConnection: close\r\n\r\n"))

static void check_has(const char *answer, const char *status, const char *text)
{
    ck_assert_msg(strncmp(answer + strlen("HTTP/1.1 "), status, strlen(status)) == 0, "%s", answer);
    ck_assert_msg(strstr(answer, text) != NULL, "%s", answer);
}

START_TEST(it_answers)
{
    check_has(ASK("GET /v1"), "200", "\"version\":\"1.2.3\",\"api\":1,\"kind\":\"run\",\"name\":\"run-");
    check_has(ASK("GET /v1/jobs"), "200", "\"jobs\":[{\"id\":1,");
    check_has(ASK("GET /v1/jobs/1"), "200", "\"state\":\"running\",\"waits_for\":null,\"done\":0,\"total\":10");
    check_has(ASK("GET /v1/jobs/1"), "200", "Content-Type: application/json");
}
END_TEST

START_TEST(it_has_metrics)
{
    char jobs[96], iterations[96];
    snprintf(jobs, sizeof jobs, "\nhdss_jobs{session=\"run-%d\",state=\"running\"} 1\n", (int)getpid());
    snprintf(iterations, sizeof iterations, "\nhdss_job_iterations{session=\"run-%d\",job_id=\"1\"} 10\n",
             (int)getpid());
    const char *classic = ASK("GET /metrics");
    check_has(classic, "200", "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    check_has(classic, "200", jobs);
    check_has(classic, "200", iterations);
    const char *open =
        take(begin("GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.8\r\n"
                   "Connection: close\r\n\r\n"));
    check_has(open, "200", "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
    check_has(open, "200", "\n# EOF\n");
}
END_TEST

/* Lets the base wait for what comes until somebody listens at the path. */
static void await_name(void)
{
    int client;
    while ((client = control_connect(path)) < 0)
        event_base_loop(base, EVLOOP_ONCE);
    close(client);
}

START_TEST(a_name_that_was_removed_is_made_anew)
{
    char command[sizeof folder + 20];
    const int before = begin("GET /v1 HTTP/1.1\r\n");
    look();
    snprintf(command, sizeof command, "rm -rf %s/hdss-*", folder);
    ck_assert_int_eq(system(command), 0);
    await_name();
    check_has(ASK("GET /v1"), "200", "\"kind\":\"run\"");
    ck_assert_int_eq(send(before, "Connection: close\r\n\r\n", 21, MSG_NOSIGNAL), 21);
    check_has(take(before), "200", "\"kind\":\"run\"");
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0); /* what is in its place is not removed */
    event_base_loop(base, EVLOOP_ONCE);
    ck_assert_int_eq(rmdir(path), 0);
    await_name();
    check_has(ASK("GET /v1"), "200", "\"kind\":\"run\"");
}
END_TEST

START_TEST(it_refuses)
{
    check_has(ASK("GET /v1/jobs/2"), "404", "{\"error\":\"a run has job 1 alone\"}");
    check_has(ASK("DELETE /v1/jobs/2"), "404", "{\"error\":");
    check_has(ASK("GET /"), "404", "{\"error\":");
    check_has(ASK("GET /v1?x"), "400", "{\"error\":");
    check_has(ASK("PUT /v1/jobs"), "405", "Allow: GET, POST, DELETE");
    check_has(ASK("DELETE /v1/jobs"), "405", "{\"error\":");
    check_has(ASK("POST /v1/jobs"), "409", "{\"error\":");
    check_has(ASK("POST /v1/end"), "409", "{\"error\":");
    check_has(ASK("GET /v1/jobs/1/output"), "409", "{\"error\":");
    ck_assert_uint_eq(drains, 0);
    check_has(take(begin("no HTTP\r\n\r\n")), "400", "Bad Request"); /* evhttp's own */
}
END_TEST

START_TEST(too_long_a_head_is_refused)
{
    char request[10000];
    int length = snprintf(request, sizeof request, "GET /v1 HTTP/1.1\r\nX: ");
    memset(request + length, 'x', sizeof request - (size_t)length - 1);
    request[sizeof request - 1] = '\0';
    const char *answer = take(begin(request));
    ck_assert_msg(answer[0] == '\0' || strstr(answer, "HTTP/1.1 4") == answer, "%s", answer);
}
END_TEST

START_TEST(a_cancelled_job_drains)
{
    check_has(ASK("DELETE /v1/jobs/1"), "202", "\"state\":\"draining\"");
    check_has(ASK("DELETE /v1/jobs/1"), "202", "\"state\":\"draining\"");
    ck_assert_uint_ge(drains, 1);
}
END_TEST

START_TEST(a_request_waits_for_a_change)
{
    const int client = begin("GET /v1/jobs/1?wait=30 HTTP/1.1\r\nConnection: close\r\n\r\n");
    char byte;
    const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - began_ns < 250000000) { /* for more than two looks */
        look();
        ck_assert_int_lt(recv(client, &byte, 1, 0), 0);
    }
    state.state = CONTROL_DRAINING;
    check_has(take(client), "200", "\"state\":\"draining\"");
}
END_TEST

START_TEST(a_request_waits_no_longer_than_it_says)
{
    check_has(ASK("GET /v1/jobs/1?wait=1"), "200", "\"state\":\"running\"");
}
END_TEST

START_TEST(the_end_is_told)
{
    const int waiting = begin("GET /v1/jobs/1?wait=30 HTTP/1.1\r\nConnection: close\r\n\r\n");
    const int gone = begin("GET /v1/jobs/1?wait=30 HTTP/1.1\r\n\r\n");
    char answer[ANSWER_MAX] = "";
    check_has(ASK("GET /v1"), "200", "run-");
    close(gone);
    const int late = begin("GET /v1/jobs/1?wait=30 HTTP/1.1\r\nConnection: close\r\n\r\n");
    control_free(control, 3);
    control = NULL;
    ck_assert_int_gt(recv(waiting, answer, sizeof answer - 1, 0), 0);
    check_has(answer, "200", "\"state\":\"failed\"");
    check_has(answer, "200", "\"status\":3");
    memset(answer, 0, sizeof answer);
    ck_assert_int_gt(recv(late, answer, sizeof answer - 1, 0), 0);
    check_has(answer, "200", "\"status\":3");
    ck_assert_int_ne(access(path, F_OK), 0);
    close(waiting);
    close(late);
}
END_TEST

/* The clients have connected and asked, and are neither accepted nor read. A list of jobs is made job by job. */
START_TEST(all_who_have_asked_are_answered_at_the_end)
{
    static const char *const requests[] = {"GET /v1/jobs/1?wait=30 HTTP/1.1\r\nConnection: close\r\n\r\n",
                                           "GET /v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\n"};
    int clients[LATE];
    check_has(ASK("GET /v1"), "200", "run-");
    for (unsigned i = 0; i < LATE; i++)
        clients[i] = begin(requests[i % 2]);
    control_free(control, 3);
    control = NULL;
    for (unsigned i = 0; i < LATE; i++)
        check_has(take(clients[i]), "200", "\"status\":3");
}
END_TEST

START_TEST(somebody_else_gets_no_answer)
{
    int status;
    if (geteuid() != 0)
        return;
    char own[CONTROL_PATH_MAX]; /* all is opened, as by an accident: only the socket's peer is left to tell */
    strcpy(own, path);
    *strrchr(own, '/') = '\0';
    ck_assert_int_eq(chmod(folder, 0755) + chmod(own, 0755) + chmod(path, 0666), 0);
    const pid_t child = fork();
    if (child == 0) {
        const char request[] = "DELETE /v1/jobs/1 HTTP/1.1\r\n\r\n";
        char byte;
        if (setuid(NOBODY) < 0)
            _exit(2);
        const int client = control_connect(path);
        if (client < 0 || send(client, request, strlen(request), MSG_NOSIGNAL) < 0)
            _exit(3);
        const struct pollfd wanted = {client, POLLIN, 0};
        struct pollfd waits = wanted;
        poll(&waits, 1, 30000);
        _exit(recv(client, &byte, 1, 0) == 0 ? 0 : 4);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        look();
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(drains, 0);
    check_has(ASK("GET /v1"), "200", "run-");
}
END_TEST

/* Connects a crowd and looks in between, as its queue is short. */
static void gather(int crowd[CROWD], const char *request)
{
    for (unsigned i = 0; i < CROWD; i++)
        while ((crowd[i] = control_connect(path)) < 0)
            look();
    for (unsigned i = 0; i < CROWD; i++)
        ck_assert_int_ge(send(crowd[i], request, strlen(request), MSG_NOSIGNAL), 0);
}

static uint64_t time_of_look(void)
{
    const uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    look();
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

START_TEST(a_crowd_gets_its_share_and_no_more)
{
    static int crowd[CROWD];
    uint64_t longest_ns = 0;
    char byte;
    gather(crowd, "GET /v1/jobs/1 HTTP/1.1\r\n\r\n");
    unsigned looks = 0;
    for (unsigned i = 0; i < CROWD; i++) /* each is answered, in some later look */
        while (recv(crowd[i], &byte, 1, 0) < 0) {
            const uint64_t took_ns = time_of_look();
            longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
            looks++;
        }
    ck_assert_uint_gt(looks, 5); /* not all at once */
    for (unsigned i = 0; i < CROWD; i++)
        close(crowd[i]);
    printf("# %d clients were answered in %u looks, the longest of %.0f us\n", CROWD, looks, (double)longest_ns / 1e3);
}
END_TEST

START_TEST(stuck_clients_delay_nobody)
{
    static int crowd[CROWD];
    gather(crowd, "GET /v1/jobs/1 HTT"); /* half a request */
    check_has(ASK("GET /v1/jobs/1"), "200", "\"state\":\"running\"");
    for (unsigned i = 0; i < CROWD; i++)
        close(crowd[i]);
    check_has(ASK("GET /v1/jobs/1"), "200", "\"state\":\"running\"");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control");
    TCase *tests = tcase_create("control");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, it_answers);
    tcase_add_test(tests, it_has_metrics);
    tcase_add_test(tests, a_name_that_was_removed_is_made_anew);
    tcase_add_test(tests, it_refuses);
    tcase_add_test(tests, too_long_a_head_is_refused);
    tcase_add_test(tests, a_cancelled_job_drains);
    tcase_add_test(tests, a_request_waits_for_a_change);
    tcase_add_test(tests, a_request_waits_no_longer_than_it_says);
    tcase_add_test(tests, the_end_is_told);
    tcase_add_test(tests, all_who_have_asked_are_answered_at_the_end);
    tcase_add_test(tests, somebody_else_gets_no_answer);
    tcase_add_test(tests, a_crowd_gets_its_share_and_no_more);
    tcase_add_test(tests, stuck_clients_delay_nobody);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
