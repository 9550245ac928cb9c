/* SPDX-License-Identifier: MIT */
/* The control socket of a run or a set: HTTP over a Unix socket, with libevent's evhttp, in the event base of the rank.
 * docs/CONTROL.md describes requests and answers.
 *
 * This code runs only after a client has sent something. An unused control socket costs one descriptor in the event
 * base. A client delays a chunk by at most a few hundred microseconds: requests read the machine and never step it,
 * answers are small and are sent as the client reads them, and all clients together get a limited share of each turn
 * (door.c). Lists of jobs and submissions of many jobs take longer. They are processed job by job within that share.
 * Submissions that are processed in the same turn are committed to disk with one write. They are answered after that
 * write.
 *
 * Access: only the user can access the folder and the socket (socket.c), and the kernel identifies the user of each
 * client. With --http a TCP port offers the same service, but each request must have the token (bearer.c). If only this
 * machine can connect to the port, the Host header must name this machine. This prevents DNS rebinding, by which a web
 * page could reach the port through the user's browser. */
#include "common/control/control.h"

#include "common/control/attachments.h"
#include "common/control/bearer.h"
#include "common/control/door.h"
#include "common/control/events.h"
#include "common/control/route.h"
#include "common/control/socket.h"
#include "common/control/submission_json.h"
#include "common/control/tcp.h"
#include "common/metrics/json_text.h"
#include "common/os/clock.h"
#include "common/os/say.h"
#include "common/util/error.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_MAX      1048576
#define RANKS_USUAL     1000
#define FAILURES_LISTED 100
#define WAITERS_MAX     4096
#define LOOK_US         100000
#define KEEP_US         1000000
#define LAST_ANSWERS_US 100000

#define STATUS_OK          200
#define STATUS_CREATED     201
#define STATUS_ACCEPTED    202
#define STATUS_BAD         400
#define STATUS_NO_TOKEN    401
#define STATUS_WRONG_HOST  403
#define STATUS_NOT_FOUND   404
#define STATUS_NO_METHOD   405
#define STATUS_CONFLICT    409
#define STATUS_UNAVAILABLE 503
#define STATUS_BROKEN      500

#define JSON_TYPE "application/json"
#define NO_JOB    "there is no such job, or it ended long ago"

struct waiter {
    /* evhttp frees the request after it was answered, even if the client has disconnected */
    struct evhttp_request *request;
    uint64_t job;
    enum control_state state;
    bool wants_failures;
    uint64_t from;
    uint64_t until_ns;
    struct waiter *next;
};

struct task {
    struct evhttp_request *request;
    struct evbuffer *body;
    int status;
    bool (*step)(struct control *control, struct task *task);
    uint64_t at;
    uint64_t job;
    uint64_t limit;
    uint64_t looked;
    enum control_wanted wanted;
    json_t *submissions;
    bool is_array;
    struct items *items;
    bool has_added;
    size_t count;
    uint64_t *ids;
    size_t id_count;
    struct task *next;
};

struct control {
    struct event_base *base;
    const struct control_source *source;
    struct control_session session;
    char name[CONTROL_NAME_MAX];
    char folder[1024];
    struct door_share share;
    struct control_socket socket;
    struct events *events;
    struct attachments *attachments;
    struct door *own, *tcp;
    struct address address;
    struct bearer bearer;
    char url[ADDRESS_TEXT_MAX + 16];
    struct event *look;
    struct event *keep;
    struct event *work;
    struct task *tasks, **tasks_end;
    /* Tasks whose answers are complete. Each answer is sent after the submissions of its task are committed. Owned. */
    struct task *made, **made_end;
    struct waiter *waiters;
    unsigned waiting;
    unsigned unsent;
    bool was_asked;
    bool was_cancelled;
    bool is_over;
    bool late;
};

static void send_body(struct evhttp_request *request, int status, const char *type, struct evbuffer *body)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    if (status == STATUS_NO_METHOD)
        evhttp_add_header(headers, "Allow", "GET, POST, DELETE");
    if (status == STATUS_NO_TOKEN)
        evhttp_add_header(headers, "WWW-Authenticate", "Bearer");
    if (status == STATUS_NO_TOKEN || status == STATUS_WRONG_HOST)
        evhttp_add_header(headers, "Connection", "close");
    evhttp_send_reply(request, status, NULL, body);
}

