/* SPDX-License-Identifier: MIT */
/* An executor whose kernel runs in a helper (helper.h). The worker cuts a chunk into commands for the helper. From time
 * to time it takes over the finished iterations of a command, and sends their results as if it had computed them
 * itself.
 *
 * If results are collected, a command is as long as the current buffer allows. The helper writes records into this
 * buffer, and they stay there until they are sent. If a part must be sent earlier, the worker cuts the command after
 * the iterations that have begun.
 *
 * While the last command of a chunk runs, the first command of the next chunk is given ahead, with the other buffer. So
 * the helper continues by itself while the worker wakes up, sends results and gets another chunk. The worker withdraws
 * the command given ahead if the running chunk is cut, put off or given up, if the running command ends early, or if
 * the helper is killed. Withdrawing fails only if the helper has begun the command given ahead; then the running chunk
 * is finished.
 *
 * An executor that is put off cuts its command in the same way, and gives another command when it continues.
 *
 * If iterations have a time limit, the worker kills a helper that makes no progress for longer than the limit. This
 * limit also holds for a call of several iterations. If such a call takes longer, none of its iterations is blamed. All
 * of them are run again one by one, each with the whole limit. So an iteration that keeps the limit never fails, and a
 * hang is found even in a call of many short iterations. A worker may be stopped together with its helper, or wait for
 * its core. So of the time between two checks at most LIMIT_LOOK_NS counts. A sleeping worker checks every 20 ms. */
#include "worker/exec/steps.h"

#include "worker/exec/blocks.h"
#include "worker/exec/helper.h"
#include "worker/exec/output.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* If so many helpers in succession die before they begin an iteration, the next iteration is blamed. */
#define REMOTE_DEATHS_MAX 3

#define LIMIT_TIMES   100
#define LIMIT_LOOK_NS 100000000u
/* Minimum time limit of a helper that begins no iteration of its command. */
#define LIMIT_IDLE_NS  UINT64_C(10000000000)
#define LIMIT_PROBE_NS 20000000u

int exec_remote_init(struct exec *exec, const struct helper_start *start, size_t room)
{
    struct helper *helper = &exec->remote.helper;
    if (helper_init(helper, start, room, exec->error) < 0)
        return -1;
    struct channel *channel = helper->channel;
    channel->worker = exec->config.worker;
    channel->slowdown = exec->config.slowdown;
    channel->collect = exec->config.collect;
    channel->spread = exec->config.spread;
    if (exec->config.team != NULL) {
        channel->threads = exec->config.team->threads;
        channel->slot_room = exec->config.team->slot_room;
        channel->team_spread = exec->config.team->spread;
    }
    const uint64_t apart = CHANNEL_BLOCKS_APART;
    if (exec->records.variable && ftruncate(helper->file, (off_t)(channel->records_at + apart + CHANNEL_BLOCKS)) == 0)
        channel->blocks_apart = apart;
    return 0;
}

static bool may_open_again(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    return !remote->helper.has_refused && ++remote->deaths < REMOTE_DEATHS_MAX;
}

int exec_remote_open(struct exec *exec)
{
    struct helper *helper = &exec->remote.helper;
    char why[HDSS_ERROR_MAX];
    do {
        if (helper_begin(helper, exec->error) < 0)
            return -1;
        if (!helper_await(helper, UINT64_MAX, why)) {
            exec->remote.deaths = 0;
            return 0;
        }
    } while (may_open_again(exec));
    if (helper->has_refused)
        snprintf(exec->error, sizeof exec->error, "%s", why);
    else
        snprintf(exec->error, sizeof exec->error, "%.150s: loading or opening it %.220s", exec->config.kernel->name,
                 why);
    return -1;
}

static unsigned place_of_blocks(const struct exec_remote *remote, const struct channel_work *work)
{
    return (unsigned)(work - remote->helper.channel->works);
}

static void unmap_blocks(struct exec_remote *remote, unsigned place)
{
    if (remote->blocks[place].memory != NULL)
        munmap(remote->blocks[place].memory, remote->blocks[place].mapped);
    remote->blocks[place].memory = NULL;
    remote->blocks[place].mapped = 0;
}

