/* SPDX-License-Identifier: MIT */
/* The control socket of a set: jobs that are submitted, alone and many at once, cancelled, listed and waited for, what
 * they wrote, and the end of the set. */
#include "common/control/bearer.h"
#include "common/control/control.h"
#include "common/control/socket.h"
#include "common/control/submission_json.h"
#include "common/os/clock.h"
#include "common/util/random.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"
#include "tests/unit/control/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 8000000
#define JOBS_MAX   20000

#define IDLE_CLIENTS  1000
#define STUCK_CLIENTS 50 /* of each kind */

static char folder[] = "/tmp/hdss-test-set-XXXXXX";
static char path[CONTROL_PATH_MAX];
static struct event_base *base;
static struct control *control;
static struct error error;

/* The set behind the socket. */
static struct {
    uint64_t newest;
    enum control_state states[JOBS_MAX];
    unsigned priority, commits, drains, closes;
    bool disk_is_full;
    char rows[200]; /* that were added */
    uint64_t items;
    bool is_complete;
    uint64_t failures; /* iterations of job 1 that are given up, every other one */
} set;

static void tell(void *context, struct control_job *job)
{
    (void)context;
    if (job->id > set.newest) {
        job->id = 0;
        return;
    }
    job->kernel = "k";
    job->topology = "central";
    job->state = set.states[job->id];
    job->status = job->state == CONTROL_CANCELLED ? EXIT_STATUS_DRAINED : -1;
    job->submitted = 1;
}

static uint64_t next(void *context, uint64_t id)
{
    (void)context;
    return id < set.newest ? id + 1 : 0;
}

static void cancel(void *context, uint64_t id, bool finishes)
{
    (void)context;
    set.states[id] = finishes ? CONTROL_DRAINING : CONTROL_CANCELLED;
}

static enum refusal submit(void *context, struct submission *submission, uint64_t *id, struct error *refusal)
{
    (void)context;
    if (strcmp(submission->words[0], "nonsense") == 0) {
        error_set(refusal, "no kernel 'nonsense'");
        return REFUSAL_WRONG;
    }
    *id = ++set.newest;
    set.states[*id] = CONTROL_WAITING;
    submission_fini(submission);
    return REFUSAL_NONE;
}

/* Job 1 is open. */
static enum refusal add(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *refusal)
{
    (void)context;
    if (id != 1 || set.is_complete) {
        error_set(refusal, "it is not open");
        return id <= set.newest ? REFUSAL_CONFLICT : REFUSAL_ABSENT;
    }
    snprintf(set.rows + strlen(set.rows), sizeof set.rows - strlen(set.rows), "%.*s", (int)items->bytes,
             items->bytes > 0 ? items->text : "");
    if (items->is_total)
        items->iterations -= set.items;
    *count = set.items += items->rows + items->iterations;
    *is_complete = set.is_complete = items->ends;
    return REFUSAL_NONE;
}

static int commit(void *context, struct error *problem)
{
    (void)context;
    set.commits++;
    return set.disk_is_full ? error_set(problem, "the disk is full") : 0;
}

static int output(void *context, uint64_t id, enum control_stream stream)
{
    (void)context;
    return id == 1 ? open(stream == CONTROL_ERR ? "err" : "out", O_RDONLY | O_CLOEXEC) : -1;
}

static void drain(void *context)
{
    (void)context;
    set.drains++;
}

static void close_set(void *context)
{
    (void)context;
    set.closes++;
}

/* Jobs 2 and 5 run. */
static size_t count(void *context, struct metrics_counts *counts, uint64_t *running)
{
    (void)context;
    *counts = (struct metrics_counts){.waiting = 3, .running = 2, .failed = 4};
    running[0] = 2;
    running[1] = 5;
    return 2;
}

/* Job 1 runs, with ranks 10 to 14. */
static bool rank(void *context, uint64_t job, uint64_t place, struct rank_figures *figures)
{
    (void)context;
    *figures = (struct rank_figures){.rank = 10 + (unsigned)place, .state = RANK_WAITS, .master = RANK_NONE};
    return job == 1 && place < 5;
}

static bool failure(void *context, uint64_t job, uint64_t place, struct failure_figures *figures)
{
    (void)context;
    *figures = (struct failure_figures){{2 * place, 1}, 4, 0, "killed by signal 9"};
    return job == 1 && place < set.failures;
}

static const struct control_source source = {.tell = tell,
                                             .rank = rank,
                                             .failure = failure,
                                             .drain = drain,
                                             .set = "a",
                                             .error = &error,
                                             .next = next,
                                             .cancel = cancel,
                                             .submit = submit,
                                             .add = add,
                                             .commit = commit,
                                             .output = output,
                                             .close = close_set,
                                             .count = count,
                                             .masters = 1,
                                             .workers = 4};

