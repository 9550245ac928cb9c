/* SPDX-License-Identifier: MIT */
/* The turns of a link. A turn handles messages, computes, handles what is due, and waits if there is no work. */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/load.h"

#define CLOCK_MESSAGES 16

/* Reads the clock, unless this turn has read it already. Reading takes a tenth of the round trip of a message. So the
 * clock is read only after a turn in which nothing happened, after many messages, and after slow operations. When a
 * message is handled, `now_ns` may therefore be some hundred nanoseconds old. */
static void link_refresh_clock(struct link *link)
{
    if (!link->now_is_fresh)
        link->now_ns = link->ops->now();
    link->now_is_fresh = true;
    link->since_clock = 0;
}

/* If computing took longer than this, messages that have arrived are handled first. The event that came from the
 * computing is handled after them. */
#define LONG_TURN_NS 2000u

static bool driver_compute(struct driver *driver)
{
    struct link *link = driver->link;
    const struct effects *effects = driver->effects;
    struct load_meter *meter = effects->meter;
    struct event event = {0};
    if (effects->executor == NULL)
        return false;
    if (!driver_enter(driver)) {
        driver_step_on(driver);
        return false;
    }
    heartbeat_release(&link->runtime->heartbeat);
    enum turn turn = executor_advance(effects->executor, &event);
    driver_leave(driver);
    heartbeat_retake(&link->runtime->heartbeat);
    if (turn == TURN_BLOCKED) {
        if (meter != NULL)
            load_meter_pause(meter);
        return false;
    }
    uint64_t before_ns = link->now_ns;
    link->now_ns = event.now_ns > 0 ? event.now_ns : link->ops->now();
    link->since_clock = 0;
    /* The machine gets the load before it gets the event. It may request a chunk because of the event, and this request
     * contains the load. */
    if (meter != NULL && load_meter_look(meter, link->now_ns)) {
        struct event load = {.type = EVENT_LOAD, .load = load_to_wire(meter->load)};
        driver_step(driver, &load);
    }
    if (turn == TURN_EVENT) {
        if (event.type == EVENT_FINISHED) {
            driver->share.has_chunk = executor_has_chunk(effects->executor, false);
            if (effects->chunk_ends != NULL)
                effects->chunk_ends(effects->context, &event.chunk);
        } else if (event.type == EVENT_PROBED)
            driver->is_beside = driver->share.ends;
        /* Messages that arrived during the computing are handled first. EVENT_STOLEN is not delayed by them, because it
         * says how much of the running chunk remains at present. */
        if (link->now_ns - before_ns > LONG_TURN_NS && event.type != EVENT_STOLEN && !link->runtime->exchanges)
            link_receive(link, MESSAGES_PER_TURN);
        driver_step(driver, &event);
        driver_deliver_stored(driver);
    }
    return true;
}

static bool link_compute(struct link *link)
{
    struct driver *driver = link->drivers;
    const bool is_shared = driver != NULL && driver->next != NULL;
    bool computed = false;
    if (is_shared)
        driver = arbiter_begin(link);
    while (driver != NULL) {
        computed = driver->state == DRIVER_RUNS && driver_compute(driver);
        driver = is_shared ? arbiter_next(driver, computed) : NULL;
    }
    return computed;
}

void driver_drain(struct driver *driver, bool now)
{
    struct event event = {.type = EVENT_DRAIN, .now = now};
    driver_step(driver, &event);
}

void driver_tell_more(struct driver *driver)
{
    struct event event = {.type = EVENT_MORE};
    driver_step(driver, &event);
}

void driver_tell_joined(struct driver *driver)
{
    struct event event = {.type = EVENT_JOINED};
    driver_step(driver, &event);
}

void driver_tell_leaving(struct driver *driver, unsigned master, bool now)
{
    struct event event = {.type = EVENT_LEAVING, .from = master, .now = now};
    driver_step(driver, &event);
}

/* Called after a signal: drains all jobs. A pod leaves its set instead. After a second signal the pod does not wait for
 * its running iterations. */
static void drain(struct link *link)
{
    if (link->runtime->first_rank > 0) {
        link_ask_to_leave(link, link->has_asked_to_leave);
        return;
    }
    const struct job_source *source = &link->announcements.source;
    if (link->expects_jobs && source->asked != NULL)
        source->asked(source->context);
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next) {
        if (driver->effects->asked != NULL)
            driver->effects->asked(driver->effects->context);
        driver_drain(driver, false);
    }
}