static const unsigned char *reach_blocks(struct exec_remote *remote, uint64_t bytes)
{
    const struct channel_work *work = helper_work(&remote->helper);
    const unsigned place = place_of_blocks(remote, work);
    if (bytes <= remote->blocks[place].mapped)
        return remote->blocks[place].memory;
    unmap_blocks(remote, place);
    const uint64_t room = bytes > CHANNEL_BLOCKS ? bytes : CHANNEL_BLOCKS;
    void *blocks = mmap(NULL, room, PROT_READ, MAP_SHARED, remote->helper.file, (off_t)work->place);
    if (blocks == MAP_FAILED)
        return NULL;
    remote->blocks[place].memory = blocks;
    remote->blocks[place].mapped = room;
    return blocks;
}

static void shrink_blocks(struct exec_remote *remote, const struct channel_work *work)
{
    const unsigned place = place_of_blocks(remote, work);
    const uint64_t mapped = remote->blocks[place].mapped;
    if (mapped <= CHANNEL_BLOCKS)
        return;
    unmap_blocks(remote, place);
    if (fallocate(remote->helper.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(work->place + CHANNEL_BLOCKS), (off_t)(mapped - CHANNEL_BLOCKS)) < 0)
        return;
}

static int take_blocks(struct exec *exec, uint64_t first, uint64_t end, uint64_t from, uint64_t to)
{
    struct exec_remote *remote = &exec->remote;
    struct output *output = &exec->records.output;
    const unsigned char *blocks = reach_blocks(remote, to);
    if (blocks == NULL)
        return -1;
    for (uint32_t count = 0; from < to; first += count) {
        const size_t gathered = output_bytes(output);
        const uint64_t taken = blocks_take(output, blocks + from, to - from, first, end, &count);
        if (taken == 0)
            return -1;
        exec_look_at_output(exec, count, gathered);
        from += taken;
    }
    return first == end ? 0 : -1;
}

void exec_learn_longest(struct exec_standing *standing, uint64_t ns)
{
    if (ns > standing->longest_ns)
        standing->longest_ns = ns;
}

void exec_begin_standing(struct exec_standing *standing, uint64_t now_ns)
{
    standing->begun = standing->done = standing->ns = standing->over_ns = 0;
    standing->looked_ns = now_ns;
}

void exec_look_at_standing(struct exec_standing *standing, uint64_t now_ns)
{
    standing->ns += exec_least(now_ns - standing->looked_ns, LIMIT_LOOK_NS);
    standing->looked_ns = now_ns;
}

static uint64_t limit_of_begun(const struct exec *exec)
{
    const uint64_t longest_ns = exec->remote.standing.longest_ns;
    if (!exec->config.limit_adapts)
        return exec->config.limit_ns;
    if (longest_ns == 0 || longest_ns > UINT64_MAX / LIMIT_TIMES)
        return UINT64_MAX;
    return LIMIT_TIMES * longest_ns > exec->config.limit_ns ? LIMIT_TIMES * longest_ns : exec->config.limit_ns;
}

uint64_t exec_limit_of_iteration(const struct exec *exec, bool has_begun)
{
    const uint64_t limit_ns = limit_of_begun(exec);
    return !has_begun && limit_ns < LIMIT_IDLE_NS ? LIMIT_IDLE_NS : limit_ns;
}

static uint64_t begun_of_command(const struct exec_remote *remote)
{
    return channel_begun(atomic_load(&helper_work(&remote->helper)->claims));
}

/* Called before the helper is killed: cuts the command, so that no further iteration begins. An iteration that began
 * just before the kill would be blamed. Returns false if the helper has made progress since the last check. */
static bool stop_before_kill(struct exec *exec, uint64_t begun, uint64_t done)
{
    struct exec_remote *remote = &exec->remote;
    struct channel_work *work = helper_work(&remote->helper);
    struct channel_done now;
    if (work->command != CHANNEL_RUN)
        return true;
    channel_cut(&work->claims, 0);
    remote->ends_soon = true;
    channel_look(work, &now);
    return begun_of_command(remote) == begun && now.count == done;
}

