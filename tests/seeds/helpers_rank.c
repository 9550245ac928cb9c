/* SPDX-License-Identifier: MIT */
/* A rank with a made-up helper: see helpers_rank.h. */
#include "tests/seeds/helpers_rank.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* The longest sleep of a rank: see common/mpi/wait.c. */
#define SLEEP_NS 20000000u
/* The longest that a turn may keep a rank from its messages: see HELPER_MOMENT_NS, HELPER_CLOSE_MS .. */
#define MOMENT_NS 5000000u
#define CLOSE_NS  UINT64_C(10000000000)
#define REFUSE_NS 1000000000u
#define SOON_NS   20000000u
/* More turns than any life has; and more of them without sleep, event or step of a helper. */
#define TURNS_MAX 200000
#define IDLE_MAX  200
/* As in remote.c. */
#define DEATHS_MAX 3

static const struct hdss_kernel kernel = {.abi = HDSS_KERNEL_ABI, .name = "made-up"};

/* --- what becomes of iterations --- */

static void note_end(struct helpers_rank *rank, uint64_t iteration, enum helpers_end end)
{
    if (rank->end[iteration] != END_NONE)
        helpers_blame("iteration %" PRIu64 " comes to an end twice", iteration);
    rank->end[iteration] = (unsigned char)end;
}

static void take_part(struct helpers_rank *rank, const struct event *event)
{
    const uint64_t first = rank->chunk[0].first + rank->told, count = event->chunk.count;
    const uint64_t *records = event->chunk.data;
    if (rank->told + count > rank->chunk[0].count) {
        helpers_blame("a part of [%" PRIu64 ", %" PRIu64 ") is beyond its chunk", first, first + count);
        return;
    }
    for (uint64_t i = first; i < first + count; i++) {
        note_end(rank, i, END_DONE);
        if (!helpers.iteration[i].is_done)
            helpers_blame("iteration %" PRIu64 " is told as done, and is not", i);
        if (records != NULL && rank->loop.streams == 0 && records[i - first] != helpers_record(i))
            helpers_blame("iteration %" PRIu64 " has another's record", i);
    }
    if (event->chunk.digest != helpers_digest(first, count))
        helpers_blame("[%" PRIu64 ", %" PRIu64 ") has a wrong digest", first, first + count);
    rank->told += count;
}

static bool fails(enum helpers_fate fate)
{
    return fate == FATE_FAILS || fate == FATE_FAILS_FOR_GOOD;
}

/* An iteration is blamed for a death where it alone was in the air, or where helpers have died three times in a row
 * with nothing in the air. */
static void check_blame(uint64_t i)
{
    const bool is_alone = helpers.death.count == 1 && helpers.death.first == i;
    if (!is_alone && (helpers.death.count > 0 || helpers.death.idle < DEATHS_MAX))
        helpers_blame("iteration %" PRIu64 " is blamed for %" PRIu64 " in the air, the %u. time in a row", i,
                      helpers.death.count, helpers.death.idle);
    if (is_alone && helpers.death.by_worker && helpers.death.stood_ns < helpers.limit_ns)
        helpers_blame("iteration %" PRIu64 " is blamed, and was in the air for %.3f s only", i,
                      (double)helpers.death.stood_ns / 1e9);
    if (helpers.death.count == 0)
        helpers.death.idle = 0;
}