static bool add_json(struct evbuffer *body, json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    const bool added = body != NULL && text != NULL && evbuffer_add(body, text, strlen(text)) == 0;
    json_decref(object);
    free(text);
    return added;
}

static void send_json(struct evhttp_request *request, int status, json_t *object)
{
    struct evbuffer *body = evbuffer_new();
    if (!add_json(body, object) || evbuffer_add(body, "\n", 1) < 0)
        status = STATUS_BROKEN;
    send_body(request, status, JSON_TYPE, body);
    if (body != NULL)
        evbuffer_free(body);
}

static json_t *error_json(const char *text)
{
    json_t *object = json_object();
    json_object_set_new(object, "error", json_of_text(text));
    return object;
}

static void send_error(struct evhttp_request *request, int status, const char *text)
{
    send_json(request, status, error_json(text));
}

static bool is_set(const struct control *control)
{
    return control->source->set != NULL;
}

static bool look_at_job(struct control *control, uint64_t id, struct control_job *job)
{
    if (!control_source_tell(control->source, &control->session, id, job))
        return false;
    if (!is_set(control) && control->was_cancelled && job->status < 0)
        job->state = CONTROL_DRAINING;
    if (job->folder == NULL)
        job->folder = control->folder;
    return true;
}

static json_t *session_json(struct control *control)
{
    struct control_session session = control->session;
    uint64_t running[METRICS_JOBS_MAX];
    control_source_count(control->source, &session, &session.counts, running);
    control_source_count_ranks(control->source, &session.masters, &session.workers);
    return control_session_json(&session);
}

static json_t *session_of_event(void *context)
{
    return session_json(context);
}

static size_t running_of_event(void *context, uint64_t ids[METRICS_JOBS_MAX])
{
    const struct control *control = context;
    struct metrics_counts counts;
    return control_source_count(control->source, &control->session, &counts, ids);
}

#define TITLE_WORDS 16

static json_t *job_of_event(void *context, uint64_t id)
{
    struct control_job job;
    if (!look_at_job(context, id, &job))
        return NULL;
    job.words = job.words < TITLE_WORDS ? job.words : TITLE_WORDS;
    job.after_count = 0;
    json_t *object = control_job_json(&job);
    json_object_del(object, "command");
    json_object_del(object, "after");
    return object;
}

static void free_task(struct task *task)
{
    if (task->body != NULL)
        evbuffer_free(task->body);
    json_decref(task->submissions);
    if (task->items != NULL)
        items_fini(task->items);
    free(task->items);
    free(task->ids);
    free(task);
}

static void add_to_answer(struct task *task, json_t *object)
{
    if ((task->count++ > 0 && evbuffer_add(task->body, ",", 1) < 0) || !add_json(task->body, object))
        task->status = STATUS_BROKEN;
}

static bool end_list(struct task *task, const uint64_t *next)
{
    evbuffer_add_printf(task->body, "],\"next\":");
    add_json(task->body, next != NULL ? json_of_count(*next) : json_null());
    evbuffer_add_printf(task->body, "}\n");
    return false;
}

static uint64_t next_running(struct control *control, uint64_t at)
{
    struct metrics_counts counts;
    uint64_t running[METRICS_JOBS_MAX], first = 0;
    const size_t count = control_source_count(control->source, &control->session, &counts, running);
    for (size_t i = 0; i < count; i++)
        if (running[i] > at && (first == 0 || running[i] < first))
            first = running[i];
    return first;
}

static uint64_t next_job(struct control *control, uint64_t at, enum control_wanted wanted)
{
    if (wanted == CONTROL_THAT_RUN && is_set(control))
        return next_running(control, at);
    if (is_set(control))
        return control->source->next(control->source->context, at);
    return at < CONTROL_ONLY_JOB ? CONTROL_ONLY_JOB : 0;
}

static bool is_wanted(const struct control_job *job, enum control_wanted wanted)
{
    const bool is_over = job->state >= CONTROL_DONE, waits = job->state == CONTROL_WAITING;
    switch (wanted) {
    case CONTROL_EVERY: return true;
    case CONTROL_THAT_WAIT: return waits;
    case CONTROL_THAT_RUN: return !waits && !is_over;
    case CONTROL_THAT_ARE_OVER: return is_over;
    }
    return true;
}

