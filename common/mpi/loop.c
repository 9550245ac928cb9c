/* SPDX-License-Identifier: MIT */
/* Driving a machine: events in, actions out, in a turn that never blocks while there is something to do. */
#include "common/mpi/net.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"

#include "common/util/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages handled in one turn, so that timers and signals get theirs. */
#define MESSAGES_PER_TURN 16

/* Boundary data that nobody needs any more once so many messages are over. */
struct release {
    uint64_t seam, over;
};

/* A control message that came while there was no room to send, to be handled later. */
struct letter {
    unsigned from;
    size_t size;
    unsigned char bytes[MESSAGE_MAX];
};

struct driver {
    struct runtime *runtime;
    const struct machine *machine;
    const struct effects *effects;
    struct net net;
    struct wait wait;
    struct actions actions;
    struct action_sink sink;
    struct release *releases; /* of boundary data that are still being sent; owned */
    size_t release_count, release_room;
    struct letter **letters; /* [letter_count] the oldest first; owned, with what is in it */
    size_t letter_count, letter_room;
    struct letter *open_letter; /* the latest that was taken out; owned */
    struct event *stored;       /* ring of EVENT_STORED to be delivered; owned */
    struct error *stored_error;
    unsigned stored_first, stored_count;
    uint64_t now_ns;
    bool now_is_fresh;    /* now_ns was read just now, while there was nothing to do */
    unsigned since_clock; /* messages handled since it was read */
    bool has_mail;        /* a message was handled while waiting for one */
    bool computed;        /* in the last turn */
    uint64_t looked_ns;   /* when a computing rank last looked at the messages */
    bool probe_wanted;
    uint64_t next_tick_ns;
    struct error problem;    /* of the actions of this step; empty where there is none */
    unsigned dropped_plus_1; /* this rank - 1 was dropped in this step; 0: none */
    bool sync_failed;        /* the SEND that comes next is left out */
    bool exiting, broken;
    uint64_t exit_ns; /* since when it is exiting */
    int status;
};

/* Stores are answered in the turn in which they are asked for: a step asks for one at most, a turn makes few steps. */
#define STORED_MAX (2 * MESSAGES_PER_TURN + COLLECTS_MAX)

static void give_up(struct driver *driver, const char *text)
{
    fprintf(stderr, "%s: rank %u: %s\n", role_name(driver->runtime->role), driver->runtime->rank, text);
    driver->broken = true;
    MPI_Abort(driver->runtime->world, EXIT_STATUS_FAILED);
}

/* Releases boundary data of which nothing is being sent any more. */
static void release_seams(struct driver *driver)
{
    size_t left = 0;
    for (size_t i = 0; i < driver->release_count; i++)
        if (driver->releases[i].over <= driver->net.over)
            driver->effects->release(driver->effects->context, driver->releases[i].seam);
        else
            driver->releases[left++] = driver->releases[i];
    driver->release_count = left;
}

/* Finished sends: their payloads go back, and their receivers are rung, should they be asleep. */
static bool progress_sends(struct driver *driver)
{
    unsigned to;
    const void *payload;
    bool any = false;
    while (net_sent(&driver->net, &to, &payload)) {
        if (payload != NULL)
            driver->effects->sent(driver->effects->context, payload);
        doorbell_ring(&driver->runtime->doorbell, to);
        any = true;
    }
    if (any && driver->release_count > 0)
        release_seams(driver);
    return any;
}

static void inject_delay(struct driver *driver)
{
    uint64_t delay_ns = driver->actions.calculations * driver->effects->calculation_ns +
                        driver->actions.assignments * driver->effects->assignment_ns;
    driver->actions.calculations = driver->actions.assignments = 0;
    if (delay_ns == 0)
        return;
    runtime_delay(driver->runtime, delay_ns);
    driver->now_ns = runtime_now();
}

/* An END says it to those who have lost nobody themselves. */
static void note_loss(struct driver *driver, const struct message *message)
{
    if (message->type == MESSAGE_END && message->end.lossy)
        driver->runtime->lossy = true;
}

/* An END that says it to others leaves. */
static void part(struct driver *driver, const struct message *message)
{
    if (message->type == MESSAGE_END && message->end.lossy && driver->effects->parting != NULL)
        driver->effects->parting(driver->effects->context);
}

