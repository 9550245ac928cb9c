/* SPDX-License-Identifier: MIT */
/* Rows of a trace: see rows.h. */
#include "common/trace/rows.h"

#include "common/util/grow.h"

#include <stdlib.h>
#include <string.h>

struct traced_part {
    uint64_t first, count, settled_ns;
    enum trace_record_kind fate;
};

struct traced_chunk {
    struct trace_record assigned;
    /* time at which the message about the chunk's completion arrived, and two durations from this message */
    uint64_t told_ns, compute_ns, wait_ns;
    uint64_t begun_ns, ended_ns;
    uint64_t settled;
    bool is_computed;
    bool is_timed;
    bool is_closed;
    struct traced_part *parts;
    size_t part_count, part_room;
};

struct traced_worker {
    /* [count] oldest first. A chunk stays here until all its iterations are settled and its times are final. Owned. */
    struct traced_chunk *chunks;
    size_t count, room;
    /* `untimed`: number of computed chunks whose times are not final. `recent`: number of those that were completed
     * after the last time at which times became final. */
    size_t untimed, recent;
    uint64_t told_ns;
    uint64_t ended_ns; /* end of the latest chunk whose times are final; 0: there is no such chunk */
};

/* After this many later chunks have completed, the times of a chunk become final. */
#define LATER_CHUNKS 64

struct chunk_rows {
    chunk_row_taker *take;
    void *context;
    struct traced_worker *workers;
    size_t worker_count;
};

#define RANKS_MAX (1u << 24)

const char *chunk_reason_name(enum chunk_reason reason)
{
    static const char *const names[CHUNK_REASONS] = {"",         "own",  "other",  "cut",    "requeued",
                                                     "recalled", "copy", "verify", "adopted"};
    return reason < CHUNK_REASONS ? names[reason] : "";
}

const char *chunk_fate_name(enum trace_record_kind fate)
{
    switch (fate) {
    case CHUNK_STORED: return "done";
    case CHUNK_DROPPED: return "dropped";
    case CHUNK_RETURNED: return "returned";
    case CHUNK_FAILED: return "failed";
    case CHUNK_UNDONE: return "undone";
    case CHUNK_LOST: return "lost";
    default: return "open";
    }
}

struct chunk_rows *chunk_rows_new(chunk_row_taker *take, void *context)
{
    struct chunk_rows *rows = calloc(1, sizeof *rows);
    if (rows != NULL)
        *rows = (struct chunk_rows){.take = take, .context = context};
    return rows;
}

static void free_chunk(struct traced_chunk *chunk)
{
    free(chunk->parts);
}

void chunk_rows_free(struct chunk_rows *rows)
{
    if (rows == NULL)
        return;
    for (size_t w = 0; w < rows->worker_count; w++) {
        for (size_t i = 0; i < rows->workers[w].count; i++)
            free_chunk(&rows->workers[w].chunks[i]);
        free(rows->workers[w].chunks);
    }
    free(rows->workers);
    free(rows);
}

static struct traced_worker *find_worker(struct chunk_rows *rows, uint32_t rank)
{
    if (rank >= RANKS_MAX)
        return NULL;
    if (rank >= rows->worker_count) {
        const size_t count = rank + 1 > 2 * rows->worker_count ? rank + 1 : 2 * rows->worker_count;
        struct traced_worker *workers = realloc(rows->workers, count * sizeof *workers);
        if (workers == NULL)
            return NULL;
        memset(workers + rows->worker_count, 0, (count - rows->worker_count) * sizeof *workers);
        rows->workers = workers;
        rows->worker_count = count;
    }
    return &rows->workers[rank];
}

static struct traced_chunk *find_chunk(const struct chunk_rows *rows, const struct trace_record *record)
{
    struct traced_worker *worker = record->worker < rows->worker_count ? &rows->workers[record->worker] : NULL;
    for (size_t i = worker != NULL ? worker->count : 0; i-- > 0;)
        if (worker->chunks[i].assigned.chunk == record->chunk)
            return &worker->chunks[i];
    return NULL;
}

static void give_part(struct chunk_rows *rows, const struct traced_chunk *chunk, const struct traced_part *part,
                      uint64_t compute_ns)
{
    const struct trace_record *assigned = &chunk->assigned;
    const bool was_computed = part->fate == CHUNK_STORED || part->fate == CHUNK_DROPPED || part->fate == CHUNK_FAILED;
    const bool is_late = was_computed && chunk->is_timed && part->settled_ns < chunk->ended_ns;
    rows->take(rows->context, &(struct chunk_row){
                                  .kind = ROW_CHUNK,
                                  .at_ns = assigned->at_ns,
                                  .worker = assigned->worker,
                                  .chunk = assigned->chunk,
                                  .first = part->first,
                                  .count = part->count,
                                  .reason = assigned->reason,
                                  .fate = part->fate,
                                  .asked_ns = assigned->figure,
                                  .begun_ns = was_computed ? chunk->begun_ns : ROW_UNKNOWN,
                                  .ended_ns = was_computed ? chunk->ended_ns : ROW_UNKNOWN,
                                  .settled_ns = is_late ? chunk->ended_ns : part->settled_ns,
                                  .compute_ns = was_computed ? compute_ns : 0,
                              });
}

