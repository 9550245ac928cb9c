/* SPDX-License-Identifier: MIT */
/* Opens and closes a link, and adds and removes jobs. No other file of the link calls this one. */
#include "common/mpi/link.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/mpi/driver.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* Does this rank need something that only `rank` can give? This may be data that `rank` sends, or work that only `rank`
 * may do. */
static bool link_needs(const struct link *link, unsigned rank)
{
    bool needs = net_awaits_data(&link->net, rank);
    for (const struct driver *driver = link->drivers; !needs && driver != NULL; driver = driver->next)
        needs = driver->state == DRIVER_RUNS && driver->machine->needs != NULL &&
                driver->machine->needs(driver->machine->self, rank);
    return needs;
}

static int link_init(struct link *link)
{
    struct runtime *runtime = link->runtime;
    const unsigned receives = runtime->role == ROLE_WORKER ? 4 : RECEIVES_MAX;
    if (link->ops->watch_all(runtime) < 0 || link->ops->open_wait(&link->wait, runtime) < 0)
        return -1;
    if (net_init(&link->net, runtime, receives) < 0 || far_init(link) < 0)
        return -1;
    runtime->net = &link->net;
    runtime->link = link;
    runtime->link_needs = link_needs;
    return 0;
}

struct link *link_open(struct runtime *runtime)
{
    struct link *link = calloc(1, sizeof *link);
    struct error error;
    assert(runtime->grouped && runtime->ops != NULL);
    if (link == NULL)
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    *link = (struct link){.runtime = runtime,
                          .ops = runtime->ops,
                          .stride.keeps_ns = LINK_KEEPS_NS,
                          .serves = runtime->role != ROLE_WORKER};
    if (runtime->ops->prepare(runtime, &error) < 0) {
        if (error.text[0] != '\0')
            link_give_up(link, error.text);
        for (;;)
            pause();
    }
    if (link_init(link) < 0) {
        link_give_up(link, "cannot prepare: out of memory, or of files");
        free(link);
        return NULL;
    }
    link->now_ns = runtime->ops->now();
    return link;
}

static void driver_free(struct driver *driver)
{
    actions_fini(&driver->actions);
    free(driver->stores.events);
    free(driver->stores.errors);
    free(driver->releases.items);
    free(driver);
}

static void forget_messages(struct link *link, struct driver *driver)
{
    const void *payload;
    while ((payload = net_forget(&link->net, &driver->user)) != NULL)
        executor_abandon(driver->effects->executor, payload);
}

void link_close(struct link *link)
{
    struct runtime *runtime = link->runtime;
    assert(peers_check(&runtime->peers));
    runtime->net = NULL;
    runtime->link = NULL;
    runtime->link_needs = NULL;
    far_close(link);
    if (!runtime->degraded) /* after the loss of a rank, MPI is not called any more */
        net_fini(&link->net);
    while (link->drivers != NULL) {
        struct driver *driver = link->drivers;
        link->drivers = driver->next;
        link->ops->end_work(&link->wait, &driver->work);
        driver_free(driver);
    }
    link->ops->close_wait(&link->wait);
    deferred_fini(&link->deferred);
    deferred_fini(&link->early);
    announcements_fini(&link->announcements);
    free(link->returns.since);
    free(link);
    /* Finishing the output may take long, so the heartbeat thread may use MPI from here until runtime_wait(). */
    heartbeat_release(&runtime->heartbeat);
}

static void set_exchange(struct link *link)
{
    bool exchanges = false;
    for (const struct driver *driver = link->drivers; driver != NULL; driver = driver->next)
        exchanges |= driver->exchanges;
    if (exchanges == link->runtime->exchanges)
        return;
    link->runtime->exchanges = exchanges;
    link->exchange_ends = false;
    link->ops->exchange(&link->wait, link->runtime);
}

static struct driver *driver_new(struct link *link, const struct part_of_job *part)
{
    const struct effects *effects = part->effects;
    struct driver *driver = calloc(1, sizeof *driver);
    if (driver == NULL)
        return NULL;
    driver->user.job = part->job;
    driver->link = link;
    driver->machine = part->machine;
    driver->effects = effects;
    driver->exchanges = part->exchanges;
    driver->are_tasks = part->are_tasks;
    driver->share = (struct stride_share){.weight = part->weight, .priority = part->priority};
    driver->stores.events = calloc(STORES_MAX, sizeof *driver->stores.events);
    driver->stores.errors = calloc(STORES_MAX, sizeof *driver->stores.errors);
    driver->sink = (struct action_sink){driver_send, driver_apply, driver};
    actions_init_sink(&driver->actions, &driver->sink);
    driver->next_tick_ns = effects->tick != NULL && effects->tick_ns > 0 ? 0 : NEVER;
    if (driver->stores.events == NULL || driver->stores.errors == NULL ||
        link->ops->begin_work(&link->wait, &driver->work, effects->executor) < 0) {
        driver_free(driver);
        return NULL;
    }
    return driver;
}

