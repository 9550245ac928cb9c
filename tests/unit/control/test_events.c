/* SPDX-License-Identifier: MIT */
/* Events of the control socket: what subscribers are sent and when, those that are too many or stuck, and the end. The
 * sockets are real; the clock is the test's, for the server and for libevent, and goes on by LOOK_MS with each look. */
#include "common/control/control.h"
#include "common/control/door.h"
#include "common/control/socket.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"
#include "tests/unit/control/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SUBSCRIBERS 16
#define TAKEN_MAX   (4u << 20)
#define LOOK_MS     5
#define NS_PER_US   UINT64_C(1000)
#define NS_PER_MS   UINT64_C(1000000)
#define NS_PER_S    UINT64_C(1000000000)

static char folder[] = "/tmp/hdss-test-events-XXXXXX";
static char path[CONTROL_PATH_MAX], long_folder[3001], taken[TAKEN_MAX];
static struct event_base *base;
static struct control *control;
static size_t jobs;
static uint64_t done;
static uint64_t now_ns; /* 0: the clock of the system */
static unsigned tells, idle_events;
static const char *job_folder;

static void tell(void *context, struct control_job *job)
{
    static char kernel[] = "k", parameter[] = "secret=1", *command[] = {kernel, parameter};
    (void)context;
    tells++;
    job->kernel = "k";
    job->command = command;
    job->words = 2;
    job->folder = job_folder;
    job->state = CONTROL_RUNNING;
    job->progress = (struct progress){.done = done, .total = 10, .workers = 1};
    job->topology = "central";
}

static size_t count(void *context, struct metrics_counts *counts, uint64_t *running)
{
    (void)context;
    counts->running = jobs;
    for (size_t i = 0; i < jobs; i++)
        running[i] = i + 1;
    return jobs;
}

static void drain(void *context)
{
    (void)context;
}

static const struct control_source source = {.tell = tell, .drain = drain, .count = count, .set = "a"};

/* --- libevent, of which release 2.1.12 does not stand a reference in a buffer to which nothing was added --- */

static const struct evbuffer *with_nothing; /* the last one that was given 0 bytes */

int evbuffer_add(struct evbuffer *buffer, const void *bytes, size_t count)
{
    static int (*add)(struct evbuffer *, const void *, size_t);
    if (add == NULL)
        *(void **)&add = dlsym(RTLD_NEXT, "evbuffer_add");
    if (count == 0)
        with_nothing = buffer;
    return add(buffer, bytes, count);
}

int evbuffer_add_buffer_reference(struct evbuffer *buffer, struct evbuffer *referred)
{
    static int (*add)(struct evbuffer *, struct evbuffer *);
    if (add == NULL)
        *(void **)&add = dlsym(RTLD_NEXT, "evbuffer_add_buffer_reference");
    ck_assert_ptr_ne(buffer, with_nothing);
    return add(buffer, referred);
}

/* --- the server --- */

static unsigned count_events(void)
{
    return (unsigned)event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
}

static void set_up(void)
{
    scratch_enter(folder);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("HDSS_CONTROL_DIR", folder, 1);
    signal(SIGPIPE, SIG_IGN); /* as in a rank */
    memset(long_folder, 'f', sizeof long_folder - 1);
    job_folder = "/home/me";
    jobs = 1;
    done = 0;
    tells = 0;
    now_ns = 1000 * NS_PER_S;
    base = event_base_new();
    control = control_new(base, "1.2.3", &source);
    ck_assert_ptr_nonnull(control);
    snprintf(path, sizeof path, "%s/hdss-%u/a.sock", folder, (unsigned)geteuid());
    idle_events = count_events();
}

static void tear_down(void)
{
    control_free(control, 0);
    event_base_free(base);
    scratch_leave(folder);
}

/* In place of the C library's, also for libevent. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (now_ns > 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
        now_ns += NS_PER_US; /* what is done takes time */
        *time = (struct timespec){(time_t)(now_ns / NS_PER_S), (long)(now_ns % NS_PER_S)};
    }
    return result;
}

static void look(void)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
    now_ns += LOOK_MS * NS_PER_MS;
}

