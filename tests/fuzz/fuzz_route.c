/* SPDX-License-Identifier: MIT */
/* control_route_read(): the path and query of a request to the control socket. It is refused with one line and a status
 * of HTTP, or what is read of it lies within the limits, and stands for the same path. */
#include "tests/fuzz/fuzz.h"
#include "common/control/route.h"
#include "common/util/error.h"

#include <inttypes.h>
#include <string.h>

static void require_alike(const struct control_route *route)
{
    char uri[80];
    struct control_route again;
    struct error error;
    int length = route->place == CONTROL_SESSION ? snprintf(uri, sizeof uri, "/v1")
                 : route->place == CONTROL_JOBS  ? snprintf(uri, sizeof uri, "/v1/jobs")
                                                 : snprintf(uri, sizeof uri, "/v1/jobs/%" PRIu64, route->job);
    if (route->wait_s > 0)
        snprintf(uri + length, sizeof uri - (size_t)length, "?wait=%u", route->wait_s);
    REQUIRE(control_route_read(&again, uri, &error) == 0);
    REQUIRE(again.place == route->place && again.job == route->job && again.wait_s == route->wait_s);
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
        REQUIRE(route.wait_s <= CONTROL_WAIT_MAX_S && route.job <= INT64_MAX);
        REQUIRE(route.place == CONTROL_JOB || (route.wait_s == 0 && route.job == 0));
        require_alike(&route);
    }
    free(uri);
    return 0;
}