static void drop_message(struct driver *driver, const struct message *message)
{
    if (message->payload != PAYLOAD_NONE)
        driver->effects->sent(driver->effects->context, message->payload_data);
}

static void put_by(struct driver *driver, unsigned from, const unsigned char *bytes, size_t size)
{
    struct letter **letters =
        grow(driver->letters, driver->letter_count, &driver->letter_room, sizeof(struct letter *));
    struct letter *letter = malloc(sizeof *letter);
    driver->letters = letters != NULL ? letters : driver->letters;
    if (letters == NULL || letter == NULL) {
        free(letter);
        give_up(driver, "out of memory for a message");
        return;
    }
    letter->from = from;
    letter->size = size;
    memcpy(letter->bytes, bytes, size);
    letters[driver->letter_count++] = letter;
}

/* What the message says of those to whom boundary data may be on their way: one is lost, or all are to leave. */
static void give_up_receivers(struct driver *driver, const struct message *message)
{
    const struct topology *topology = &driver->runtime->topology;
    if (message->type == MESSAGE_HALT && message->halt.rank < driver->runtime->ranks)
        net_end(&driver->net, message->halt.rank, NET_LOST);
    for (unsigned w = 0; message->type == MESSAGE_END && w < topology->workers; w++)
        net_end(&driver->net, topology->worker_rank[w], NET_ENDED);
}

/* Workers of another node are not watched by one another. Should one be lost, what is sent to it may never be gone;
 * then it is in the mail who it is. */
static void look_through_mail(struct driver *driver)
{
    const unsigned char *bytes;
    size_t size;
    unsigned from;
    struct message message;
    if (!driver->runtime->exchanges || !net_poll(&driver->net, &from, &bytes, &size))
        return;
    put_by(driver, from, bytes, size);
    bool from_above = driver->runtime->hellos[from].role != ROLE_WORKER;
    if (from_above && message_decode(&message, bytes, size) == DECODE_OK)
        give_up_receivers(driver, &message);
}

/* Looks between two of which no peer is found to have ended, while there is no room to send. */
#define LOOKS_PER_END 256

/* Waits for the oldest message to be gone: for ever, if nobody found out that its receiver has ended. */
static void make_room(struct driver *driver)
{
    const struct watch *watch = &driver->runtime->watch;
    struct pulse *pulse = &driver->runtime->pulse;
    for (unsigned looks = 1; !net_can_send(&driver->net); looks++) {
        progress_sends(driver);
        look_through_mail(driver);
        if (looks % LOOKS_PER_END != 0)
            continue;
        watch_look(&driver->runtime->watch);
        for (unsigned i = 0; watch->ended > 0 && i < watch->count; i++)
            if (watch->peers[i].ended && !watch->peers[i].taken)
                net_end(&driver->net, watch->peers[i].rank, NET_ENDED);
        if (pulse->peers != NULL)
            pulse_look(pulse, runtime_now());
        for (unsigned i = 0; pulse->ended > 0 && i < pulse->ranks; i++)
            if (pulse->peers[i].ended && !pulse->peers[i].taken)
                net_end(&driver->net, i, NET_ENDED);
    }
}

static void send_message(void *context, unsigned to, const struct message *message)
{
    struct driver *driver = context;
    struct message told;
    if (driver->sync_failed) { /* it says what is not so */
        driver->sync_failed = false;
        return;
    }
    if (message->type == MESSAGE_THREADS && driver->effects->tell != NULL) {
        told = *message;
        driver->effects->tell(driver->effects->context, &told.threads);
        message = &told;
    }
    inject_delay(driver);
    note_loss(driver, message);
    part(driver, message);
    make_room(driver);
    if (net_has_ended(&driver->net, to, NET_ENDED)) {
        drop_message(driver, message);
        return;
    }
    if (net_send(&driver->net, to, message) < 0) {
        give_up(driver, "out of memory for a message");
        return;
    }
    progress_sends(driver);
    if (driver->net.send_count > 0) /* else it has been rung for this very message */
        doorbell_ring(&driver->runtime->doorbell, to);
}

