/* SPDX-License-Identifier: MIT */
/* Traces of availability: when nodes come and go, and how fast they are. */
#pragma once

#include "common/util/error.h"

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
    double speed;  /* SPEED */
    unsigned line; /* of the file, from 1 */
};

struct availability {
    struct availability_event *events; /* [count] in the order of their times; owned */
    size_t count;
};

/* Parses lines `NODE SECONDS up|down|leaves|SPEED`, with # before what is for people; of equal times the order of the
 * lines counts. `launched` nodes are there at the beginning; they may fail, and come again as others do, but not leave.
 * -1 with one line; nothing is owned then. */
int availability_parse(struct availability *availability, const char *text, unsigned launched, struct error *error);
void availability_fini(struct availability *availability);