static void take_failure(struct helpers_rank *rank, const struct event *event)
{
    const uint64_t i = rank->chunk[0].first + rank->told++;
    const bool overdue = strncmp(event->text, "ran for longer", 14) == 0, failed = strcmp(event->text, "cannot") == 0;
    snprintf(rank->text, sizeof rank->text, "%s", event->text);
    note_end(rank, i, event->chunk.died ? END_DIED : END_FAILED);
    rank->failures++;
    if (event->chunk.count != 1)
        helpers_blame("%" PRIu64 " iterations fail at a time", event->chunk.count);
    if (failed != fails(helpers.iteration[i].fate) && failed)
        helpers_blame("iteration %" PRIu64 " has failed, though it cannot", i);
    if (event->chunk.final != (failed && helpers.iteration[i].fate == FATE_FAILS_FOR_GOOD))
        helpers_blame("iteration %" PRIu64 " has failed%s for good", i, event->chunk.final ? "" : ", but not");
    if (overdue && (helpers.limit_ns == 0 || helpers.death.stood_ns < helpers.limit_ns))
        helpers_blame("iteration %" PRIu64 " has stood for %.3f s only", i, (double)helpers.death.stood_ns / 1e9);
    if (event->chunk.died)
        check_blame(i);
    else if (!failed && strcmp(event->text, "no helper can be started") != 0 &&
             strcmp(event->text, "it cannot be opened") != 0 && strstr(event->text, "the child process") == NULL)
        helpers_blame("iteration %" PRIu64 " has failed: %s", i, event->text);
}

static void finish_chunk(struct helpers_rank *rank, const struct event *event)
{
    if (event->chunk.first != rank->chunk[0].first || rank->told != rank->chunk[0].count)
        helpers_blame("chunk [%" PRIu64 ", %" PRIu64 ") ends with %" PRIu64 " iterations", rank->chunk[0].first,
                      rank->chunk[0].first + rank->chunk[0].count, rank->told);
    rank->chunk[0] = rank->chunk[1];
    rank->chunk[1].count = rank->told = 0;
    rank->finished++;
}

/* Notes what is on its way. */
static void send(struct helpers_rank *rank, const void *data)
{
    const unsigned i = rank->sent[0].data != NULL;
    if (rank->sent[i].data != NULL)
        helpers_blame("more is sent than there are buffers");
    rank->sent[i].data = data;
    rank->sent[i].until_ns = helpers.now_ns + rank->send_ns;
}

static void take_event(struct helpers_rank *rank, const struct event *event)
{
    static const char *const names[] = {
        [EVENT_MARK] = "mark",         [EVENT_SLICE] = "slice",   [EVENT_ITERATIONS_FAILED] = "failed",
        [EVENT_FINISHED] = "finished", [EVENT_PROBED] = "probed", [EVENT_FATAL] = "fatal"};
    helpers_tell("%s: %" PRIu64 " of [%" PRIu64 ", %" PRIu64 ") behind %" PRIu64 " %s", names[event->type],
                 event->chunk.count, rank->chunk[0].first, rank->chunk[0].first + rank->chunk[0].count, rank->told,
                 event->type == EVENT_ITERATIONS_FAILED ? event->text : "");
    switch (event->type) {
    case EVENT_MARK: break;
    case EVENT_ITERATIONS_FAILED: take_failure(rank, event); break;
    case EVENT_SLICE: take_part(rank, event); break;
    case EVENT_FINISHED:
        take_part(rank, event);
        finish_chunk(rank, event);
        break;
    case EVENT_PROBED: rank->probed++; break;
    default: helpers_blame("event %d: %s", (int)event->type, event->text); break;
    }
    if ((event->type == EVENT_SLICE || event->type == EVENT_FINISHED) && event->chunk.data != NULL)
        send(rank, event->chunk.data);
}

/* --- turning and sleeping --- */

static void take_sends(struct helpers_rank *rank)
{
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (rank->sent[i].data != NULL && !rank->keeps_sends && rank->sent[i].until_ns <= helpers.now_ns) {
            executor_sent(&rank->exec.executor, rank->sent[i].data);
            rank->sent[i].data = NULL;
        }
}

static bool is_sending(const struct helpers_rank *rank)
{
    return rank->sent[0].data != NULL || rank->sent[1].data != NULL;
}

