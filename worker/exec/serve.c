/* SPDX-License-Identifier: MIT */
/* Runs a worker's commands in its helper: see serve.h. */
#include "worker/exec/serve.h"

#include "common/os/cores.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "worker/exec/output.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/steps.h"
#include "worker/exec/thread_pool.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a helper spins for the next command before it sleeps. SERVE_SPIN_NS: the helper has a core of its own.
 * SERVE_YIELD_NS: the helper shares the worker's core, and only yields once. */
#define SERVE_SPIN_NS  20000u
#define SERVE_YIELD_NS 1u

struct server {
    struct exec exec;
    struct thread_pool team;
    struct channel *channel;
    struct channel_work *work;
    unsigned char *memory;
    int file, bell;
    struct {
        unsigned char *memory;
        uint64_t room;
    } blocks[CHANNEL_WORKS];
    struct {
        unsigned char *memory;
        uint64_t at, bytes;
    } rows[CHANNEL_ROWS];
};

static void serve_fail(struct channel_work *work, enum channel_result result, const char *why)
{
    work->result = result;
    snprintf(work->error, sizeof work->error, "%s", why);
}

static unsigned place_of_blocks(const struct server *server)
{
    return (unsigned)(server->work - server->channel->works);
}

/* Maps `room` bytes for the command's blocks. A process that the kernel forks from this one does not inherit the
 * mapping. If such a process returns from the kernel, it crashes when it writes to the blocks. So it cannot send an
 * answer. */
static int map_blocks(struct server *server, uint64_t room)
{
    const unsigned i = place_of_blocks(server);
    if (server->blocks[i].memory != NULL)
        munmap(server->blocks[i].memory, server->blocks[i].room);
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, server->file, (off_t)server->work->place);
    if (memory != MAP_FAILED)
        madvise(memory, room, MADV_DONTFORK);
    server->blocks[i].memory = memory == MAP_FAILED ? NULL : memory;
    server->blocks[i].room = memory == MAP_FAILED ? 0 : room;
    return memory == MAP_FAILED ? -1 : 0;
}

static int extend_blocks(struct server *server, uint64_t end)
{
    const uint64_t apart = server->channel->blocks_apart;
    const off_t least = (off_t)(server->work->place + end);
    struct stat file;
    if ((apart > 0 && end > apart) || fstat(server->file, &file) < 0 ||
        (file.st_size < least && ftruncate(server->file, least) < 0))
        return -1;
    return map_blocks(server, end);
}

static int put_blocks(struct server *server, uint64_t count, struct channel_done *done)
{
    struct exec *exec = &server->exec;
    struct output *output = &exec->records.output;
    const unsigned i = place_of_blocks(server);
    const uint64_t bytes = output_bytes(output), end = done->bytes + channel_block_bytes(bytes);
    if (end > server->blocks[i].room && extend_blocks(server, end) < 0) {
        snprintf(exec->error, sizeof exec->error, "no memory for %llu bytes of output", (unsigned long long)bytes);
        output_clear(output, output->first);
        return -1;
    }
    unsigned char *to = server->blocks[i].memory + done->bytes;
    memcpy(to, &bytes, sizeof bytes);
    output_take(output, count, exec->config.loop, to + sizeof bytes);
    done->bytes = end;
    return 0;
}

static uint64_t claim_size(const struct exec *exec, uint64_t singly)
{
    const struct exec_chunk *chunk = &exec->chunk;
    if (chunk->done < singly)
        return 1;
    uint64_t most = chunk->count - chunk->done;
    bool has_room = exec->config.collect || exec->records.variable;
    return exec_call_size(exec, has_room ? most : exec_least(most, exec->records.capacity));
}

static int count_call(struct server *server, uint64_t count, const void *records, struct channel_done *done)
{
    struct exec *exec = &server->exec;
    struct exec_chunk *chunk = &exec->chunk;
    struct channel_work *work = server->work;
    if (exec->records.variable && put_blocks(server, count, done) < 0)
        return -1;
    if (!exec->records.variable)
        done->digest += digest_records(chunk->first + chunk->done, count, records, exec->records.bytes);
    chunk->done += count;
    done->count = chunk->done;
    done->compute_ns = chunk->compute_ns;
    if (server->channel->spread)
        exec_end_piece(exec);
    channel_publish(work, done);
    if (done->count >= atomic_load(&work->wake_at)) {
        atomic_store(&work->wake_at, UINT64_MAX);
        channel_wake_worker(server->channel, server->bell);
    }
    return 0;
}

