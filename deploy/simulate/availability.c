/* SPDX-License-Identifier: MIT */
/* Parser of availability traces: see availability.h. */
#include "deploy/simulate/availability.h"

#include "common/util/grow.h"
#include "common/util/number.h"

#include <stdlib.h>
#include <string.h>

#define AVAILABILITY_BLANKS " \t\r,"
#define WORD_MAX            256
#define NODE_MAX            999999
#define SECONDS_MAX         1e9
#define SPEED_MIN           1e-6
#define SPEED_MAX           1e6
#define LOAD_MAX            64

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
    if (strncmp(word, "load=", 5) == 0) {
        double load;
        if (number_parse_real(word + 5, &load) < 0 || load < 0 || load > LOAD_MAX)
            return error_set(error, "line %u: '%s': accepted: load=N, busy processes from 0 to %d", event->line, word,
                             LOAD_MAX);
        event->speed = 1 / (1 + load);
        return 0;
    }
    if (number_parse_real(word, &event->speed) < 0 || event->speed < SPEED_MIN || event->speed > SPEED_MAX)
        return error_set(error, "line %u: '%s': accepted: up, down, leaves, load=N, or a speed from %g to %g",
                         event->line, word, SPEED_MIN, SPEED_MAX);
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

struct trace_reader {
    struct availability *availability;
    size_t room;
    unsigned launched, line;
    availability_reader *read;
    void *context;
};

static int keep_event(struct trace_reader *reader, const struct availability_event *event, struct error *error)
{
    struct availability *availability = reader->availability;
    struct availability_event *events = grow(availability->events, availability->count, &reader->room, sizeof *events);
    if (events == NULL)
        return error_set(error, "out of memory");
    availability->events = events;
    events[availability->count] = *event;
    events[availability->count].place = availability->count;
    availability->count++;
    return 0;
}

struct profile {
    double at_s[AVAILABILITY_PROFILE_EVENTS_MAX], value[AVAILABILITY_PROFILE_EVENTS_MAX];
    unsigned count;
    double loop_after_s;
};

static int take_profile_words(struct profile *profile, char words[2][WORD_MAX], unsigned line, struct error *error)
{
    double at_s, value;
    if (profile->loop_after_s >= 0)
        return error_set(error, "line %u: accepted: nothing behind LOOPAFTER", line);
    if (strcmp(words[0], "LOOPAFTER") == 0) {
        const double first_s = profile->count > 0 ? profile->at_s[0] : 0;
        if (number_parse_real(words[1], &profile->loop_after_s) < 0 || profile->loop_after_s < 0 ||
            profile->loop_after_s > SECONDS_MAX || profile->count == 0 || first_s + profile->loop_after_s <= 0)
            return error_set(error, "line %u: LOOPAFTER '%s': accepted: seconds above 0, behind an event", line,
                             words[1]);
        return 0;
    }
    if (number_parse_real(words[0], &at_s) < 0 || at_s < 0 || at_s > SECONDS_MAX ||
        (profile->count > 0 && at_s <= profile->at_s[profile->count - 1]))
        return error_set(error, "line %u: time '%s': accepted: seconds from 0 to %g, each later than the one before",
                         line, words[0], SECONDS_MAX);
    if (number_parse_real(words[1], &value) < 0 || value < 0 || value > SPEED_MAX)
        return error_set(error, "line %u: value '%s': accepted: a number from 0 to %g", line, words[1], SPEED_MAX);
    if (profile->count == AVAILABILITY_PROFILE_EVENTS_MAX)
        return error_set(error, "line %u: accepted: up to %d events", line, AVAILABILITY_PROFILE_EVENTS_MAX);
    profile->at_s[profile->count] = at_s;
    profile->value[profile->count++] = value;
    return 0;
}

