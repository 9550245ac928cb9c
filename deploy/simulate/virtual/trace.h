/* SPDX-License-Identifier: MIT */
/* Text lines for events, state changes and actions of a virtual run. */
#pragma once

#include "common/machine/machine.h"

/* Write at most `size` bytes with NUL. */
void trace_event(const struct event *event, char *text, size_t size);
void trace_action(const struct action *action, char *text, size_t size);
