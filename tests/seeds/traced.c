/* SPDX-License-Identifier: MIT */
/* The trace of a virtual run, replayed: see traced.h. */
#include "tests/seeds/traced.h"

#include "common/trace/rows.h"
#include "common/util/grow.h"
#include "supermaster/supermaster.h"
#include "tests/seeds/memory.h"

#include <stdlib.h>

#define ROOM (sizeof((struct traced_rank *)NULL)->room / sizeof(struct trace_record))

/* Machines note while their allocations are counted, and may fail: these are not theirs. */
static void take_records(struct trace_sink *sink)
{
    struct traced_rank *rank = (struct traced_rank *)sink;
    memory_in_machine(false);
    for (const struct trace_record *record = rank->room; record < sink->next && !rank->out_of_memory; record++) {
        struct trace_record *records = grow(rank->records, rank->count, &rank->capacity, sizeof *records);
        rank->out_of_memory = records == NULL;
        if (records == NULL)
            break;
        rank->records = records;
        rank->records[rank->count++] = *record;
    }
    memory_in_machine(true);
    sink->next = rank->room;
}

bool traced_begin(struct traced *traced, struct virtual_config *config)
{
    const unsigned count = 1 + config->masters + config->pod_count;
    *traced = (struct traced){
        .ranks = calloc(count, sizeof *traced->ranks), .sinks = calloc(count, sizeof *traced->sinks), .count = count};
    if (traced->ranks == NULL || traced->sinks == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct traced_rank *rank = &traced->ranks[i];
        rank->sink = (struct trace_sink){rank->room, rank->room + ROOM, take_records};
        traced->sinks[i] = &rank->sink;
    }
    config->sinks = traced->sinks;
    return true;
}

void traced_fini(struct traced *traced)
{
    for (unsigned i = 0; traced->ranks != NULL && i < traced->count; i++)
        free(traced->ranks[i].records);
    free(traced->ranks);
    free(traced->sinks);
    *traced = (struct traced){0};
}

/* --- replaying --- */

/* A worker was at a chunk. */
struct stay {
    uint64_t begun_ns, ended_ns;
    uint32_t worker;
};

struct replay {
    const struct virtual_config *config;
    const struct virtual_result *result;
    unsigned char *stored;  /* [config->count] times that the iteration was stored */
    unsigned char *resumed; /* likewise that an earlier run is said to have done it */
    struct stay *stays;     /* [stay_count] that the machine at hand tells of; owned */
    size_t stay_count, stay_room;
    const char *wrong;
};

static void say(struct replay *replay, const char *wrong)
{
    if (replay->wrong == NULL)
        replay->wrong = wrong;
}

static void replay_times(struct replay *replay, const struct chunk_row *row)
{
    if (row->asked_ns > row->at_ns)
        say(replay, "the trace has a chunk that was assigned before it was asked for");
    if (row->begun_ns == ROW_UNKNOWN)
        return;
    if (row->begun_ns < row->at_ns || row->ended_ns < row->begun_ns)
        say(replay, "the trace has a chunk that began before it was assigned, or ended before it began");
    struct stay *stays = grow(replay->stays, replay->stay_count, &replay->stay_room, sizeof *stays);
    if (stays == NULL) {
        say(replay, "the test is out of memory");
        return;
    }
    replay->stays = stays;
    if (row->compute_ns > 0) /* else the chunk has another row */
        replay->stays[replay->stay_count++] = (struct stay){row->begun_ns, row->ended_ns, row->worker};
}

static int compare_stays(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    if (x->begun_ns != y->begun_ns)
        return x->begun_ns < y->begun_ns ? -1 : 1;
    return x->ended_ns < y->ended_ns ? -1 : x->ended_ns > y->ended_ns;
}

static void check_stays(struct replay *replay)
{
    if (replay->stay_count > 0)
        qsort(replay->stays, replay->stay_count, sizeof *replay->stays, compare_stays);
    for (size_t i = 1; i < replay->stay_count; i++)
        if (replay->stays[i].worker == replay->stays[i - 1].worker &&
            replay->stays[i].begun_ns < replay->stays[i - 1].ended_ns)
            say(replay, "the trace has a worker at two chunks at once");
    replay->stay_count = 0;
}

