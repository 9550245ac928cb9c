/* SPDX-License-Identifier: MIT */
/* The control socket of a run or set, which answers queries about jobs, cancels jobs, and accepts jobs for a set: see
 * control.c. */
#pragma once

#include "common/control/source.h"

struct control;
struct event_base;

/* Creates the socket run-PID, or the socket of the set, and serves it in `base`. `version` and `source` are borrowed.
 * NULL if there can be none, for example for lack of a folder: a run continues without it. */
struct control *control_new(struct event_base *base, const char *version, const struct control_source *source);

void control_tell_port(const struct control *control, const char *program);

/* A job of the set has changed its state: the next turn answers waiting clients. NULL is allowed. */
void control_note_change(struct control *control);

/* Ends the session with this exit status: answers waiting clients and removes the socket. Must be called before the
 * base is freed. */
void control_free(struct control *control, int status);
