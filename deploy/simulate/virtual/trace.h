/* SPDX-License-Identifier: MIT */
/* Lines of text for the events, state changes and actions of a virtual run. */
#pragma once

#include "common/machine/machine.h"

void trace_event(const struct event *event, char *text, size_t size);
void trace_action(const struct action *action, char *text, size_t size);
