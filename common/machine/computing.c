/* SPDX-License-Identifier: MIT */
/* A server and its own worker as one machine: see computing.h. */
#include "common/machine/computing.h"

#include "proto/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum mail_type { TO_WORKER, TO_SERVER, IS_STORED };

struct mail {
    enum mail_type type;
    size_t size;
    const void *data; /* payload of a data message, borrowed from the executor; may be NULL */
    bool has_payload;
    const void *source;
    struct part part;
};

static unsigned char *computing_append(struct computing *computing, size_t bytes)
{
    const size_t all = sizeof(struct mail) + bytes;
    if (computing->end + all > computing->room) {
        const size_t room = 2 * computing->room + sizeof(struct mail) + MESSAGE_MAX;
        unsigned char *mail = realloc(computing->mail, room);
        if (mail == NULL) {
            computing->out->out_of_memory = true;
            return NULL;
        }
        computing->mail = mail;
        computing->room = room;
    }
    computing->end += all;
    return computing->mail + computing->end - all;
}

static void computing_post(struct computing *computing, enum mail_type type, const struct message *message)
{
    struct mail mail = {.type = type,
                        .size = message_size(message),
                        .data = message->payload == PAYLOAD_DATA ? message->payload_data : NULL,
                        .has_payload = message->payload != PAYLOAD_NONE,
                        .source = message->payload_data};
    unsigned char *entry = computing_append(computing, mail.size);
    if (entry == NULL)
        return;
    memcpy(entry, &mail, sizeof mail);
    message_encode(message, 1, entry + sizeof mail);
}

struct computing_copy {
    struct computing_copy *next;
    unsigned char bytes[];
};

static void computing_forget_copies(struct computing *computing)
{
    computing->copied_bytes = 0;
    while (computing->copies != NULL) {
        struct computing_copy *copy = computing->copies;
        computing->copies = copy->next;
        free(copy);
    }
}

static unsigned char *computing_place(struct computing *computing, size_t size)
{
    const size_t aligned = (size + 15) / 16 * 16;
    if (aligned <= computing->copied_room - computing->copied_bytes) {
        computing->copied_bytes += aligned;
        return computing->copied + computing->copied_bytes - aligned;
    }
    struct computing_copy *copy = malloc(sizeof *copy + size);
    if (copy == NULL) {
        computing->out->out_of_memory = true;
        return NULL;
    }
    copy->next = computing->copies;
    computing->copies = copy;
    return copy->bytes;
}

static const void *computing_copy_bytes(struct computing *computing, const void *bytes, size_t size)
{
    unsigned char *place = bytes != NULL && size > 0 ? computing_place(computing, size) : NULL;
    return place != NULL ? memcpy(place, bytes, size) : NULL;
}

static void computing_pass_message(struct computing *computing, unsigned to, const struct message *message)
{
    struct message copy;
    const size_t size = message_size(message);
    if (computing->out->sink != NULL) {
        actions_send(computing->out, to, message);
        return;
    }
    unsigned char *bytes = computing_place(computing, size);
    if (bytes == NULL)
        return;
    message_encode(message, 1, bytes);
    const enum decode_result result = message_decode(&copy, bytes, size);
    assert(result == DECODE_OK && "machines send what the protocol allows");
    (void)result;
    if (message->payload == PAYLOAD_DATA)
        copy.payload_data = message->payload_data;
    actions_send(computing->out, to, &copy);
}

static void computing_pass_action(struct computing *computing, const struct action *action)
{
    struct action copy = *action;
    if (computing->out->sink == NULL && action->type == ACTION_STORE)
        copy.store.data = computing_copy_bytes(computing, action->store.data, action->store.bytes);
    if (computing->out->sink == NULL && action->type == ACTION_JOURNAL)
        copy.journal.ranges = computing_copy_bytes(computing, action->journal.ranges,
                                                   action->journal.count * sizeof *action->journal.ranges);
    actions_add(computing->out, &copy);
}

static void computing_pass_counts(struct computing *computing)
{
    computing->out->calculations += computing->of_server.calculations;
    computing->out->assignments += computing->of_server.assignments;
    computing->of_server.calculations = computing->of_server.assignments = 0;
}

static void server_sends(void *context, unsigned to, const struct message *message)
{
    struct computing *computing = context;
    computing_pass_counts(computing);
    if (to != computing->rank)
        computing_pass_message(computing, to, message);
    else if (!computing->has_left)
        computing_post(computing, TO_WORKER, message);
}

