/* SPDX-License-Identifier: MIT */
/* platform_parse() and platform_find(): the first byte says what follows, a described platform with changes (odd), or
 * the text of one. It is refused with one line, which names a line of the text, or every figure of it is one that a
 * simulation can add up without leaving its range, and each node belongs to a group. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/simulate/platforms/platform.h"

#include <math.h>
#include <string.h>

/* Nanoseconds fit 64 bits for messages of up to so many bytes. */
#define MESSAGE_BYTES_MAX 1e12

static void check_time(double ns)
{
    REQUIRE(isfinite(ns) && ns >= 0 && ns < 9e18);
}

static void check_link(const struct platform_link *link)
{
    REQUIRE(link->bytes_per_ns > 0);
    check_time(link->latency_ns + MESSAGE_BYTES_MAX / link->bytes_per_ns);
}

static void check_nodes(const struct platform *platform)
{
    uint64_t nodes = 0, cores = 0;
    REQUIRE(platform->groups >= 1 && platform->groups <= PLATFORM_GROUPS_MAX);
    for (unsigned g = 0; g < platform->groups; g++) {
        const struct platform_nodes *group = &platform->group[g];
        REQUIRE(group->cores >= 1 && group->cores <= PLATFORM_CORES_MAX && group->site < platform->sites);
        REQUIRE(group->speed >= 1e-3 && group->speed <= 1e3);
        if (group->count > 0) {
            REQUIRE(platform_node(platform, (unsigned)nodes) == group);
            REQUIRE(platform_node(platform, (unsigned)nodes + group->count - 1) == group);
            check_link(platform_link_between(platform, 0, (unsigned)nodes));
        }
        nodes += group->count;
        cores += (uint64_t)group->count * group->cores;
    }
    REQUIRE(nodes >= 1 && nodes <= PLATFORM_NODES_MAX && nodes == platform->nodes && cores == platform->cores);
}

static void check_platform(const struct platform *platform)
{
    const struct platform_service *service = &platform->service;
    check_nodes(platform);
    check_link(&platform->node);
    check_link(&platform->network);
    check_time(1e3 * (service->event_ns + service->message_ns + service->calculation_ns));
    check_time(1e3 * MESSAGE_BYTES_MAX * service->byte_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct platform platform;
    struct error error = {0};
    char *text = fuzz_text(bytes + (size > 0), size > 0 ? size - 1 : 0);
    bool is_spec = size > 0 && bytes[0] & 1;
    int result = is_spec ? platform_find(&platform, text, &error) : platform_parse(&platform, text, &error);
    if (result == 0) {
        check_platform(&platform);
    } else {
        require_one_line(error.text);
        REQUIRE(strncmp(error.text, is_spec ? "platform '" : "line ", is_spec ? 10 : 5) == 0);
    }
    free(text);
    return 0;
}
