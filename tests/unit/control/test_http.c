/* SPDX-License-Identifier: MIT */
/* The control socket at a port: who is answered there, the file of the token, and clients that want too much. */
#include "common/control/bearer.h"
#include "common/control/control.h"
#include "common/control/socket.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"
#include "tests/unit/control/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MAX  4096
#define REQUEST_MAX 1000
#define PLACES      64

static char folder[] = "/tmp/hdss-test-http-XXXXXX";
static char path[CONTROL_PATH_MAX], token_path[CONTROL_PATH_MAX + 8], token[BEARER_LENGTH + 2];
static struct event_base *base;
static struct control *control;
static struct error error;
static unsigned port, drains;

static void tell(void *context, struct control_job *job)
{
    (void)context;
    job->kernel = "k";
    job->state = CONTROL_RUNNING;
    job->topology = "central";
}

static void drain(void *context)
{
    (void)context;
    drains++;
}

static struct address address;
static const struct control_source source = {.tell = tell, .drain = drain, .http = &address, .error = &error};

static void look(void)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
}

/* All that comes until the connection ends. */
static const char *take(int client)
{
    static char answer[ANSWER_MAX];
    return client_take(client, look, answer, sizeof answer);
}

static int connect_to_port(void)
{
    const struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&there, sizeof there), 0);
    return client;
}

static const char *ask(const char *line, const char *host, const char *authorization)
{
    char request[REQUEST_MAX];
    const int client = connect_to_port(),
              length = snprintf(request, sizeof request, "%s HTTP/1.1\r\nConnection: close\r\n%s%s%s%s%s%s\r\n", line,
                                host != NULL ? "Host: " : "", host != NULL ? host : "", host != NULL ? "\r\n" : "",
                                authorization != NULL ? "Authorization: " : "",
                                authorization != NULL ? authorization : "", authorization != NULL ? "\r\n" : "");
    ck_assert_int_eq(send(client, request, (size_t)length, MSG_NOSIGNAL), length);
    return take(client);
}

static const char *with_token(const char *scheme)
{
    static char value[BEARER_LENGTH + 20];
    snprintf(value, sizeof value, "%s %s", scheme, token);
    return value;
}

static void check_has(const char *answer, const char *status, const char *text)
{
    ck_assert_msg(strncmp(answer + strlen("HTTP/1.1 "), status, strlen(status)) == 0, "%s", answer);
    ck_assert_msg(strstr(answer, text) != NULL, "%s", answer);
}