static void set_up(void)
{
    scratch_enter(folder);
    unsetenv("XDG_RUNTIME_DIR");
    setenv("HDSS_CONTROL_DIR", folder, 1);
    signal(SIGPIPE, SIG_IGN); /* as in a rank */
    memset(&set, 0, sizeof set);
    base = event_base_new();
    control = control_new(base, "1.2.3", &source);
    ck_assert_msg(control != NULL, "%s", error.text);
    snprintf(path, sizeof path, "%s/hdss-%u/a.sock", folder, (unsigned)geteuid());
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

static int connect_in_turn(void)
{
    int client;
    while ((client = control_connect(path)) < 0) {
        ck_assert_int_eq(errno, EAGAIN);
        look();
    }
    return client;
}

static int begin(const char *line, const char *body)
{
    char head[400];
    const int client = connect_in_turn();
    snprintf(head, sizeof head, "%s HTTP/1.1\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", line, strlen(body));
    ck_assert_int_eq(send(client, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
    for (size_t sent = 0; sent < strlen(body);) {
        const ssize_t more = send(client, body + sent, strlen(body) - sent, MSG_NOSIGNAL);
        ck_assert(more > 0 || errno == EAGAIN);
        sent += more > 0 ? (size_t)more : 0;
        if (sent < strlen(body))
            look();
    }
    return client;
}

/* All that comes until the connection ends. */
static const char *take(int client)
{
    static char answer[ANSWER_MAX];
    return client_take(client, look, answer, sizeof answer);
}

static const char *ask(const char *line, const char *body)
{
    return take(begin(line, body));
}

static void check_has(const char *answer, const char *status, const char *text)
{
    ck_assert_msg(strncmp(answer + strlen("HTTP/1.1 "), status, strlen(status)) == 0, "%.1000s", answer);
    ck_assert_msg(strstr(answer, text) != NULL, "%.1000s", answer);
}

static unsigned count_of(const char *text, const char *piece)
{
    unsigned count = 0;
    const char *end = text + strlen(text); // strstr() of AddressSanitizer measures the whole text each time
    for (; (text = memmem(text, (size_t)(end - text), piece, strlen(piece))) != NULL; text++)
        count++;
    return count;
}

#define JOB "{\"words\":[\"k\"],\"folder\":\"/\"}"

START_TEST(a_job_is_taken)
{
    check_has(ask("GET /v1", ""), "200", "\"kind\":\"set\",\"name\":\"a\"");
    check_has(ask("GET /v1/jobs", ""), "200", "\"jobs\":[],\"next\":null}");
    check_has(ask("POST /v1/jobs", JOB), "201", "\r\n\r\n{\"id\":1,");
    ck_assert_uint_eq(set.commits, 1);
    check_has(ask("GET /v1/jobs/1", ""), "200", "\"state\":\"waiting\"");
    check_has(ask("GET /v1/jobs/1", ""), "200", "\"submitted\":\"1970-01-01T00:00:01Z\",\"began\":null");
    check_has(ask("GET /v1/jobs/2", ""), "404", "{\"error\":");
    check_has(ask("GET /v1/jobs/2/output", ""), "404", "{\"error\":");
    check_has(ask("DELETE /v1/jobs/1?finish=1", ""), "202", "\"state\":\"draining\"");
    check_has(ask("DELETE /v1/jobs/1?finish=2", ""), "400", "finish=0|1 of a job");
    check_has(ask("DELETE /v1/jobs/1", ""), "202", "\"state\":\"cancelled\"");
    check_has(ask("DELETE /v1/jobs/2", ""), "404", "{\"error\":");
    ck_assert_uint_eq(set.drains, 0);
}
END_TEST

START_TEST(jobs_are_listed_by_their_state)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "," JOB "," JOB "," JOB "," JOB "]");
    set.states[2] = set.states[5] = CONTROL_RUNNING; /* as count() says */
    set.states[3] = CONTROL_CANCELLED;
    const char *answer = ask("GET /v1/jobs?state=running", "");
    check_has(answer, "200", "\"jobs\":[{\"id\":2,");
    check_has(answer, "200", ",{\"id\":5,");
    check_has(answer, "200", "],\"next\":null}");
    ck_assert_uint_eq(count_of(answer, "{\"id\":"), 2);
    check_has(answer, "200",
              "\"ranks\":{\"masters\":1,\"workers\":4},\"jobs\":{\"waiting\":3,\"running\":2,\"done\":0,\"failed\":4,");
    answer = ask("GET /v1/jobs?state=waiting&limit=2", "");
    check_has(answer, "200", "\"jobs\":[{\"id\":1,");
    check_has(answer, "200", ",{\"id\":4,");
    check_has(answer, "200", "],\"next\":5}");
    answer = ask("GET /v1/jobs?state=over", "");
    check_has(answer, "200", "\"jobs\":[{\"id\":3,");
    ck_assert_uint_eq(count_of(answer, "{\"id\":"), 1);
    check_has(ask("GET /v1/jobs?state=done", ""), "400", "state=waiting|running|over of jobs");
}
END_TEST

START_TEST(ranks_are_listed)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    const char *answer = ask("GET /v1/jobs/1/ranks", "");
    check_has(answer, "200", "\r\n\r\n{\"job\":{\"id\":1,");
    check_has(answer, "200", "\"ranks\":[{\"rank\":10,\"role\":\"worker\",\"state\":\"waiting\",");
    check_has(answer, "200", "],\"next\":null}");
    ck_assert_uint_eq(count_of(answer, "{\"rank\":"), 5);
    answer = ask("GET /v1/jobs/1/ranks?from=1&limit=2", "");
    check_has(answer, "200", "\"ranks\":[{\"rank\":11,");
    check_has(answer, "200", "],\"next\":3}");
    ck_assert_uint_eq(count_of(answer, "{\"rank\":"), 2);
    check_has(ask("GET /v1/jobs/1/ranks?from=9", ""), "200", "\"ranks\":[],\"next\":null}");
    check_has(ask("GET /v1/jobs/2/ranks", ""), "200", "\"ranks\":[],\"next\":null}");
    check_has(ask("GET /v1/jobs/3/ranks", ""), "404", "{\"error\":");
    check_has(ask("DELETE /v1/jobs/1/ranks", ""), "405", "{\"error\":");
}
END_TEST