static void kill_if_overdue(struct exec *exec, uint64_t begun, uint64_t done)
{
    struct exec_standing *standing = &exec->remote.standing;
    const uint64_t limit_ns = exec_limit_of_iteration(exec, begun != done);
    if (exec->remote.helper.killed)
        return;
    exec_look_at_standing(standing, helper_now(&exec->remote.helper));
    if (done != standing->done)
        exec_learn_longest(standing, standing->ns);
    if (begun != standing->begun || done != standing->done) {
        standing->begun = begun;
        standing->done = done;
        standing->ns = 0;
    } else if (standing->ns > limit_ns && stop_before_kill(exec, begun, done)) {
        exec_kill_overdue(exec, limit_ns);
    }
}

void exec_kill_overdue(struct exec *exec, uint64_t limit_ns)
{
    struct helper *helper = &exec->remote.helper;
    /* If the helper has begun its next command, it is not killed: that command has a time limit of its own. */
    if (helper->killed || !helper_withdraw(helper))
        return;
    exec->remote.standing.over_ns = limit_ns;
    helper_kill(helper);
}

void exec_tell_overdue(const struct exec *exec, char why[HDSS_ERROR_MAX])
{
    if (exec->remote.standing.over_ns > 0)
        snprintf(why, HDSS_ERROR_MAX, "ran for longer than %g s (--iteration-timeout)",
                 (double)exec->remote.standing.over_ns / 1e9);
}

static uint64_t fill_command(struct exec *exec, uint64_t first, uint64_t count, uint64_t singly,
                             const unsigned char *records)
{
    struct exec_remote *remote = &exec->remote;
    struct channel *channel = remote->helper.channel;
    struct channel_work *work = helper_next_work(&remote->helper);
    count = exec_least(count, CHANNEL_COUNT_MAX);
    work->first = first;
    work->count = count;
    /* If iterations have effects, each runs in a call of its own. Otherwise an iteration would be repeated if another
     * one of its call hangs or crashes. */
    work->singly = exec->config.loop->has_effects ? count : singly;
    work->place = 0;
    if (exec->records.variable) {
        work->place = channel_blocks_at(channel, remote->helper.current + CHANNEL_STEP);
        work->room = CHANNEL_BLOCKS;
        shrink_blocks(remote, work);
    } else if (exec->config.collect) {
        work->place = (uint64_t)(records - (const unsigned char *)channel);
    }
    work->began_ns = 0;
    atomic_store(&work->claims, channel_claims_of(0, count));
    channel_publish(work, &(struct channel_done){0});
    return count;
}

static void note_command(struct exec *exec, uint64_t base, uint64_t count, uint64_t now_ns)
{
    struct exec_remote *remote = &exec->remote;
    remote->base = base;
    remote->count = count;
    remote->taken = (struct channel_done){0};
    remote->ends_soon = false;
    remote->posted = true;
    exec->executor.is_away = true;
    exec_begin_standing(&remote->standing, now_ns);
}

static void post_command(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct exec_chunk *chunk = &exec->chunk;
    if (remote->drops_next)
        return;
    if (remote->helper.state == HELPER_NONE && helper_begin(&remote->helper, exec->error) < 0) {
        chunk->failed = true;
        return;
    }
    if (remote->helper.state != HELPER_READY)
        return;
    const uint64_t left = chunk->count - chunk->done, now_ns = helper_now(&remote->helper);
    const uint64_t most = exec->config.collect && !exec->records.variable ? exec_least(left, exec_room(exec)) : left;
    const uint64_t singly = chunk->is_reset > chunk->done ? chunk->is_reset - chunk->done : 0;
    const uint64_t count = fill_command(exec, chunk->first + chunk->done, most, singly, exec_next_records(exec));
    helper_next_work(&remote->helper)->began_ns = now_ns;
    note_command(exec, chunk->done, count, now_ns);
    helper_wake_at(&remote->helper, chunk->mark > chunk->done ? chunk->mark - chunk->done : UINT64_MAX);
    helper_call_on(&remote->helper, CHANNEL_RUN, exec->executor.begins_on);
    exec->executor.begins_on = 0;
}