static void count_iterations(const struct replay *replay, unsigned char *counts, const struct chunk_row *row)
{
    for (uint64_t i = row->first; i < row->first + row->count; i++)
        if (counts[i - replay->config->first] < UINT8_MAX)
            counts[i - replay->config->first]++;
}

static void replay_row(void *context, const struct chunk_row *row)
{
    struct replay *replay = context;
    const struct virtual_config *config = replay->config;
    if (row->kind == ROW_RANK_LOST)
        return;
    if (row->first < config->first || row->first - config->first + row->count > config->count) {
        say(replay, "the trace has iterations outside of the loop");
        return;
    }
    if (row->kind == ROW_CUT)
        return;
    if (row->kind == ROW_RESUMED) {
        count_iterations(replay, replay->resumed, row);
        return;
    }
    replay_times(replay, row);
    if (row->fate == 0 && replay->result->status == EXIT_STATUS_DONE && replay->result->killed == 0 &&
        replay->result->drops == 0)
        say(replay, "the trace leaves a chunk open");
    if (row->fate == CHUNK_STORED)
        count_iterations(replay, replay->stored, row);
}

/* The records of a machine as rows. */
static void replay_rank(struct replay *replay, struct traced_rank *rank)
{
    struct chunk_rows *rows = chunk_rows_new(replay_row, replay);
    take_records(&rank->sink);
    memory_in_machine(false);
    if (rows == NULL || rank->out_of_memory || !chunk_rows_add(rows, rank->records, rank->count))
        say(replay, "the trace is out of memory, or makes no sense");
    else
        chunk_rows_end(rows);
    check_stays(replay);
    chunk_rows_free(rows);
}

static bool was_done_before(const struct virtual_config *config, uint64_t iteration)
{
    for (size_t i = 0; config->done != NULL && i < ranges_length(config->done); i++) {
        const struct range *range = ranges_at(config->done, i);
        if (iteration >= range->first && iteration - range->first < range->count)
            return true;
    }
    return false;
}

/* Each iteration of an earlier run is in the trace as such, once, and no other is. */
static void check_resumed(struct replay *replay)
{
    const struct virtual_config *config = replay->config;
    for (uint64_t i = 0; i < config->count; i++)
        if (replay->resumed[i] != was_done_before(config, config->first + i))
            say(replay, "the trace does not have just the iterations of the earlier run as resumed");
}

/* Iterations that the supermaster counts as done are stored, by this run or the earlier one, once; what a master had
 * not told is stored again where it is lost, or was stopped for so long that nobody waits for it, or has left with
 * results that were to be verified, or that it could not bring to the disk. */
static void check_stored(struct replay *replay)
{
    const struct virtual_config *config = replay->config;
    const struct supermaster *supermaster = replay->result->supermaster;
    const bool may_be_twice =
        supermaster->losses.masters_lost > 0 || replay->result->killed > 0 || replay->result->sent_garbage > 0 ||
        config->columns > 0 || (config->masters > 0 && replay->result->hits > 0) ||
        (supermaster->losses.workers_left > 0 && (config->spec.verify > 0 || replay->result->failed_writes > 0));
    uint64_t stored = 0;
    for (uint64_t i = 0; i < config->count; i++) {
        stored += replay->stored[i] > 0 || replay->resumed[i] > 0;
        if (replay->stored[i] + replay->resumed[i] > 1 && !may_be_twice)
            say(replay, "the trace has an iteration stored twice");
    }
    if (stored + ranges_total(&supermaster->ledger.failed) < supermaster->ledger.done)
        say(replay, "the trace lacks iterations that are done");
}

const char *traced_check(struct traced *traced, const struct virtual_config *config,
                         const struct virtual_result *result)
{
    struct replay replay = {.config = config,
                            .result = result,
                            .stored = calloc(config->count + 1, 1),
                            .resumed = calloc(config->count + 1, 1)};
    if (replay.stored == NULL || replay.resumed == NULL)
        replay.wrong = "the test is out of memory";
    for (unsigned i = 0; i < traced->count && replay.wrong == NULL; i++)
        replay_rank(&replay, &traced->ranks[i]);
    if (replay.wrong == NULL) {
        check_resumed(&replay);
        check_stored(&replay);
    }
    free(replay.stored);
    free(replay.resumed);
    free(replay.stays);
    return replay.wrong;
}
