/* SPDX-License-Identifier: MIT */
/* The arbiter: which of several jobs computes next on this rank. Stride scheduling: each job has a pass, the time that
 * it has used over its weight, and the one with the least pass is next, a turn of its executor at a time. A job that
 * had nothing to compute goes on from where the others are: what it did not use is not saved up. While a process of its
 * own computes for a job no other one does: a worker computes for one job at a time. While a job has a chunk here none
 * of lower priority computes. */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/mpi/ops.h"

/* Units of a pass in a nanosecond. */
#define PASS_SCALE 1024u

static bool has_turn(const struct link *link, const struct driver *driver)
{
    return driver->state == DRIVER_RUNS && driver->effects->executor != NULL && driver->share.round != link->round;
}

/* True where a job of higher priority has a chunk here. */
static bool is_put_off(const struct link *link, const struct driver *driver)
{
    const struct driver *other = link->drivers;
    while (other != NULL &&
           !(other->share.has_chunk && other->share.priority > driver->share.priority && other->state == DRIVER_RUNS))
        other = other->next;
    return other != NULL;
}

/* True where the job has its chance before the other. */
static bool is_before(const struct driver *driver, const struct driver *other)
{
    if (other == NULL || driver->share.priority != other->share.priority)
        return other == NULL || driver->share.priority > other->share.priority;
    return driver->share.pass < other->share.pass;
}

/* The job that computes next of those that have not had their chance in this turn; NULL: none is left. */
static struct driver *choose(const struct link *link)
{
    struct driver *chosen = NULL;
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next) {
        if (!has_turn(link, driver))
            continue;
        if (driver->share.held_since_ns > 0)
            return driver;
        if (is_before(driver, chosen) && !is_put_off(link, driver))
            chosen = driver;
    }
    return chosen;
}

/* Tells the jobs of this priority where they are. */
static void share_floor(struct link *link, const struct share *share)
{
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next)
        if (driver->share.priority == share->priority)
            driver->share.floor = share->pass;
}

static void charge(struct driver *driver, uint64_t ns)
{
    struct share *share = &driver->share;
    if (share->was_idle && share->pass < share->floor)
        share->pass = share->floor;
    share->was_idle = false;
    share_floor(driver->link, share);
    share->pass += ns * PASS_SCALE / share->weight;
    share->used_ns += ns;
}

void arbiter_admit(struct driver *driver)
{
    const struct driver *other = driver->link->drivers;
    while (other != NULL && other->share.priority != driver->share.priority)
        other = other->next;
    driver->share.floor = other != NULL ? other->share.floor : 0;
    driver->share.was_idle = true;
}

/* True where another process computes for the job. */
static bool is_held(const struct driver *driver)
{
    return driver->share.has_chunk && driver->effects->executor->is_away;
}

static struct driver *give_chance(struct link *link)
{
    struct driver *driver = choose(link);
    if (driver == NULL)
        return NULL;
    driver->share.round = link->round;
    link->compute_ns = driver->share.held_since_ns > 0 ? driver->share.held_since_ns : link->ops->now();
    driver->share.held_since_ns = 0;
    return driver;
}

struct driver *arbiter_begin(struct link *link)
{
    link->round++;
    return give_chance(link);
}

struct driver *arbiter_next(struct driver *driver, bool computed)
{
    struct link *link = driver->link;
    if (computed) {
        charge(driver, link->ops->now() - link->compute_ns);
        return NULL;
    }
    if (is_held(driver)) {
        driver->share.held_since_ns = link->compute_ns;
        return NULL;
    }
    driver->share.was_idle = true;
    return give_chance(link);
}