static void give_chunk(struct chunk_rows *rows, const struct traced_chunk *chunk)
{
    uint64_t compute_ns = chunk->compute_ns;
    for (size_t i = 0; i < chunk->part_count; i++) {
        const struct traced_part *part = &chunk->parts[i];
        give_part(rows, chunk, part, compute_ns);
        if (part->fate <= CHUNK_DROPPED || part->fate == CHUNK_FAILED)
            compute_ns = 0;
    }
}

static bool give_if_settled(struct chunk_rows *rows, struct traced_chunk *chunk)
{
    struct traced_worker *worker = &rows->workers[chunk->assigned.worker];
    if (chunk->settled < chunk->assigned.count || (chunk->is_computed ? !chunk->is_timed : !chunk->is_closed))
        return false;
    give_chunk(rows, chunk);
    free_chunk(chunk);
    const size_t behind = worker->count - (size_t)(chunk - worker->chunks) - 1;
    memmove(chunk, chunk + 1, behind * sizeof *chunk);
    worker->count--;
    return true;
}

static struct traced_part *part_before(const struct traced_chunk *chunk, const struct trace_record *record,
                                       enum trace_record_kind fate)
{
    struct traced_part *last = chunk->part_count > 0 ? &chunk->parts[chunk->part_count - 1] : NULL;
    const bool goes_on = last != NULL && last->fate == fate && last->first + last->count == record->first;
    return goes_on ? last : NULL;
}

static bool add_part(struct traced_chunk *chunk, const struct trace_record *record, enum trace_record_kind fate)
{
    struct traced_part *part = part_before(chunk, record, fate);
    chunk->settled += record->count;
    if (part != NULL) {
        part->count += record->count;
        part->settled_ns = record->at_ns;
        return true;
    }
    struct traced_part *parts = grow(chunk->parts, chunk->part_count, &chunk->part_room, sizeof *parts);
    if (parts == NULL)
        return false;
    chunk->parts = parts;
    chunk->parts[chunk->part_count++] = (struct traced_part){record->first, record->count, record->at_ns, fate};
    return true;
}

/* Computes the times of the chunks whose times are not final, from the latest to the oldest. There are two upper bounds
 * of the end of a chunk. One is the arrival of its completion. The other is the time at which the worker began to wait
 * for the next chunk: the begin of the next chunk minus the waiting time. */
static void chain_times(struct traced_worker *worker)
{
    uint64_t next_told_ns = UINT64_MAX, latest_ns = UINT64_MAX;
    for (size_t i = worker->count; i-- > 0;) {
        struct traced_chunk *chunk = &worker->chunks[i];
        if (!chunk->is_computed || chunk->is_timed)
            continue;
        const bool is_before_next = chunk->told_ns <= next_told_ns && latest_ns < chunk->told_ns;
        chunk->ended_ns = is_before_next ? latest_ns : chunk->told_ns;
        chunk->begun_ns = chunk->compute_ns < chunk->ended_ns ? chunk->ended_ns - chunk->compute_ns : 0;
        latest_ns = chunk->wait_ns < chunk->begun_ns ? chunk->begun_ns - chunk->wait_ns : 0;
        next_told_ns = chunk->told_ns;
    }
}

/* Corrects the times of a chunk. A chunk begins neither before its assignment nor before the end of the worker's
 * previous chunk. If a machine was suspended, the time that it notes for a completion may be too early. Then the end of
 * the chunk is moved, so that the kernel time fits. The end is not moved for a chunk that was assigned again after its
 * master was lost (adopted), because this chunk began before that assignment. */
static void keep_in_order(struct traced_worker *worker, struct traced_chunk *chunk)
{
    const uint64_t assigned_ns = chunk->assigned.at_ns;
    const uint64_t least_ns = assigned_ns > worker->ended_ns ? assigned_ns : worker->ended_ns;
    const uint64_t needs_ns = chunk->assigned.reason != CHUNK_REASON_ADOPTED ? chunk->compute_ns : 0;
    if (chunk->begun_ns < least_ns)
        chunk->begun_ns = least_ns;
    if (chunk->ended_ns < chunk->begun_ns + needs_ns)
        chunk->ended_ns = chunk->begun_ns + needs_ns;
    worker->ended_ns = chunk->ended_ns;
}

static void time_chunks(struct chunk_rows *rows, struct traced_worker *worker, size_t kept)
{
    chain_times(worker);
    for (size_t i = 0; worker->untimed > kept;) {
        struct traced_chunk *chunk = &worker->chunks[i];
        if (chunk->is_computed && !chunk->is_timed) {
            keep_in_order(worker, chunk);
            chunk->is_timed = true;
            worker->untimed--;
        }
        i += !give_if_settled(rows, chunk);
    }
}

/* Called for each completion. All completions of one message have the same time, so a new time shows a new message.
 * Before a new message is handled, the times of older chunks become final. This happens only if LATER_CHUNKS
 * completions or more have arrived since times last became final. */