static void note_stored(struct driver *driver, const struct part *part, int result, const struct error *error)
{
    unsigned i = (driver->stored_first + driver->stored_count++) % STORED_MAX;
    driver->stored[i] = (struct event){.type = EVENT_STORED, .part = *part};
    if (result < 0) {
        driver->stored_error[i] = *error;
        driver->stored[i].text = driver->stored_error[i].text;
    }
}

static void store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes)
{
    struct error error;
    pulse_release(&driver->runtime->pulse);
    int result = driver->effects->store(driver->effects->context, part, data, bytes, &error);
    pulse_retake(&driver->runtime->pulse);
    driver->now_ns = runtime_now(); /* the disk may have taken its time */
    note_stored(driver, part, result, &error);
}

/* The first problem of a step is told when it is over. */
static void note_problem(struct driver *driver, const struct error *error)
{
    if (driver->problem.text[0] == '\0')
        driver->problem = *error;
}

static void record(struct driver *driver, const struct action *action)
{
    struct error error;
    pulse_release(&driver->runtime->pulse);
    int result = driver->effects->journal(driver->effects->context, action->journal.ranges, action->journal.count,
                                          action->journal.digest, &error);
    pulse_retake(&driver->runtime->pulse);
    if (result < 0)
        note_problem(driver, &error);
}

static void sync_stored(struct driver *driver)
{
    struct error error;
    pulse_release(&driver->runtime->pulse);
    driver->sync_failed = driver->effects->sync(driver->effects->context, &error) < 0;
    pulse_retake(&driver->runtime->pulse);
    if (driver->sync_failed)
        note_problem(driver, &error);
}

static void step(struct driver *driver, struct event *event);

static void probe(struct driver *driver)
{
    struct speed speed;
    struct event event = {.type = EVENT_PROBED, .speed = &speed};
    pulse_release(&driver->runtime->pulse);
    driver->effects->probe(driver->effects->context, &speed);
    pulse_retake(&driver->runtime->pulse);
    driver->now_ns = runtime_now();
    step(driver, &event);
}

/* Nothing can be relied on that comes from there. */
static _Noreturn void leave_supermaster(struct driver *driver)
{
    doorbell_abandon(&driver->runtime->doorbell);
    fflush(stderr);
    _exit(EXIT_STATUS_FAILED);
}

/* A rank that is taken for lost, though its process is there: it is told to leave. What follows of it comes after the
 * step, in lose_dropped(). */
static void drop(struct driver *driver, unsigned rank, const char *text)
{
    struct runtime *runtime = driver->runtime;
    bool is_supermaster = rank == runtime->topology.supermaster;
    if (net_has_ended(&driver->net, rank, NET_LOST))
        return;
    fprintf(stderr, "%s: rank %u: %s rank %u %s: %s\n", role_name(runtime->role), runtime->rank,
            role_name(runtime->hellos[rank].role), rank, text,
            is_supermaster ? "this rank leaves" : "it is taken for lost");
    if (is_supermaster)
        leave_supermaster(driver);
    runtime->lossy = true;
    net_end(&driver->net, rank, NET_LOST);
    if (doorbell_reaches(&runtime->doorbell, rank))
        doorbell_cast_out(&runtime->doorbell, rank);
    pulse_cast_out(&runtime->pulse, rank);
    driver->dropped_plus_1 = rank + 1;
}

/* Boundary data that nobody wants, but that are on their way. */
static void await_late(struct driver *driver, const struct action *action)
{
    const uint64_t bytes = action->boundary.bytes;
    const struct inbound inbound = {
        .from = action->boundary.from, .bytes = bytes, .is_late = true, .room = malloc(bytes)};
    if (inbound.room == NULL || net_await(&driver->net, &inbound, inbound.room) < 0)
        give_up(driver, "out of memory for boundary data");
}

/* The loop stands still as a worker was lost. What is still being sent of boundary data is their receivers' to drop. */
static void halt(struct driver *driver, const struct action *action)
{
    driver->runtime->lossy = true;
    driver->release_count = 0;
    net_halt_inbound(&driver->net);
    net_end(&driver->net, action->halt.lost, NET_LOST);
    net_cancel_inbound(&driver->net, action->halt.lost);
    driver->effects->halt(driver->effects->context, action->halt.seams, action->halt.count);
}

