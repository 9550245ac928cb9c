/* SPDX-License-Identifier: MIT */
/* A line of text for each event, state change and action: what a virtual run looked like. */
#pragma once

#include "common/machine/machine.h"

/* Writers of texts: at most `size` bytes each, NUL included. */
void trace_event(const struct event *event, char *text, size_t size);
void trace_action(const struct action *action, char *text, size_t size);