#define FAILURE(first) "{\"first\":" #first ",\"count\":1,\"rank\":4,\"node\":0,\"reason\":\"killed by signal 9\"}"

START_TEST(what_is_given_up_is_listed)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    const char *answer = ask("GET /v1/jobs/1/failures", "");
    check_has(answer, "200", "\r\n\r\n{\"job\":{\"id\":1,");
    check_has(answer, "200", "\"failures\":[],\"next\":0}");
    set.failures = 2;
    check_has(ask("GET /v1/jobs/1/failures", ""), "200", "\"failures\":[" FAILURE(0) "," FAILURE(2) "],\"next\":2}");
    check_has(ask("GET /v1/jobs/1/failures?from=1&wait=30", ""), "200", "\"failures\":[" FAILURE(2) "],\"next\":2}");
    check_has(ask("GET /v1/jobs/1/failures?from=7", ""), "200", "\"failures\":[],\"next\":7}");
    check_has(ask("GET /v1/jobs/2/failures", ""), "200", "\"failures\":[],\"next\":0}");
    check_has(ask("GET /v1/jobs/3/failures?wait=30", ""), "404", "{\"error\":");
    check_has(ask("DELETE /v1/jobs/1/failures", ""), "405", "{\"error\":");
    set.failures = 300;
    answer = ask("GET /v1/jobs/1/failures?from=50", "");
    check_has(answer, "200", "\"failures\":[" FAILURE(100) ",");
    check_has(answer, "200", "," FAILURE(298) "],\"next\":150}");
    ck_assert_uint_eq(count_of(answer, "{\"first\":"), 100);
}
END_TEST

START_TEST(who_waits_for_failures_is_answered)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    const int first = begin("GET /v1/jobs/1/failures?wait=30", "");
    const int second = begin("GET /v1/jobs/1/failures?wait=30&from=1", "");
    const int third = begin("GET /v1/jobs/2/failures?wait=30", "");
    for (unsigned i = 0; i < 10; i++)
        look();
    set.failures = 1;
    control_note_change(control);
    check_has(take(first), "200", "\"failures\":[" FAILURE(0) "],\"next\":1}");
    set.states[1] = CONTROL_RUNNING;
    control_note_change(control);
    check_has(take(second), "200", "\"state\":\"running\"");
    cancel(NULL, 2, false);
    control_note_change(control);
    check_has(take(third), "200", "\"failures\":[],\"next\":0}");
}
END_TEST

START_TEST(nonsense_is_refused)
{
    check_has(ask("POST /v1/jobs", "{\"words\":[\"nonsense\"],\"folder\":\"/\"}"), "400",
              "{\"error\":\"no kernel 'nonsense'\"}");
    check_has(ask("POST /v1/jobs", ""), "400", "{\"error\":\"the body is no JSON");
    check_has(ask("POST /v1/jobs", "{"), "400", "{\"error\":\"the body is no JSON");
    check_has(ask("POST /v1/jobs", "{\"folder\":\"/\"}"), "400", "{\"error\":\"'words' is missing\"}");
    check_has(ask("PUT /v1/jobs", JOB), "405", "{\"error\":");
    ck_assert_uint_eq(set.newest, 0);
    ck_assert_uint_eq(set.commits, 0);
}
END_TEST