static bool list_next_job(struct control *control, struct task *task)
{
    struct control_job job;
    const uint64_t id = next_job(control, task->at, task->wanted);
    if (id == 0 || task->count == task->limit || task->looked == CONTROL_LIST_MAX)
        return end_list(task, id != 0 ? &id : NULL);
    task->at = id;
    task->looked++;
    if (look_at_job(control, id, &job) && is_wanted(&job, task->wanted))
        add_to_answer(task, control_job_json(&job));
    return true;
}

static bool list_next_rank(struct control *control, struct task *task)
{
    struct rank_figures rank;
    if (!control->source->rank(control->source->context, task->job, task->at, &rank))
        return end_list(task, NULL);
    if (task->count == task->limit)
        return end_list(task, &task->at);
    add_to_answer(task, control_rank_json(&rank));
    task->at++;
    return true;
}

static void cancel_attached(void *context, uint64_t job)
{
    const struct control *control = context;
    control->source->cancel(control->source->context, job, false);
}

static const int status_of_refusal[] = {
    [REFUSAL_NONE] = STATUS_OK,           [REFUSAL_WRONG] = STATUS_BAD,     [REFUSAL_ABSENT] = STATUS_NOT_FOUND,
    [REFUSAL_CONFLICT] = STATUS_CONFLICT, [REFUSAL_BROKEN] = STATUS_BROKEN, [REFUSAL_FULL] = STATUS_UNAVAILABLE,
};

static bool submit_next_job(struct control *control, struct task *task)
{
    struct submission submission;
    struct control_job job;
    struct error error = {0};
    uint64_t id = 0;
    if (task->count == json_array_size(task->submissions)) {
        evbuffer_add_printf(task->body, task->is_array ? "]\n" : "\n");
        return false;
    }
    enum refusal refusal = REFUSAL_WRONG;
    bool is_attached = false;
    if (submission_read(&submission, json_array_get(task->submissions, task->count), &error) == 0) {
        is_attached = submission.is_attached;
        refusal = control->source->submit(control->source->context, &submission, &id, &error);
        submission_fini(&submission);
    }
    if (refusal == REFUSAL_NONE && is_attached && !attachments_add(control->attachments, task->request, id))
        cancel_attached(control, id);
    if (refusal == REFUSAL_NONE)
        task->ids[task->id_count++] = id;
    else if (!task->is_array)
        task->status = status_of_refusal[refusal];
    add_to_answer(task, refusal == REFUSAL_NONE && look_at_job(control, id, &job) ? control_job_json(&job)
                                                                                  : error_json(error.text));
    return true;
}

static bool add_all_items(struct control *control, struct task *task)
{
    struct error error = {0};
    uint64_t count;
    bool is_complete;
    const enum refusal refusal =
        control->source->add(control->source->context, task->at, task->items, &count, &is_complete, &error);
    const uint64_t added = task->items->has_rows ? task->items->rows : task->items->iterations;
    json_t *answer = refusal == REFUSAL_NONE ? json_object() : error_json(error.text);
    task->status = status_of_refusal[refusal];
    task->has_added = refusal == REFUSAL_NONE;
    if (task->has_added) {
        json_object_set_new(answer, "id", json_of_count(task->at));
        json_object_set_new(answer, "added", json_of_count(added));
        json_object_set_new(answer, "items", json_of_count(count));
        json_object_set_new(answer, "complete", json_boolean(is_complete));
    }
    add_to_answer(task, answer);
    evbuffer_add(task->body, "\n", 1);
    return false;
}

static bool keeps(const struct task *task)
{
    return task->id_count > 0 || task->has_added;
}

static void undo(struct control *control, struct task *task, const struct error *error)
{
    for (size_t i = 0; i < task->id_count; i++)
        control->source->cancel(control->source->context, task->ids[i], false);
    evbuffer_drain(task->body, evbuffer_get_length(task->body));
    add_json(task->body, error_json(error->text));
    evbuffer_add(task->body, "\n", 1);
    task->status = STATUS_BROKEN;
}

static void send_made(struct control *control)
{
    struct error error = {0};
    bool is_due = false;
    for (const struct task *task = control->made; task != NULL; task = task->next)
        is_due |= keeps(task);
    const bool is_kept = !is_due || control->source->commit(control->source->context, &error) == 0;
    for (struct task *task = control->made, *next; task != NULL; task = next) {
        next = task->next;
        if (!is_kept && keeps(task))
            undo(control, task, &error);
        send_body(task->request, task->status, JSON_TYPE, task->body);
        free_task(task);
    }
    control->made = NULL;
    control->made_end = &control->made;
}