/* Boundary data that are here, or on their way. */
static void take_boundary(struct driver *driver, const struct action *action)
{
    void *context = driver->effects->context, *room;
    const struct inbound inbound = {
        .from = action->boundary.from,
        .first = action->boundary.first,
        .offset = action->boundary.offset,
        .bytes = action->boundary.bytes,
    };
    if (action->boundary.is_late) {
        await_late(driver, action);
        return;
    }
    if (action->boundary.data != NULL) {
        driver->effects->boundary(context, inbound.first, inbound.offset, action->boundary.data, inbound.bytes);
        return;
    }
    room = driver->effects->await_boundary(context, inbound.first, inbound.offset, inbound.bytes);
    if (room == NULL || net_await(&driver->net, &inbound, room) < 0)
        give_up(driver, "out of memory for boundary data");
}

static bool receive_boundaries(struct driver *driver)
{
    struct inbound arrived;
    if (!net_poll_inbound(&driver->net, &arrived))
        return false;
    pulse_heard(&driver->runtime->pulse, arrived.from);
    if (arrived.is_late)
        free(arrived.room);
    else
        driver->effects->boundary(driver->effects->context, arrived.first, arrived.offset, NULL, arrived.bytes);
    return true;
}

static void release(struct driver *driver, uint64_t seam)
{
    struct release *releases = grow(driver->releases, driver->release_count, &driver->release_room, sizeof *releases);
    if (releases == NULL) {
        give_up(driver, "out of memory for boundary data");
        return;
    }
    driver->releases = releases;
    releases[driver->release_count++] = (struct release){seam, driver->net.begun};
    release_seams(driver);
}

static void apply(void *self, const struct action *action)
{
    struct driver *driver = self;
    void *context = driver->effects->context;
    switch (action->type) {
    case ACTION_SEND: send_message(driver, action->send.to, &action->send.message); break;
    case ACTION_PROBE: driver->probe_wanted = true; break; /* after the step */
    case ACTION_RUN:
        driver->effects->run(context, action->run.first, action->run.count, action->run.mark, action->run.careful);
        break;
    case ACTION_FORGET: driver->effects->forget(context); break;
    case ACTION_MARK: driver->effects->mark(context, action->run.mark); break;
    case ACTION_STORE: store(driver, &action->store.part, action->store.data, action->store.bytes); break;
    case ACTION_COLLECT:
        if (net_collect(&driver->net, &action->store.part, action->store.from, action->store.bytes) < 0)
            give_up(driver, "out of memory for results");
        break;
    case ACTION_JOURNAL: record(driver, action); break;
    case ACTION_SYNC: sync_stored(driver); break;
    case ACTION_BOUNDARY: take_boundary(driver, action); break;
    case ACTION_INHERIT: driver->effects->inherit(context, action->seam); break;
    case ACTION_RELEASE: release(driver, action->seam); break;
    case ACTION_HALT: halt(driver, action); break;
    case ACTION_RESTART: driver->effects->restart(context, action->seam); break;
    case ACTION_DROP: drop(driver, action->drop.rank, action->drop.text); break;
    case ACTION_EXIT:
        driver->exiting = true;
        driver->exit_ns = driver->now_ns;
        driver->status = action->exit.status;
        break;
    }
}

static void tell_problem(struct driver *driver)
{
    const struct error problem = driver->problem;
    struct event event = {.type = EVENT_PROBLEM, .text = problem.text};
    driver->problem.text[0] = '\0';
    step(driver, &event);
}

static void lose_dropped(struct driver *driver);

static void step(struct driver *driver, struct event *event)
{
    event->now_ns = driver->now_ns;
    driver->machine->step(driver->machine->self, event, &driver->actions);
    inject_delay(driver); /* of chunks that are not sent on in this step */
    if (driver->probe_wanted) {
        driver->probe_wanted = false;
        probe(driver);
    }
    if (driver->problem.text[0] != '\0')
        tell_problem(driver);
    lose_dropped(driver);
}

static void step_simple(struct driver *driver, enum event_type type, const char *text)
{
    struct event event = {.type = type, .text = text};
    step(driver, &event);
}