static void begin_message(struct chunk_rows *rows, struct traced_worker *worker, uint64_t at_ns)
{
    if (worker->told_ns == at_ns)
        return;
    worker->told_ns = at_ns;
    if (worker->recent < LATER_CHUNKS)
        return;
    time_chunks(rows, worker, worker->recent);
    worker->recent = 0;
}

static bool add_completion(struct chunk_rows *rows, const struct trace_record *record)
{
    struct traced_worker *worker = record->worker < rows->worker_count ? &rows->workers[record->worker] : NULL;
    if (worker != NULL)
        begin_message(rows, worker, record->at_ns);
    struct traced_chunk *chunk = find_chunk(rows, record);
    if (chunk == NULL || chunk->is_computed)
        return true;
    worker->untimed++;
    worker->recent++;
    chunk->told_ns = record->at_ns;
    chunk->compute_ns = record->figure;
    chunk->wait_ns = record->wait_ns;
    chunk->is_computed = true;
    return !record->is_whole || add_part(chunk, record, CHUNK_STORED);
}

static bool add_chunk(struct chunk_rows *rows, const struct trace_record *record)
{
    struct traced_worker *worker = find_worker(rows, record->worker);
    struct traced_chunk *chunks =
        worker != NULL ? grow(worker->chunks, worker->count, &worker->room, sizeof *chunks) : NULL;
    if (chunks == NULL)
        return false;
    worker->chunks = chunks;
    worker->chunks[worker->count++] =
        (struct traced_chunk){.assigned = *record, .begun_ns = ROW_UNKNOWN, .ended_ns = ROW_UNKNOWN};
    return true;
}

/* A chunk whose assignment is unknown is ignored: its assignment was in the file of another machine, which is lost. */
static bool settle_part(struct chunk_rows *rows, const struct trace_record *record)
{
    struct traced_chunk *chunk = find_chunk(rows, record);
    if (chunk == NULL)
        return true;
    if (record->count > 0 && !add_part(chunk, record, record->kind))
        return false;
    const bool is_all_returned =
        record->kind == CHUNK_RETURNED && chunk->part_count == 1 && chunk->settled == chunk->assigned.count;
    chunk->is_closed |= record->kind == CHUNK_LOST || record->kind == CHUNK_UNDONE || is_all_returned;
    give_if_settled(rows, chunk);
    return true;
}

static void give_cut(struct chunk_rows *rows, const struct trace_record *record)
{
    rows->take(rows->context, &(struct chunk_row){.kind = ROW_CUT,
                                                  .at_ns = record->at_ns,
                                                  .worker = record->worker,
                                                  .first = record->first,
                                                  .count = record->count,
                                                  .formula = record->figure});
}

static void give_resumed(struct chunk_rows *rows, const struct trace_record *record)
{
    rows->take(rows->context,
               &(struct chunk_row){
                   .kind = ROW_RESUMED, .at_ns = record->at_ns, .first = record->first, .count = record->count});
}

static bool add_record(struct chunk_rows *rows, const struct trace_record *record)
{
    switch ((enum trace_record_kind)record->kind) {
    case CHUNK_CUT: give_cut(rows, record); return true;
    case CHUNK_RESUMED: give_resumed(rows, record); return true;
    case CHUNK_ASSIGNED: return add_chunk(rows, record);
    case CHUNK_COMPUTED: return add_completion(rows, record);
    case CHUNK_STORED:
    case CHUNK_DROPPED:
    case CHUNK_RETURNED:
    case CHUNK_FAILED:
    case CHUNK_UNDONE:
    case CHUNK_LOST: return settle_part(rows, record);
    case CHUNK_RANK_LOST:
        rows->take(rows->context,
                   &(struct chunk_row){.kind = ROW_RANK_LOST, .at_ns = record->at_ns, .worker = record->worker});
        return true;
    default: return false;
    }
}

bool chunk_rows_add(struct chunk_rows *rows, const struct trace_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records[i].kind != 0 && !add_record(rows, &records[i]))
            return false;
    return true;
}

/* Passes the rows of a chunk that is open at the end of the trace. Iterations that are not settled form one row. If the
 * machine ended in order, these iterations are consecutive; otherwise settled parts may lie between them. */
static void give_open(struct chunk_rows *rows, struct traced_chunk *chunk)
{
    const struct trace_record *assigned = &chunk->assigned;
    const uint64_t left = assigned->count - chunk->settled;
    give_chunk(rows, chunk);
    if (left > 0)
        give_part(rows, chunk, &(struct traced_part){assigned->first + chunk->settled, left, ROW_UNKNOWN, 0}, 0);
}

void chunk_rows_end(struct chunk_rows *rows)
{
    for (size_t w = 0; w < rows->worker_count; w++) {
        struct traced_worker *worker = &rows->workers[w];
        time_chunks(rows, worker, 0);
        for (size_t i = 0; i < worker->count; i++)
            give_open(rows, &worker->chunks[i]);
    }
}