static void work(struct control *control, bool may_rest)
{
    while (control->tasks != NULL) {
        struct task *task = control->tasks;
        if (!task->step(control, task)) {
            control->tasks = task->next;
            if (control->tasks == NULL)
                control->tasks_end = &control->tasks;
            task->next = NULL;
            *control->made_end = task;
            control->made_end = &task->next;
        }
        if (may_rest && door_rest(&control->share))
            break;
    }
    send_made(control);
}

static void on_work(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    (void)unused, (void)what;
    work(control, true);
    if (control->tasks != NULL)
        door_set_timer(control->work, 0);
}

static struct task *new_task(struct control *control, struct evhttp_request *request)
{
    struct task *task = calloc(1, sizeof *task);
    struct evbuffer *body = evbuffer_new();
    if (task == NULL || body == NULL) {
        free(task);
        if (body != NULL)
            evbuffer_free(body);
        send_error(request, STATUS_UNAVAILABLE, "out of memory");
        return NULL;
    }
    *task = (struct task){.request = request, .body = body, .status = STATUS_OK};
    if (control->tasks == NULL)
        event_active(control->work, EV_TIMEOUT, 0);
    *control->tasks_end = task;
    control->tasks_end = &task->next;
    return task;
}

static void answer_list(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct task *task = new_task(control, request);
    if (task == NULL)
        return;
    task->step = list_next_job;
    task->at = route->from > 0 ? route->from - 1 : 0;
    task->limit = route->limit > 0 ? route->limit : CONTROL_LIST_MAX;
    task->wanted = route->wanted;
    evbuffer_add_printf(task->body, "{\"session\":");
    add_json(task->body, session_json(control));
    evbuffer_add_printf(task->body, ",\"jobs\":[");
}

static void answer_ranks(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct control_job job;
    if (!look_at_job(control, route->job, &job)) {
        send_error(request, STATUS_NOT_FOUND, is_set(control) ? NO_JOB : "a run has job 1 alone");
        return;
    }
    struct task *task = new_task(control, request);
    if (task == NULL)
        return;
    task->step = list_next_rank;
    task->job = route->job;
    task->at = route->from;
    task->limit = route->limit > 0 ? route->limit : RANKS_USUAL;
    evbuffer_add_printf(task->body, "{\"job\":");
    add_json(task->body, control_job_json(&job));
    evbuffer_add_printf(task->body, ",\"ranks\":[");
}

static json_t *read_body(struct evhttp_request *request, bool *is_array, struct error *error)
{
    struct evbuffer *input = evhttp_request_get_input_buffer(request);
    const size_t size = evbuffer_get_length(input);
    const char *bytes = size > 0 ? (const char *)evbuffer_pullup(input, -1) : "";
    return submissions_of_body(bytes, size, is_array, error);
}

static void answer_submission(struct control *control, struct evhttp_request *request)
{
    struct error error = {0};
    bool is_array;
    json_t *submissions = read_body(request, &is_array, &error);
    uint64_t *ids = submissions != NULL ? malloc((json_array_size(submissions) + 1) * sizeof *ids) : NULL;
    struct task *task = NULL;
    if (submissions == NULL)
        send_error(request, STATUS_BAD, error.text);
    else if (ids == NULL)
        send_error(request, STATUS_UNAVAILABLE, "out of memory");
    else
        task = new_task(control, request);
    if (task == NULL) {
        json_decref(submissions);
        free(ids);
        return;
    }
    task->step = submit_next_job;
    task->status = STATUS_CREATED;
    task->submissions = submissions;
    task->is_array = is_array;
    task->ids = ids;
    if (is_array)
        evbuffer_add(task->body, "[", 1);
}

static void answer_items(struct control *control, struct evhttp_request *request, uint64_t id)
{
    struct error error = {0};
    bool is_array;
    json_t *body = read_body(request, &is_array, &error);
    struct items *items = body != NULL ? malloc(sizeof *items) : NULL;
    if (body != NULL && items == NULL)
        error_set(&error, "out of memory");
    else if (is_array)
        error_set(&error, "what is added is no object");
    if (error.text[0] != '\0' || items_read(items, json_array_get(body, 0), &error) < 0) {
        send_error(request, STATUS_BAD, error.text);
        json_decref(body);
        free(items);
        return;
    }
    json_decref(body);
    struct task *task = new_task(control, request);
    if (task == NULL) {
        items_fini(items);
        free(items);
        return;
    }
    task->step = add_all_items;
    task->at = id;
    task->items = items;
}

