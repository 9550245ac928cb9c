/* SPDX-License-Identifier: MIT */
/* The paths of the control socket: see route.h. Bytes of a client are read here and by evhttp alone. */
#include "common/control/route.h"

#include <string.h>

#define NOT_FOUND   404
#define BAD_REQUEST 400

/* A number from 0 to `most` of digits alone that are all of the text. */
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

static int read_query(struct control_route *route, const char *query, struct error *error)
{
    static const char wait[] = "wait=";
    uint64_t seconds;
    if (route->place == CONTROL_JOB && strncmp(query, wait, strlen(wait)) == 0 &&
        read_number(query + strlen(wait), strlen(query + strlen(wait)), CONTROL_WAIT_MAX_S, &seconds)) {
        route->wait_s = (unsigned)seconds;
        return 0;
    }
    error_set(error, "the query '%.100s' is unknown; accepted: wait=SECONDS, 0 to %d, of a job", query,
              CONTROL_WAIT_MAX_S);
    return BAD_REQUEST;
}

/* Reads "/v1", "/v1/jobs" or "/v1/jobs/ID". */
static bool read_place(struct control_route *route, const char *path, size_t length)
{
    static const char session[] = "/v1", jobs[] = "/v1/jobs";
    const size_t least = strlen(jobs);
    route->place = length == strlen(session) ? CONTROL_SESSION : length == least ? CONTROL_JOBS : CONTROL_JOB;
    if (route->place == CONTROL_SESSION)
        return strncmp(path, session, length) == 0;
    if (length < least || strncmp(path, jobs, least) != 0)
        return false;
    return route->place == CONTROL_JOBS ||
           (path[least] == '/' && read_number(path + least + 1, length - least - 1, INT64_MAX, &route->job));
}

int control_route_read(struct control_route *route, const char *uri, struct error *error)
{
    const char *query = strchr(uri, '?');
    const size_t length = query != NULL ? (size_t)(query - uri) : strlen(uri);
    *route = (struct control_route){.place = CONTROL_SESSION};
    if (read_place(route, uri, length))
        return query != NULL ? read_query(route, query + 1, error) : 0;
    error_set(error, "'%.*s' is not here; accepted: /v1, /v1/jobs, /v1/jobs/ID", (int)(length < 100 ? length : 100),
              uri);
    return NOT_FOUND;
}