static int parse_profile(struct profile *profile, const char *text, struct error *error)
{
    *profile = (struct profile){.loop_after_s = -1};
    for (unsigned line = 1; *text != '\0'; line++) {
        char words[2][WORD_MAX], rest[WORD_MAX];
        text = take_word(take_word(take_word(text, words[0]), words[1]), rest);
        if (words[0][0] != '\0' && (words[1][0] == '\0' || rest[0] != '\0'))
            return error_set(error, "line %u: accepted: SECONDS VALUE, or LOOPAFTER SECONDS", line);
        if (words[0][0] != '\0' && take_profile_words(profile, words, line, error) < 0)
            return -1;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return 0;
}

static int add_profile_event(struct trace_reader *reader, struct availability_event *event, bool is_state, double value,
                             bool *is_up, struct error *error)
{
    if (is_state && (value > 0) == *is_up)
        return 0;
    if (is_state) {
        *is_up = value > 0;
        event->kind = *is_up ? AVAILABILITY_UP : AVAILABILITY_DOWN;
    } else if (value < SPEED_MIN) {
        return error_set(error, "value %g: accepted: a speed from %g to %g", value, SPEED_MIN, SPEED_MAX);
    } else {
        event->kind = AVAILABILITY_SPEED;
        event->speed = value;
        event->is_of_profile = true;
    }
    return keep_event(reader, event, error);
}

static int add_profile(struct trace_reader *reader, unsigned node, bool is_state, const struct profile *profile,
                       struct error *error)
{
    bool is_up = node < reader->launched;
    double from_s = 0;
    for (unsigned done = 0; done < AVAILABILITY_PROFILE_EVENTS_MAX && profile->count > 0;) {
        for (unsigned i = 0; i < profile->count && done < AVAILABILITY_PROFILE_EVENTS_MAX; i++, done++) {
            struct availability_event event = {.node = node, .line = reader->line};
            if (from_s + profile->at_s[i] > SECONDS_MAX)
                return 0;
            event.at_ns = (uint64_t)((from_s + profile->at_s[i]) * 1e9);
            if (add_profile_event(reader, &event, is_state, profile->value[i], &is_up, error) < 0)
                return -1;
        }
        if (profile->loop_after_s < 0)
            return 0;
        from_s += profile->at_s[profile->count - 1] + profile->loop_after_s;
    }
    return 0;
}

static int take_profile(struct trace_reader *reader, char words[3][WORD_MAX], struct error *error)
{
    uint64_t node;
    struct error inner;
    if (number_parse_u64(words[0], &node) < 0 || node > NODE_MAX)
        return error_set(error, "line %u: node '%s': accepted: an integer from 0 to %d", reader->line, words[0],
                         NODE_MAX);
    char *text = reader->read != NULL ? reader->read(reader->context, words[2], &inner) : NULL;
    struct profile *profile = malloc(sizeof *profile);
    int result = -1;
    if (reader->read == NULL)
        error_set(&inner, "there are no profiles here");
    else if (profile == NULL)
        error_set(&inner, "out of memory");
    else if (text != NULL)
        result = parse_profile(profile, text, &inner) < 0 ||
                         add_profile(reader, (unsigned)node, strcmp(words[1], "state_file") == 0, profile, &inner) < 0
                     ? -1
                     : 0;
    free(profile);
    free(text);
    return result == 0 ? 0 : error_set(error, "line %u: %.200s: %.300s", reader->line, words[2], inner.text);
}

static int take_line(struct trace_reader *reader, const char *text, struct error *error)
{
    char words[3][WORD_MAX], rest[WORD_MAX];
    struct availability_event event = {.line = reader->line};
    for (unsigned i = 0; i < 3; i++)
        text = take_word(text, words[i]);
    take_word(text, rest);
    if (words[0][0] == '\0')
        return 0;
    if (words[2][0] == '\0' || rest[0] != '\0')
        return error_set(error,
                         "line %u: accepted: NODE SECONDS up|down|leaves|SPEED|load=N, or NODE "
                         "speed_file|state_file FILE",
                         reader->line);
    if (strcmp(words[1], "speed_file") == 0 || strcmp(words[1], "state_file") == 0)
        return take_profile(reader, words, error);
    return take_event(words, &event, error) < 0 ? -1 : keep_event(reader, &event, error);
}

static int compare_events(const void *a, const void *b)
{
    const struct availability_event *first = a, *second = b;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return (first->place > second->place) - (first->place < second->place);
}

enum node_state { NODE_AWAY, NODE_LAUNCHED, NODE_JOINED };

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

static int follow_nodes(struct availability *availability, unsigned launched, struct error *error)
{
    unsigned char *states = calloc(NODE_MAX + 1, sizeof *states);
    int result = states != NULL ? 0 : error_set(error, "out of memory");
    size_t kept = 0;
    for (unsigned n = 0; states != NULL && n < launched && n <= NODE_MAX; n++)
        states[n] = NODE_LAUNCHED;
    for (size_t i = 0; i < availability->count && result == 0; i++) {
        const struct availability_event event = availability->events[i];
        if (event.is_of_profile && states[event.node] == NODE_AWAY)
            continue;
        result = follow_node(&event, &states[event.node], error);
        availability->events[kept++] = event;
    }
    availability->count = result == 0 ? kept : availability->count;
    free(states);
    return result;
}

int availability_parse(struct availability *availability, const char *text, unsigned launched,
                       availability_reader *reader, void *context, struct error *error)
{
    struct trace_reader state = {
        .availability = availability, .launched = launched, .line = 1, .read = reader, .context = context};
    int result = 0;
    *availability = (struct availability){0};
    for (; *text != '\0' && result == 0; state.line++) {
        result = take_line(&state, text, error);
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

bool availability_has_arrivals(const struct availability *availability)
{
    for (size_t i = 0; i < availability->count; i++)
        if (availability->events[i].kind == AVAILABILITY_UP)
            return true;
    return false;
}

void availability_fini(struct availability *availability)
{
    free(availability->events);
    *availability = (struct availability){0};
}