static bool may_give_ahead(const struct exec *exec)
{
    const struct exec_remote *remote = &exec->remote;
    const struct exec_buffer *other = &exec->records.buffers[(exec->records.filling + 1) % EXEC_BUFFERS];
    const bool is_last = remote->base + remote->count == exec->chunk.count && !remote->ends_soon && !exec->chunk.ends;
    const bool has_room =
        exec->records.variable ? remote->helper.channel->blocks_apart > 0 : !exec->config.collect || !other->sent;
    return exec->next.count > 0 && remote->posted && remote->helper.state == HELPER_RUNNING && !remote->helper.killed &&
           !remote->helper.has_next && is_last && has_room && !exec->executor.is_put_off && !exec->step.is_stuck;
}

void exec_remote_give_ahead(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    if (!may_give_ahead(exec))
        return;
    const bool has_records = exec->config.collect && !exec->records.variable;
    const uint64_t most = has_records ? exec_least(exec->next.count, exec->records.capacity) : exec->next.count;
    const unsigned char *records =
        has_records ? exec->records.buffers[(exec->records.filling + 1) % EXEC_BUFFERS].bytes + EXEC_HEADROOM : NULL;
    remote->next_count = fill_command(exec, exec->next.first, most, 0, records);
    helper_call_ahead(&remote->helper, CHANNEL_RUN);
}

static bool take_next_command(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    if (!remote->helper.has_next || remote->drops_next || !helper_go_on(&remote->helper))
        return false;
    note_command(exec, 0, remote->next_count, exec->ended_ns);
    if (exec->executor.is_put_off)
        channel_cut(&helper_work(&remote->helper)->claims, 0);
    if (exec->chunk.mark > 0)
        exec_remote_set_mark(exec);
    return true;
}

void exec_remote_begin(struct exec *exec)
{
    exec->chunk.began_ns = 0;
    if (take_next_command(exec) || exec->step.is_stuck || exec_buffer_in_use(exec)->sent || exec->executor.is_put_off)
        return;
    post_command(exec);
}

/* Gives up iterations at the end of the next chunk. Keeps at least one iteration if the helper has begun the next
 * chunk. Also keeps at least one if no chunk runs any more: other ranks then believe that the next chunk is running. */
struct range exec_remote_cut_next(struct exec *exec, unsigned waiting)
{
    struct exec_remote *remote = &exec->remote;
    struct exec_next *next = &exec->next;
    const bool is_taken = !remote->drops_next && !helper_withdraw(&remote->helper);
    _Atomic uint64_t *claims = &helper_next_work(&remote->helper)->claims;
    const uint64_t seen = is_taken ? channel_begun(atomic_load(claims)) : 0, count = next->count;
    const uint64_t least = is_taken || !exec->chunk.running, begun = seen > least ? seen : least;
    uint64_t kept = count - recall_share(count - begun, 1, waiting);
    if (is_taken && kept < remote->next_count) {
        const uint64_t end = channel_cut(claims, kept);
        kept = end > kept ? end : kept;
    }
    next->count = kept;
    if (next->mark >= kept)
        next->mark = 0;
    exec_remote_give_ahead(exec);
    return (struct range){next->first + kept, count - kept};
}

void exec_remote_forget_next(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    exec->next.count = 0;
    if (helper_withdraw(&remote->helper))
        return;
    channel_cut(&helper_next_work(&remote->helper)->claims, 0);
    remote->drops_next = true;
}