START_TEST(many_jobs_are_taken_at_once)
{
    enum { MANY = 12000 };
    static char body[MANY * sizeof JOB + 100];
    char *end = body;
    *end++ = '[';
    for (unsigned i = 0; i < MANY; i++)
        end += sprintf(end, "%s,", i == 1 ? "7" : JOB);
    strcpy(end - 1, "]");
    const char *answer = ask("POST /v1/jobs", body);
    check_has(answer, "201", "[{\"id\":1,");
    ck_assert_uint_eq(count_of(answer, "{\"id\":"), MANY - 1);
    ck_assert_uint_eq(count_of(answer, ",{\"error\":\"a job is no object\"},{\"id\":2,"), 1);
    ck_assert_uint_eq(set.commits, 1);
    answer = ask("GET /v1/jobs", "");
    check_has(answer, "200", "],\"next\":10001}");
    ck_assert_uint_eq(count_of(answer, "{\"id\":"), 10000);
    answer = ask("GET /v1/jobs?from=10001", "");
    check_has(answer, "200", "\"jobs\":[{\"id\":10001,");
    check_has(answer, "200", "],\"next\":null}");
    check_has(ask("POST /v1/jobs", "[]"), "201", "\r\n\r\n[]\n");
}
END_TEST

/* A machine on which much else happens may answer each client before it hears the next one: so there are some rounds.
 */
START_TEST(one_write_for_all_clients)
{
    int clients[5];
    unsigned rounds = 0;
    while (rounds++ < 100 && set.commits == set.newest) {
        for (unsigned i = 0; i < 5; i++)
            clients[i] = begin("POST /v1/jobs", JOB);
        for (unsigned i = 0; i < 5; i++)
            check_has(take(clients[i]), "201", "{\"id\":");
    }
    ck_assert_uint_lt(set.commits, set.newest);
}
END_TEST

START_TEST(what_is_not_on_disk_is_not_taken)
{
    set.disk_is_full = true;
    check_has(ask("POST /v1/jobs", JOB), "500", "\r\n\r\n{\"error\":\"the disk is full\"}\n");
    ck_assert_int_eq(set.states[1], CONTROL_CANCELLED);
}
END_TEST

START_TEST(a_change_is_told)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    const int first = begin("GET /v1/jobs/1?wait=30", ""), second = begin("GET /v1/jobs/2?wait=30", "");
    char byte;
    for (unsigned i = 0; i < 20; i++)
        look();
    set.states[2] = CONTROL_RUNNING;
    control_note_change(control);
    check_has(take(second), "200", "\"id\":2,");
    ck_assert_int_lt(recv(first, &byte, 1, 0), 0);
    control_free(control, 0);
    control = NULL;
    char answer[4096] = "";
    ck_assert_int_gt(recv(first, answer, sizeof answer - 1, 0), 0);
    check_has(answer, "200", "\"state\":\"waiting\"");
    close(first);
}
END_TEST

START_TEST(output_is_given)
{
    FILE *file = fopen("out", "w");
    for (unsigned i = 0; i < 300000; i++)
        fprintf(file, "%06u\n", i);
    fclose(file);
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    const char *answer = ask("GET /v1/jobs/1/output?stream=out", "");
    check_has(answer, "200", "Content-Type: text/plain");
    ck_assert_uint_eq(strlen(strstr(answer, "\r\n\r\n") + 4), 1048576);
    check_has(ask("GET /v1/jobs/1/output?from=2099986", ""), "200", "\r\n\r\n299998\n299999\n");
    check_has(ask("GET /v1/jobs/1/output?from=2100000&stream=out", ""), "200", "Content-Length: 0");
    check_has(ask("GET /v1/jobs/1/output?stream=err", ""), "200", "Content-Length: 0");
    check_has(ask("GET /v1/jobs/2/output", ""), "200", "Content-Length: 0");
    check_has(ask("GET /v1/jobs/1/output?stream=both", ""), "400", "{\"error\":");
}
END_TEST

START_TEST(items_are_added)
{
    ask("POST /v1/jobs", "[" JOB "," JOB "]");
    check_has(ask("POST /v1/jobs/1/items", "{\"rows\":[\"a\\tb\",[\"c\",\"d\\\\\"],\"\"]}"), "200",
              "\r\n\r\n{\"id\":1,\"added\":3,\"items\":3,\"complete\":false}\n");
    ck_assert_str_eq(set.rows, "a\\tb\nc\td\\\\\n\n");
    ck_assert_uint_eq(set.commits, 2);
    check_has(ask("POST /v1/jobs/1/items", "{\"total\":5}"), "200", "\"added\":2,\"items\":5,");
    check_has(ask("POST /v1/jobs/1/items", "{\"iterations\":7,\"end\":true}"), "200",
              "{\"id\":1,\"added\":7,\"items\":12,\"complete\":true}");
    check_has(ask("POST /v1/jobs/1/items", "{}"), "409", "{\"error\":\"it is not open\"}");
    check_has(ask("POST /v1/jobs/3/items", "{}"), "404", "{\"error\":");
    ck_assert_uint_eq(set.commits, 4);
    check_has(ask("POST /v1/jobs/1/items", "{\"iterations\":1,\"total\":1}"), "400", "either 'iterations' or 'total'");
    check_has(ask("POST /v1/jobs/1/items", "[{}]"), "400", "{\"error\":\"what is added is no object\"}");
    check_has(ask("POST /v1/jobs/1/items", ""), "400", "{\"error\":\"the body is no JSON");
    check_has(ask("POST /v1/jobs/1/items", "{\"rows\":[[]]}"), "400", "has 0 fields; accepted: 1 to 4096");
    check_has(ask("GET /v1/jobs/1/items", ""), "405", "{\"error\":");
    check_has(ask("POST /v1/jobs/1/items?from=1", "{}"), "400", "{\"error\":");
    ck_assert_uint_eq(set.commits, 4);
}
END_TEST

