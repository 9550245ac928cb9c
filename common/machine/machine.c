/* SPDX-License-Identifier: MIT */
/* Action lists, reasons and names of events: see machine.h. */
#include "common/machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int actions_init(struct actions *actions, size_t capacity)
{
    *actions = (struct actions){.capacity = capacity};
    actions->items = malloc(capacity * sizeof *actions->items);
    return actions->items == NULL ? -1 : 0;
}

void actions_init_sink(struct actions *actions, const struct action_sink *sink)
{
    *actions = (struct actions){.sink = sink};
}

void actions_fini(struct actions *actions)
{
    free(actions->items);
    *actions = (struct actions){0};
}

static struct action *machine_append(struct actions *actions)
{
    if (actions->length == actions->capacity) {
        struct action *items = realloc(actions->items, 2 * actions->capacity * sizeof *items);
        if (items == NULL) {
            actions->out_of_memory = true;
            return NULL;
        }
        actions->items = items;
        actions->capacity *= 2;
    }
    return &actions->items[actions->length++];
}

void actions_send(struct actions *actions, unsigned to, const struct message *message)
{
    actions->messages++;
    actions->bytes += message_fixed_size(message) + message->payload_bytes;
    if (actions->sink != NULL) {
        actions->sink->send(actions->sink->context, to, message);
        return;
    }
    struct action *action = machine_append(actions);
    if (action == NULL)
        return;
    action->type = ACTION_SEND;
    action->send.to = to;
    action->send.calculations = actions->calculations;
    action->send.assignments = actions->assignments;
    action->send.message = *message;
}

void actions_add(struct actions *actions, const struct action *action)
{
    struct action *slot = actions->sink == NULL ? machine_append(actions) : NULL;
    if (actions->sink != NULL)
        actions->sink->apply(actions->sink->context, action);
    else if (slot != NULL)
        *slot = *action;
}

void actions_drop(struct actions *actions, unsigned rank, const char *text)
{
    actions_add(actions, &(struct action){.type = ACTION_DROP, .drop = {rank, text}});
}

struct message fatal_message(unsigned rank, const char *text)
{
    return (struct message){
        .type = MESSAGE_FATAL,
        .fatal = {.rank = rank, .text = text, .length = (unsigned)strnlen(text, TEXT_MAX)},
    };
}

unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank)
{
    unsigned low = 0, high = count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranks[low] == rank ? low : count;
}

void reason_note(const struct reason_sink *sink, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sink->note(sink->context, text);
}

void event_write_name(const void *event, char *text, size_t size)
{
    static const char *const names[] = {
        [EVENT_START] = "START",
        [EVENT_MESSAGE] = "MESSAGE",
        [EVENT_STORED] = "STORED",
        [EVENT_PROBED] = "PROBED",
        [EVENT_MARK] = "MARK",
        [EVENT_SLICE] = "SLICE",
        [EVENT_ITERATIONS_FAILED] = "ITERATIONS_FAILED",
        [EVENT_BOUNDARY_READY] = "BOUNDARY_READY",
        [EVENT_CUT] = "CUT",
        [EVENT_STOLEN] = "STOLEN",
        [EVENT_DRY] = "DRY",
        [EVENT_FINISHED] = "FINISHED",
        [EVENT_TIMER] = "TIMER",
        [EVENT_DRAIN] = "DRAIN",
        [EVENT_FATAL] = "FATAL",
        [EVENT_LOAD] = "LOAD",
        [EVENT_GROWN] = "GROWN",
        [EVENT_MORE] = "MORE",
        [EVENT_JOINED] = "JOINED",
        [EVENT_LEAVING] = "LEAVING",
        [EVENT_RANK_LOST] = "RANK_LOST",
    };
    const struct event *of = event;
    const bool has_type = of->type == EVENT_MESSAGE;
    snprintf(text, size, "%s%s%s", names[of->type], has_type ? " " : "",
             has_type ? message_name(of->message->type) : "");
}