static json_t *failures_json(struct control *control, const struct control_job *job, uint64_t from)
{
    const struct control_source *source = control->source;
    struct failure_figures failure;
    uint64_t next = from;
    json_t *list = json_array();
    while (json_array_size(list) < FAILURES_LISTED && source->failure(source->context, job->id, next, &failure)) {
        if (json_array_append_new(list, control_failure_json(&failure)) < 0)
            break;
        next += failure.range.count;
    }
    return json_pack("{s:o, s:o, s:o}", "job", control_job_json(job), "failures", list, "next", json_of_count(next));
}

static void note_sent(struct evhttp_request *request, void *context)
{
    struct control *control = context;
    (void)request;
    if (control->unsent > 0)
        control->unsent--;
}

static void answer_waiter(struct control *control, const struct waiter *waiter, const struct control_job *job)
{
    if (control->is_over) {
        control->unsent += evhttp_request_get_connection(waiter->request) != NULL;
        evhttp_request_set_on_complete_cb(waiter->request, note_sent, control);
    }
    if (job == NULL)
        send_error(waiter->request, STATUS_NOT_FOUND, NO_JOB);
    else if (waiter->wants_failures)
        send_json(waiter->request, STATUS_OK, failures_json(control, job, waiter->from));
    else
        send_json(waiter->request, STATUS_OK, control_job_json(job));
}

static bool has_failure(const struct control *control, uint64_t job, uint64_t from)
{
    struct failure_figures failure;
    return control->source->failure(control->source->context, job, from, &failure);
}

static void answer_waiters(struct control *control)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    for (struct waiter **place = &control->waiters; *place != NULL;) {
        struct waiter *waiter = *place;
        struct control_job job;
        const bool is_there = look_at_job(control, waiter->job, &job);
        if (is_there && waiter->state == job.state && now_ns < waiter->until_ns && !control->is_over &&
            !(waiter->wants_failures && has_failure(control, waiter->job, waiter->from))) {
            place = &waiter->next;
            continue;
        }
        answer_waiter(control, waiter, is_there ? &job : NULL);
        *place = waiter->next;
        free(waiter);
        control->waiting--;
    }
}

static void on_look(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    (void)unused, (void)what;
    answer_waiters(control);
    if (control->waiters != NULL)
        door_set_timer(control->look, LOOK_US);
}

static void wait_for_change(struct control *control, struct evhttp_request *request, const struct control_route *route,
                            const struct control_job *job)
{
    struct waiter *waiter = control->waiting < WAITERS_MAX ? malloc(sizeof *waiter) : NULL;
    if (waiter == NULL) {
        send_error(request, STATUS_UNAVAILABLE, "too many requests wait for a change");
        return;
    }
    *waiter = (struct waiter){.request = request,
                              .job = job->id,
                              .state = job->state,
                              .wants_failures = route->place == CONTROL_FAILURES,
                              .from = route->from,
                              .until_ns = clock_ns(CLOCK_MONOTONIC) + UINT64_C(1000000000) * route->wait_s,
                              .next = control->waiters};
    control->waiters = waiter;
    control->waiting++;
    if (!event_pending(control->look, EV_TIMEOUT, NULL))
        door_set_timer(control->look, LOOK_US);
}

static void answer_job(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct control_job job;
    if (!look_at_job(control, route->job, &job))
        send_error(request, STATUS_NOT_FOUND, is_set(control) ? NO_JOB : "a run has job 1 alone");
    else if (route->wait_s > 0 && job.status < 0)
        wait_for_change(control, request, route, &job);
    else
        send_json(request, STATUS_OK, control_job_json(&job));
}

static void answer_failures(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct control_job job;
    if (!look_at_job(control, route->job, &job))
        send_error(request, STATUS_NOT_FOUND, is_set(control) ? NO_JOB : "a run has job 1 alone");
    else if (route->wait_s > 0 && job.status < 0 && !has_failure(control, route->job, route->from))
        wait_for_change(control, request, route, &job);
    else
        send_json(request, STATUS_OK, failures_json(control, &job, route->from));
}

