/* SPDX-License-Identifier: MIT */
/* Availability traces: when nodes come and go, and their speeds. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum availability_kind {
    AVAILABILITY_UP,
    AVAILABILITY_DOWN,
    /* the node finishes its running work and then leaves; work that it has not begun goes to other nodes */
    AVAILABILITY_LEAVES,
    AVAILABILITY_SPEED,
};

struct availability_event {
    unsigned node;
    uint64_t at_ns;
    enum availability_kind kind;
    double speed;
    unsigned line;
    size_t place;
    bool is_of_profile;
};

struct availability {
    struct availability_event *events;
    size_t count;
};

#define AVAILABILITY_PROFILE_EVENTS_MAX 1000

/* Returns the text of the profile `name`, which the caller frees. Returns NULL on failure. */
typedef char *availability_reader(void *context, const char *name, struct error *error);

/* Parses lines `NODE SECONDS up|down|leaves|SPEED|load=N` with # comments. Events at the same time have the order of
 * their lines. SPEED is relative to the node's usual speed. load=N means N busy processes on each core, which make the
 * speed 1 / (1 + N). The first `launched` nodes exist from the start. They may fail and return as joining nodes, but
 * they may not leave.
 *
 * A line `NODE speed_file NAME` or `NODE state_file NAME` applies a SimGrid profile. `reader` returns the text of the
 * profile; if `reader` is NULL, such lines are refused. A profile has lines `SECONDS VALUE`, ordered by time. VALUE is
 * a speed or a state. State 0 means that the node fails, and a positive state that it returns. A line `LOOPAFTER S`
 * repeats the profile S seconds after its last event, until there are AVAILABILITY_PROFILE_EVENTS_MAX events. On
 * failure the caller has nothing to free. */
int availability_parse(struct availability *availability, const char *text, unsigned launched,
                       availability_reader *reader, void *context, struct error *error);

bool availability_has_arrivals(const struct availability *availability);
void availability_fini(struct availability *availability);
