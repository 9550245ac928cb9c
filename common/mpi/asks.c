/* SPDX-License-Identifier: MIT */
/* Requests of a worker that takes part in several jobs of tasks.
 *
 * A task may keep the core for hours. If a chunk of another job arrived in that time, it would wait here although other
 * workers are idle. So a job of tasks requests no chunk while another job of tasks has a chunk on this rank. For the
 * same reason the jobs send their requests one after the other. Only requests for chunks are held back. Reports of
 * finished chunks are sent at once. */
#include "common/mpi/driver.h"

/* After a job has sent a request, the next job waits this long before it sends its own. If a chunk has come by then,
 * the next job waits for the end of this chunk. An answer that comes after this time is still accepted. */
#define ANSWER_NS 1000000

static bool has_chunk(const struct link *link)
{
    const struct driver *driver = link->drivers;
    while (driver != NULL && !(driver->are_tasks && driver->state == DRIVER_RUNS && driver->share.has_chunk))
        driver = driver->next;
    return driver != NULL;
}

static bool owes(const struct driver *driver)
{
    return driver->owed.request.asks > 0 && driver->state == DRIVER_RUNS;
}

static bool has_rival(const struct driver *driver)
{
    const struct driver *other = driver->link->drivers;
    while (other != NULL && (other == driver || !other->are_tasks || other->state != DRIVER_RUNS ||
                             (!other->share.has_chunk && !owes(other))))
        other = other->next;
    return other != NULL;
}

bool asks_hold_back(struct driver *driver, unsigned to, const struct message **message, struct message *rest)
{
    const struct message *all = *message;
    if (!driver->are_tasks || all->type != MESSAGE_REQUEST || all->request.asks == 0 || !has_rival(driver))
        return true;
    const unsigned asks = driver->owed.request.asks + all->request.asks;
    driver->owed = (struct message){.type = MESSAGE_REQUEST, .request = {.asks = asks, .load = all->request.load}};
    driver->owed_to = to;
    driver->link->are_owed = true;
    *rest = *all;
    rest->request.asks = 0;
    *message = rest;
    return all->record_count > 0 || all->request.done || all->request.chunk != 0 || all->payload != PAYLOAD_NONE;
}

static bool asks_before(const struct driver *driver, const struct driver *other)
{
    return other == NULL || driver->share.priority > other->share.priority ||
           (driver->share.priority == other->share.priority && driver->share.pass < other->share.pass);
}

struct driver *asks_take(struct link *link, struct message *message)
{
    struct driver *first = NULL;
    for (struct driver *driver = link->are_owed ? link->drivers : NULL; driver != NULL; driver = driver->next)
        if (owes(driver) && asks_before(driver, first))
            first = driver;
    link->are_owed = first != NULL;
    if (first == NULL || link->now_ns < asks_due_ns(link))
        return NULL;
    *message = first->owed;
    first->owed.request.asks = 0;
    link->asked_ns = link->now_ns;
    return first;
}

uint64_t asks_due_ns(const struct link *link)
{
    const struct driver *driver = link->are_owed ? link->drivers : NULL;
    while (driver != NULL && !owes(driver))
        driver = driver->next;
    return driver == NULL || has_chunk(link) ? NEVER : link->asked_ns + ANSWER_NS;
}
