/* SPDX-License-Identifier: MIT */
/* The control socket of a run or of a set, which answers what there is to know of its jobs, lets them be cancelled, and
 * takes those of a set: see control.c. */
#pragma once

#include "common/control/source.h"

struct control;
struct event_base;

/* Makes the socket run-PID, or that of the set, and has what comes there answered whenever the base is looked at.
 * `version` and `source` are borrowed. NULL where there can be none, be it as no folder can have it: a run goes on
 * without. */
struct control *control_new(struct event_base *base, const char *version, const struct control_source *source);

/* Says on standard error where it is served at a port, if it is, for a program of this name. */
void control_tell_port(const struct control *control, const char *program);

/* The state of a job of the set is another one now: whoever waits for that is told in the next turn. NULL is fine. */
void control_note_change(struct control *control);

/* The run, with this exit status, or the set is over: whoever waits is told. Then the socket is gone. NULL is fine.
 * Before the base is freed. */
void control_free(struct control *control, int status);