static void add_output(struct evbuffer *body, int fd, uint64_t from)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || (uint64_t)status.st_size <= from) {
        close(fd);
        return;
    }
    const uint64_t left = (uint64_t)status.st_size - from;
    evbuffer_add_file(body, fd, (ev_off_t)from, (ev_off_t)(left < OUTPUT_MAX ? left : OUTPUT_MAX));
}

static void answer_output(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    struct control_job job;
    if (!is_set(control)) {
        send_error(request, STATUS_CONFLICT, "a run writes to its own terminal or files");
        return;
    }
    if (!look_at_job(control, route->job, &job)) {
        send_error(request, STATUS_NOT_FOUND, NO_JOB);
        return;
    }
    struct evbuffer *body = evbuffer_new();
    const int fd = control->source->output(control->source->context, route->job, route->stream);
    if (fd >= 0 && body != NULL)
        add_output(body, fd, route->from);
    else if (fd >= 0)
        close(fd);
    send_body(request, body != NULL ? STATUS_OK : STATUS_UNAVAILABLE, "text/plain", body);
    if (body != NULL)
        evbuffer_free(body);
}

static void answer_metrics(struct control *control, struct evhttp_request *request)
{
    const char *accept = evhttp_find_header(evhttp_request_get_input_headers(request), "Accept");
    const enum metrics_format format = metrics_wanted(accept);
    char *text = control_source_metrics(control->source, &control->session, format);
    struct evbuffer *body = evbuffer_new();
    const bool is_made = text != NULL && body != NULL && evbuffer_add(body, text, strlen(text)) == 0;
    send_body(request, is_made ? STATUS_OK : STATUS_UNAVAILABLE, metrics_type(format), body);
    if (body != NULL)
        evbuffer_free(body);
    free(text);
}

static void answer_pods(struct control *control, struct evhttp_request *request)
{
    const struct control_source *source = control->source;
    struct pod_figures pod;
    json_t *list = json_array(), *object = json_object();
    for (uint64_t place = 0; source->pod != NULL && source->pod(source->context, place, &pod); place++)
        json_array_append_new(list, control_pod_json(&pod));
    json_object_set_new(object, "pods", list);
    send_json(request, STATUS_OK, object);
}

static void answer_get(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    switch (route->place) {
    case CONTROL_SESSION: send_json(request, STATUS_OK, session_json(control)); break;
    case CONTROL_JOBS: answer_list(control, request, route); break;
    case CONTROL_JOB: answer_job(control, request, route); break;
    case CONTROL_OUTPUT: answer_output(control, request, route); break;
    case CONTROL_RANKS: answer_ranks(control, request, route); break;
    case CONTROL_FAILURES: answer_failures(control, request, route); break;
    case CONTROL_PODS: answer_pods(control, request); break;
    case CONTROL_POD: send_error(request, STATUS_NO_METHOD, "accepted: DELETE"); break;
    case CONTROL_ITEMS:
    case CONTROL_END: send_error(request, STATUS_NO_METHOD, "accepted: POST"); break;
    case CONTROL_METRICS: answer_metrics(control, request); break;
    case CONTROL_EVENTS:
        if (!events_subscribe(control->events, request))
            send_error(request, STATUS_UNAVAILABLE, "too many clients have subscribed to events");
        break;
    }
}

/* If the job is finished, cancelling it has no effect, and the answer shows its state. If the job is that of a run,
 * `finishes` is ignored, because a run can only drain. */
static void answer_delete(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    const uint64_t id = route->job;
    struct control_job job;
    if (!look_at_job(control, id, &job)) {
        send_error(request, STATUS_NOT_FOUND, is_set(control) ? NO_JOB : "a run has job 1 alone");
        return;
    }
    if (is_set(control))
        control->source->cancel(control->source->context, id, route->finishes);
    else if (control->session.status < 0)
        control->source->drain(control->source->context);
    control->was_cancelled = true;
    look_at_job(control, id, &job);
    send_json(request, STATUS_ACCEPTED, control_job_json(&job));
}

