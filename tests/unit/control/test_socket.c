/* SPDX-License-Identifier: MIT */
/* The place of the control socket, and who may have it: folders of others, links, modes, paths that are too long, what
 * a killed run leaves; the paths of requests; a job as JSON. */
#include "common/control/job_json.h"
#include "common/control/route.h"
#include "common/control/socket.h"
#include "common/util/error.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char folder[] = "/tmp/hdss-test-control-XXXXXX";
static char own[64]; /* the folder of the sockets under TMPDIR */
static struct control_socket made;
static struct error error;
static unsigned found;
static char found_name[CONTROL_NAME_MAX];

static void set_up(void)
{
    scratch_enter(folder);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("TMPDIR", folder, 1);
    setenv("HDSS_CONTROL_DIR", folder, 1); /* where no run of the user's is */
    snprintf(own, sizeof own, "%s/hdss-%u", folder, (unsigned)geteuid());
    made = (struct control_socket){.fd = -1};
    found = 0;
}

static void tear_down(void)
{
    if (made.fd >= 0)
        close(made.fd);
    scratch_leave(folder);
}

static void count(void *context, const char *path, const char *name)
{
    (void)context;
    if (strncmp(path, folder, strlen(folder)) != 0)
        return; /* another run of this user's */
    found++;
    strcpy(found_name, name);
}

static void listen_as(const char *name)
{
    ck_assert_msg(control_listen(&made, name, &error) == 0, "%s", error.text);
}

static unsigned mode_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(lstat(path, &status), 0);
    return (unsigned)status.st_mode & 07777;
}

START_TEST(folder_and_socket_are_the_users_alone)
{
    const mode_t before = umask(0);
    listen_as("run-1");
    umask(before);
    ck_assert_uint_eq(mode_of(own), 0700);
    ck_assert_uint_eq(mode_of(made.path), 0600);
    const int client = control_connect(made.path);
    ck_assert_int_ge(client, 0);
    ck_assert(control_peer_may(client));
    close(client);
    control_each(count, NULL);
    ck_assert_uint_eq(found, 1);
    ck_assert_str_eq(found_name, "run-1");
    control_unlink(&made);
    ck_assert_int_ne(access(own, F_OK), 0); /* the folder went with its last socket */
}
END_TEST

START_TEST(the_folder_of_the_session_comes_first)
{
    struct control_folders folders;
    setenv("XDG_RUNTIME_DIR", folder, 1);
    control_folders(&folders);
    ck_assert_uint_eq(folders.count, 1);
    ck_assert_str_eq(folders.path[0], own);
    unsetenv("HDSS_CONTROL_DIR");
    control_folders(&folders);
    ck_assert_uint_eq(folders.count, 3);
    listen_as("run-1");
    ck_assert_ptr_nonnull(strstr(made.path, "/hdss/run-1.sock"));
    control_unlink(&made);
}
END_TEST

/* TMPDIR is /tmp for the test of what comes second: the socket goes elsewhere, or nowhere. */
static void check_passed_over(const char *why)
{
    const int opened = control_folder_open(own, true, &error);
    ck_assert_int_lt(opened, 0);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s", error.text);
    unsetenv("HDSS_CONTROL_DIR");
    listen_as("run-1");
    ck_assert_int_ne(strncmp(made.path, own, strlen(own)), 0);
    control_unlink(&made);
}

START_TEST(a_folder_that_others_may_enter_is_passed_over)
{
    ck_assert_int_eq(mkdir(own, 0700), 0);
    ck_assert_int_eq(chmod(own, 0750), 0);
    check_passed_over("mode 0750");
}
END_TEST

START_TEST(a_link_is_passed_over)
{
    ck_assert_int_eq(mkdir("elsewhere", 0700), 0);
    ck_assert_int_eq(symlink("elsewhere", own), 0);
    check_passed_over(own);
    ck_assert_int_eq(rmdir("elsewhere"), 0); /* nothing was put there */
}
END_TEST

