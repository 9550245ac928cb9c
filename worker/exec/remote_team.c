/* SPDX-License-Identifier: MIT */
/* The worker's end of a helper's threads: see remote_team.h. */
#include "worker/exec/remote_team.h"

#include "common/util/error.h"
#include "worker/exec/helper.h"
#include "worker/exec/steps.h"
#include "worker/exec/thread_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* If so many helpers in succession die without calling the kernel, the worker gives up. */
#define TEAM_DEATHS_MAX    10
#define TEAM_END_NS        2000000000u
#define TEAM_LIMIT_TIMES   100
#define TEAM_LIMIT_LOOK_NS 100000000u

static size_t whole_pages(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

struct team_layout team_layout_of(unsigned threads, size_t slot_room)
{
    struct team_layout layout = {.ring = whole_pages(sizeof(struct team_share))};
    layout.spread = layout.ring + whole_pages(ring_bytes(threads));
    layout.records = layout.spread + whole_pages((size_t)threads * ring_places(threads) * sizeof(struct spread));
    layout.bytes = layout.records + 2 * ring_places(threads) * slot_room;
    return layout;
}

void thread_pool_share(struct thread_pool *pool, void *share, size_t slot_room)
{
    const struct team_layout layout = team_layout_of(pool->config.threads, slot_room);
    unsigned char *bytes = share;
    pool->team.share = share;
    pool->team.spread = (struct spread *)(bytes + layout.spread);
    pool->team.records = slot_room > 0 ? bytes + layout.records : NULL;
    pool->team.slot_room = slot_room;
}

static int watch_helpers(struct thread_pool *pool)
{
    struct remote_team *remote = pool->team.remote;
    struct epoll_event news = {.events = EPOLLIN};
    remote->watch = epoll_create1(EPOLL_CLOEXEC);
    return remote->watch >= 0 &&
                   epoll_ctl(remote->watch, EPOLL_CTL_ADD, helper_descriptor(&remote->exec.remote.helper), &news) ==
                       0 &&
                   epoll_ctl(remote->watch, EPOLL_CTL_ADD, helper_descriptor(&pool->exec.remote.helper), &news) == 0
               ? 0
               : -1;
}

int remote_team_init(struct thread_pool *pool, size_t slot_room)
{
    struct remote_team *remote = calloc(1, sizeof *remote);
    struct exec_config config = pool->config.exec;
    struct error error;
    const struct exec_team team = {.threads = pool->config.threads, .spread = config.spread, .slot_room = slot_room};
    /* This executor only probes; the threads get these settings from `team`. */
    config.collect = config.spread = false;
    config.team = &team;
    pool->team.remote = remote;
    if (remote == NULL || exec_init(&remote->exec, &config) < 0) {
        snprintf(pool->error, sizeof pool->error, "%s", remote != NULL ? remote->exec.error : "out of memory");
        free(remote);
        pool->team.remote = NULL;
        return -1;
    }
    remote->exec.config.team = NULL;
    struct channel *channel = remote->exec.remote.helper.channel;
    unsigned char *share = (unsigned char *)channel + channel->records_at;
    thread_pool_share(pool, share, slot_room);
    pool->team.channel = channel;
    pool->bell = remote->exec.remote.helper.bell;
    remote->watch = -1;
    if (config.limit_ns > 0)
        remote->standing = calloc(pool->config.threads, sizeof *remote->standing);
    if ((config.limit_ns > 0 && remote->standing == NULL) || watch_helpers(pool) < 0) {
        snprintf(pool->error, sizeof pool->error, "no memory, or no files, for a helper: %s", strerror(errno));
        remote_team_fini(pool);
        return -1;
    }
    if (ring_init_shared(&pool->ring, share + team_layout_of(pool->config.threads, slot_room).ring, false,
                         pool->config.threads, pool->config.technique, pool->team.notify, pool, &error) == 0)
        return 0;
    snprintf(pool->error, sizeof pool->error, "%.*s", HDSS_ERROR_MAX - 1, error.text);
    remote_team_fini(pool);
    return -1;
}

void remote_team_fini(struct thread_pool *pool)
{
    struct remote_team *remote = pool->team.remote;
    char unused[HDSS_ERROR_MAX];
    if (remote == NULL)
        return;
    if (remote->posted && remote->exec.remote.helper.state == HELPER_RUNNING && ring_is_left(&pool->ring, 0)) {
        ring_stop(&pool->ring);
        helper_await(&remote->exec.remote.helper, TEAM_END_NS, unused);
    }
    executor_fini(&remote->exec.executor);
    if (remote->watch >= 0)
        close(remote->watch);
    free(remote->standing);
    free(remote);
    pool->team.remote = NULL;
    pool->team.share = NULL;
    pool->bell = -1;
}

static uint64_t calls_of_team(const struct thread_pool *pool)
{
    uint64_t calls = 0;
    for (unsigned t = 0; t < pool->config.threads; t++)
        calls += atomic_load_explicit(&pool->ring.thread[t].calls, memory_order_relaxed);
    return calls;
}

static void give_up_team(struct thread_pool *pool, const char *why)
{
    error_set(&pool->problem, "no thread can compute: %s", why);
    pool->has_problem = true;
}

static void mend_team(struct thread_pool *pool, const char *why)
{
    struct remote_team *remote = pool->team.remote;
    const uint64_t calls = calls_of_team(pool);
    if (remote->posted)
        ring_mend(&pool->ring);
    remote->posted = false;
    remote->deaths = calls != remote->calls ? 0 : remote->deaths + 1;
    remote->calls = calls;
    if (remote->deaths >= TEAM_DEATHS_MAX)
        give_up_team(pool, why);
}

static uint64_t limit_of_team(const struct thread_pool *pool)
{
    const struct exec_config *config = &pool->config.exec;
    uint64_t longest_ns = pool->team.remote->longest_ns;
    if (pool->team.remote->exec.remote.standing.longest_ns > longest_ns)
        longest_ns = pool->team.remote->exec.remote.standing.longest_ns;
    if (!config->limit_adapts)
        return config->limit_ns;
    if (longest_ns == 0 || longest_ns > UINT64_MAX / TEAM_LIMIT_TIMES)
        return UINT64_MAX;
    return longest_ns * TEAM_LIMIT_TIMES > config->limit_ns ? longest_ns * TEAM_LIMIT_TIMES : config->limit_ns;
}

/* Kills the helper if a thread's call takes longer than the time limit of an iteration. No iteration is blamed for
 * that. The iterations that were running are run again one by one, each with the whole limit. */
static void kill_team_if_overdue(struct thread_pool *pool)
{
    struct remote_team *remote = pool->team.remote;
    const uint64_t now_ns = helper_now(&remote->exec.remote.helper),
                   passed_ns = exec_least(now_ns - remote->looked_ns, TEAM_LIMIT_LOOK_NS);
    bool is_over = false;
    remote->looked_ns = now_ns;
    for (unsigned t = 0; t < pool->config.threads; t++) {
        struct team_standing *standing = &remote->standing[t];
        const struct ring_thread *thread = &pool->ring.thread[t];
        const uint64_t calls = atomic_load(&thread->calls);
        bool runs = atomic_load(&thread->at) != RING_NOWHERE && calls == standing->calls;
        if (calls != standing->calls && standing->ns >= remote->longest_ns)
            remote->longest_ns = standing->ns + 1;
        standing->ns = runs ? standing->ns + passed_ns : 0;
        standing->calls = calls;
        is_over |= standing->ns > limit_of_team(pool);
    }
    if (!is_over || remote->exec.remote.helper.killed)
        return;
    helper_kill(&remote->exec.remote.helper);
    for (unsigned t = 0; t < pool->config.threads; t++)
        remote->standing[t].ns = 0;
}

void remote_team_turn(struct thread_pool *pool)
{
    struct remote_team *remote = pool->team.remote;
    struct helper *helper = &remote->exec.remote.helper;
    char why[HDSS_ERROR_MAX] = "the helper has ended";
    if (!pool->team.ends)
        exec_remote_look(&pool->exec);
    bool died = helper_look(helper, why);
    atomic_store(&pool->team.share->has_work, false);
    if (pool->team.ends)
        return;
    if (died || (remote->posted && helper->state == HELPER_NONE))
        mend_team(pool, why);
    if (atomic_load(&pool->team.share->is_stuck) && !pool->has_problem) {
        error_set(&pool->problem, "%.*s", HDSS_ERROR_MAX - 1, pool->team.share->error);
        pool->has_problem = true;
    }
    if (pool->has_problem || pool->chunk_count == 0)
        return;
    if (helper->state == HELPER_NONE && helper_begin(helper, why) < 0)
        give_up_team(pool, why);
    if (helper->state == HELPER_READY && !pool->executor.is_put_off) {
        remote->posted = true;
        remote->looked_ns = helper_now(helper);
        helper_wake_at(helper, UINT64_MAX);
        helper_call(helper, CHANNEL_TEAM);
    } else if (remote->posted && remote->standing != NULL) {
        kill_team_if_overdue(pool);
    }
}

bool remote_team_has_ended(struct thread_pool *pool)
{
    return exec_remote_has_ended(&pool->exec) && exec_remote_has_ended(&pool->team.remote->exec);
}

bool remote_team_rest(struct thread_pool *pool)
{
    struct helper *helper = &pool->team.remote->exec.remote.helper;
    if (!pool->oldest.alone)
        helper_rest(&pool->exec.remote.helper);
    return helper_rest(helper) && !atomic_load(&pool->team.share->has_work);
}

uint64_t remote_team_processor_ns(const struct thread_pool *pool)
{
    return helper_processor_ns(&pool->team.remote->exec.remote.helper) + helper_processor_ns(&pool->exec.remote.helper);
}

void remote_team_note_step(struct thread_pool *pool, uint64_t iteration)
{
    struct exec_step *step = &pool->exec.step;
    step->number = iteration / step->count;
    step->first = step->number * step->count;
}
