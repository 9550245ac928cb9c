/* SPDX-License-Identifier: MIT */
/* Driving a machine: events in, actions out, in a turn that never blocks while there is something to do. */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/load.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- events --- */

void driver_step(struct driver *driver, struct event *event)
{
    event->now_ns = driver->now_ns;
    driver->machine->step(driver->machine->self, event, &driver->actions);
    driver_delay(driver); /* for chunks that are not sent on in this step */
    if (driver->outcome.wants_probe) {
        driver->outcome.wants_probe = false;
        driver_probe(driver);
    }
    if (driver->outcome.has_cut) {
        struct event told = {.type = EVENT_CUT, .cut = driver->outcome.cut};
        driver->outcome.has_cut = false;
        driver_step(driver, &told);
    }
    if (driver->outcome.has_grown) {
        struct event told = {.type = EVENT_GROWN, .growth = driver->outcome.growth};
        driver->outcome.has_grown = false;
        driver_step(driver, &told);
    }
    if (driver->outcome.problem.text[0] != '\0') {
        const struct error problem = driver->outcome.problem;
        struct event told = {.type = EVENT_FATAL, .text = problem.text};
        driver->outcome.problem.text[0] = '\0';
        driver_step(driver, &told);
    }
    if (driver->runtime->peers.fenced > 0)
        driver_lose_fenced(driver);
}

static void driver_step_simple(struct driver *driver, enum event_type type, const char *text)
{
    struct event event = {.type = type, .text = text};
    driver_step(driver, &event);
}

void driver_deliver_stored(struct driver *driver)
{
    struct stores *stores = &driver->stores;
    while (stores->count > 0) {
        struct event event = stores->events[stores->first];
        stores->first = (stores->first + 1) % STORES_MAX;
        stores->count--;
        driver_step(driver, &event);
    }
}

/* --- what comes --- */

/* Messages that follow one another share one reading of the clock, up to so many. */
#define CLOCK_MESSAGES 16

/* Reads the clock. That takes a tenth of a round trip, so no message waits for it: it is read when there is nothing to
 * do, and after what may have taken long. A message's time is some hundred nanoseconds old. */
static void driver_refresh_clock(struct driver *driver)
{
    if (!driver->now_is_fresh)
        driver->now_ns = driver->ops->now();
    driver->now_is_fresh = true;
    driver->since_clock = 0;
}

bool driver_receive(struct driver *driver, unsigned most)
{
    struct runtime *runtime = driver->runtime;
    const unsigned char *bytes;
    size_t size;
    unsigned from, count = 0;
    struct message message;
    while (count < most) {
        if (driver->deferred.count > 0)
            deferred_take(&driver->deferred, &from, &bytes, &size); /* came before those that MPI has */
        else if (!net_poll(&driver->net, &from, &bytes, &size))
            break;
        count++;
        driver->now_is_fresh = false;
        driver->since_clock++;
        heartbeat_heard(&runtime->heartbeat, from);
        if (!peers_can_receive(&runtime->peers, from))
            continue;
        enum decode_result reason = message_decode(&message, bytes, size);
        if (reason == DECODE_OK) {
            struct event event = {.type = EVENT_MESSAGE, .from = from, .message = &message};
            if (message.type == MESSAGE_END) {
                runtime->has_end = true;
                runtime->degraded |= message.end.degraded; /* the rank may have lost nobody itself */
            }
            driver_step(driver, &event);
        } else {
            char text[120];
            snprintf(text, sizeof text, "sent a message that is not of the protocol (%s)", decode_result_text(reason));
            driver_drop(driver, from, text);
            driver_lose_fenced(driver);
        }
        driver_deliver_stored(driver);
    }
    return count > 0;
}

bool driver_receive_data(struct driver *driver)
{
    struct collect *collect = net_poll_collect(&driver->net);
    if (collect == NULL)
        return false;
    heartbeat_heard(&driver->runtime->heartbeat, collect->from);
    if (part_is_unwanted(&collect->part))
        driver_note_stored(driver, &collect->part, 0, NULL);
    else
        driver_store(driver, &collect->part, collect->buffer, collect->bytes);
    if (net_collected(&driver->net, collect) < 0)
        driver_give_up(driver, "out of memory for results");
    driver_deliver_stored(driver);
    return true;
}