/* Handles a COLLECT from this rank. The executor already has the data, so no data message must be received. */
static void store_own(struct computing *computing, const struct action *action)
{
    struct action store = *action;
    if (part_is_unwanted(&action->store.part)) {
        const struct mail mail = {.type = IS_STORED, .part = action->store.part};
        unsigned char *entry = computing_append(computing, 0);
        if (entry != NULL)
            memcpy(entry, &mail, sizeof mail);
        return;
    }
    assert(computing->handled != NULL && computing->handled->payload == PAYLOAD_DATA);
    store.type = ACTION_STORE;
    store.store.data = computing->handled->payload_data;
    actions_add(computing->out, &store);
}

static void server_acts(void *context, const struct action *action)
{
    struct computing *computing = context;
    if (action->type == ACTION_COLLECT && action->store.from == computing->rank) {
        store_own(computing, action);
        return;
    }
    if (action->type == ACTION_DROP && action->drop.rank == computing->rank) {
        computing->is_dropped = !computing->has_left;
        return;
    }
    computing->awaits_answer |= action->type == ACTION_GROW;
    computing_pass_action(computing, action);
}

static void worker_sends(void *context, unsigned to, const struct message *message)
{
    struct computing *computing = context;
    assert(to == computing->rank && "a worker speaks to its master");
    (void)to;
    computing_post(computing, TO_SERVER, message);
}

static void worker_acts(void *context, const struct action *action)
{
    struct computing *computing = context;
    assert(action->type != ACTION_DROP && "a server sends its own worker what can be");
    if (action->type == ACTION_EXIT) {
        computing->has_left = true;
        return;
    }
    computing->awaits_answer |= action->type == ACTION_CUT;
    actions_add(computing->out, action);
}

static void step_server(struct computing *computing, const struct event *event)
{
    actions_clear(&computing->of_server);
    computing->server.step(computing->server.self, event, &computing->of_server);
    computing_pass_counts(computing);
}

static void step_worker(struct computing *computing, const struct event *event)
{
    if (computing->has_left)
        return;
    computing->has_begun = true;
    actions_clear(&computing->of_worker);
    computing->worker.step(computing->worker.self, event, &computing->of_worker);
}

static void lose_worker(struct computing *computing, uint64_t now_ns)
{
    const struct event lost = {.type = EVENT_RANK_LOST, .now_ns = now_ns, .from = computing->rank};
    computing->is_dropped = false;
    computing->has_left = true;
    actions_add(computing->out, &(struct action){.type = ACTION_CUT, .cut = {RECALL_ALL, true}});
    computing->awaits_answer = true;
    step_server(computing, &lost);
}

static void deliver_mail(struct computing *computing, const struct mail *mail, const unsigned char *bytes,
                         uint64_t now_ns)
{
    struct message message;
    struct event event = {.type = EVENT_MESSAGE, .now_ns = now_ns, .from = computing->rank, .message = &message};
    if (mail->type == IS_STORED) {
        event = (struct event){.type = EVENT_STORED, .now_ns = now_ns, .part = mail->part};
        step_server(computing, &event);
        return;
    }
    const enum decode_result result = message_decode(&message, bytes, mail->size);
    assert(result == DECODE_OK && "machines send what the protocol allows");
    (void)result;
    if (mail->type == TO_WORKER) {
        step_worker(computing, &event);
        return;
    }
    if (mail->data != NULL)
        message.payload_data = mail->data;
    computing->handled = &message;
    step_server(computing, &event);
    computing->handled = NULL;
    if (mail->has_payload)
        actions_add(computing->out, &(struct action){.type = ACTION_TAKEN, .taken = mail->source});
}

/* Each message is copied out of the queue first, because the queue's memory may move while the message is handled. */
static void deliver_all(struct computing *computing, uint64_t now_ns)
{
    unsigned char bytes[MESSAGE_MAX];
    while (computing->first < computing->end && !computing->awaits_answer) {
        struct mail mail;
        memcpy(&mail, computing->mail + computing->first, sizeof mail);
        memcpy(bytes, computing->mail + computing->first + sizeof mail, mail.size);
        computing->first += sizeof mail + mail.size;
        if (computing->first == computing->end)
            computing->first = computing->end = 0;
        deliver_mail(computing, &mail, bytes, now_ns);
        if (computing->is_dropped)
            lose_worker(computing, now_ns);
    }
}

static void step_both_at_deadline(struct computing *computing, const struct event *event)
{
    if (computing->server.deadline(computing->server.self) <= event->now_ns)
        step_server(computing, event);
    if (!computing->has_left && computing->worker.deadline(computing->worker.self) <= event->now_ns)
        step_worker(computing, event);
}

static void end_both(struct computing *computing, const struct event *event)
{
    const struct event start = {.type = EVENT_START, .now_ns = event->now_ns};
    if (!computing->has_begun)
        step_worker(computing, &start);
    step_server(computing, event);
}