START_TEST(a_file_is_passed_over)
{
    FILE *file = fopen(own, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    check_passed_over("Not a directory");
}
END_TEST

START_TEST(a_folder_of_somebody_else_is_passed_over)
{
    if (geteuid() != 0)
        return; /* only root can give one away */
    ck_assert_int_eq(mkdir(own, 0700), 0);
    ck_assert_int_eq(chown(own, NOBODY, NOBODY), 0);
    check_passed_over("belongs to another user");
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
    char longest[100];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(mkdir(longest, 0700), 0);
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, longest);
    setenv("TMPDIR", path, 1);
    unsetenv("HDSS_CONTROL_DIR");
    listen_as("run-1");
    ck_assert_int_eq(strncmp(made.path, "/tmp/hdss-", 10), 0);
    ck_assert_ptr_null(strchr(made.path, 'x'));
    control_unlink(&made);
}
END_TEST

START_TEST(a_socket_that_was_left_over_is_removed)
{
    struct control_socket left;
    listen_as("run-1");
    left = made;
    close(left.fd);
    listen_as("run-2");
    ck_assert_int_ne(access(left.path, F_OK), 0); /* the next run removes it */
    left = made;
    close(left.fd);
    ck_assert_int_eq(access(left.path, F_OK), 0);
    control_each(count, NULL);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_ne(access(left.path, F_OK), 0); /* and so does whoever lists them */
    listen_as("run-2");
    control_each(count, NULL);
    ck_assert_uint_eq(found, 1);
    ck_assert_str_eq(found_name, "run-2");
    ck_assert_int_eq(access(made.path, F_OK), 0);
    control_unlink(&made);
}
END_TEST

START_TEST(nothing_but_sockets_is_touched)
{
    char path[CONTROL_PATH_MAX];
    ck_assert_int_eq(mkdir(own, 0700), 0);
    snprintf(path, sizeof path, "%s/mine.sock", own);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    control_each(count, NULL);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

/* Exits with errno of connecting as somebody else. */
static int errno_as_nobody(const char *path)
{
    int status;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (setuid(NOBODY) < 0)
            _exit(99);
        _exit(control_connect(path) < 0 ? errno : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

START_TEST(another_user_cannot_connect)
{
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(folder, 0755), 0);
    listen_as("run-1");
    ck_assert_int_eq(errno_as_nobody(made.path), EACCES);
    ck_assert_int_eq(chmod(own, 0755), 0); /* the socket itself is closed to others, too */
    ck_assert_int_eq(errno_as_nobody(made.path), EACCES);
    control_unlink(&made);
}
END_TEST

START_TEST(root_and_the_user_may_ask)
{
    ck_assert(control_user_may(1000, 1000));
    ck_assert(control_user_may(0, 1000));
    ck_assert(!control_user_may(1001, 1000));
    ck_assert(!control_user_may(1000, 0));
    ck_assert(!control_peer_may(STDIN_FILENO)); /* no socket */
}
END_TEST

static void check_route(const char *uri, enum control_place place, uint64_t job, unsigned wait_s)
{
    struct control_route route;
    ck_assert_msg(control_route_read(&route, uri, &error) == 0, "%s: %s", uri, error.text);
    ck_assert_int_eq(route.place, place);
    ck_assert_uint_eq(route.job, job);
    ck_assert_uint_eq(route.wait_s, wait_s);
}

static void check_refused(const char *uri, int status)
{
    struct control_route route;
    ck_assert_msg(control_route_read(&route, uri, &error) == status, "%s", uri);
    ck_assert_str_ne(error.text, "");
}

START_TEST(paths_are_read)
{
    static const char *const unknown[] = {
        "",          "/",           "/v2",         "/v11",        "/v1/",        "/v1/job",
        "/v1/jobs/", "/v1/jobs/x",  "/v1/jobs/1/", "/v1/jobs/1x", "/v1/jobs/-1", "/v1/jobs/9223372036854775808",
        "v1",        "http://x/v1", "/v1/jobs1",   "/?/v1",       "/metrics/",   "/v1/metrics"};
    static const char *const bad[] = {"/v1?",
                                      "/v1/jobs?wait=1",
                                      "/v1/jobs/1?",
                                      "/v1/jobs/1?wait=",
                                      "/v1/jobs/1?wait=31",
                                      "/v1/jobs/1?wait=1x",
                                      "/v1/jobs/1?wait=1&wait=2",
                                      "/v1/jobs/1?wait=1&",
                                      "/v1/jobs/1?from=1",
                                      "/v1/jobs?stream=out",
                                      "/v1/jobs?from=",
                                      "/v1/end?from=1",
                                      "/v1/events?from=1",
                                      "/metrics?wait=1",
                                      "/v1/jobs/1/output?stream=output",
                                      "/v1/jobs/1/output?from=-1",
                                      "/v1/jobs/1/output?from=1&stream=err&from=1",
                                      "/v1/jobs?limit=0",
                                      "/v1/jobs?limit=10001",
                                      "/v1/jobs?state=done",
                                      "/v1/jobs?state=",
                                      "/v1/jobs/1?limit=1",
                                      "/v1/jobs/1/ranks?state=running",
                                      "/v1/jobs/1/ranks?wait=1",
                                      "/v1/jobs/1/ranks?from=1&from=2",
                                      "/v1/jobs/1/failures?limit=1",
                                      "/v1/jobs/1/failures?wait=31",
                                      "/v1/jobs/1/failures?from=x",
                                      "/v1/jobs/1?Wait=1"};
    check_route("/v1", CONTROL_SESSION, 0, 0);
    check_route("/v1/jobs", CONTROL_JOBS, 0, 0);
    check_route("/v1/jobs/1", CONTROL_JOB, 1, 0);
    check_route("/v1/jobs/9223372036854775807", CONTROL_JOB, INT64_MAX, 0);
    check_route("/v1/jobs/7?wait=30", CONTROL_JOB, 7, 30);
    check_route("/v1/jobs/7?wait=0", CONTROL_JOB, 7, 0);
    check_route("/v1/end", CONTROL_END, 0, 0);
    check_route("/metrics", CONTROL_METRICS, 0, 0);
    check_route("/v1/events", CONTROL_EVENTS, 0, 0);
    check_route("/v1/jobs/7/output", CONTROL_OUTPUT, 7, 0);
    struct control_route route;
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs/7/output?from=12&stream=err", NULL), 0);
    ck_assert(route.from == 12 && route.stream == CONTROL_ERR && route.job == 7);
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs?from=12", NULL), 0);
    ck_assert_uint_eq(route.from, 12);
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs?state=running&limit=64", NULL), 0);
    ck_assert(route.wanted == CONTROL_THAT_RUN && route.limit == 64 && route.from == 0);
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs?state=over", NULL), 0);
    ck_assert_int_eq(route.wanted, CONTROL_THAT_ARE_OVER);
    check_route("/v1/jobs/7/ranks", CONTROL_RANKS, 7, 0);
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs/7/ranks?from=3&limit=10000", NULL), 0);
    ck_assert(route.from == 3 && route.limit == 10000 && route.job == 7);
    check_route("/v1/jobs/7/failures", CONTROL_FAILURES, 7, 0);
    check_route("/v1/jobs/7/failures?wait=30", CONTROL_FAILURES, 7, 30);
    ck_assert_int_eq(control_route_read(&route, "/v1/jobs/7/failures?wait=2&from=3", NULL), 0);
    ck_assert(route.from == 3 && route.wait_s == 2 && route.job == 7);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        check_refused(unknown[i], 404);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i], 400);
}
END_TEST

