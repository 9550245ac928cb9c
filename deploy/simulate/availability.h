/* SPDX-License-Identifier: MIT */
/* Traces of availability: when nodes come and go, and how fast they are. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum availability_kind {
    AVAILABILITY_UP,     /* the node comes, with a master and its workers */
    AVAILABILITY_DOWN,   /* it fails */
    AVAILABILITY_LEAVES, /* it is to leave: what has not begun goes to others */
    AVAILABILITY_SPEED,  /* it has `speed` times its own speed from then on */
};

struct availability_event {
    unsigned node;
    uint64_t at_ns;
    enum availability_kind kind;
    double speed;       /* SPEED */
    unsigned line;      /* of the file, from 1 */
    size_t place;       /* among all as they were read */
    bool is_of_profile; /* it is left out where the node is not up */
};

struct availability {
    struct availability_event *events; /* [count] in the order of their times; owned */
    size_t count;
};

/* Events of a profile that begins again and again. */
#define AVAILABILITY_PROFILE_EVENTS_MAX 1000

/* The text of a profile by the name in a line of the trace, to be freed; NULL with one line. */
typedef char *availability_reader(void *context, const char *name, struct error *error);

/* Parses lines `NODE SECONDS up|down|leaves|SPEED|load=N`, with # before what is for people; of equal times the order
 * of the lines counts. load=N is the speed 1 / (1 + N): so many busy processes are on each core. `launched` nodes are
 * there at the beginning; they may fail, and come again as others do, but not leave.
 *
 * A line `NODE speed_file NAME` or `NODE state_file NAME` has a profile of SimGrid for the node, whose text comes from
 * `reader`; NULL: there are none. A profile has lines `SECONDS VALUE` in the order of their times: the speed, or 0
 * where the node fails and more where it comes; behind a line `LOOPAFTER S` it begins again S seconds after its last
 * event, up to so many events in all. -1 with one line; nothing is owned then. */
int availability_parse(struct availability *availability, const char *text, unsigned launched,
                       availability_reader *reader, void *context, struct error *error);

/* True if a node comes in the trace. */
bool availability_has_arrivals(const struct availability *availability);
void availability_fini(struct availability *availability);
