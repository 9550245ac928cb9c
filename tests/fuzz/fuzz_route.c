/* SPDX-License-Identifier: MIT */
/* control_route_read(): the path and query of a request to the control socket. It is refused with one line and a status
 * of HTTP, or what is read of it lies within the limits, and stands for the same path. */
#include "tests/fuzz/fuzz.h"
#include "common/control/route.h"
#include "common/util/error.h"

#include <inttypes.h>
#include <string.h>

/* The same request, written anew. */
static void write_anew(const struct control_route *route, char *uri, size_t room)
{
    const char *stream = route->stream == CONTROL_ERR ? "err" : "out";
    switch (route->place) {
    case CONTROL_SESSION: snprintf(uri, room, "/v1"); break;
    case CONTROL_END: snprintf(uri, room, "/v1/end"); break;
    case CONTROL_METRICS: snprintf(uri, room, "/metrics"); break;
    case CONTROL_JOBS: snprintf(uri, room, "/v1/jobs?from=%" PRIu64, route->from); break;
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
        REQUIRE(route.place == CONTROL_JOB || route.wait_s == 0);
        REQUIRE(route.place == CONTROL_JOB || route.place == CONTROL_OUTPUT || route.place == CONTROL_ITEMS ||
                route.job == 0);
        require_alike(&route);
    }
    free(uri);
    return 0;
}
