/* SPDX-License-Identifier: MIT */
/* Paths of the control socket: see route.h. Apart from evhttp, only this file parses paths that clients send. */
#include "common/control/route.h"

#include <string.h>

#define NOT_FOUND   404
#define BAD_REQUEST 400

static bool read_number(const char *text, size_t length, uint64_t most, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || *number > (most - digit) / 10)
            return false;
        *number = 10 * *number + digit;
    }
    return length > 0;
}

static const char *value_of(const char *word, size_t length, const char *name)
{
    const size_t prefix = strlen(name);
    return length > prefix && strncmp(word, name, prefix) == 0 ? word + prefix : NULL;
}

static bool is_path(const char *path, size_t length, const char *expected)
{
    return length == strlen(expected) && strncmp(path, expected, length) == 0;
}

static bool read_state(struct control_route *route, const char *state, size_t length)
{
    static const char *const states[] = {
        [CONTROL_THAT_WAIT] = "waiting", [CONTROL_THAT_RUN] = "running", [CONTROL_THAT_ARE_OVER] = "over"};
    for (int wanted = CONTROL_THAT_WAIT; wanted <= CONTROL_THAT_ARE_OVER; wanted++)
        if (is_path(state, length, states[wanted])) {
            route->wanted = (enum control_wanted)wanted;
            return true;
        }
    return false;
}

static bool read_word_of_list(struct control_route *route, const char *word, size_t length)
{
    const char *from = value_of(word, length, "from="), *limit = value_of(word, length, "limit="),
               *state = value_of(word, length, "state="), *end = word + length;
    if (from != NULL)
        return read_number(from, (size_t)(end - from), INT64_MAX, &route->from);
    if (limit != NULL)
        return read_number(limit, (size_t)(end - limit), CONTROL_LIST_MAX, &route->limit) && route->limit > 0;
    return state != NULL && route->place == CONTROL_JOBS && read_state(route, state, (size_t)(end - state));
}

static bool read_word(struct control_route *route, const char *word, size_t length)
{
    const char *wait = value_of(word, length, "wait="), *from = value_of(word, length, "from="),
               *stream = value_of(word, length, "stream="), *finish = value_of(word, length, "finish=");
    uint64_t seconds;
    if (route->place == CONTROL_JOBS || route->place == CONTROL_RANKS)
        return read_word_of_list(route, word, length);
    if (wait != NULL && (route->place == CONTROL_JOB || route->place == CONTROL_FAILURES)) {
        if (!read_number(wait, (size_t)(word + length - wait), CONTROL_WAIT_MAX_S, &seconds))
            return false;
        route->wait_s = (unsigned)seconds;
        return true;
    }
    if (finish != NULL && (route->place == CONTROL_JOB || route->place == CONTROL_POD)) {
        route->finishes = *finish == '1';
        return word + length == finish + 1 && (*finish == '0' || *finish == '1');
    }
    if (from != NULL && (route->place == CONTROL_OUTPUT || route->place == CONTROL_FAILURES))
        return read_number(from, (size_t)(word + length - from), INT64_MAX, &route->from);
    if (stream == NULL || route->place != CONTROL_OUTPUT || word + length != stream + strlen("out"))
        return false;
    route->stream = strncmp(stream, "err", strlen("err")) == 0 ? CONTROL_ERR : CONTROL_OUT;
    return route->stream == CONTROL_ERR || strncmp(stream, "out", strlen("out")) == 0;
}

static bool is_repeated(const char *query, const char *word)
{
    const size_t name = strcspn(word, "=&");
    for (const char *earlier = query; earlier < word; earlier += strcspn(earlier, "&") + 1)
        if (strncmp(earlier, word, name + 1) == 0)
            return true;
    return false;
}

static int read_query(struct control_route *route, const char *query, struct error *error)
{
    for (const char *word = query, *end;; word = end + 1) {
        end = word + strcspn(word, "&");
        if (is_repeated(query, word) || !read_word(route, word, (size_t)(end - word))) {
            error_set(
                error,
                "the query '%.100s' is unknown; accepted: wait=SECONDS, 0 to %d, or finish=0|1 of a job or a pod, "
                "from=ID, limit=COUNT, 1 to %d, and state=waiting|running|over of jobs, from=PLACE and limit of "
                "ranks, from=PLACE and wait of failures, stream=out|err and from=OFFSET of an output",
                query, CONTROL_WAIT_MAX_S, CONTROL_LIST_MAX);
            return BAD_REQUEST;
        }
        if (*end == '\0')
            return 0;
    }
}

static enum control_place part_of_job(const char *path, size_t length, size_t *part)
{
    static const struct {
        const char *ending;
        enum control_place place;
    } parts[] = {{"/output", CONTROL_OUTPUT},
                 {"/items", CONTROL_ITEMS},
                 {"/ranks", CONTROL_RANKS},
                 {"/failures", CONTROL_FAILURES}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *part = strlen(parts[i].ending);
        if (length > *part && strncmp(path + length - *part, parts[i].ending, *part) == 0)
            return parts[i].place;
    }
    *part = 0;
    return CONTROL_JOB;
}

static bool read_place(struct control_route *route, const char *path, size_t length)
{
    static const char jobs[] = "/v1/jobs/", pods[] = "/v1/pods/";
    const size_t before = strlen(jobs);
    size_t behind;
    if (length > strlen(pods) && strncmp(path, pods, strlen(pods)) == 0) {
        route->place = CONTROL_POD;
        return read_number(path + strlen(pods), length - strlen(pods), UINT32_MAX, &route->pod);
    }
    if (length <= before || strncmp(path, jobs, before) != 0) {
        route->place = is_path(path, length, "/v1/jobs")     ? CONTROL_JOBS
                       : is_path(path, length, "/v1/end")    ? CONTROL_END
                       : is_path(path, length, "/v1/pods")   ? CONTROL_PODS
                       : is_path(path, length, "/v1/events") ? CONTROL_EVENTS
                       : is_path(path, length, "/metrics")   ? CONTROL_METRICS
                                                             : CONTROL_SESSION;
        return route->place != CONTROL_SESSION || is_path(path, length, "/v1");
    }
    route->place = part_of_job(path + before, length - before, &behind);
    return read_number(path + before, length - before - behind, INT64_MAX, &route->job);
}

int control_route_read(struct control_route *route, const char *uri, struct error *error)
{
    const char *query = strchr(uri, '?');
    const size_t length = query != NULL ? (size_t)(query - uri) : strlen(uri);
    *route = (struct control_route){.place = CONTROL_SESSION};
    if (read_place(route, uri, length))
        return query != NULL ? read_query(route, query + 1, error) : 0;
    error_set(error,
              "'%.*s' is not here; accepted: /v1, /v1/jobs, /v1/jobs/ID, /v1/jobs/ID/output, "
              "/v1/jobs/ID/items, /v1/jobs/ID/ranks, /v1/jobs/ID/failures, /v1/pods, /v1/pods/RANK, /v1/events, "
              "/v1/end, /metrics",
              (int)(length < 100 ? length : 100), uri);
    return NOT_FOUND;
}
