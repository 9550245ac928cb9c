/* SPDX-License-Identifier: MIT */
/* control_route_read(): the path and query of a request to the control socket. It is refused with one line and a status
 * of HTTP, or what is read of it lies within the limits, and stands for the same path. */
#include "tests/fuzz/fuzz.h"
#include "common/control/route.h"
#include "common/util/error.h"

#include <inttypes.h>
#include <string.h>

/* A list that is asked for with all that can be said of it. */
static void write_list(const struct control_route *route, const char *path, char *uri, size_t room)
{
    static const char *const states[] = {"", "&state=waiting", "&state=running", "&state=over"};
    char limit[40] = "";
    if (route->limit > 0)
        snprintf(limit, sizeof limit, "&limit=%" PRIu64, route->limit);
    snprintf(uri, room, "%s?from=%" PRIu64 "%s%s", path, route->from, limit, states[route->wanted]);
}

/* The same request, written anew. */
static void write_anew(const struct control_route *route, char *uri, size_t room)
{
    char path[60];
    const char *stream = route->stream == CONTROL_ERR ? "err" : "out";
    switch (route->place) {
    case CONTROL_SESSION: snprintf(uri, room, "/v1"); break;
    case CONTROL_END: snprintf(uri, room, "/v1/end"); break;
    case CONTROL_METRICS: snprintf(uri, room, "/metrics"); break;
    case CONTROL_EVENTS: snprintf(uri, room, "/v1/events"); break;
    case CONTROL_PODS: snprintf(uri, room, "/v1/pods"); break;
    case CONTROL_POD: snprintf(uri, room, "/v1/pods/%" PRIu64 "?finish=%d", route->pod, route->finishes); break;
    case CONTROL_JOBS: write_list(route, "/v1/jobs", uri, room); break;
    case CONTROL_RANKS:
        snprintf(path, sizeof path, "/v1/jobs/%" PRIu64 "/ranks", route->job);
        write_list(route, path, uri, room);
        break;
    case CONTROL_FAILURES:
        snprintf(uri, room, "/v1/jobs/%" PRIu64 "/failures?wait=%u&from=%" PRIu64, route->job, route->wait_s,
                 route->from);
        break;
    case CONTROL_ITEMS: snprintf(uri, room, "/v1/jobs/%" PRIu64 "/items", route->job); break;
    case CONTROL_JOB: snprintf(uri, room, "/v1/jobs/%" PRIu64 "?wait=%u", route->job, route->wait_s); break;
    case CONTROL_OUTPUT:
        snprintf(uri, room, "/v1/jobs/%" PRIu64 "/output?stream=%s&from=%" PRIu64, route->job, stream, route->from);
        break;
    }
}

static void require_alike(const struct control_route *route)
{
    char uri[120];
    struct control_route again;
    struct error error;
    write_anew(route, uri, sizeof uri);
    REQUIRE(control_route_read(&again, uri, &error) == 0);
    REQUIRE(again.place == route->place && again.job == route->job && again.wait_s == route->wait_s);
    REQUIRE(again.from == route->from && again.stream == route->stream);
    REQUIRE(again.pod == route->pod);
    REQUIRE(again.limit == route->limit && again.wanted == route->wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct control_route route;
    struct error error = {0};
    char *uri = fuzz_text(bytes, size);
    const int status = control_route_read(&route, uri, &error);
    REQUIRE(status == 0 || status == 400 || status == 404);
    if (status != 0)
        require_one_line(error.text);
    else {
        REQUIRE(route.wait_s <= CONTROL_WAIT_MAX_S && route.job <= INT64_MAX && route.from <= INT64_MAX);
        REQUIRE(route.place == CONTROL_JOB || route.place == CONTROL_FAILURES || route.wait_s == 0);
        REQUIRE(route.place == CONTROL_JOB || route.place == CONTROL_OUTPUT || route.place == CONTROL_ITEMS ||
                route.place == CONTROL_RANKS || route.place == CONTROL_FAILURES || route.job == 0);
        REQUIRE(route.limit <= CONTROL_LIST_MAX);
        REQUIRE(route.place == CONTROL_JOBS || route.wanted == CONTROL_EVERY);
        require_alike(&route);
    }
    free(uri);
    return 0;
}