static struct control_job job(void)
{
    static char word[] = "synthetic", second[] = "name=\xff";
    static char *words[] = {word, second};
    return (struct control_job){
        .id = 1,
        .kernel = "synthetic",
        .command = words,
        .words = 2,
        .folder = "/home/me",
        .state = CONTROL_RUNNING,
        .progress = {.done = 30, .resumed = 10, .total = 50, .elapsed_s = 2, .busy = 3, .workers = 4, .lost = 1},
        .band = {.rate_per_s = 8, .soonest_s = 1.5, .latest_s = -1},
        .failed = 5,
        .technique = "fac2",
        .topology = "central",
        .output = "",
        .status = -1,
        .weight = 1,
    };
}

static void check_json(const struct control_job *from, const char *expected)
{
    json_t *object = control_job_json(from);
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(object);
}

#define OF_A_RUN                                                                                                       \
    ",\"reason\":null,\"priority\":0,\"weight\":1,\"after\":[],\"open\":false,\"cancelled_by\":null,\"submitted\":"    \
    "null,\"began\":"                                                                                                  \
    "null,\"ended\":"                                                                                                  \
    "null}"

START_TEST(a_job_is_told_as_it_is)
{
    struct control_job from = job();
    check_json(&from,
               "{\"id\":1,\"name\":null,\"kernel\":\"synthetic\",\"title\":\"synthetic\",\"command\":[\"synthetic\","
               "\"name=?\"],"
               "\"folder\":\"/home/me\",\"state\":\"running\",\"waits_for\":null,\"done\":30,\"total\":50,\"failed\":5,"
               "\"rate_per_s\":10.0,\"elapsed_s\":2.0,\"eta_s\":2.0,\"rate_now_per_s\":8.0,\"eta_soonest_s\":1."
               "5,\"eta_latest_s\":null,"
               "\"workers\":4,\"busy\":3,\"lost\":1,"
               "\"technique\":\"fac2\",\"topology\":\"central\",\"output\":null,\"status\":null" OF_A_RUN);
    from.progress.grows = true;
    from.output = "a.npy";
    check_json(
        &from,
        "{\"id\":1,\"name\":null,\"kernel\":\"synthetic\",\"title\":\"synthetic\",\"command\":[\"synthetic\",\"name=?"
        "\"],"
        "\"folder\":\"/home/me\",\"state\":\"running\",\"waits_for\":null,\"done\":30,\"total\":null,\"failed\":5,"
        "\"rate_per_s\":10.0,\"elapsed_s\":2.0,\"eta_s\":null,\"rate_now_per_s\":8.0,\"eta_soonest_s\":"
        "null,\"eta_latest_s\":null,"
        "\"workers\":4,\"busy\":3,\"lost\":1,"
        "\"technique\":\"fac2\",\"topology\":\"central\",\"output\":\"a.npy\",\"status\":null" OF_A_RUN);
    from.progress.grows = false;
    from.status = 4;
    from.state = control_state_at_end(4);
    check_json(
        &from,
        "{\"id\":1,\"name\":null,\"kernel\":\"synthetic\",\"title\":\"synthetic\",\"command\":[\"synthetic\",\"name=?"
        "\"],"
        "\"folder\":\"/home/me\",\"state\":\"cancelled\",\"waits_for\":null,\"done\":30,\"total\":50,\"failed\":5,"
        "\"rate_per_s\":10.0,\"elapsed_s\":2.0,\"eta_s\":null,\"rate_now_per_s\":null,\"eta_soonest_s\":"
        "null,\"eta_latest_s\":null,"
        "\"workers\":4,\"busy\":0,\"lost\":1,"
        "\"technique\":\"fac2\",\"topology\":\"central\",\"output\":\"a.npy\",\"status\":4" OF_A_RUN);
    ck_assert_int_eq(control_state_at_end(0), CONTROL_DONE);
    ck_assert_int_eq(control_state_at_end(3), CONTROL_FAILED);
    ck_assert_int_eq(control_state_at_end(1), CONTROL_FAILED);
    from = job();
    from.name = "n";
    from.priority = -2;
    from.weight = 3;
    from.after = (const uint32_t[]){1, 7};
    from.after_count = 2;
    from.cancelled_by = 7;
    from.is_open = true;
    from.submitted = 1;
    from.began = 61;
    from.ended = 3601;
    json_t *object = control_job_json(&from);
    char *text = json_dumps(object, JSON_COMPACT);
    ck_assert_ptr_nonnull(strstr(text, "{\"id\":1,\"name\":\"n\",\"kernel\""));
    ck_assert_ptr_nonnull(strstr(text, "\"priority\":-2,\"weight\":3,\"after\":[1,7],\"open\":true,\"cancelled_by\":7,"
                                       "\"submitted\":\"1970-01-01T00:00:01Z\","
                                       "\"began\":\"1970-01-01T00:01:01Z\",\"ended\":\"1970-01-01T01:00:01Z\"}"));
    free(text);
    json_decref(object);
}
END_TEST

