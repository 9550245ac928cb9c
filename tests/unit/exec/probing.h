/* SPDX-License-Identifier: MIT */
/* A probe, for tests of executors: who probes in another process is waited for as a worker does. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/record.h"
#include "tests/lib/suite.h"

#include <poll.h>

/* Turns until the event PROBED of a probe that another process runs. */
static inline void await_probe(struct executor *executor, struct speed *speed)
{
    struct pollfd news = {.fd = executor_descriptor(executor), .events = POLLIN};
    struct event event = {0};
    for (enum turn turn; (turn = executor_advance(executor, &event)) != TURN_EVENT;)
        if (turn == TURN_BLOCKED)
            poll(&news, 1, 20);
    ck_assert_int_eq(event.type, EVENT_PROBED);
    *speed = *event.speed;
}

static inline void probe_whole(struct executor *executor, struct speed *speed)
{
    if (!executor_probe(executor, speed))
        await_probe(executor, speed);
}