static void drop_next(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    char unused[HDSS_ERROR_MAX];
    if (remote->helper.has_next && helper_go_on(&remote->helper))
        exec_begin_standing(&remote->standing, helper_now(&remote->helper));
    helper_look(&remote->helper, unused);
    remote->drops_next = remote->helper.state == HELPER_RUNNING;
    if (remote->drops_next && exec->config.limit_ns > 0) {
        struct channel_done done;
        channel_look(helper_work(&remote->helper), &done);
        kill_if_overdue(exec, begun_of_command(remote), done.count);
    }
}

void exec_remote_set_mark(struct exec *exec)
{
    const struct exec_remote *remote = &exec->remote;
    const struct exec_chunk *chunk = &exec->chunk;
    if (remote->posted)
        helper_wake_at(&exec->remote.helper, chunk->mark > remote->base ? chunk->mark - remote->base : UINT64_MAX);
}

static void take_done(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct exec_chunk *chunk = &exec->chunk;
    struct channel_done now;
    channel_look(helper_work(&remote->helper), &now);
    assert(now.count >= remote->taken.count && now.count <= remote->count && "a helper does its iterations in order");
    if (now.count == remote->taken.count)
        return;
    uint64_t count = now.count - remote->taken.count, took_ns = now.compute_ns - remote->taken.compute_ns;
    if (exec->records.variable && take_blocks(exec, chunk->first + chunk->done, chunk->first + remote->base + now.count,
                                              remote->taken.bytes, now.bytes) < 0) {
        snprintf(exec->error, sizeof exec->error, "no memory for what the kernel yields");
        exec->step.is_stuck = true;
    }
    chunk->done = remote->base + now.count;
    chunk->digest += now.digest - remote->taken.digest;
    chunk->compute_ns += took_ns;
    exec->executor.spent_ns += took_ns;
    exec->ended_ns = helper_now(&remote->helper);
    exec->iteration_ns = (double)took_ns / (double)count;
    remote->taken = now;
    remote->deaths = 0;
    exec_learn_longest(&remote->standing, took_ns);
    if (now.count >= remote->helper.wake_at)
        remote->helper.wake_at = UINT64_MAX;
    if (chunk->done == chunk->count)
        chunk->mark = 0;
}

static void end_command(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    if (exec->chunk.began_ns == 0)
        exec->chunk.began_ns = helper_work(&remote->helper)->began_ns;
    remote->posted = false;
    exec->executor.is_away = remote->helper.has_next;
}

static void take_next_back(struct exec *exec)
{
    const bool is_back = helper_withdraw(&exec->remote.helper);
    exec->executor.is_away = false;
    assert(is_back && "a helper goes on where all of a command is done");
    (void)is_back;
}

/* Decides which iterations have caused the helper's death. If one unfinished iteration had begun, it is blamed. It may
 * be retried even if the chunk is isolated, because another helper costs no worker. If several had begun, all of them
 * are run again one by one. The same applies if a call took too long and some iterations were finished just before the
 * kill. If none had begun, something else has killed the helper. But after REMOTE_DEATHS_MAX such deaths in succession
 * the next iteration is blamed. */
static void blame_iterations(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct exec_chunk *chunk = &exec->chunk;
    const uint64_t begun = remote->base + begun_of_command(remote);
    assert(begun >= chunk->done && begun <= remote->base + remote->count && "what is done has begun");
    if (begun > chunk->done)
        remote->deaths = 0;
    const bool moved = remote->standing.over_ns > 0 && remote->taken.count != remote->standing.done;
    if (begun > chunk->done + 1 || moved)
        chunk->is_reset = begun;
    else if (begun == chunk->done + 1 || ++remote->deaths == REMOTE_DEATHS_MAX)
        chunk->failed = chunk->done < chunk->count;
    if (chunk->failed)
        remote->deaths = 0;
    chunk->died = chunk->failed;
}

static void take_answer(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    const struct channel_work *work = helper_work(&remote->helper);
    end_command(exec);
    remote->deaths = 0;
    exec->executor.ran_on = work->ran_on;
    if (exec->config.spread)
        spread_merge(&exec->pieces.spread, &work->pieces);
    if (work->result == CHANNEL_DONE)
        return;
    memcpy(exec->error, work->error, sizeof exec->error);
    exec->error[sizeof exec->error - 1] = '\0';
    if (work->result == CHANNEL_STUCK)
        exec->step.is_stuck = true;
    else
        exec->chunk.failed = exec->chunk.done < exec->chunk.count;
    exec->chunk.final = exec->chunk.failed && work->final;
}