START_TEST(what_is_added_and_not_on_disk_is_not_acknowledged)
{
    ask("POST /v1/jobs", JOB);
    set.disk_is_full = true;
    check_has(ask("POST /v1/jobs/1/items", "{\"rows\":[\"a\"]}"), "500", "\r\n\r\n{\"error\":\"the disk is full\"}\n");
    ck_assert_int_eq(set.states[1], CONTROL_WAITING);
}
END_TEST

START_TEST(the_set_is_told_to_end)
{
    check_has(ask("POST /v1/end", "{\"mode\":\"drain\"}"), "202", "\"kind\":\"set\"");
    ck_assert_uint_eq(set.closes, 1);
    ck_assert_uint_eq(set.drains, 0);
    check_has(ask("POST /v1/end", "{\"mode\":\"now\"}"), "202", "\"kind\":\"set\"");
    ck_assert_uint_eq(set.drains, 1);
    check_has(ask("POST /v1/end", "{\"mode\":\"later\"}"), "400", "{\"error\":");
    check_has(ask("POST /v1/end", "[{\"mode\":\"now\"}]"), "400", "{\"error\":");
    check_has(ask("POST /v1/end", ""), "400", "{\"error\":");
    check_has(ask("GET /v1/end", ""), "405", "{\"error\":");
    ck_assert_uint_eq(set.closes + set.drains, 2);
}
END_TEST

START_TEST(a_name_is_taken_once)
{
    ck_assert_ptr_null(control_new(base, "1.2.3", &source));
    ck_assert_msg(strstr(error.text, "File exists") != NULL, "%s", error.text);
    check_has(ask("GET /v1", ""), "200", "\"name\":\"a\"");
}
END_TEST

/* --- submissions --- */

static int read_text(struct submission *submission, const char *text)
{
    json_t *object = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(object);
    const int result = submission_read(submission, object, &error);
    json_decref(object);
    return result;
}

START_TEST(a_submission_has_all_fields)
{
    struct submission submission, again;
    ck_assert_int_eq(read_text(&submission, JOB), 0);
    ck_assert_uint_eq(submission.weight, 1);
    ck_assert_uint_eq(submission.umask, 022);
    submission_fini(&submission);
    ck_assert_int_eq(
        read_text(&submission,
                  "{\"words\":[\"synthetic\",\"-N\"],\"folder\":\"/a b\",\"umask\":7,\"environment\":"
                  "[\"A=\",\"B=c=d\"],\"name\":\"n\",\"priority\":-3,\"weight\":9,\"after\":[3,1],\"open\":true,"
                  "\"attached\":true}"),
        0);
    json_t *object = submission_json(&submission);
    ck_assert_int_eq(submission_read(&again, object, &error), 0);
    json_decref(object);
    ck_assert_uint_eq(again.word_count, 2);
    ck_assert_str_eq(again.words[1], "-N");
    ck_assert_ptr_null(again.words[2]);
    ck_assert_str_eq(again.folder, "/a b");
    ck_assert_uint_eq(again.umask, 7);
    ck_assert_uint_eq(again.environment_count, 2);
    ck_assert_str_eq(again.environment[1], "B=c=d");
    ck_assert_str_eq(again.name, "n");
    ck_assert_int_eq(again.priority, -3);
    ck_assert_uint_eq(again.weight, 9);
    ck_assert(again.is_open && again.is_attached);
    ck_assert(again.after_count == 2 && again.after[0] == 3 && again.after[1] == 1);
    submission_fini(&submission);
    submission_fini(&again);
}
END_TEST