static void deliver_stored(struct driver *driver)
{
    while (driver->stored_count > 0) {
        struct event event = driver->stored[driver->stored_first];
        driver->stored_first = (driver->stored_first + 1) % STORED_MAX;
        driver->stored_count--;
        step(driver, &event);
    }
}

static void refuse_bytes(struct driver *driver, unsigned from, enum decode_result reason)
{
    char text[120];
    snprintf(text, sizeof text, "sent a message that is not of the protocol (%s)", decode_result_text(reason));
    drop(driver, from, text);
    lose_dropped(driver);
}

/* Where messages follow one another, the clock is read once for so many. */
#define CLOCK_MESSAGES 16

/* Reading the clock takes a tenth of a round trip, so no message waits for it: it is read when there is nothing to do,
 * and after what may have taken long. A message's time is some hundred nanoseconds old. */
static void refresh_clock(struct driver *driver)
{
    if (!driver->now_is_fresh)
        driver->now_ns = runtime_now();
    driver->now_is_fresh = true;
    driver->since_clock = 0;
}

/* A message that was put by comes before those that MPI has. */
static bool open_letter(struct driver *driver, unsigned *from, const unsigned char **bytes, size_t *size)
{
    if (driver->letter_count == 0)
        return net_poll(&driver->net, from, bytes, size);
    free(driver->open_letter);
    struct letter *letter = driver->open_letter = driver->letters[0];
    memmove(driver->letters, driver->letters + 1, --driver->letter_count * sizeof(struct letter *));
    *from = letter->from;
    *bytes = letter->bytes;
    *size = letter->size;
    return true;
}

/* Handles the next message, if there is one. */
static bool receive_one(struct driver *driver)
{
    const unsigned char *bytes;
    size_t size;
    unsigned from;
    struct message message;
    if (!open_letter(driver, &from, &bytes, &size))
        return false;
    driver->now_is_fresh = false;
    driver->since_clock++;
    pulse_heard(&driver->runtime->pulse, from);
    if (net_has_ended(&driver->net, from, NET_LOST))
        return true;
    enum decode_result reason = message_decode(&message, bytes, size);
    struct event event = {.type = EVENT_MESSAGE, .from = from, .message = &message};
    if (reason == DECODE_OK) {
        note_loss(driver, &message);
        step(driver, &event);
    } else
        refuse_bytes(driver, from, reason);
    deliver_stored(driver);
    return true;
}

/* One who computes goes on with what has come, and looks for more after that. */
static bool receive_messages(struct driver *driver)
{
    unsigned count = 0, most = driver->effects->advance == NULL ? MESSAGES_PER_TURN : 1;
    while (count < most && receive_one(driver))
        count++;
    return count > 0;
}

static bool receive_data(struct driver *driver)
{
    struct collect *collect = net_poll_collect(&driver->net);
    if (collect == NULL)
        return false;
    pulse_heard(&driver->runtime->pulse, collect->from);
    if (part_is_unwanted(&collect->part))
        note_stored(driver, &collect->part, 0, NULL);
    else
        store(driver, &collect->part, collect->buffer, collect->bytes);
    if (net_collected(&driver->net, collect) < 0)
        give_up(driver, "out of memory for results");
    deliver_stored(driver);
    return true;
}

/* A turn of computing after which messages are looked at before its event is. */
#define LONG_TURN_NS 2000u

/* The machine learns of another load before it asks for more. */
static void look_at_load(struct driver *driver)
{
    struct load_meter *meter = driver->effects->meter;
    if (!load_meter_look(meter, driver->now_ns))
        return;
    struct event event = {.type = EVENT_LOAD, .load = load_to_wire(meter->load)};
    step(driver, &event);
}

static bool compute(struct driver *driver)
{
    struct event event = {0};
    if (driver->effects->advance == NULL)
        return false;
    pulse_release(&driver->runtime->pulse);
    enum turn turn = driver->effects->advance(driver->effects->context, &event);
    pulse_retake(&driver->runtime->pulse);
    if (turn == TURN_BLOCKED) {
        if (driver->effects->meter != NULL)
            load_meter_pause(driver->effects->meter);
        return false;
    }
    uint64_t before_ns = driver->now_ns;
    driver->now_ns = event.now_ns > 0 ? event.now_ns : runtime_now();
    driver->since_clock = 0;
    if (driver->effects->meter != NULL)
        look_at_load(driver);
    if (turn == TURN_EVENT) {
        /* what came while it computed came before the event, which a HALT would make one of what is given up */
        if (driver->now_ns - before_ns > LONG_TURN_NS && !driver->runtime->exchanges)
            receive_messages(driver);
        step(driver, &event);
    }
    return true;
}