static void await_short(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    double left = (double)(remote->count - remote->taken.count);
    if (exec->iteration_ns * left < CHANNEL_SHORT_NS)
        helper_await_moment(&remote->helper);
}

static void look_for_late_part(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    const struct exec_chunk *chunk = &exec->chunk;
    if (remote->ends_soon || chunk->done == chunk->sliced || chunk->compute_ns - chunk->sliced_at_ns < SLICE_NS)
        return;
    channel_cut(&helper_work(&remote->helper)->claims, 0);
    remote->ends_soon = true;
}

bool exec_remote_turn(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    char why[HDSS_ERROR_MAX];
    if (remote->drops_next && !remote->posted)
        return false;
    if (!remote->posted && !exec->chunk.failed && exec->chunk.done < exec->chunk.count &&
        remote->helper.state != HELPER_OPENING && !exec->executor.is_put_off)
        post_command(exec);
    exec_remote_give_ahead(exec);
    if (remote->posted && !helper_is_over(&remote->helper))
        await_short(exec);
    bool died = helper_look(&remote->helper, why);
    if (died) {
        if (remote->posted)
            exec_tell_overdue(exec, why);
        memcpy(exec->error, why, sizeof exec->error);
    }
    if (!remote->posted) {
        if (died && !may_open_again(exec)) {
            exec->chunk.failed = true;
            remote->deaths = 0;
        }
        return died || exec->chunk.failed || remote->helper.state == HELPER_READY;
    }
    take_done(exec);
    if (died) {
        end_command(exec);
        take_next_back(exec);
        blame_iterations(exec);
    } else if (remote->helper.state != HELPER_RUNNING) {
        take_answer(exec);
        if (!helper_work(&remote->helper)->is_complete)
            take_next_back(exec);
    } else {
        look_for_late_part(exec);
        if (exec->config.limit_ns > 0)
            kill_if_overdue(exec, begun_of_command(remote), remote->taken.count);
    }
    return !remote->posted;
}

void exec_remote_look(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    char unused[HDSS_ERROR_MAX];
    if (remote->drops_next && !remote->posted) {
        drop_next(exec);
        return;
    }
    bool is_awaited = exec->chunk.running && !exec_buffer_in_use(exec)->sent && exec_can_compute(exec);
    bool has_nothing = remote->helper.state == HELPER_READY || (remote->helper.state == HELPER_OPENING && !is_awaited);
    if (has_nothing && remote->helper.rests)
        helper_look(&remote->helper, unused);
}

bool exec_remote_rest(struct exec *exec)
{
    return helper_rest(&exec->remote.helper);
}

uint64_t exec_remote_begun(const struct exec *exec)
{
    return exec->remote.base + begun_of_command(&exec->remote);
}

uint64_t exec_remote_cut(struct exec *exec, uint64_t kept)
{
    struct exec_remote *remote = &exec->remote;
    if (kept >= remote->base + remote->count)
        return kept;
    uint64_t end = remote->base +
                   channel_cut(&helper_work(&remote->helper)->claims, kept > remote->base ? kept - remote->base : 0);
    return end > kept ? end : kept;
}

bool exec_remote_put_off(struct exec *exec)
{
    struct helper *helper = &exec->remote.helper;
    if (!helper_withdraw(helper))
        channel_cut(&helper_next_work(helper)->claims, 0);
    if (exec->remote.posted)
        channel_cut(&helper_work(helper)->claims, 0);
    return !exec->remote.posted && !helper->has_next && !exec->remote.drops_next;
}

void exec_remote_fini(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    for (unsigned i = 0; i < CHANNEL_WORKS; i++)
        unmap_blocks(remote, i);
    if (remote->helper.channel != NULL)
        helper_fini(&remote->helper);
}