static int subscribe(void)
{
    static const char request[] = "GET /v1/events HTTP/1.1\r\n\r\n";
    const int client = control_connect(path);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(send(client, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    return client;
}

/* Adds what has come to what was taken of the client. False where the connection has ended. */
static bool take_more(int client, size_t *length)
{
    ssize_t got;
    do {
        if (*length + 65536 > sizeof taken)
            *length = 0;
        got = recv(client, taken + *length, sizeof taken - 1 - *length, MSG_DONTWAIT);
        *length += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    taken[*length] = '\0';
    return got < 0 && errno == EAGAIN;
}

/* Looks until this text has come. */
static void await_text(int client, size_t *length, const char *text)
{
    do {
        look();
        take_more(client, length);
    } while (strstr(taken, text) == NULL);
}

static unsigned count_texts(const char *text)
{
    unsigned found = 0;
    for (const char *at = taken; (at = strstr(at, text)) != NULL; at++)
        found++;
    return found;
}

START_TEST(a_change_is_sent)
{
    size_t length = 0;
    const int client = subscribe();
    await_text(client, &length, "\n\n");
    ck_assert_msg(strstr(taken, "HTTP/1.1 200") == taken, "%s", taken);
    ck_assert_ptr_nonnull(strstr(taken, "Content-Type: text/event-stream\r\n"));
    ck_assert_ptr_nonnull(strstr(taken, "data: {\"session\":{\"program\":\"hdss\""));
    ck_assert_ptr_nonnull(strstr(taken, "\"jobs\":[{\"id\":1,"));
    ck_assert_ptr_nonnull(strstr(taken, "\"more\":0}\n\n"));
    ck_assert_ptr_null(strstr(taken, "secret"));
    done = 5;
    await_text(client, &length, "\"done\":5,");
    jobs = 0;
    await_text(client, &length, "\"jobs\":[],");
    ck_assert_uint_eq(count_texts("data: "), 3);
    close(client);
}
END_TEST

START_TEST(nothing_is_sent_twice)
{
    size_t length = 0;
    const int client = subscribe();
    await_text(client, &length, "\n\n");
    for (const unsigned before = tells; tells < before + 4;)
        look();
    take_more(client, &length);
    ck_assert_uint_eq(count_texts("data: "), 1);
    close(client);
}
END_TEST

START_TEST(nothing_is_made_for_nobody)
{
    size_t length = 0;
    const int client = subscribe();
    await_text(client, &length, "\n\n");
    ck_assert_uint_gt(count_events(), idle_events);
    close(client);
    while (count_events() > idle_events)
        look();
    const unsigned before = tells;
    const int other = subscribe();
    for (length = 0, taken[0] = '\0'; strstr(taken, "data: ") == NULL; take_more(other, &length))
        look();
    ck_assert_uint_eq(tells, before + 1);
    close(other);
}
END_TEST

START_TEST(there_are_few_subscribers)
{
    int clients[SUBSCRIBERS + 1];
    size_t length;
    for (unsigned i = 0; i < SUBSCRIBERS; i++) {
        clients[i] = subscribe();
        length = 0;
        taken[0] = '\0';
        await_text(clients[i], &length, "data: ");
    }
    clients[SUBSCRIBERS] = subscribe();
    length = 0;
    taken[0] = '\0';
    await_text(clients[SUBSCRIBERS], &length, "{\"error\":");
    ck_assert_msg(strstr(taken, "HTTP/1.1 503") == taken, "%s", taken);
    for (unsigned i = 0; i <= SUBSCRIBERS; i++)
        close(clients[i]);
}
END_TEST

/* True where the other side has ended the connection; what has come over it stays unread. */
static bool is_over(int client)
{
    struct pollfd end = {.fd = client};
    return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
}

START_TEST(a_stuck_subscriber_is_let_go)
{
    size_t length = 0;
    uint64_t last = 0;
    job_folder = long_folder;
    jobs = METRICS_JOBS_MAX;
    const int stuck = subscribe(), reader = subscribe();
    await_text(reader, &length, "\n\n");
    ck_assert_ptr_null(strstr(taken, "\"more\":0}")); /* an event is not longer than it may be */
    const uint64_t began_ns = now_ns;
    while (!is_over(stuck)) {
        char text[40];
        ck_assert_uint_lt(now_ns - began_ns, 2 * DOOR_STUCK_S * NS_PER_S);
        done++;
        look();
        ck_assert(take_more(reader, &length));
        snprintf(text, sizeof text, "\"done\":%llu,", (unsigned long long)done - 1);
        last = strstr(taken, text) != NULL ? done : last;
    }
    ck_assert_uint_ge(now_ns - began_ns, DOOR_STUCK_S * NS_PER_S);
    ck_assert_uint_gt(last, 0);
    ck_assert(!is_over(reader));
    length = 0;
    taken[0] = '\0';
    done = 1000000;
    await_text(reader, &length, "\"done\":1000000,");
    close(stuck);
    close(reader);
}
END_TEST

/* As one whose machine was paused. */
START_TEST(a_server_that_stood_still_lets_nobody_go)
{
    size_t length = 0;
    job_folder = long_folder;
    jobs = METRICS_JOBS_MAX;
    const int client = subscribe();
    for (unsigned i = 0; i < 1000 / LOOK_MS; i++) { /* until there is more than it can be sent */
        done++;
        look();
    }
    now_ns += (DOOR_STUCK_S + 1) * NS_PER_S;
    done = 1000000;
    do {
        look();
        ck_assert(take_more(client, &length));
    } while (strstr(taken, "\"done\":1000000,") == NULL);
    close(client);
}
END_TEST

START_TEST(the_end_is_the_last_event)
{
    size_t length = 0;
    const int client = subscribe();
    await_text(client, &length, "\n\n");
    done = 7;
    control_free(control, 0);
    control = NULL;
    while (take_more(client, &length))
        ;
    const char *end = strstr(taken, "event: end\ndata: {\"session\":");
    ck_assert_ptr_nonnull(end);
    ck_assert_ptr_nonnull(strstr(end, "\"done\":7,"));
    close(client);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control-events");
    TCase *tests = tcase_create("control-events");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_change_is_sent);
    tcase_add_test(tests, nothing_is_sent_twice);
    tcase_add_test(tests, nothing_is_made_for_nobody);
    tcase_add_test(tests, there_are_few_subscribers);
    tcase_add_test(tests, a_stuck_subscriber_is_let_go);
    tcase_add_test(tests, a_server_that_stood_still_lets_nobody_go);
    tcase_add_test(tests, the_end_is_the_last_event);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