START_TEST(a_submission_is_refused)
{
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"[]", "no object"},
        {"{}", "'words' is missing"},
        {"{\"words\":[\"k\"]}", "'folder' is missing"},
        {"{\"words\":[],\"folder\":\"/\"}", "'words' has 0 words"},
        {"{\"words\":\"k\",\"folder\":\"/\"}", "'words' is no list"},
        {"{\"words\":[\"k\",1],\"folder\":\"/\"}", "'words' is no list"},
        {"{\"words\":[\"k\"],\"folder\":\"a\"}", "'folder' is no absolute path"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"umask\":512}", "'umask' is no integer from 0 to 511"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"environment\":[\"A\"]}", "'environment' has 'A'"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"environment\":[\"=A\"]}", "'environment' has '=A'"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"name\":\"\"}", "'name' is neither"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"name\":\"a\\n\"}", "'name' is neither"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"priority\":1001}", "'priority' is no integer from -1000 to 1000"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"weight\":0}", "'weight' is no integer from 1 to 1000"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"weight\":1.5}", "'weight' is no integer"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"after\":[0]}", "'after' is no integer from 1"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"after\":3}", "'after' is no list"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"open\":1}", "'open' is neither true nor false"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"attached\":null}", "'attached' is neither true nor false"},
        {"{\"words\":[\"k\"],\"folder\":\"/\",\"wait\":3}", "the field 'wait' is unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct submission submission;
        ck_assert_int_eq(read_text(&submission, cases[i].text), -1);
        ck_assert_msg(strstr(error.text, cases[i].complaint) != NULL, "%s: %s", cases[i].text, error.text);
        ck_assert_ptr_null(submission.words);
    }
}
END_TEST

