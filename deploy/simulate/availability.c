/* SPDX-License-Identifier: MIT */
/* See availability.h. */
#include "deploy/simulate/availability.h"

#include "common/util/grow.h"
#include "common/util/number.h"

#include <stdlib.h>
#include <string.h>

#define AVAILABILITY_BLANKS " \t\r,"
#define WORD_MAX            64
#define NODE_MAX            999999
#define SECONDS_MAX         1e9
#define SPEED_MIN           1e-6
#define SPEED_MAX           1e6

/* Copies the next word of the line; an empty one at the line's end. Returns what follows it. */
static const char *take_word(const char *text, char word[WORD_MAX])
{
    text += strspn(text, AVAILABILITY_BLANKS);
    const size_t length = strcspn(text, AVAILABILITY_BLANKS "\n#"), kept = length < WORD_MAX ? length : WORD_MAX - 1;
    memcpy(word, text, kept);
    word[kept] = '\0';
    return text + length;
}

static int take_state(const char *word, struct availability_event *event, struct error *error)
{
    static const char *const names[] = {"up", "down", "leaves"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            event->kind = (enum availability_kind)i;
            return 0;
        }
    event->kind = AVAILABILITY_SPEED;
    if (number_parse_real(word, &event->speed) < 0 || event->speed < SPEED_MIN || event->speed > SPEED_MAX)
        return error_set(error, "line %u: '%s': accepted: up, down, leaves, or a speed from %g to %g", event->line,
                         word, SPEED_MIN, SPEED_MAX);
    return 0;
}

static int take_event(char words[3][WORD_MAX], struct availability_event *event, struct error *error)
{
    uint64_t node;
    double seconds;
    if (number_parse_u64(words[0], &node) < 0 || node > NODE_MAX)
        return error_set(error, "line %u: node '%s': accepted: an integer from 0 to %d", event->line, words[0],
                         NODE_MAX);
    if (number_parse_real(words[1], &seconds) < 0 || seconds < 0 || seconds > SECONDS_MAX)
        return error_set(error, "line %u: time '%s': accepted: seconds from 0 to %g", event->line, words[1],
                         SECONDS_MAX);
    event->node = (unsigned)node;
    event->at_ns = (uint64_t)(seconds * 1e9);
    return take_state(words[2], event, error);
}

/* Takes a line, of which nothing may be for the computer. */
static int take_line(struct availability *availability, size_t *room, const char *text, unsigned line,
                     struct error *error)
{
    char words[3][WORD_MAX], rest[WORD_MAX];
    struct availability_event event = {.line = line};
    for (unsigned i = 0; i < 3; i++)
        text = take_word(text, words[i]);
    take_word(text, rest);
    if (words[0][0] == '\0')
        return 0;
    if (words[2][0] == '\0' || rest[0] != '\0')
        return error_set(error, "line %u: accepted: NODE SECONDS up|down|leaves|SPEED", line);
    if (take_event(words, &event, error) < 0)
        return -1;
    struct availability_event *events = grow(availability->events, availability->count, room, sizeof *events);
    if (events == NULL)
        return error_set(error, "out of memory");
    availability->events = events;
    events[availability->count++] = event;
    return 0;
}

static int compare_events(const void *a, const void *b)
{
    const struct availability_event *first = a, *second = b;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return (first->line > second->line) - (first->line < second->line);
}

enum node_state { NODE_AWAY, NODE_LAUNCHED, NODE_JOINED };

/* Notes what becomes of a node by the event. -1 where that cannot be. */
static int follow_node(const struct availability_event *event, unsigned char *state, struct error *error)
{
    if (event->kind == AVAILABILITY_UP && *state != NODE_AWAY)
        return error_set(error, "line %u: node %u is up already", event->line, event->node);
    if (event->kind != AVAILABILITY_UP && *state == NODE_AWAY)
        return error_set(error, "line %u: node %u is not up", event->line, event->node);
    if (event->kind == AVAILABILITY_LEAVES && *state == NODE_LAUNCHED)
        return error_set(error, "line %u: node %u is one of the launch, which may fail (down), but not leave",
                         event->line, event->node);
    if (event->kind != AVAILABILITY_SPEED)
        *state = event->kind == AVAILABILITY_UP ? NODE_JOINED : NODE_AWAY;
    return 0;
}

static int follow_nodes(const struct availability *availability, unsigned launched, struct error *error)
{
    unsigned char *states = calloc(NODE_MAX + 1, sizeof *states);
    int result = states != NULL ? 0 : error_set(error, "out of memory");
    for (unsigned n = 0; states != NULL && n < launched && n <= NODE_MAX; n++)
        states[n] = NODE_LAUNCHED;
    for (size_t i = 0; i < availability->count && result == 0; i++)
        result = follow_node(&availability->events[i], &states[availability->events[i].node], error);
    free(states);
    return result;
}

int availability_parse(struct availability *availability, const char *text, unsigned launched, struct error *error)
{
    size_t room = 0;
    int result = 0;
    *availability = (struct availability){0};
    for (unsigned line = 1; *text != '\0' && result == 0; line++) {
        result = take_line(availability, &room, text, line, error);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (availability->count > 0)
        qsort(availability->events, availability->count, sizeof *availability->events, compare_events);
    if (result == 0)
        result = follow_nodes(availability, launched, error);
    if (result < 0)
        availability_fini(availability);
    return result;
}

void availability_fini(struct availability *availability)
{
    free(availability->events);
    *availability = (struct availability){0};
}
