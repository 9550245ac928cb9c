/* SPDX-License-Identifier: MIT */
/* A build without the control socket: -Dcontrol=disabled, or no libevent_extra. */
#include "common/control/control.h"

#include <stddef.h>

struct control *control_new(struct event_base *base, const char *version, const struct control_source *source)
{
    (void)base, (void)version, (void)source;
    return NULL;
}

void control_free(struct control *control, int status)
{
    (void)control, (void)status;
}
