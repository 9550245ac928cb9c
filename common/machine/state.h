/* SPDX-License-Identifier: MIT */
/* The states of a machine as a table: each daemon, the service and the DCA worker has a table. A transition that is not
 * in the table is a defect: the program names it and aborts. */
#pragma once

#include <stddef.h>

struct state_table {
    const char *machine;
    unsigned count;
    const char *const *names;
    const unsigned *legal; /* [count] for each state: bit n is set if state n may follow it */
    /* Writes the name of an event to text[size]. The type of the event is that of the machine. */
    void (*name_event)(const void *event, char *text, size_t size);
};

_Noreturn void state_refuse(const struct state_table *table, unsigned from, unsigned to, const void *event);

_Noreturn void state_refuse_event(const struct state_table *table, unsigned state, const void *event);

static inline void state_move(const struct state_table *table, unsigned *state, unsigned to, const void *event)
{
    if ((table->legal[*state] >> to & 1) == 0)
        state_refuse(table, *state, to, event);
    *state = to;
}