/* Looks that find nothing before all that a peer has sent counts as taken, and all together: others go on sending. */
#define LAST_LOOKS     32
#define LAST_LOOKS_MAX 4096

static void take_last_messages(struct driver *driver)
{
    unsigned empty = 0;
    for (unsigned looks = 0; empty < LAST_LOOKS && looks < LAST_LOOKS_MAX; looks++) {
        bool any = receive_one(driver);
        any |= receive_data(driver);
        empty = any ? 0 : empty + 1;
    }
}

static unsigned first_of_node(const struct runtime *runtime)
{
    unsigned rank = 0;
    while (!doorbell_reaches(&runtime->doorbell, rank))
        rank++;
    return rank;
}

/* There is nothing to decide for who has lost the supermaster. One rank says it, and has the launcher end those who are
 * not listening, because their kernel computes on. */
static _Noreturn void leave_alone(struct driver *driver)
{
    struct runtime *runtime = driver->runtime;
    unsigned supermaster = runtime->topology.supermaster;
    doorbell_abandon(&runtime->doorbell);
    if (runtime_has_left(runtime, supermaster))
        _exit(EXIT_STATUS_DONE); /* it has waited for us long enough */
    if (doorbell_mourn(&runtime->doorbell, first_of_node(runtime))) {
        fprintf(stderr, "%s: rank %u: the supermaster (rank %u) was lost: the run ends\n", role_name(runtime->role),
                runtime->rank, supermaster);
        fflush(stderr);
        MPI_Abort(runtime->world, EXIT_STATUS_FAILED);
    }
    _exit(EXIT_STATUS_FAILED);
}

/* What was to be received from a rank that has ended will not come. */
static void cancel_collects(struct driver *driver, unsigned rank)
{
    struct event stored = {.type = EVENT_STORED, .lost = true};
    int result;
    while ((result = net_cancel(&driver->net, rank, &stored.part)) > 0)
        step(driver, &stored);
    if (result < 0)
        give_up(driver, "out of memory for results");
    net_cancel_inbound(&driver->net, rank);
    deliver_stored(driver);
}

static void deliver_loss(struct driver *driver, unsigned rank)
{
    struct event lost = {.type = EVENT_LOST, .from = rank};
    net_end(&driver->net, rank, NET_LOST);
    step(driver, &lost);
    cancel_collects(driver, rank);
}

/* The workers of a master are its own concern, and it is theirs, as long as it lives. */
static void look_after_others(struct runtime *runtime, unsigned master)
{
    const struct topology *topology = &runtime->topology;
    if (runtime->hellos[master].role != ROLE_MASTER)
        return;
    if (runtime->role == ROLE_WORKER)
        pulse_begin(&runtime->pulse, topology->supermaster);
    if (runtime->role != ROLE_SUPERMASTER)
        return;
    for (unsigned w = 0; w < topology->workers; w++)
        if (runtime_master_of(runtime, topology->worker_rank[w]) == master) {
            watch_begin(&runtime->watch, topology->worker_rank[w]);
            pulse_begin(&runtime->pulse, topology->worker_rank[w]);
        }
}

static void lose_dropped(struct driver *driver)
{
    if (driver->dropped_plus_1 == 0)
        return;
    unsigned rank = driver->dropped_plus_1 - 1;
    driver->dropped_plus_1 = 0;
    deliver_loss(driver, rank);
    look_after_others(driver->runtime, rank);
}

/* The others took this rank for lost, while it was stopped or cut off or for what it sent, and do without it. */
static _Noreturn void leave_as_outcast(struct runtime *runtime, const char *why)
{
    doorbell_abandon(&runtime->doorbell);
    fprintf(stderr, "%s: rank %u: %s, and leaves\n", role_name(runtime->role), runtime->rank, why);
    fflush(stderr);
    _exit(EXIT_STATUS_FAILED);
}