/* The session as the socket of the user tells it, where no token is needed. */
static const char *own_session(void)
{
    static const char request[] = "GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n";
    const int client = control_connect(path);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(send(client, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    return take(client);
}

static void set_up(void)
{
    scratch_enter(folder);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("HDSS_CONTROL_DIR", folder, 1);
    signal(SIGPIPE, SIG_IGN); /* as in a rank */
    drains = 0;
    ck_assert_int_eq(address_parse(&address, "0", &error), 0);
    base = event_base_new();
    control = control_new(base, "1.2.3", &source);
    ck_assert_msg(control != NULL, "%s", error.text);
    snprintf(path, sizeof path, "%s/hdss-%u/run-%d.sock", folder, (unsigned)geteuid(), (int)getpid());
    snprintf(token_path, sizeof token_path, "%.*s.token", (int)(strlen(path) - strlen(".sock")), path);
    FILE *file = fopen(token_path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(token, sizeof token, file));
    token[strcspn(token, "\n")] = '\0';
    fclose(file);
    const char *told = strstr(own_session(), "\"http\":\"http://127.0.0.1:");
    ck_assert_ptr_nonnull(told);
    port = (unsigned)strtoul(told + strlen("\"http\":\"http://127.0.0.1:"), NULL, 10);
}

static void tear_down(void)
{
    control_free(control, 0);
    event_base_free(base);
    scratch_leave(folder);
}

START_TEST(the_token_opens)
{
    check_has(ask("GET /v1", "localhost", with_token("Bearer")), "200", token_path);
    check_has(ask("GET /v1/jobs/1", "[::1]:80", with_token("bearer")), "200", "\"state\":\"running\"");
    check_has(ask("GET /v1/jobs/2", "127.0.0.1", with_token("Bearer")), "404", "{\"error\":");
    check_has(ask("DELETE /v1/jobs/1", "127.0.0.1", with_token("Bearer")), "202", "\"state\":\"draining\"");
    ck_assert_uint_eq(drains, 1);
}
END_TEST

/* An answer that tells nothing of what is asked for. */
static void check_refused(const char *answer)
{
    check_has(answer, "401", "\r\nWWW-Authenticate: Bearer\r\n");
    check_has(answer, "401", "\r\n\r\n{\"error\":\"accepted: Authorization: Bearer TOKEN\"}\n");
    ck_assert_ptr_null(strstr(answer, "Access-Control"));
}

START_TEST(nothing_is_told_without)
{
    static const char *const lines[] = {"GET /v1", "GET /nothing", "DELETE /v1/jobs/1", "OPTIONS /v1/jobs", "PUT /v1"};
    char wrong[BEARER_LENGTH + 20];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_refused(ask(lines[i], "localhost", NULL));
    check_refused(ask("GET /v1", "localhost", "Bearer"));
    check_refused(ask("GET /v1", "localhost", with_token("Basic")));
    strcpy(wrong, with_token("Bearer"));
    wrong[strlen(wrong) - 1] ^= 1;
    check_refused(ask("GET /v1", "localhost", wrong));
    wrong[strlen(wrong) - 1] = '\0';
    check_refused(ask("GET /v1", "localhost", wrong));
    ck_assert_uint_eq(drains, 0);
}
END_TEST

START_TEST(a_page_of_another_name_is_not_answered)
{
    check_has(ask("GET /v1", "evil.example", with_token("Bearer")), "403", "{\"error\":\"the Host");
    check_has(ask("GET /v1", NULL, with_token("Bearer")), "403", "{\"error\":\"the Host");
}
END_TEST

START_TEST(the_file_is_the_users_alone)
{
    struct stat status;
    ck_assert_uint_eq(strlen(token), BEARER_LENGTH);
    ck_assert_uint_eq(strspn(token, "0123456789abcdef"), BEARER_LENGTH);
    ck_assert(stat(token_path, &status) == 0 && (status.st_mode & 07777) == 0600);
    control_free(control, 0);
    control = NULL;
    ck_assert(access(token_path, F_OK) != 0 && access(path, F_OK) != 0);
    *strrchr(path, '/') = '\0';
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(a_token_that_was_removed_is_there_again)
{
    struct stat status;
    unlink(token_path);
    while (access(token_path, F_OK) != 0)
        event_base_loop(base, EVLOOP_ONCE);
    ck_assert(stat(token_path, &status) == 0 && (status.st_mode & 07777) == 0600);
    check_has(ask("GET /v1", "localhost", with_token("Bearer")), "200", token_path);
}
END_TEST

START_TEST(each_token_is_another)
{
    char before[sizeof token];
    strcpy(before, token);
    tear_down();
    set_up();
    ck_assert_str_ne(before, token);
}
END_TEST

START_TEST(a_port_that_is_taken_is_named)
{
    struct address taken = address;
    struct error reason = {0};
    taken.port = (uint16_t)port;
    const struct control_source other = {.tell = tell, .drain = drain, .set = "a", .http = &taken, .error = &reason};
    ck_assert_ptr_null(control_new(base, "1.2.3", &other));
    ck_assert_msg(strstr(reason.text, "cannot listen at 127.0.0.1:") == reason.text, "%s", reason.text);
    check_has(own_session(), "200", "\"kind\":\"run\"");
}
END_TEST

START_TEST(what_a_killed_run_leaves_is_removed)
{
    char left[CONTROL_PATH_MAX + 8];
    snprintf(left, sizeof left, "%s/hdss-%u/run-1.token", folder, (unsigned)geteuid());
    struct control_socket made;
    ck_assert_int_eq(control_listen(&made, "run-1", &error), 0);
    fclose(fopen(left, "w"));
    control_clear();
    ck_assert_int_eq(access(left, F_OK), 0);
    close(made.fd);
    control_clear();
    ck_assert(access(left, F_OK) != 0 && access(made.path, F_OK) != 0);
    ck_assert_int_eq(access(token_path, F_OK), 0);
}
END_TEST

/* Sends a request and takes no answer. */
static int begin(void)
{
    char request[REQUEST_MAX];
    const int client = connect_to_port(),
              length =
                  snprintf(request, sizeof request, "GET /v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n",
                           with_token("Bearer"));
    ck_assert_int_eq(send(client, request, (size_t)length, MSG_NOSIGNAL), length);
    return client;
}

START_TEST(events_come_to_the_port)
{
    char request[REQUEST_MAX], got[ANSWER_MAX];
    size_t length = 0;
    const int client = connect_to_port(),
              sent = snprintf(request, sizeof request,
                              "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n",
                              with_token("Bearer"));
    ck_assert_int_eq(send(client, request, (size_t)sent, MSG_NOSIGNAL), sent);
    do {
        look();
        const ssize_t more = recv(client, got + length, sizeof got - 1 - length, MSG_DONTWAIT);
        length += more > 0 ? (size_t)more : 0;
        got[length] = '\0';
    } while (strstr(got, "\n\n") == NULL);
    check_has(got, "200", "data: {\"session\":{");
    close(client);
    check_refused(ask("GET /v1/events", "localhost", NULL));
}
END_TEST

START_TEST(there_are_few_places)
{
    int crowd[PLACES];
    char byte;
    for (unsigned i = 0; i < PLACES; i++)
        for (crowd[i] = begin(); recv(crowd[i], &byte, 1, MSG_DONTWAIT) < 0;)
            look();
    const int late = begin();
    check_has(own_session(), "200", "\"kind\":\"run\""); /* whoever is at the port keeps nobody from the socket */
    ck_assert_int_lt(recv(late, &byte, 1, MSG_DONTWAIT), 0);
    close(crowd[7]);
    while (recv(late, &byte, 1, MSG_DONTWAIT) < 0)
        look();
    close(late);
    for (unsigned i = 0; i < PLACES; i++)
        if (i != 7)
            close(crowd[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control-http");
    TCase *tests = tcase_create("control-http");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_token_opens);
    tcase_add_test(tests, nothing_is_told_without);
    tcase_add_test(tests, a_page_of_another_name_is_not_answered);
    tcase_add_test(tests, the_file_is_the_users_alone);
    tcase_add_test(tests, a_token_that_was_removed_is_there_again);
    tcase_add_test(tests, each_token_is_another);
    tcase_add_test(tests, a_port_that_is_taken_is_named);
    tcase_add_test(tests, what_a_killed_run_leaves_is_removed);
    tcase_add_test(tests, events_come_to_the_port);
    tcase_add_test(tests, there_are_few_places);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
