/* SPDX-License-Identifier: MIT */
/* State tables: see state.h. */
#include "common/machine/state.h"

#include <assert.h>
#include <err.h>
#include <stdlib.h>

#define EVENT_NAME_MAX 60

void state_refuse(const struct state_table *table, unsigned from, unsigned to, const void *event)
{
    char text[EVENT_NAME_MAX];
    assert(from < table->count && to < table->count && "a machine is in one of its states");
    table->name_event(event, text, sizeof text);
    warnx("a defect: the %s goes from %s to %s at %s, which its table does not have", table->machine,
          table->names[from], table->names[to], text);
    abort();
}

void state_refuse_event(const struct state_table *table, unsigned state, const void *event)
{
    char text[EVENT_NAME_MAX];
    assert(state < table->count && "a machine is in one of its states");
    table->name_event(event, text, sizeof text);
    warnx("a defect: the %s is %s at %s, which it does not await there", table->machine, table->names[state], text);
    abort();
}