static bool may_go_on(const struct server *server, const struct channel_done *done)
{
    const struct exec *exec = &server->exec;
    return exec->chunk.done == 0 ||
           (done->bytes < CHANNEL_BLOCKS &&
            exec->ended_ns < atomic_load_explicit(&server->channel->until_ns, memory_order_relaxed));
}

static void serve_run(struct server *server)
{
    struct exec *exec = &server->exec;
    struct exec_chunk *chunk = &exec->chunk;
    const struct channel *channel = server->channel;
    struct channel_work *work = server->work;
    struct channel_done done = {0};
    const bool in_place = channel->collect && !exec->records.variable;
    uint64_t claimed = 0, singly = work->singly;
    unsigned char *to = in_place ? server->memory + work->place : exec_next_records(exec);
    int result = 0;
    if (exec->records.variable && work->room != server->blocks[place_of_blocks(server)].room &&
        map_blocks(server, work->room) < 0) {
        serve_fail(work, CHANNEL_STUCK, "no memory for output");
        return;
    }
    executor_begin(&exec->executor, work->first, work->count, 0, false);
    while (result == 0 && !exec->step.is_stuck && !exec->records.output.is_unfit) {
        if (claimed == chunk->done && may_go_on(server, &done))
            claimed += channel_claim(&work->claims, claim_size(exec, singly));
        uint64_t count = chunk->done < singly ? 1 : claimed - chunk->done;
        if (claimed == chunk->done)
            break;
        result = exec_run_timed(exec, count, to, chunk->done > 0);
        if (result == 0)
            result = count_call(server, count, to, &done);
        if (result == 0 && in_place)
            to += count * exec->records.bytes;
        if (result < 0 && count > 1 && !exec->step.is_stuck) {
            singly = claimed;
            result = 0;
        }
    }
    if (exec->step.is_stuck || result < 0)
        serve_fail(work, exec->step.is_stuck ? CHANNEL_STUCK : CHANNEL_FAILED, exec->error);
    work->final = result < 0 && exec->records.output.called_failed;
    if (channel->spread && exec->pieces.spread.pieces == 0 && chunk->done > 0)
        spread_add(&exec->pieces.spread, chunk->done, exec->pieces.ns);
    work->pieces = exec->pieces.spread;
    work->began_ns = chunk->began_ns;
    work->is_complete = result == 0 && !exec->step.is_stuck && chunk->done == work->count;
    chunk->running = false;
}

static unsigned char *map_rows(struct server *server, const struct channel_block *given)
{
    const unsigned i = given->rows % CHANNEL_ROWS;
    if (server->rows[i].at == given->rows_at && server->rows[i].bytes == given->rows_bytes)
        return server->rows[i].memory;
    if (server->rows[i].memory != NULL)
        munmap(server->rows[i].memory, server->rows[i].bytes);
    server->rows[i].at = server->rows[i].bytes = 0;
    void *memory =
        mmap(NULL, given->rows_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, server->file, (off_t)given->rows_at);
    server->rows[i].memory = memory == MAP_FAILED ? NULL : memory;
    if (server->rows[i].memory == NULL)
        return NULL;
    madvise(memory, given->rows_bytes, MADV_DONTFORK); /* see map_blocks() */
    server->rows[i].at = given->rows_at;
    server->rows[i].bytes = given->rows_bytes;
    return memory;
}

static void serve_block(struct server *server)
{
    struct exec *exec = &server->exec;
    struct channel *channel = server->channel;
    struct channel_work *work = server->work;
    const struct channel_block given = channel->block;
    const struct hdss_loop *loop = exec->config.loop;
    unsigned char *rows = map_rows(server, &given);
    if (rows == NULL) {
        serve_fail(work, CHANNEL_FAILED, "no memory for the results of a chunk");
        return;
    }
    const struct hdss_block block = {
        .first = given.first,
        .count = given.count,
        .from = given.from,
        .to = given.to,
        .sync = loop->sync,
        .reach = loop->reach,
        .before = given.before > 0 ? server->memory + given.before : NULL,
        .after = server->memory + given.after,
        .records = rows + given.record_at,
    };
    const bool is_last = given.to == loop->sync + (given.count - 1) * loop->reach;
    channel_claim(&work->claims, 1);
    if (exec_run_block(exec, &block, is_last, &work->began_ns, &channel->block_ns) < 0)
        serve_fail(work, CHANNEL_FAILED, exec->error);
}