/* The process of a peer has ended: in order, as it does where the run has lost somebody, or it is lost itself. */
static void part_from(struct driver *driver, unsigned rank)
{
    struct runtime *runtime = driver->runtime;
    runtime->lossy = true;
    if (net_has_ended(&driver->net, rank, NET_LOST)) /* it was dropped */
        return;
    net_end(&driver->net, rank, NET_ENDED);
    take_last_messages(driver);
    if (driver->exiting)
        return;
    if (rank == runtime->topology.supermaster)
        leave_alone(driver);
    if (runtime_has_left(runtime, rank))
        cancel_collects(driver, rank);
    else
        deliver_loss(driver, rank);
    look_after_others(runtime, rank);
}

static uint64_t next_deadline(const struct driver *driver)
{
    uint64_t deadline = driver->machine->deadline(driver->machine->self);
    return driver->next_tick_ns < deadline ? driver->next_tick_ns : deadline;
}

static void look_at_pulse(struct driver *driver)
{
    struct pulse *pulse = &driver->runtime->pulse;
    unsigned ended;
    pulse_look(pulse, driver->now_ns);
    if (pulse->is_outcast)
        leave_as_outcast(driver->runtime, "is taken for lost by others, whom it did not answer or understand");
    while (pulse_take(pulse, &ended))
        part_from(driver, ended);
}

static void look_at_time(struct driver *driver)
{
    unsigned ended;
    if (doorbell_is_outcast(&driver->runtime->doorbell))
        leave_as_outcast(driver->runtime, "is taken for lost by others, who do not understand it");
    wait_look(&driver->wait, driver->now_ns);
    watch_ask(&driver->runtime->watch, driver->now_ns);
    ulfm_look(driver->runtime, driver->now_ns);
    while (watch_take(&driver->runtime->watch, &ended))
        part_from(driver, ended);
    if (driver->runtime->pulse.peers != NULL)
        look_at_pulse(driver);
    if (driver->wait.drain) {
        driver->wait.drain = false;
        step_simple(driver, EVENT_DRAIN, NULL);
    }
    if (driver->machine->deadline(driver->machine->self) <= driver->now_ns)
        step_simple(driver, EVENT_TIMER, NULL);
    if (driver->next_tick_ns <= driver->now_ns) {
        pulse_release(&driver->runtime->pulse);
        driver->effects->tick(driver->effects->context, driver->now_ns); /* a terminal may be held */
        pulse_retake(&driver->runtime->pulse);
        driver->next_tick_ns = driver->now_ns + driver->effects->tick_ns;
    }
}

/* A look while waiting. What it finds is handled at once: MPI has told us, and will not tell again. */
static bool look_for_mail(void *context)
{
    struct driver *driver = context;
    driver->has_mail = receive_one(driver);
    return driver->has_mail;
}

/* Whether there was a message, also one that was handled just now while waiting. */
static bool take_messages(struct driver *driver)
{
    driver->looked_ns = driver->now_ns;
    if (!driver->has_mail)
        return receive_messages(driver);
    driver->has_mail = false;
    return true;
}

/* Between two short chunks that are here there is no need to look: a look takes as long as a chunk, and where ranks
 * share cores MPI gives this one away when there is nothing. */
static bool can_look_later(struct driver *driver)
{
    if (wait_take_work(&driver->wait)) /* the kernel was waited for, not a message */
        return true;
    return driver->computed && driver->now_ns - driver->looked_ns < LONG_TURN_NS;
}

static void turn(struct driver *driver)
{
    bool later = can_look_later(driver), happened = !later && take_messages(driver);
    happened |= progress_sends(driver);
    happened |= receive_data(driver);
    happened |= receive_boundaries(driver);
    driver->computed = !driver->exiting && compute(driver);
    happened |= driver->computed;
    if (later && !driver->computed)
        happened |= take_messages(driver);
    if (!happened || driver->since_clock >= CLOCK_MESSAGES)
        refresh_clock(driver);
    look_at_time(driver);
    driver->now_is_fresh = false;
    if (happened)
        wait_reset(&driver->wait);
    else if (!driver->exiting || driver->net.send_count > 0)
        if (wait_idle(&driver->wait, &driver->runtime->doorbell, driver->now_ns, next_deadline(driver),
                      net_is_pending(&driver->net), look_for_mail, driver))
            refresh_clock(driver);
}

