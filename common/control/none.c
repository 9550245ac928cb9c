/* SPDX-License-Identifier: MIT */
/* Stubs for builds without the control socket: -Dcontrol=disabled, or no libevent_extra. */
#include "common/control/control.h"

#include <stddef.h>

struct control *control_new(struct event_base *base, const char *version, const struct control_source *source)
{
    (void)base, (void)version;
    error_set(source->error, "this build has no control socket (-Dcontrol=disabled)");
    return NULL;
}

void control_tell_port(const struct control *control, const char *program)
{
    (void)control, (void)program;
}

void control_note_change(struct control *control)
{
    (void)control;
}

void control_free(struct control *control, int status)
{
    (void)control, (void)status;
}