static void answer_delete_pod(struct control *control, struct evhttp_request *request,
                              const struct control_route *route)
{
    const struct control_source *source = control->source;
    if (source->leave == NULL || !source->leave(source->context, route->pod, route->finishes))
        send_error(request, STATUS_NOT_FOUND, "no pod whose master has this rank has joined, or it has left");
    else
        send_json(request, STATUS_ACCEPTED, session_json(control));
}

static void answer_end(struct control *control, struct evhttp_request *request)
{
    struct error error;
    bool is_array;
    json_t *body = read_body(request, &is_array, &error);
    const json_t *object = !is_array ? json_array_get(body, 0) : NULL;
    const char *mode = json_string_value(json_object_get(object, "mode"));
    const bool drains = mode != NULL && strcmp(mode, "drain") == 0, ends_now = mode != NULL && strcmp(mode, "now") == 0;
    const bool is_known = (drains || ends_now) && json_object_size(object) == 1;
    json_decref(body);
    if (!is_known) {
        send_error(request, STATUS_BAD, "accepted: {\"mode\": \"drain\"} or {\"mode\": \"now\"}");
        return;
    }
    (drains ? control->source->close : control->source->drain)(control->source->context);
    send_json(request, STATUS_ACCEPTED, session_json(control));
}

static void answer_post(struct control *control, struct evhttp_request *request, const struct control_route *route)
{
    if (!is_set(control))
        send_error(request, STATUS_CONFLICT,
                   route->place == CONTROL_JOBS    ? "a run takes no further jobs"
                   : route->place == CONTROL_ITEMS ? "the job of a run is not open: nothing can be added to it"
                                                   : "a run ends with its job, which DELETE drains");
    else if (route->place == CONTROL_JOBS)
        answer_submission(control, request);
    else if (route->place == CONTROL_ITEMS)
        answer_items(control, request, route->job);
    else
        answer_end(control, request);
}

static void on_request(struct evhttp_request *request, void *context)
{
    struct control *control = context;
    struct control_route route;
    struct error error;
    const enum evhttp_cmd_type method = evhttp_request_get_command(request);
    const int refusal = control_route_read(&route, evhttp_request_get_uri(request), &error);
    control->was_asked = true;
    if (refusal != 0)
        send_error(request, refusal, error.text);
    else if (method == EVHTTP_REQ_GET)
        answer_get(control, request, &route);
    else if (method == EVHTTP_REQ_DELETE && route.place == CONTROL_JOB)
        answer_delete(control, request, &route);
    else if (method == EVHTTP_REQ_DELETE && route.place == CONTROL_POD)
        answer_delete_pod(control, request, &route);
    else if (method == EVHTTP_REQ_POST &&
             (route.place == CONTROL_JOBS || route.place == CONTROL_ITEMS || route.place == CONTROL_END))
        answer_post(control, request, &route);
    else
        send_error(request, STATUS_NO_METHOD,
                   "accepted: GET, POST of jobs, items or an end, and DELETE of a job or a pod");
}

static void on_request_of_stranger(struct evhttp_request *request, void *context)
{
    struct control *control = context;
    const char *text;
    const int refusal = door_refusal(request, &control->address, &control->bearer, &text);
    if (refusal != 0)
        send_error(request, refusal, text);
    else
        on_request(request, control);
}

static int open_port(struct control *control, struct error *error)
{
    char text[ADDRESS_TEXT_MAX];
    control->address = *control->source->http;
    const int fd = tcp_listen(&control->address, error);
    if (fd < 0)
        return -1;
    control->tcp = door_new(DOOR_TCP, fd, &control->share, on_request_of_stranger, control);
    if (control->tcp == NULL)
        return error_set(error, "out of memory for the port of --http");
    if (bearer_draw(&control->bearer, error) < 0 || bearer_put(&control->bearer, control->socket.path, error) < 0)
        return -1;
    address_print(&control->address, text);
    snprintf(control->url, sizeof control->url, "http://%s/v1", text);
    return 0;
}

/* Another process may have removed the names of the socket and the token. Without these names no client could reach the
 * set or end it, so this function recreates them. If another set has taken the name meanwhile, a later call tries
 * again. */
static void on_keep(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    struct control_socket made;
    struct error error;
    (void)unused, (void)what;
    if (control->is_over)
        return;
    if (!control_is_named(&control->socket) && control_listen(&made, control->name, &error) == 0) {
        if (door_move(control->own, made.fd))
            control->socket = made;
        else
            control_unlink(&made);
        control->socket.fd = -1;
    }
    if (control->tcp != NULL && access(control->bearer.path, F_OK) < 0)
        bearer_put(&control->bearer, control->socket.path, &error);
    door_set_timer(control->keep, KEEP_US);
}

