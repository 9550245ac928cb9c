/* SPDX-License-Identifier: MIT */
/* The states of a machine as a table: the daemons, the service and the worker of DCA each have one. A move that the
 * table does not have is a defect of HDSS: it is named, and ends the process. */
#pragma once

#include <stddef.h>

struct state_table {
    const char *machine;      /* "worker" */
    unsigned count;           /* states of the machine */
    const char *const *names; /* [count] */
    const unsigned *legal;    /* [count] the set of states (bit n for state n) that each may go to */
    /* Writes the name of an event, of the machine's own type, into `text` of `size` bytes. */
    void (*name_event)(const void *event, char *text, size_t size);
};

/* Stops the program, and says which machine it is, the two states and the event. */
_Noreturn void state_refuse(const struct state_table *table, unsigned from, unsigned to, const void *event);

/* The same where the event itself cannot be in this state. */
_Noreturn void state_refuse_event(const struct state_table *table, unsigned state, const void *event);

/* Moves a state by its table, at an event. */
static inline void state_move(const struct state_table *table, unsigned *state, unsigned to, const void *event)
{
    if ((table->legal[*state] >> to & 1) == 0)
        state_refuse(table, *state, to, event);
    *state = to;
}