static bool driver_receive_boundary(struct driver *driver)
{
    struct inbound arrived;
    if (!net_poll_inbound(&driver->net, &arrived))
        return false;
    heartbeat_heard(&driver->runtime->heartbeat, arrived.from);
    if (arrived.is_late)
        free(arrived.room);
    else
        executor_boundary_came(driver->effects->executor, arrived.first, arrived.offset, arrived.bytes);
    return true;
}

/* --- a turn --- */

/* Length of a turn of computing after which messages are looked at before its event is. */
#define LONG_TURN_NS 2000u

static bool driver_compute(struct driver *driver)
{
    const struct effects *effects = driver->effects;
    struct load_meter *meter = effects->meter;
    struct event event = {0};
    if (effects->executor == NULL)
        return false;
    heartbeat_release(&driver->runtime->heartbeat);
    enum turn turn = executor_advance(effects->executor, &event);
    heartbeat_retake(&driver->runtime->heartbeat);
    if (turn == TURN_BLOCKED) {
        if (meter != NULL)
            load_meter_pause(meter);
        return false;
    }
    uint64_t before_ns = driver->now_ns;
    driver->now_ns = event.now_ns > 0 ? event.now_ns : driver->ops->now();
    driver->since_clock = 0;
    if (meter != NULL && load_meter_look(meter, driver->now_ns)) { /* the machine knows it before it asks for more */
        struct event load = {.type = EVENT_LOAD, .load = load_to_wire(meter->load)};
        driver_step(driver, &load);
    }
    if (turn == TURN_EVENT) {
        if (event.type == EVENT_FINISHED && effects->chunk_ends != NULL)
            effects->chunk_ends(effects->context, &event.chunk);
        /* a message that came in the meantime came before the event; a QUIESCE would make the event one of a chunk that
         * is given up */
        if (driver->now_ns - before_ns > LONG_TURN_NS && !driver->runtime->exchanges)
            driver_receive(driver, 1);
        driver_step(driver, &event);
    }
    return true;
}

static void driver_look_at_time(struct driver *driver)
{
    const struct machine *machine = driver->machine;
    driver->ops->look(&driver->wait, driver->now_ns);
    driver_look_at_peers(driver);
    if (driver->wait.drain) {
        driver->wait.drain = false;
        if (driver->effects->asked != NULL)
            driver->effects->asked(driver->effects->context);
        driver_step_simple(driver, EVENT_DRAIN, NULL);
    }
    if (machine->deadline(machine->self) <= driver->now_ns)
        driver_step_simple(driver, EVENT_TIMER, NULL);
    if (driver->next_tick_ns <= driver->now_ns) {
        heartbeat_release(&driver->runtime->heartbeat);
        driver->effects->tick(driver->effects->context, driver->now_ns); /* a terminal may be held */
        heartbeat_retake(&driver->runtime->heartbeat);
        driver->next_tick_ns = driver->now_ns + driver->effects->tick_ns;
    }
}

/* Looks for messages while waiting. A message that it finds is handled at once: MPI has told of it, and will not tell
 * again. */
static bool receive_while_waiting(void *context)
{
    struct driver *driver = context;
    driver->received_while_waiting = driver_receive(driver, 1);
    return driver->received_while_waiting;
}

/* Waits for a message, a signal or the next deadline, as nothing has happened in this turn. */
static void driver_idle(struct driver *driver)
{
    uint64_t until_ns = driver->machine->deadline(driver->machine->self);
    if (driver->next_tick_ns < until_ns)
        until_ns = driver->next_tick_ns;
    if (driver->ops->idle(&driver->wait, driver->runtime, driver->now_ns, until_ns, net_is_pending(&driver->net),
                          receive_while_waiting, driver))
        driver_refresh_clock(driver);
}

/* Messages, sends, data, computing, time. A rank that computes handles one message a turn. Between two short chunks
 * that are here it looks for messages later, when it has nothing to compute: a look takes as long as a chunk, and where
 * ranks share cores MPI gives this one away when there is no message. Neither does it look first where it slept for its
 * kernel, and not for a message. */
