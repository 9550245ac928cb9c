/* SPDX-License-Identifier: MIT */
/* The control socket of a run or set, which answers queries about jobs, cancels jobs, and accepts jobs for a set: see
 * control.c. */
#pragma once

#include "common/control/source.h"

struct control;
struct event_base;

/* Creates the socket run-PID, or the socket of the set, and serves it in `base`. `version` and `source` are borrowed.
 * Returns NULL on failure, for example if no folder is usable. A run then continues without a socket. */
struct control *control_new(struct event_base *base, const char *version, const struct control_source *source);

void control_tell_port(const struct control *control, const char *program);

/* Must be called after a job of the set has changed its state. The next turn then answers waiting clients. `control`
 * may be NULL. */
void control_note_change(struct control *control);

/* Ends the session with the exit status `status`: answers waiting clients, and removes the socket. Must be called
 * before the base is freed. `control` may be NULL. */
void control_free(struct control *control, int status);
