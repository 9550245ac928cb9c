/* SPDX-License-Identifier: MIT */
/* The arbiter: which of several jobs computes next on this rank, a turn of its executor at a time, by stride scheduling
 * (common/machine/stride.h). While a process of its own computes for a job no other one does: a worker computes for one
 * job at a time. */
#include "common/machine/executor.h"
#include "common/machine/stride.h"
#include "common/mpi/driver.h"
#include "common/mpi/ops.h"

#include <stddef.h>

static struct driver *driver_of_share(struct stride_share *share)
{
    return (struct driver *)(void *)((char *)share - offsetof(struct driver, share));
}

/* True where another process computes for the job. */
static bool is_held(const struct driver *driver)
{
    return driver->share.has_chunk && driver->effects->executor->is_away;
}

static struct driver *give_chance(struct link *link)
{
    struct stride_share *share = stride_next(&link->stride);
    if (share == NULL)
        return NULL;
    link->compute_ns = share->held_since_ns > 0 ? share->held_since_ns : link->ops->now();
    return driver_of_share(share);
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
    if (computed) {
        stride_charge(&link->stride, &driver->share, link->ops->now() - link->compute_ns);
        return NULL;
    }
    if (is_held(driver)) {
        stride_hold(&driver->share, link->compute_ns);
        return NULL;
    }
    stride_pass(&driver->share);
    return give_chance(link);
}