static void driver_turn(struct driver *driver)
{
    const unsigned most = driver->effects->executor == NULL ? MESSAGES_PER_TURN : 1;
    bool later =
        wait_take_work(&driver->wait) || (driver->computed && driver->now_ns - driver->looked_ns < LONG_TURN_NS);
    bool happened = driver->received_while_waiting;
    driver->received_while_waiting = false;
    if (!later) {
        driver->looked_ns = driver->now_ns;
        happened = happened || driver_receive(driver, most);
    }
    happened |= driver_progress_sends(driver);
    happened |= driver_receive_data(driver);
    happened |= driver_receive_boundary(driver);
    driver->computed = driver->state == DRIVER_RUNS && driver_compute(driver);
    happened |= driver->computed;
    if (later && !driver->computed) {
        driver->looked_ns = driver->now_ns;
        happened |= driver_receive(driver, most);
    }
    if (!happened || driver->since_clock >= CLOCK_MESSAGES)
        driver_refresh_clock(driver);
    driver_look_at_time(driver);
    driver->now_is_fresh = false;
    if (happened)
        wait_reset(&driver->wait);
    else if (driver->state == DRIVER_RUNS || driver->net.send_count > 0)
        driver_idle(driver);
}

/* --- start and end --- */

static int driver_init(struct driver *driver)
{
    struct runtime *runtime = driver->runtime;
    const struct effects *effects = driver->effects;
    const unsigned receives = runtime->role == ROLE_WORKER ? 4 : RECEIVES_MAX;
    driver->stores.events = calloc(STORES_MAX, sizeof *driver->stores.events);
    driver->stores.errors = calloc(STORES_MAX, sizeof *driver->stores.errors);
    driver->sink = (struct action_sink){driver_send, driver_apply, driver};
    actions_init_sink(&driver->actions, &driver->sink);
    driver->next_tick_ns = effects->tick != NULL && effects->tick_ns > 0 ? 0 : NEVER;
    if (driver->stores.events == NULL || driver->stores.errors == NULL || driver->ops->watch_all(runtime) < 0 ||
        driver->ops->open_wait(&driver->wait, runtime, effects) < 0)
        return -1;
    if (net_init(&driver->net, runtime, receives) < 0)
        return -1;
    runtime->net = &driver->net;
    return 0;
}

static void driver_fini(struct driver *driver)
{
    assert(peers_check(&driver->runtime->peers));
    driver->runtime->net = NULL;
    if (!driver->runtime->degraded) /* else MPI is let be */
        net_fini(&driver->net);
    driver->ops->close_wait(&driver->wait);
    actions_fini(&driver->actions);
    deferred_fini(&driver->deferred);
    free(driver->stores.events);
    free(driver->stores.errors);
    free(driver->releases.items);
}

/* Time for the last sends: messages to a lost rank of another node, of which nobody tells, stay for ever. */
#define LAST_SENDS_NS 2000000000u

static bool driver_goes_on(const struct driver *driver)
{
    bool late = driver->runtime->degraded && driver->now_ns > driver->exit_ns + LAST_SENDS_NS;
    return driver->state == DRIVER_RUNS || (driver->state == DRIVER_EXITS && driver->net.send_count > 0 && !late);
}

int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure)
{
    struct driver driver = {.runtime = runtime, .ops = runtime->ops, .machine = machine, .effects = effects};
    struct error error;
    assert(runtime->grouped && runtime->ops != NULL);
    runtime->exchanges = effects->executor != NULL && executor_is_dependent(effects->executor);
    if (runtime->ops->prepare(runtime, &error) < 0) {
        if (error.text[0] != '\0')
            driver_give_up(&driver, error.text);
        for (;;) /* the rank of this node that says why ends them all */
            pause();
    }
    if (driver_init(&driver) < 0) {
        driver_give_up(&driver, "cannot prepare: out of memory, or of files");
        return EXIT_STATUS_FAILED;
    }
    if (effects->begun != NULL)
        effects->begun(effects->context);
    driver.now_ns = runtime->ops->now();
    driver_step_simple(&driver, failure == NULL ? EVENT_START : EVENT_FATAL, failure);
    while (driver_goes_on(&driver))
        driver_turn(&driver);
    driver_fini(&driver);
    heartbeat_release(&runtime->heartbeat); /* until runtime_wait(): the output may still have to be finished */
    return driver.status;
}