static int control_open(struct control *control, struct error *error)
{
    if (control_listen(&control->socket, control->name, error) < 0)
        return -1;
    control->look = event_new(control->base, -1, 0, on_look, control);
    control->work = event_new(control->base, -1, 0, on_work, control);
    control->keep = event_new(control->base, -1, 0, on_keep, control);
    control->events =
        events_new(&control->share, &(struct events_source){control, session_of_event, running_of_event, job_of_event});
    control->attachments = attachments_new(cancel_attached, control);
    control->own = door_new(DOOR_OWN, control->socket.fd, &control->share, on_request, control);
    control->socket.fd = -1;
    if (control->look == NULL || control->work == NULL || control->keep == NULL || control->events == NULL ||
        control->attachments == NULL || control->own == NULL)
        return error_set(error, "out of memory for the control socket");
    door_set_timer(control->keep, KEEP_US);
    return control->source->http != NULL ? open_port(control, error) : 0;
}

static void remove_names(struct control *control)
{
    bearer_unlink(&control->bearer);
    control_unlink(&control->socket);
}

static void release(struct control *control)
{
    remove_names(control);
    events_free(control->events);
    attachments_free(control->attachments);
    door_free(control->tcp);
    door_free(control->own);
    if (control->look != NULL)
        event_free(control->look);
    if (control->work != NULL)
        event_free(control->work);
    if (control->keep != NULL)
        event_free(control->keep);
    free(control);
}

struct control *control_new(struct event_base *base, const char *version, const struct control_source *source)
{
    struct error error;
    struct control *control = base != NULL ? calloc(1, sizeof *control) : NULL;
    if (control == NULL)
        return NULL;
    *control = (struct control){.base = base, .source = source, .share = {.base = base}, .socket = {.fd = -1}};
    control->tasks_end = &control->tasks;
    control->made_end = &control->made;
    control->session = control_source_session(source, version, control->name);
    control->session.http = control->url;
    control->session.token_file = control->bearer.path;
    if (getcwd(control->folder, sizeof control->folder) == NULL)
        control->folder[0] = '\0';
    if (control_open(control, &error) < 0) {
        error_set(source->error, "%s", error.text);
        release(control);
        return NULL;
    }
    door_raise_limit();
    return control;
}

static void on_late(evutil_socket_t unused, short what, void *context)
{
    struct control *control = context;
    (void)unused, (void)what;
    control->late = true;
    event_base_loopbreak(control->base);
}

static void serve_all_that_comes(struct control *control, struct event *timer)
{
    control->late = false;
    door_set_timer(timer, LAST_ANSWERS_US);
    event_base_loop(control->base, EVLOOP_NONBLOCK);
}

/* Answers waiting clients, and also requests that arrive during this function. Such requests are likely: a waiting
 * client repeats its request each time the time limit of its wait is over. */
static void give_last_answers(struct control *control)
{
    struct event *timer = event_new(control->base, -1, 0, on_late, control);
    if (timer == NULL)
        return;
    control->share.is_whole = true;
    door_admit_all(control->own);
    door_admit_all(control->tcp);
    serve_all_that_comes(control, timer);
    work(control, false);
    answer_waiters(control);
    control->unsent += events_end(control->events, note_sent, control);
    serve_all_that_comes(control, timer);
    while (control->unsent > 0 && !control->late)
        event_base_loop(control->base, EVLOOP_ONCE);
    event_free(timer);
}

void control_tell_port(const struct control *control, const char *program)
{
    if (control->url[0] == '\0')
        return;
    say(stderr, "%s: %s answers whoever has the token in %s", program, control->url, control->bearer.path);
    if (!address_is_loopback(&control->address))
        say(stderr, "%s: --http: " ADDRESS_WARNING, program);
}

void control_note_change(struct control *control)
{
    if (control != NULL && control->waiters != NULL)
        door_set_timer(control->look, 0);
}

void control_free(struct control *control, int status)
{
    if (control == NULL)
        return;
    control_session_end(&control->session, status);
    control->is_over = true;
    remove_names(control);
    if (control->was_asked)
        give_last_answers(control);
    release(control);
}