static void tell_losses(struct driver *driver)
{
    const struct runtime *runtime = driver->link->runtime;
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++) {
        struct event lost = {.type = EVENT_RANK_LOST, .from = i};
        const bool is_lost = peers_state(&runtime->peers, i) == PEER_LOST || !driver_knows(driver, i);
        if (driver->state == DRIVER_RUNS && i != runtime->rank && is_lost)
            driver_step(driver, &lost);
    }
}

struct driver *link_add(struct link *link, const struct part_of_job *part)
{
    const struct executor *executor = part->effects->executor;
    assert(part->job > link->newest && part->weight > 0);
    assert(part->exchanges || executor == NULL || !executor_is_dependent(executor));
    struct driver *driver = driver_new(link, part), **end = &link->drivers;
    if (driver == NULL) {
        link_give_up(link, "cannot prepare: out of memory, or of files");
        return NULL;
    }
    if (executor != NULL)
        stride_admit(&link->stride, &driver->share);
    arbiter_share(link);
    while (*end != NULL)
        end = &(*end)->next;
    *end = driver;
    link->newest = part->job;
    link->computes |= executor != NULL;
    link->early_is_due = link->early.count > 0;
    set_exchange(link);
    if (part->exchanges && part->failure == NULL)
        driver_open(driver); /* the executor is opened now, because boundary data may arrive before the first chunk */
    if (part->effects->begun != NULL)
        part->effects->begun(part->effects->context);
    link->now_ns = link->ops->now();
    struct event start = {.type = part->failure == NULL ? EVENT_START : EVENT_FATAL, .text = part->failure};
    driver_step(driver, &start);
    tell_losses(driver);
    return driver;
}

/* Time limit for the last sends if a rank was lost. A second rank may be lost without anybody noticing, and a message
 * to it is never sent. */
#define LAST_SENDS_NS 2000000000u

static bool is_too_late(const struct link *link, uint64_t ended_ns)
{
    return link->runtime->degraded && link->now_ns > ended_ns + LAST_SENDS_NS;
}

static bool has_last_sends(const struct link *link, const struct net_user *user, uint64_t ended_ns)
{
    return user->pending > 0 && !is_too_late(link, ended_ns);
}

/* Returns whether data are still arriving. Data that will be discarded count too, because their sender cannot end
 * before this rank has received them. */
static bool has_last_data(const struct link *link, uint64_t ended_ns)
{
    return link->net.collects_active > 0 && !is_too_late(link, ended_ns);
}

/* Are messages of the job still being sent? In a set, the memory of a job is freed when the job is removed. So a job of
 * a set waits without a time limit until MPI does not use this memory any more. The wait also ends if the receiver is
 * known to be lost. */
static bool has_last_messages(const struct driver *driver)
{
    struct link *link = driver->link;
    return has_last_sends(link, &driver->user, driver->exit_ns) ||
           (link->expects_jobs && net_borrows(&link->net, &driver->user));
}

bool driver_goes_on(const struct driver *driver)
{
    return !driver->link->is_broken && (driver->state == DRIVER_RUNS || has_last_messages(driver));
}

bool link_is_over(const struct link *link)
{
    const struct announcements *announcements = &link->announcements;
    assert(link->expects_jobs);
    if (link->is_broken)
        return true;
    return announcements->end != 0 && link->drivers == NULL &&
           !has_last_sends(link, &announcements->user, announcements->end_ns) &&
           !has_last_data(link, announcements->end_ns);
}

int link_remove(struct link *link, struct driver *driver)
{
    struct driver **place = &link->drivers;
    const int status = driver->status;
    assert(!driver_goes_on(driver));
    while (*place != driver)
        place = &(*place)->next;
    *place = driver->next;
    stride_leave(&link->stride, &driver->share);
    arbiter_leave(link);
    forget_messages(link, driver);
    announcements_forget(&link->announcements, driver->user.job);
    set_exchange(link);
    link->ops->end_work(&link->wait, &driver->work);
    link->computes = false;
    for (const struct driver *other = link->drivers; other != NULL; other = other->next)
        link->computes |= other->effects->executor != NULL;
    driver_free(driver);
    return status;
}

void link_keep_for(struct link *link, uint64_t ns)
{
    link->stride.keeps_ns = ns;
}

uint64_t driver_used_ns(const struct driver *driver)
{
    return driver->share.used_ns;
}

int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure)
{
    const struct part_of_job part = {
        .job = FIRST_JOB,
        .weight = 1,
        .machine = machine,
        .effects = effects,
        .exchanges = effects->executor != NULL && executor_is_dependent(effects->executor),
        .failure = failure,
    };
    struct link *link = link_open(runtime);
    struct driver *driver = link != NULL ? link_add(link, &part) : NULL;
    if (driver == NULL)
        return EXIT_STATUS_FAILED;
    while (driver_goes_on(driver))
        link_turn(link);
    forget_messages(link, driver);
    while (!link->is_broken && has_last_data(link, driver->exit_ns))
        link_turn(link);
    const int status = driver->status;
    link_close(link);
    return status;
}
