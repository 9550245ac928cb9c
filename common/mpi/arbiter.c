/* SPDX-License-Identifier: MIT */
/* Decides which of several jobs computes next on this rank, by stride scheduling (common/machine/stride.h).
 *
 * One job at a time owns the core. The other jobs are put off, and their chunks wait. A job whose kernel runs in a
 * helper process owns the core while that process computes. After the job has used its share of time, it is put off
 * (executor_put_off()). The next job gets the core after the helper has finished its iteration. A job that is put off
 * keeps its chunk, and no message is sent.
 *
 * The next helper starts on the CPU of the previous helper. Otherwise the system may wake the helper on the CPU of
 * another worker. That CPU would then run two processes while another CPU is idle.
 *
 * A job that does not own the core may still report a result. If it was told to give up iterations, it may report at
 * any time. If it is ending, or if its helper times probe iterations, it may report once per turn. */
#include "common/machine/executor.h"
#include "common/machine/stride.h"
#include "common/mpi/driver.h"
#include "common/mpi/ops.h"

#include <stddef.h>

static struct driver *driver_of_share(struct stride_share *share)
{
    return (struct driver *)(void *)((char *)share - offsetof(struct driver, share));
}

static struct driver *owner_of(const struct link *link)
{
    return link->stride.owner != NULL ? driver_of_share(link->stride.owner) : NULL;
}

static bool is_held(const struct driver *driver)
{
    return driver->share.has_chunk && driver->effects->executor->is_away;
}

static bool may_tell(const struct driver *driver)
{
    const bool is_next = driver->is_beside && driver->share.round != driver->link->stride.round;
    return driver->state == DRIVER_RUNS && (driver->may_tell || is_next);
}

static struct driver *find_teller(const struct link *link)
{
    struct driver *driver = link->drivers;
    while (driver != NULL && (!may_tell(driver) || link->stride.owner == &driver->share))
        driver = driver->next;
    return driver;
}

/* If the helper reports how long it computed, the job is charged for that time. The elapsed time may include waiting
 * for the core. */
static void charge(struct driver *driver, uint64_t now_ns)
{
    const uint64_t spent_ns = driver->effects->executor->spent_ns - driver->spent_ns;
    driver->spent_ns += spent_ns;
    stride_charge(&driver->link->stride, &driver->share, spent_ns > 0 ? spent_ns : now_ns - driver->link->compute_ns);
    driver->link->ran_on = driver->effects->executor->ran_on;
}

static bool take_core(struct link *link, struct driver *owner, uint64_t now_ns)
{
    struct executor *executor = owner->effects->executor;
    if (owner->share.has_chunk && !executor->is_put_off && stride_due_ns(&link->stride) > now_ns)
        return false;
    if (!executor_put_off(executor) && owner->share.has_chunk)
        return false;
    if (owner->share.held_since_ns > 0) {
        link->compute_ns = owner->share.held_since_ns;
        charge(owner, now_ns);
    }
    if (!owner->share.has_chunk)
        stride_pass(&owner->share);
    stride_disown(&link->stride);
    return true;
}

static void give_core(struct driver *driver, uint64_t now_ns)
{
    struct stride *stride = &driver->link->stride;
    struct executor *executor = driver->effects->executor;
    driver->spent_ns = executor->spent_ns;
    stride_own(stride, &driver->share, now_ns);
    executor_stop_at(executor, stride_due_ns(stride));
    executor->begins_on = driver->link->ran_on;
    executor_go_on(executor);
}

static struct driver *give_chance(struct link *link)
{
    struct stride *stride = &link->stride;
    struct driver *driver = find_teller(link), *owner = owner_of(link);
    const uint64_t now_ns = link->ops->now();
    if (driver != NULL) {
        driver->share.round = stride->round;
        return driver;
    }
    if (owner != NULL && !take_core(link, owner, now_ns)) {
        if (owner->share.round == stride->round)
            return NULL;
        owner->share.round = stride->round;
        link->compute_ns = owner->share.held_since_ns > 0 ? owner->share.held_since_ns : now_ns;
        return owner;
    }
    struct stride_share *share = stride_next(stride);
    if (share == NULL)
        return NULL;
    driver = driver_of_share(share);
    give_core(driver, now_ns);
    link->compute_ns = now_ns;
    return driver;
}

void arbiter_share(struct link *link)
{
    struct driver *first = link->drivers;
    if (first == NULL || first->next != NULL || first->effects->executor == NULL || first->state != DRIVER_RUNS)
        return;
    give_core(first, link->ops->now());
    if (is_held(first))
        stride_hold(&first->share, link->stride.since_ns);
}

void arbiter_leave(struct link *link)
{
    struct driver *last = link->drivers;
    if (last == NULL || last->next != NULL)
        return;
    stride_disown(&link->stride);
    if (last->effects->executor == NULL)
        return;
    executor_stop_at(last->effects->executor, STRIDE_NEVER);
    executor_go_on(last->effects->executor);
}

void arbiter_note_chunk(struct driver *driver)
{
    struct stride *stride = &driver->link->stride;
    if (driver->link->drivers->next == NULL) {
        driver->share.has_chunk = true;
        return;
    }
    stride_want(stride, &driver->share);
    if (stride->owner != &driver->share)
        executor_put_off(driver->effects->executor);
}

void arbiter_note_cut(struct driver *driver)
{
    const struct executor *executor = driver->effects->executor;
    driver->share.has_chunk = executor_has_chunk(executor, driver->share.has_chunk);
    driver->may_tell = executor->is_put_off;
}

void arbiter_note_end(struct driver *driver)
{
    stride_end(&driver->share);
    driver->is_beside = true;
}

uint64_t arbiter_due_ns(const struct link *link)
{
    struct driver *owner = owner_of(link);
    if (owner == NULL || owner->effects->executor->is_put_off)
        return STRIDE_NEVER;
    const uint64_t due_ns = stride_due_ns(&link->stride);
    return executor_stop_at(owner->effects->executor, due_ns) ? STRIDE_NEVER : due_ns;
}

struct driver *arbiter_begin(struct link *link)
{
#ifdef HDSS_CHECKS
    stride_check(&link->stride);
#endif
    stride_begin(&link->stride);
    return give_chance(link);
}

struct driver *arbiter_next(struct driver *driver, bool computed)
{
    struct link *link = driver->link;
    struct executor *executor = driver->effects->executor;
    if (owner_of(link) != driver) {
        driver->may_tell = computed;
        return computed ? NULL : give_chance(link);
    }
    const bool stands = executor->is_put_off && executor_put_off(executor);
    if (computed || stands) {
        charge(driver, link->ops->now());
        if (stands)
            stride_disown(&link->stride);
        return computed ? NULL : give_chance(link);
    }
    if (is_held(driver)) {
        stride_hold(&driver->share, link->compute_ns);
        return NULL;
    }
    executor_put_off(executor);
    stride_pass(&driver->share);
    stride_disown(&link->stride);
    return give_chance(link);
}