/* Whether messages can come from where no doorbell reaches. Workers hear of their master alone, unless they exchange
 * boundary data. */
static bool has_far_peers(const struct runtime *runtime, const struct effects *effects)
{
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (!doorbell_reaches(&runtime->doorbell, i))
            return runtime->role != ROLE_WORKER || effects->boundary != NULL ||
                   !doorbell_reaches(&runtime->doorbell, runtime_master_of(runtime, runtime->rank));
    return false;
}

static int descriptor_of_work(const struct effects *effects)
{
    return effects->descriptor != NULL ? effects->descriptor(effects->context) : -1;
}

static int driver_init(struct driver *driver)
{
    bool worker = driver->runtime->role == ROLE_WORKER;
    driver->stored = calloc(STORED_MAX, sizeof *driver->stored);
    driver->stored_error = calloc(STORED_MAX, sizeof *driver->stored_error);
    driver->sink = (struct action_sink){send_message, apply, driver};
    actions_init_sink(&driver->actions, &driver->sink);
    if (driver->stored == NULL || driver->stored_error == NULL ||
        wait_init(&driver->wait, &driver->runtime->doorbell, driver->runtime->cores_are_free) < 0 ||
        net_init(&driver->net, driver->runtime->world, worker ? 4 : RECEIVES_MAX, &driver->runtime->ulfm) < 0 ||
        watch_peers(&driver->runtime->watch, driver->runtime) < 0 ||
        pulse_init(&driver->runtime->pulse, driver->runtime) < 0 ||
        wait_watch(&driver->wait, &driver->runtime->watch) < 0 ||
        wait_for_work(&driver->wait, descriptor_of_work(driver->effects)) < 0)
        return -1;
    ulfm_begin(driver->runtime->world);
    driver->wait.work_is_own = driver->effects->helpers_work;
    driver->wait.far_peers = has_far_peers(driver->runtime, driver->effects);
    driver->wait.patient = worker;
    driver->wait.net = &driver->net;
    driver->next_tick_ns = driver->effects->tick != NULL && driver->effects->tick_ns > 0 ? 0 : NEVER;
    return 0;
}

static void driver_fini(struct driver *driver)
{
    if (!driver->runtime->lossy) /* else MPI is let be */
        net_fini(&driver->net);
    wait_fini(&driver->wait);
    actions_fini(&driver->actions);
    free(driver->stored);
    free(driver->stored_error);
    free(driver->releases);
    for (size_t i = 0; i < driver->letter_count; i++)
        free(driver->letters[i]);
    free(driver->letters);
    free(driver->open_letter);
}

/* Messages to a rank of another node that was lost, of which nobody tells, stay for ever. */
#define LAST_SENDS_NS 2000000000u

static bool goes_on(const struct driver *driver)
{
    if (driver->broken || !driver->exiting)
        return !driver->broken;
    bool late = driver->runtime->lossy && driver->now_ns > driver->exit_ns + LAST_SENDS_NS;
    return driver->net.send_count > 0 && !late;
}

/* This rank cannot run: it says why and ends them all, or is ended by the rank of its node that says it. */
static void give_up_together(struct driver *driver, const struct error *error)
{
    if (error->text[0] != '\0')
        give_up(driver, error->text);
    for (;;)
        pause();
}

int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure)
{
    struct driver driver = {.runtime = runtime, .machine = machine, .effects = effects};
    struct error error;
    runtime->exchanges = effects->boundary != NULL;
    if (runtime_prepare(runtime, &error) < 0)
        give_up_together(&driver, &error);
    if (driver_init(&driver) < 0) {
        give_up(&driver, "cannot prepare: out of memory, or of files");
        return EXIT_STATUS_FAILED;
    }
    if (effects->begun != NULL)
        effects->begun(effects->context);
    driver.now_ns = runtime_now();
    step_simple(&driver, failure == NULL ? EVENT_START : EVENT_PROBLEM, failure);
    while (goes_on(&driver))
        turn(&driver);
    driver_fini(&driver);
    pulse_release(&runtime->pulse); /* until runtime_wait(): the output may still have to be finished */
    return driver.status;
}