static void driver_look_at_time(struct driver *driver)
{
    struct link *link = driver->link;
    const struct machine *machine = driver->machine;
    if (machine->deadline(machine->self) <= link->now_ns) {
        struct event event = {.type = EVENT_TIMER};
        driver_step(driver, &event);
    }
    if (driver->next_tick_ns <= link->now_ns) {
        heartbeat_release(&link->runtime->heartbeat);
        /* tick() may write to a terminal, and this may block */
        driver->effects->tick(driver->effects->context, link->now_ns);
        heartbeat_retake(&link->runtime->heartbeat);
        driver->next_tick_ns = link->now_ns + driver->effects->tick_ns;
    }
}

static bool link_look_at_time(struct link *link)
{
    link->ops->look(&link->wait, link->now_ns);
    link_look_at_peers(link);
    if (link->returns.are_awaited)
        link_look_for_returns(link);
    const bool drains = link->wait.drain;
    if (drains) {
        link->wait.drain = false;
        drain(link);
    }
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next)
        driver_look_at_time(driver);
    return drains;
}

/* If a message is found, it must be handled at once, because MPI reports each message only once. */
static bool receive_while_waiting(void *context)
{
    struct link *link = context;
    link->received_while_waiting = link_receive(link, 1) || link->far.has_stored;
    return link->received_while_waiting;
}

static void link_idle(struct link *link)
{
    uint64_t until_ns = NEVER;
    for (const struct driver *driver = link->drivers; driver != NULL; driver = driver->next) {
        const uint64_t due_ns = driver->machine->deadline(driver->machine->self);
        until_ns = due_ns < until_ns ? due_ns : until_ns;
        until_ns = driver->next_tick_ns < until_ns ? driver->next_tick_ns : until_ns;
    }
    if (link->returns.are_awaited && link->returns.due_ns < until_ns)
        until_ns = link->returns.due_ns;
    const uint64_t ask_ns = asks_due_ns(link);
    until_ns = ask_ns < until_ns ? ask_ns : until_ns;
    if (link->stride.owner != NULL) {
        const uint64_t due_ns = arbiter_due_ns(link);
        until_ns = due_ns < until_ns ? due_ns : until_ns;
    }
    if (link->ops->idle(&link->wait, link->runtime, link->now_ns, until_ns, net_is_pending(&link->net),
                        receive_while_waiting, link))
        link_refresh_clock(link);
}

static void ask_for_tasks(struct link *link)
{
    struct message message;
    struct driver *driver = asks_take(link, &message);
    if (driver != NULL)
        driver_send_now(driver, driver->owed_to, &message);
}

/* Each turn handles messages, sends, data, computing and time once. A rank that serves others checks for messages in
 * each turn. A rank that only computes handles at most one message per turn. It makes no check between two short
 * chunks: a check takes as long as a short chunk, and on shared cores MPI yields the core if there is no message. It
 * also makes no check after its helper process has woken it. */
void link_turn(struct link *link)
{
    const unsigned most = link->computes && !link->serves ? 1 : MESSAGES_PER_TURN;
    const bool was_woken = wait_take_work(&link->wait);
    const bool later =
        !link->serves && (was_woken || (link->computed && link->now_ns - link->looked_ns < LONG_TURN_NS));
    bool happened = link->received_while_waiting;
    link->received_while_waiting = link->far.has_stored = false;
    if (link->far.streams != NULL)
        far_look_for_room(link);
    if (!later) {
        link->looked_ns = link->now_ns;
        happened = happened || link_receive(link, most);
    }
    happened |= link->far.has_stored;
    happened |= link->net.send_count > 0 && link_progress_sends(link);
    happened |= link_receive_data(link);
    happened |= link_receive_boundary(link);
    link->computed = link_compute(link);
    happened |= link->computed;
    if (later && !link->computed) {
        link->looked_ns = link->now_ns;
        happened |= link_receive(link, most);
    }
    if (!happened || link->since_clock >= CLOCK_MESSAGES)
        link_refresh_clock(link);
    happened |= link_look_at_time(link);
    ask_for_tasks(link);
    far_flush(&link->far);
    link->now_is_fresh = false;
    if (happened)
        wait_reset(&link->wait);
    else if (link_runs(link) || link->net.send_count + link->net.collects_active > 0)
        link_idle(link);
}
