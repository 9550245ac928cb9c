/* SPDX-License-Identifier: MIT */
/* The commands of a worker, in its helper: see serve.h. */
#include "worker/exec/serve.h"

#include "common/util/digest.h"
#include "worker/exec/steps.h"

#include <sched.h>
#include <stdio.h>

/* Time for which a helper looks for the next command before it sleeps, where worker and helper have cores each. */
#define SERVE_SPIN_NS 20000u

struct server {
    struct exec exec;
    struct channel *channel;
    unsigned char *memory;
    int bell;
};

static void serve_fail(struct channel *channel, enum channel_result result, const char *why)
{
    channel->result = result;
    snprintf(channel->error, sizeof channel->error, "%s", why);
}

/* Runs the kernel for the next iterations, all of which are claimed. A kernel that returns what it must not has failed.
 */
static int serve_call(struct server *server, uint64_t count, void *records, bool soon)
{
    struct exec *exec = &server->exec;
    int result = exec_run_timed(exec, count, records, soon);
    if (result > 0)
        snprintf(exec->error, sizeof exec->error, "the kernel returned %d; accepted: 0, -1", result);
    return result == 0 ? 0 : -1;
}

/* The number of iterations to claim for the next call of the kernel. */
static uint64_t claim_size(const struct exec *exec, uint64_t singly)
{
    const struct exec_chunk *chunk = &exec->chunk;
    if (chunk->done < singly)
        return 1;
    uint64_t most = chunk->count - chunk->done;
    return exec_call_size(exec, exec->config.collect ? most : exec_least(most, exec->records.capacity));
}

/* Computes the range, call by call, until all of it is done, the worker has cut it, or an iteration fails: those of a
 * call that failed are run one by one. */
static void serve_run(struct server *server)
{
    struct exec *exec = &server->exec;
    struct exec_chunk *chunk = &exec->chunk;
    struct channel *channel = server->channel;
    struct channel_done done = {0};
    uint64_t claimed = 0, singly = channel->singly;
    unsigned char *to = channel->collect ? server->memory + channel->place : exec_next_records(exec);
    int result = 0;
    executor_begin(&exec->executor, channel->first, channel->count, 0, false);
    while (result == 0 && !exec->step.is_stuck) {
        if (claimed == chunk->done)
            claimed += channel_claim(&channel->claims, claim_size(exec, singly));
        uint64_t count = chunk->done < singly ? 1 : claimed - chunk->done;
        if (claimed == chunk->done)
            break;
        result = serve_call(server, count, to, chunk->done > 0);
        if (result < 0 && count > 1 && !exec->step.is_stuck) {
            singly = claimed;
            result = 0;
        } else if (result == 0) {
            done.digest += digest_records(channel->first + chunk->done, count, to, exec->records.bytes);
            chunk->done += count;
            done.count = chunk->done;
            done.compute_ns = chunk->compute_ns;
            to += channel->collect ? count * exec->records.bytes : 0;
            if (channel->spread)
                exec_end_piece(exec);
            channel_publish(channel, &done);
            if (done.count >= atomic_load(&channel->wake_at)) {
                atomic_store(&channel->wake_at, UINT64_MAX);
                channel_wake_worker(channel, server->bell);
            }
        }
    }
    if (exec->step.is_stuck || result < 0)
        serve_fail(channel, exec->step.is_stuck ? CHANNEL_STUCK : CHANNEL_FAILED, exec->error);
    if (channel->spread && exec->pieces.spread.pieces == 0 && chunk->done > 0)
        spread_add(&exec->pieces.spread, chunk->done, exec->pieces.ns);
    channel->pieces = exec->pieces.spread;
    channel->began_ns = chunk->began_ns;
    chunk->running = false;
}

/* Runs a probe iteration. One that has killed a helper is left out. */
static void serve_probe_one(void *context, uint64_t iteration)
{
    struct server *server = context;
    struct channel *channel = server->channel;
    for (unsigned i = 0; i < channel->skipped_count; i++)
        if (channel->skipped[i] == iteration)
            return;
    atomic_store_explicit(&channel->probing, iteration + 1, memory_order_release);
    exec_call_kernel(&server->exec, iteration, 1, exec_next_records(&server->exec));
    atomic_store_explicit(&channel->probing, 0, memory_order_release);
}

static void serve_command(struct server *server, const struct exec_config *config, const char *failure)
{
    struct channel *channel = server->channel;
    channel->result = CHANNEL_DONE;
    channel->final = false;
    switch (channel->command) {
    case CHANNEL_OPEN:
        if (failure != NULL)
            serve_fail(channel, CHANNEL_FAILED, failure);
        else if (exec_init(&server->exec, config) < 0)
            serve_fail(channel, CHANNEL_FAILED, server->exec.error);
        break;
    case CHANNEL_PROBE: exec_time_probe(&server->exec, serve_probe_one, server, &channel->speed); break;
    case CHANNEL_RUN: serve_run(server); break;
    case CHANNEL_LEAVE: break;
    }
}

/* Takes what the worker has said of itself. */
static void take_config(const struct channel *channel, struct exec_config *config)
{
    config->worker = channel->worker;
    config->collect = channel->collect;
    config->spread = channel->spread;
    config->slowdown = channel->slowdown;
}

void serve(void *memory, int bell, const struct exec_config *given, const char *failure)
{
    static struct server server;
    struct channel *channel = memory;
    struct exec_config config = *given;
    cpu_set_t cores;
    bool is_bound = sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) == 1;
    uint32_t number = atomic_load(&channel->answered);
    take_config(channel, &config);
    server = (struct server){.channel = channel, .memory = memory, .bell = bell};
    for (bool leaves = false; !leaves;) {
        number = channel_await_call(channel, number, is_bound ? 0 : SERVE_SPIN_NS);
        leaves = channel->command == CHANNEL_LEAVE; /* behind the answer there may be another command */
        serve_command(&server, &config, failure);
        if (leaves && server.exec.open)
            executor_fini(&server.exec.executor);
        atomic_store(&channel->answered, number);
        channel_wake_worker(channel, bell);
    }
}