/* Computes one iteration for the probe. The elements of all earlier iterations are taken to be zero. */
static void serve_row(struct server *server, uint64_t iteration)
{
    struct exec *exec = &server->exec;
    const struct hdss_loop *loop = exec->config.loop;
    const uint64_t halo_bytes = loop->sync * loop->boundary_bytes;
    const struct hdss_block block = {
        .first = iteration,
        .count = 1,
        .to = loop->sync,
        .sync = loop->sync,
        .reach = loop->reach,
        .before = iteration == exec->config.probe_first
                      ? NULL
                      : server->memory + channel_halo_at(server->channel, 0, halo_bytes),
        .after = server->memory + channel_halo_at(server->channel, 1, halo_bytes),
        .records = exec_next_records(exec),
    };
    exec->config.kernel->run_block(exec->instance, &block, exec->error);
}

static void serve_probe_one(void *context, uint64_t iteration)
{
    struct server *server = context;
    struct channel *channel = server->channel;
    for (unsigned i = 0; i < channel->skipped_count; i++)
        if (channel->skipped[i] == iteration)
            return;
    if (server->exec.records.variable)
        output_clear(&server->exec.records.output, iteration);
    atomic_store_explicit(&channel->probing, iteration + 1, memory_order_release);
    atomic_store_explicit(&channel->probed, atomic_load_explicit(&channel->probed, memory_order_relaxed) + 1,
                          memory_order_release);
    if (server->exec.config.loop->sync > 0)
        serve_row(server, iteration);
    else
        exec_call_kernel(&server->exec, iteration, 1, exec_next_records(&server->exec));
    atomic_store_explicit(&channel->probing, 0, memory_order_release);
}

static void serve_command(struct server *server, const struct exec_config *config, const char *failure)
{
    struct channel *channel = server->channel;
    struct channel_work *work = server->work;
    work->result = CHANNEL_DONE;
    work->final = work->is_complete = false;
    switch (work->command) {
    case CHANNEL_OPEN:
        if (failure != NULL)
            serve_fail(work, CHANNEL_FAILED, failure);
        else if (exec_init(&server->exec, config) < 0)
            serve_fail(work, CHANNEL_FAILED, server->exec.error);
        else if (channel->threads > 0 && thread_pool_join(&server->team, &server->exec, channel, server->bell) < 0)
            serve_fail(work, CHANNEL_FAILED, server->team.error);
        break;
    case CHANNEL_PROBE: exec_time_probe(&server->exec, serve_probe_one, server, &channel->speed); break;
    case CHANNEL_RUN: serve_run(server); break;
    case CHANNEL_TEAM: team_serve(&server->team); break;
    case CHANNEL_BLOCK: serve_block(server); break;
    case CHANNEL_LEAVE: break;
    }
}

static uint64_t look_ns(const struct server *server, bool is_bound)
{
    const enum channel_command command = server->work->command;
    const bool is_short = (command == CHANNEL_RUN && server->exec.chunk.compute_ns < CHANNEL_SHORT_NS) ||
                          (command == CHANNEL_BLOCK && server->channel->block_ns < CHANNEL_SHORT_NS);
    return !is_bound ? SERVE_SPIN_NS : is_short ? SERVE_YIELD_NS : 0;
}

static void take_config(const struct channel *channel, struct exec_config *config)
{
    config->worker = channel->worker;
    config->collect = channel->collect;
    config->spread = channel->spread;
    config->slowdown = channel->slowdown;
}

void serve(void *memory, int file, int bell, const struct exec_config *given, const char *failure)
{
    static struct server server;
    struct channel *channel = memory;
    struct exec_config config = *given;
    cpu_set_t cores;
    bool is_bound = sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) == 1;
    uint64_t spin_ns = 0;
    bool goes_on = false;
    take_config(channel, &config);
    server = (struct server){.channel = channel, .memory = memory, .file = file, .bell = bell};
    for (bool leaves = false; !leaves;) {
        const uint32_t number = channel_await_call(channel, spin_ns, goes_on);
        server.work = channel_work(channel, number);
        /* The command must be read before the answer is given: after the answer the worker may write the next
         * command. */
        leaves = server.work->command == CHANNEL_LEAVE;
        serve_command(&server, &config, failure);
        if (leaves && channel->threads > 0)
            team_leave(&server.team);
        if (leaves && server.exec.open)
            executor_fini(&server.exec.executor);
        spin_ns = look_ns(&server, is_bound); /* must also be read before the answer */
        goes_on = server.work->is_complete;
        server.work->ran_on = cores_current();
        atomic_store(&channel->answered, number);
        channel_wake_worker(channel, bell);
        /* The kernel has declared that this process cannot continue. So this process ends, and the worker starts
         * another one for the next command. */
        if (server.exec.records.output.is_unfit)
            _exit(EXIT_STATUS_DONE);
    }
}