void exec_remote_end(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    exec_remote_forget_next(exec);
    if (remote->posted)
        take_done(exec);
    remote->probe_ends = remote->probing != PROBING_NOTHING;
    if (helper_is_busy(&remote->helper) && !remote->helper.killed)
        helper_kill(&remote->helper);
}

bool exec_remote_has_ended(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct helper *helper = &remote->helper;
    char unused[HDSS_ERROR_MAX];
    helper_look(helper, unused);
    if (helper_is_busy(helper))
        return false;
    if (remote->posted)
        end_command(exec);
    if (helper->has_next && helper_go_on(helper)) {
        helper_kill(helper);
        helper_look(helper, unused);
    }
    exec->executor.is_away = remote->drops_next = helper_is_busy(helper);
    return !remote->drops_next;
}

static bool end_probe(struct exec *exec, const struct speed *speed)
{
    exec->remote.speed = *speed;
    exec->remote.probing = PROBING_NOTHING;
    exec->remote.deaths = 0;
    exec->executor.is_away = false;
    return true;
}

static bool give_probe_up(struct exec *exec)
{
    const struct speed unknown = exec_unknown_speed();
    return end_probe(exec, &unknown);
}

static bool post_probe(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct channel *channel = remote->helper.channel;
    if (remote->helper.state == HELPER_NONE && helper_begin(&remote->helper, exec->error) < 0)
        return give_probe_up(exec);
    remote->probing = remote->helper.state == HELPER_READY ? PROBING_RUNS : PROBING_OPENS;
    if (remote->probing == PROBING_OPENS)
        return false;
    atomic_store(&channel->probing, 0);
    atomic_store(&channel->probed, 0);
    remote->probe_began_ns = helper_now(&remote->helper);
    exec_begin_standing(&remote->standing, remote->probe_began_ns);
    helper_wake_at(&remote->helper, UINT64_MAX);
    helper_call(&remote->helper, CHANNEL_PROBE);
    return false;
}

void exec_remote_begin_probe(struct exec *exec)
{
    exec->remote.helper.channel->skipped_count = 0;
    exec->remote.probing = PROBING_OPENS;
    exec->remote.probe_ends = false;
    exec->executor.is_away = true;
}

static bool probe_again(struct exec *exec)
{
    struct channel *channel = exec->remote.helper.channel;
    const uint64_t probing = atomic_load(&channel->probing);
    channel->skipped[channel->skipped_count++] = probing > 0 ? probing - 1 : UINT64_MAX;
    return channel->skipped_count < CHANNEL_SKIPPED_MAX ? post_probe(exec) : give_probe_up(exec);
}

bool exec_remote_probe_turn(struct exec *exec)
{
    struct exec_remote *remote = &exec->remote;
    struct helper *helper = &remote->helper;
    const bool died = helper_look(helper, exec->error);
    const uint64_t probed = atomic_load(&helper->channel->probed);
    assert(remote->probing != PROBING_NOTHING && "a probe runs");
    if (helper_is_busy(helper)) {
        if (exec->config.limit_ns > 0 && remote->probing == PROBING_RUNS)
            kill_if_overdue(exec, probed, probed > 0 ? probed - 1 : 0);
        return false;
    }
    if (remote->probe_ends || (remote->probing == PROBING_OPENS && died && !may_open_again(exec)))
        return give_probe_up(exec);
    if (remote->probing == PROBING_OPENS)
        return post_probe(exec);
    if (!helper_is_over(helper))
        return probe_again(exec);
    exec_learn_longest(&remote->standing, helper_now(&remote->helper) - remote->probe_began_ns);
    return end_probe(exec, &helper->channel->speed);
}

void exec_remote_probe(struct exec *exec, struct speed *speed)
{
    char unused[HDSS_ERROR_MAX];
    exec_remote_begin_probe(exec);
    while (!exec_remote_probe_turn(exec))
        helper_await(&exec->remote.helper, LIMIT_PROBE_NS, unused);
    *speed = exec->remote.speed;
}