/* A turn keeps no rank from its messages for longer than a moment, but where a helper has refused the kernel. */
static void check_wait(const struct helpers_rank *rank)
{
    bool refuses = false;
    for (unsigned i = 0; i < helpers.begun + helpers.refused; i++)
        refuses |= helpers.script[i].refuses;
    const uint64_t least = 2 * MOMENT_NS, most = !refuses              ? least
                                                 : rank->start.lets_go ? SOON_NS + least
                                                                       : REFUSE_NS + least;
    if (helpers.waited_ns > most)
        helpers_blame("a turn waits for %.3f s", (double)helpers.waited_ns / 1e9);
}

bool rank_turn(struct helpers_rank *rank)
{
    struct event event = {0};
    take_sends(rank);
    helpers.waited_ns = 0;
    const enum turn turn = executor_advance(&rank->exec.executor, &event);
    check_wait(rank);
    if (turn == TURN_EVENT)
        take_event(rank, &event);
    if (++rank->turns > TURNS_MAX)
        helpers_blame("the rank turns without end");
    return turn == TURN_BLOCKED;
}

static bool has_news(const struct helpers_rank *rank)
{
    struct pollfd news = {.fd = executor_descriptor(&rank->exec.executor), .events = POLLIN};
    return poll(&news, 1, 0) == 1;
}

/* What the helper has to tell wakes the rank. */
static void check_wake(const struct helpers_rank *rank)
{
    const struct helper *helper = &rank->exec.remote.helper;
    if (!helper->rests || helper->process < 0 || helper->pid == 0)
        return;
    const bool has_ended = helpers_world.has_ended(helper->pid);
    const bool is_over = helper_is_busy(helper) && helper_is_over(helper) && !helper->killed;
    if ((has_ended || (is_over && !helpers_has_news_to_tell())) && !has_news(rank))
        helpers_blame("the rank sleeps on though its helper %s", has_ended ? "has died" : "is through");
}

/* Lets time pass, up to a moment, while the helper neither ends nor rings. */
static void pass_quietly(const struct helpers_rank *rank, uint64_t until_ns)
{
    const _Atomic uint32_t *sleeps = &rank->exec.remote.helper.channel->worker_sleeps;
    const unsigned ended = helpers.ended;
    const uint32_t before = atomic_load(sleeps);
    while (helpers.now_ns < until_ns && helpers.ended == ended && atomic_load(sleeps) == before) {
        const uint64_t due_ns = helpers_due();
        helpers_pass(due_ns < until_ns ? (due_ns > helpers.now_ns ? due_ns : helpers.now_ns) : until_ns);
    }
}

void rank_sleep(struct helpers_rank *rank)
{
    uint64_t until_ns = helpers.now_ns + SLEEP_NS;
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (rank->sent[i].data != NULL && !rank->keeps_sends && rank->sent[i].until_ns < until_ns)
            until_ns = rank->sent[i].until_ns;
    const uint64_t began_ns = helpers.now_ns;
    while (helpers.now_ns < until_ns && !has_news(rank))
        pass_quietly(rank, until_ns);
    check_wake(rank);
    rank->idle_turns = helpers.now_ns > began_ns || is_sending(rank) ? 0 : rank->idle_turns + 1;
    if (rank->idle_turns > IDLE_MAX)
        helpers_blame("the rank does not come to sleep");
    helpers_pass(helpers.now_ns + 1000); /* of its own */
}

void rank_finish(struct helpers_rank *rank)
{
    while (rank->chunk[0].count > 0 && helpers.wrong[0] == '\0')
        if (rank_turn(rank))
            rank_sleep(rank);
}

/* --- chunks --- */

void rank_begin(struct helpers_rank *rank, uint64_t first, uint64_t count, uint64_t mark)
{
    rank->chunk[rank->chunk[0].count > 0] = (struct range){first, count};
    helpers_tell("chunk [%" PRIu64 ", %" PRIu64 ") begins", first, first + count);
    executor_begin(&rank->exec.executor, first, count, mark, false);
    executor_check(&rank->exec.executor);
}