/* The title of a job of tasks with these words, as JSON. */
static void check_title(char *first, char *second, const char *expected)
{
    char *words[] = {(char[]){"exec"}, first, second};
    struct control_job from = job();
    from.kernel = "exec";
    from.command = words;
    from.words = 3;
    json_t *object = control_job_json(&from);
    ck_assert_str_eq(json_string_value(json_object_get(object, "title")), expected);
    json_decref(object);
}

START_TEST(tasks_are_known_by_their_command)
{
    check_title((char[]){"count=3"}, (char[]){"command=./fit {}"}, "exec ./fit {}");
    check_title((char[]){"tasks=list"}, (char[]){"cores=2"}, "exec tasks=list");
    check_title((char[]){"command="}, (char[]){"list=rows"}, "exec");
}
END_TEST

static void check_failure(const struct failure_figures *from, const char *expected)
{
    json_t *object = control_failure_json(from);
    char *text = json_dumps(object, JSON_COMPACT);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(object);
}

START_TEST(a_failure_is_told_as_it_is)
{
    check_failure(&(struct failure_figures){{7, 2}, 3, 1, "killed by signal 9"},
                  "{\"first\":7,\"count\":2,\"rank\":3,\"node\":1,\"reason\":\"killed by signal 9\"}");
    check_failure(&(struct failure_figures){{0, 1}, RANK_NONE, RANK_NONE, "\xff"},
                  "{\"first\":0,\"count\":1,\"rank\":null,\"node\":null,\"reason\":\"?\"}");
}
END_TEST

