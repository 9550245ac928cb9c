/* SPDX-License-Identifier: MIT */
/* availability_parse(): the first byte is how many nodes are launched. What follows is the file. It is refused with one
 * line, or its events are in the order of their times, each is possible for its node, and within the limits. */
#include "tests/fuzz/fuzz.h"
#include "common/util/error.h"
#include "deploy/simulate/availability.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* True if `node` is there before the event at `end`; *launched: it is one of the launch. */
static bool is_up_before(const struct availability *availability, size_t end, unsigned node, bool *launched)
{
    bool is_up = *launched;
    for (size_t i = 0; i < end; i++) {
        const struct availability_event *event = &availability->events[i];
        if (event->node != node || event->kind == AVAILABILITY_SPEED)
            continue;
        is_up = event->kind == AVAILABILITY_UP;
        *launched = false;
    }
    return is_up;
}

static void require_possible(const struct availability *availability, size_t i, unsigned launched)
{
    const struct availability_event *event = &availability->events[i], *before = event - (i > 0);
    bool is_launched = event->node < launched;
    const bool is_up = is_up_before(availability, i, event->node, &is_launched);
    REQUIRE(before->at_ns < event->at_ns || (before->at_ns == event->at_ns && before->line <= event->line));
    REQUIRE(event->at_ns <= UINT64_C(1000000000000000000) && event->line > 0);
    REQUIRE(is_up == (event->kind != AVAILABILITY_UP));
    REQUIRE(event->kind != AVAILABILITY_LEAVES || !is_launched);
    REQUIRE(event->kind != AVAILABILITY_SPEED || (event->speed >= 1e-6 && event->speed <= 1e6));
}

/* The profile of every name is what follows a blank line of the same file, or nothing. */
static char *read_profile(void *context, const char *name, struct error *error)
{
    const char *behind = strstr(context, "\n\n");
    char *text = strdup(behind != NULL ? behind : "");
    (void)name;
    REQUIRE(text != NULL);
    (void)error;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const unsigned launched = size > 0 ? bytes[0] : 1;
    struct availability availability;
    struct error error = {0};
    char *text = fuzz_text(bytes + (size > 0), size > 0 ? size - 1 : 0);
    if (availability_parse(&availability, text, launched, read_profile, text, &error) < 0) {
        require_one_line(error.text);
        REQUIRE(availability.events == NULL && availability.count == 0);
    } else {
        for (size_t i = 0; i < availability.count; i++)
            require_possible(&availability, i, launched);
        availability_fini(&availability);
    }
    free(text);
    return 0;
}