static void note_back(struct helpers_rank *rank, struct range back)
{
    if (back.first > HELPERS_LOOP || back.count > HELPERS_LOOP - back.first) {
        helpers_blame("[%" PRIu64 ", %" PRIu64 ") is given back", back.first, back.first + back.count);
        return;
    }
    for (uint64_t i = back.first; i < back.first + back.count; i++)
        note_end(rank, i, END_BACK);
}

void rank_cut(struct helpers_rank *rank, unsigned waiting)
{
    const struct range cut = executor_cut(&rank->exec.executor, waiting);
    executor_check(&rank->exec.executor);
    helpers_tell("[%" PRIu64 ", %" PRIu64 ") is cut off", cut.first, cut.first + cut.count);
    const unsigned of =
        rank->chunk[1].count > 0 && cut.first + cut.count == rank->chunk[1].first + rank->chunk[1].count;
    if (cut.count == 0)
        return;
    rank->chunk[of].count -= cut.count;
    if (cut.first != rank->chunk[of].first + rank->chunk[of].count || (of == 0 && rank->chunk[0].count == 0))
        helpers_blame("[%" PRIu64 ", %" PRIu64 ") is no end of a chunk", cut.first, cut.first + cut.count);
    note_back(rank, cut);
}

void rank_forget(struct helpers_rank *rank)
{
    helpers_tell("the next chunk is given up");
    executor_forget(&rank->exec.executor);
    executor_check(&rank->exec.executor);
    note_back(rank, rank->chunk[1]);
    rank->chunk[1].count = 0;
}

void rank_end(struct helpers_rank *rank)
{
    helpers_tell("what runs is ended");
    helpers.may_kill = true;
    if (rank->chunk[1].count > 0)
        rank_forget(rank);
    const struct range rest = executor_end(&rank->exec.executor);
    executor_check(&rank->exec.executor);
    note_back(rank, rest);
    if (rest.count > rank->chunk[0].count - rank->told)
        helpers_blame("more is given back than was left");
    rank->chunk[0].count -= rest.count;
    rank->loop.has_effects = false;
}

/* --- beginning and ending --- */

static pid_t begin_helper(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    const struct helpers_rank *rank = context;
    return helpers_begin(file, bell, rank->exec.remote.helper.channel_bytes, error);
}

int rank_open(struct helpers_rank *rank, const struct helpers_rank_config *config)
{
    memset(rank, 0, sizeof *rank);
    rank->loop = (struct hdss_loop){.iterations = HELPERS_LOOP, .has_effects = config->has_effects};
    if (config->variable)
        rank->loop.streams = 1;
    else
        rank->loop = (struct hdss_loop){.iterations = HELPERS_LOOP,
                                        .has_effects = config->has_effects,
                                        .type = HDSS_UINT64,
                                        .record_length = 1,
                                        .dims = 1,
                                        .shape = {HELPERS_LOOP}};
    rank->start = (struct helper_start){begin_helper, rank, config->lets_go, &helpers_world};
    helpers.loop = &rank->loop;
    helpers.limit_ns = config->limit_ns;
    helpers.once = config->has_effects && config->limit_ns > 0;
    const struct exec_config executor = {.kernel = &kernel,
                                         .loop = &rank->loop,
                                         .collect = config->collect,
                                         .slowdown = 1,
                                         .probe_count = HELPERS_LOOP,
                                         .helper = &rank->start,
                                         .begins_late = config->begins_late,
                                         .limit_ns = config->limit_ns};
    return exec_init(&rank->exec, &executor);
}

void rank_close(struct helpers_rank *rank)
{
    rank->keeps_sends = false;
    helpers.may_kill = true;
    helpers.waited_ns = 0;
    executor_fini(&rank->exec.executor);
    if (helpers.waited_ns > CLOSE_NS + SOON_NS)
        helpers_blame("the end waits for %.3f s", (double)helpers.waited_ns / 1e9);
}