static void check_rank(const struct rank_figures *from, const char *expected)
{
    json_t *object = control_rank_json(from);
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(object);
}

START_TEST(a_rank_is_told_as_it_is)
{
    const struct rank_figures master = {.rank = 1,
                                        .is_master = true,
                                        .state = RANK_SERVES,
                                        .node = RANK_NONE,
                                        .host = "n1",
                                        .workers = 8,
                                        .busy = 7,
                                        .has_counts = true,
                                        .done = 100};
    const struct rank_figures worker = {.rank = 3,
                                        .state = RANK_COMPUTES,
                                        .node = 0,
                                        .host = "n1",
                                        .master = RANK_NONE,
                                        .has_counts = true,
                                        .done = 50,
                                        .chunks = 5,
                                        .compute_s = 2.5,
                                        .wait_s = 0.5,
                                        .power = 1,
                                        .load = 1.5,
                                        .has_chunk = true,
                                        .first = 70,
                                        .count = 10,
                                        .left = 4,
                                        .since_s = 0.25};
    const struct rank_figures served = {.rank = 2, .node = 1, .master = 1};
    check_rank(&master, "{\"rank\":1,\"role\":\"master\",\"state\":\"serving\",\"node\":null,\"host\":\"n1\","
                        "\"done\":100,\"workers\":8,\"busy\":7}");
    check_rank(&worker,
               "{\"rank\":3,\"role\":\"worker\",\"state\":\"computing\",\"node\":0,\"host\":\"n1\","
               "\"done\":50,\"master\":null,\"chunks\":5,\"compute_s\":2.5,\"wait_s\":0.5,\"power\":1.0,"
               "\"load\":1.5,\"chunk\":{\"first\":70,\"count\":10,\"left\":4,\"since_s\":0.25,\"command\":null}}");
    check_rank(&served, "{\"rank\":2,\"role\":\"worker\",\"state\":null,\"node\":1,\"host\":null,\"done\":null,"
                        "\"master\":1,\"chunks\":null,\"compute_s\":null,\"wait_s\":null,\"power\":null,"
                        "\"load\":null,\"chunk\":null}");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control socket");
    TCase *tests = tcase_create("sockets");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, folder_and_socket_are_the_users_alone);
    tcase_add_test(tests, the_folder_of_the_session_comes_first);
    tcase_add_test(tests, a_folder_that_others_may_enter_is_passed_over);
    tcase_add_test(tests, a_link_is_passed_over);
    tcase_add_test(tests, a_file_is_passed_over);
    tcase_add_test(tests, a_folder_of_somebody_else_is_passed_over);
    tcase_add_test(tests, a_path_that_is_too_long_is_refused);
    tcase_add_test(tests, a_socket_that_was_left_over_is_removed);
    tcase_add_test(tests, nothing_but_sockets_is_touched);
    tcase_add_test(tests, another_user_cannot_connect);
    tcase_add_test(tests, root_and_the_user_may_ask);
    suite_add_tcase(suite, tests);
    TCase *answers = tcase_create("answers");
    tcase_add_test(answers, paths_are_read);
    tcase_add_test(answers, a_job_is_told_as_it_is);
    tcase_add_test(answers, tasks_are_known_by_their_command);
    tcase_add_test(answers, a_rank_is_told_as_it_is);
    tcase_add_test(answers, a_failure_is_told_as_it_is);
    suite_add_tcase(suite, answers);
    return suite_run(suite);
}