static void computing_step(void *self, const struct event *event, struct actions *actions)
{
    struct computing *computing = self;
    computing->out = actions;
    computing_forget_copies(computing);
    switch (event->type) {
    case EVENT_START:
        step_server(computing, event);
        step_worker(computing, event);
        break;
    case EVENT_CUT:
        computing->awaits_answer = false;
        step_worker(computing, event);
        break;
    case EVENT_PROBED:
    case EVENT_MARK:
    case EVENT_SLICE:
    case EVENT_ITERATIONS_FAILED:
    case EVENT_BOUNDARY_READY:
    case EVENT_DRY:
    case EVENT_FINISHED:
    case EVENT_LOAD:
        if (computing->has_left && (event->type == EVENT_SLICE || event->type == EVENT_FINISHED) &&
            event->chunk.data != NULL)
            actions_add(actions, &(struct action){.type = ACTION_TAKEN, .taken = event->chunk.data});
        step_worker(computing, event);
        break;
    case EVENT_TIMER: step_both_at_deadline(computing, event); break;
    case EVENT_FATAL: end_both(computing, event); break;
    case EVENT_GROWN:
        computing->awaits_answer = false;
        step_server(computing, event);
        break;
    case EVENT_MESSAGE:
    case EVENT_STOLEN:
    case EVENT_STORED:
    case EVENT_DRAIN:
    case EVENT_MORE:
    case EVENT_JOINED:
    case EVENT_LEAVING:
    case EVENT_RANK_LOST: step_server(computing, event); break;
    }
    if (computing->is_dropped)
        lose_worker(computing, event->now_ns);
    deliver_all(computing, event->now_ns);
    computing->out = NULL;
}

static uint64_t computing_deadline(const void *self)
{
    const struct computing *computing = self;
    const uint64_t server_ns = computing->server.deadline(computing->server.self);
    const uint64_t worker_ns = computing->has_left ? NEVER : computing->worker.deadline(computing->worker.self);
    return server_ns < worker_ns ? server_ns : worker_ns;
}

static const char *computing_state(const void *self)
{
    const struct computing *computing = self;
    return computing->server.state(computing->server.self);
}

void computing_check(const struct computing *computing)
{
    assert(computing->first <= computing->end && computing->end <= computing->room);
    assert((computing->first == computing->end || computing->awaits_answer) && "mail waits for an answer only");
    assert(computing->handled == NULL && !computing->is_dropped && "a step leaves nothing half done");
    if (computing->server.check != NULL)
        computing->server.check(computing->server.self);
    if (computing->worker.check != NULL)
        computing->worker.check(computing->worker.self);
}

static void check_any(const void *self)
{
    computing_check(self);
}

static void explain_any(void *self, const struct reason_sink *sink)
{
    struct computing *computing = self;
    if (computing->server.explain != NULL)
        computing->server.explain(computing->server.self, sink);
    if (computing->worker.explain != NULL)
        computing->worker.explain(computing->worker.self, sink);
}

static void trace_any(void *self, struct trace_sink *sink)
{
    struct computing *computing = self;
    computing->server.trace(computing->server.self, sink);
}

static bool needs_any(const void *self, unsigned rank)
{
    const struct computing *computing = self;
    return computing->server.needs != NULL && computing->server.needs(computing->server.self, rank);
}

void computing_fini(struct computing *computing)
{
    computing_forget_copies(computing);
    free(computing->mail);
    free(computing->copied);
    computing->mail = computing->copied = NULL;
    computing->first = computing->end = computing->room = 0;
}

#define ROOM (8 * MESSAGE_MAX)

int computing_init(struct computing *computing, const struct machine *server, const struct machine *worker,
                   unsigned rank, bool has_sink)
{
    *computing = (struct computing){.server = *server, .worker = *worker, .rank = rank};
    computing->server_sink = (struct action_sink){server_sends, server_acts, computing};
    computing->worker_sink = (struct action_sink){worker_sends, worker_acts, computing};
    actions_init_sink(&computing->of_server, &computing->server_sink);
    actions_init_sink(&computing->of_worker, &computing->worker_sink);
    computing->room = ROOM;
    computing->copied_room = has_sink ? 0 : ROOM;
    computing->mail = malloc(computing->room);
    computing->copied = malloc(computing->copied_room + 1);
    if (computing->mail != NULL && computing->copied != NULL)
        return 0;
    computing_fini(computing);
    return -1;
}

struct machine computing_machine(struct computing *computing)
{
    return (struct machine){computing, computing_step, computing_deadline, computing_state,
                            check_any, explain_any,    trace_any,          needs_any};
}