static void have_descriptors(rlim_t count)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Processor time of a look, as others have the machine meanwhile. */
static uint64_t time_of_look(void)
{
    const uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    look();
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

/* Sends what the client has to say, and looks until it is answered by the first byte. Returns the longest look. */
static uint64_t ask_and_look(int client, const char *request)
{
    uint64_t longest_ns = 0;
    char byte;
    ck_assert_int_eq(send(client, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    while (recv(client, &byte, 1, 0) < 0) {
        const uint64_t took_ns = time_of_look();
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    return longest_ns;
}

static uint64_t longest_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

START_TEST(clients_of_every_kind_are_borne)
{
    static int idle[IDLE_CLIENTS], stuck[2 * STUCK_CLIENTS];
    static char rest[65536];
    const int small = 2048;
    uint64_t longest_ns = 0;
    have_descriptors(2 * (IDLE_CLIENTS + 2 * STUCK_CLIENTS) + 200);
    set.newest = 1000;
    for (unsigned i = 0; i < IDLE_CLIENTS; i++)
        idle[i] = connect_in_turn();
    for (unsigned i = 0; i < 2 * STUCK_CLIENTS; i++) {
        const char *request = i % 2 == 0 ? "GET /v1/jobs HTT" : "GET /v1/jobs HTTP/1.1\r\n\r\n";
        stuck[i] = connect_in_turn();
        setsockopt(stuck[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        ck_assert_int_eq(send(stuck[i], request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
        longest_ns = longest_of(longest_ns, time_of_look());
    }
    const int busy = connect_in_turn();
    for (unsigned i = 0; i < IDLE_CLIENTS; i++) {
        longest_ns = longest_of(longest_ns, ask_and_look(busy, "GET /v1/jobs/1 HTTP/1.1\r\n\r\n"));
        while (recv(busy, rest, sizeof rest, 0) > 0)
            ;
    }
    for (unsigned i = 0; i < IDLE_CLIENTS; i++)
        longest_ns = longest_of(longest_ns, ask_and_look(idle[i], "GET /v1/jobs/1 HTTP/1.1\r\n\r\n"));
    printf("# the longest of all looks took %.0f us\n", (double)longest_ns / 1e3);
    for (unsigned i = 0; i < IDLE_CLIENTS; i++)
        close(idle[i]);
    for (unsigned i = 0; i < 2 * STUCK_CLIENTS; i++)
        close(stuck[i]);
    close(busy);
    check_has(ask("GET /v1", ""), "200", "\"kind\":\"set\"");
}
END_TEST

/* --- clients of which nothing may cost the set --- */

#define RAGGED_CLIENTS 40
#define RAGGED_STEPS   4000
#define RAGGED_SEEDS   6
#define ATTACHED       "{\"words\":[\"k\"],\"folder\":\"/\",\"attached\":true}"
#define JOBS_OF_THREE  "[" JOB "," ATTACHED ",{\"words\":[\"nonsense\"],\"folder\":\"/\"}]"

/* Whole requests: a line, and what comes after the host and the token. */
static const struct {
    const char *line, *rest;
} requests[] = {
    {"GET /v1 HTTP/1.1", "\r\n"},
    {"GET /v1 HTTP/1.0", "\r\n"},
    {"GET /v1/events HTTP/1.1", "\r\n"},
    {"GET /v1/events HTTP/1.0", "\r\n"},
    {"GET /v1/jobs HTTP/1.1", "\r\n"},
    {"GET /v1/jobs/1?wait=1 HTTP/1.1", "\r\n"},
    {"GET /v1/jobs/1/failures?wait=1&from=3 HTTP/1.1", "\r\n"},
    {"GET /v1/jobs/1/output HTTP/1.1", "\r\n"},
    {"GET /v1/jobs/1/output?from=999&stream=err HTTP/1.1", "\r\n"},
    {"GET /v1/jobs/1/ranks?limit=2 HTTP/1.1", "\r\n"},
    {"GET /metrics HTTP/1.1", "\r\n"},
    {"HEAD /v1/jobs/1 HTTP/1.1", "\r\n"},
    {"HEAD /v1/events HTTP/1.1", "\r\n"},
    {"OPTIONS * HTTP/1.1", "\r\n"},
    {"TRACE / HTTP/1.1", "\r\n"},
    {"CONNECT a:1 HTTP/1.1", "\r\n"},
    {"BREW /v1 HTTP/1.1", "\r\n"},
    {"PATCH /v1/jobs/1 HTTP/1.1", "Content-Length: 0\r\n\r\n"},
    {"DELETE /v1/jobs/1?finish=1 HTTP/1.1", "\r\n"},
    {"DELETE /v1/jobs/2 HTTP/1.1", "Content-Length: 3\r\n\r\nabc"},
    {"POST /v1/jobs HTTP/1.1", "Content-Length: 28\r\n\r\n" JOB},
    {"POST /v1/jobs HTTP/1.1", "Content-Length: 44\r\n\r\n" ATTACHED},
    {"POST /v1/jobs HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n1c\r\n" JOB "\r\n0\r\n\r\n"},
    {"POST /v1/jobs HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 111\r\n\r\n" JOBS_OF_THREE},
    {"POST /v1/jobs/1/items HTTP/1.1", "Content-Length: 14\r\n\r\n{\"rows\":[\"a\"]}"},
    {"POST /v1/end HTTP/1.1", "Content-Length: 0\r\n\r\n"},
};

/* Pieces of which something may become in some order. */
static const char *const scraps[] = {
    "GET ",
    "GET /v1",
    "POST /v1/jobs HTTP/1.1\r\n",
    "GET http://[::1/v1 HTTP/1.1\r\n",
    "GET http://u@h:99999/v1 HTTP/1.1\r\n",
    "GET //%00 HTTP/1.1\r\n",
    "GET /v1/jobs/?=&&wait=%ff HTTP/1.1\r\n",
    "GET /v1 HTTP/9.9\r\n",
    " HTTP/1.1\r\n",
    "Host:\r\n",
    "Host: [\r\n",
    ": \r\n",
    "no colon\r\n",
    " folded: line\r\n",
    "\r\n",
    "\n",
    "\r\n\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Content-Length: 2000000\r\n\r\n",
    "Content-Length: 7\r\nContent-Length: 5\r\n\r\n[1,2]",
    "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "0\r\n\r\n",
    "7fffffffffffffff\r\n",
    "-1\r\n",
    "zz\r\n",
    "5\r\n[1,2]\r\n",
    "0\r\nTrailer: x\r\n\r\n",
    "Expect: 100-continue\r\n",
    "Expect: what\r\n",
    "Connection: close\r\n",
    "Connection: Upgrade\r\nUpgrade: h2c\r\n",
    "Accept: application/openmetrics-text\r\n",
    "\xff\xfe\x80",
    "\x16\x03\x01\x02",
};

static struct {
    int fds[RAGGED_CLIENTS]; /* -1: none */
    struct random random;
    char token[BEARER_LENGTH + 1];
    in_port_t port;
} ragged;

static size_t draw(size_t count)
{
    return (size_t)random_between(&ragged.random, 0, count - 1);
}

/* A second server of the same set, which has a port as well. */
static void listen_at_a_port(struct address *address, struct control_source *with_port)
{
    char token_path[CONTROL_PATH_MAX + 8];
    control_free(control, 0);
    ck_assert_int_eq(address_parse(address, "0", &error), 0);
    *with_port = source;
    with_port->http = address;
    control = control_new(base, "1.2.3", with_port);
    ck_assert_msg(control != NULL, "%s", error.text);
    snprintf(token_path, sizeof token_path, "%.*s.token", (int)(strlen(path) - strlen(".sock")), path);
    FILE *file = fopen(token_path, "r");
    ck_assert(file != NULL && fgets(ragged.token, sizeof ragged.token, file) != NULL && fclose(file) == 0);
    const char *told = strstr(ask("GET /v1", ""), "\"http\":\"http://127.0.0.1:");
    ck_assert_ptr_nonnull(told);
    ragged.port = htons((uint16_t)strtoul(told + strlen("\"http\":\"http://127.0.0.1:"), NULL, 10));
}

/* At the port or the socket; one in eight takes hardly anything. -1: not now. */
static int connect_somehow(void)
{
    const struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = ragged.port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int small = 1;
    if (draw(2) == 0)
        return control_connect(path);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (draw(8) == 0)
        setsockopt(client, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(client, (const struct sockaddr *)&there, sizeof there) < 0 && errno != EINPROGRESS) {
        close(client);
        return -1;
    }
    return client;
}

static void send_somehow(int client)
{
    char text[600];
    const size_t chosen = draw(sizeof requests / sizeof *requests);
    if (draw(3) > 0)
        snprintf(text, sizeof text, "%s\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s", requests[chosen].line,
                 ragged.token, requests[chosen].rest);
    else
        snprintf(text, sizeof text, "%s", scraps[draw(sizeof scraps / sizeof *scraps)]);
    const size_t length = strlen(text);
    send(client, text, draw(4) == 0 ? draw(length + 1) : length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A header that is far too long, or a body of zeros. */
static void send_much(int client)
{
    static char much[16384];
    memset(much, draw(2) == 0 ? 'x' : '\0', sizeof much);
    send(client, much, sizeof much, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* In order, or by a reset. */
static void end_somehow(int *client)
{
    const struct linger none = {1, 0};
    if (draw(2) == 0)
        setsockopt(*client, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(*client);
    *client = -1;
}

static void act(int *client)
{
    char bytes[4096];
    const size_t what = draw(100);
    if (*client < 0)
        *client = connect_somehow();
    else if (what < 60)
        send_somehow(*client);
    else if (what < 64)
        send_much(*client);
    else if (what < 84)
        recv(*client, bytes, draw(sizeof bytes) + 1, MSG_DONTWAIT);
    else if (what < 90)
        shutdown(*client, draw(4) == 0 ? SHUT_RDWR : SHUT_WR);
    else
        end_somehow(client);
}

/* The jobs, and a file that is read as a client takes it. */
static void change_the_set(void)
{
    static char zeros[65536];
    const uint64_t job = 1 + draw(5);
    set.states[job] = (enum control_state)draw(CONTROL_CANCELLED + 1);
    set.failures = draw(5);
    set.newest = set.newest > 1000 ? draw(3) : set.newest;
    const int file = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert(file >= 0 && (draw(3) > 0 ? ftruncate(file, (off_t)draw(3 * sizeof zeros))
                                        : pwrite(file, zeros, sizeof zeros, 0)) >= 0);
    close(file);
}

START_TEST(no_client_costs_the_set)
{
    struct address address;
    struct control_source with_port;
    random_init(&ragged.random, (uint64_t)_i);
    listen_at_a_port(&address, &with_port);
    for (int *client = ragged.fds; client < ragged.fds + RAGGED_CLIENTS; client++)
        *client = -1;
    for (unsigned step = 0; step < RAGGED_STEPS; step++) {
        act(&ragged.fds[draw(RAGGED_CLIENTS)]);
        if (draw(20) == 0)
            change_the_set();
        if (draw(3) > 0)
            look();
    }
    check_has(ask("GET /v1", ""), "200", "\"kind\":\"set\"");
    for (int *client = ragged.fds; client < ragged.fds + RAGGED_CLIENTS; client++)
        if (*client >= 0 && draw(2) == 0) /* others are there at the end */
            close(*client);
    control_free(control, 0);
    control = NULL;
    for (int *client = ragged.fds; client < ragged.fds + RAGGED_CLIENTS; client++)
        if (*client >= 0)
            close(*client);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("set");
    TCase *tcase = tcase_create("socket"), *reading = tcase_create("submission");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_job_is_taken);
    tcase_add_test(tcase, jobs_are_listed_by_their_state);
    tcase_add_test(tcase, ranks_are_listed);
    tcase_add_test(tcase, what_is_given_up_is_listed);
    tcase_add_test(tcase, who_waits_for_failures_is_answered);
    tcase_add_test(tcase, nonsense_is_refused);
    tcase_add_test(tcase, many_jobs_are_taken_at_once);
    tcase_add_test(tcase, one_write_for_all_clients);
    tcase_add_test(tcase, what_is_not_on_disk_is_not_taken);
    tcase_add_test(tcase, a_change_is_told);
    tcase_add_test(tcase, output_is_given);
    tcase_add_test(tcase, items_are_added);
    tcase_add_test(tcase, what_is_added_and_not_on_disk_is_not_acknowledged);
    tcase_add_test(tcase, the_set_is_told_to_end);
    tcase_add_test(tcase, a_name_is_taken_once);
    tcase_add_test(tcase, clients_of_every_kind_are_borne);
    tcase_add_loop_test(tcase, no_client_costs_the_set, 0, RAGGED_SEEDS);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    tcase_add_test(reading, a_submission_has_all_fields);
    tcase_add_test(reading, a_submission_is_refused);
    suite_add_tcase(suite, reading);
    return suite_run(suite);
}
