/* SPDX-License-Identifier: MIT */
/* The disk of a virtual run: the output, with the number of writes of each record, and the journal. Also checks that
 * records are stored, synced and recorded in the right order. */
#include "deploy/simulate/virtual/inside.h"
#include "common/service/poison.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/machines.h"
#include "proto/block.h"
#include "proto/message.h"
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

uint64_t virtual_record(uint64_t iteration)
{
    return random_at(42, iteration);
}

uint32_t virtual_length(uint64_t iteration)
{
    return iteration % 5 == 3 ? 0 : (uint32_t)(virtual_record(iteration) % 700);
}

uint64_t store_digest_of(uint64_t iteration, uint64_t record)
{
    return digest_record(iteration, &record, sizeof record);
}

uint64_t store_digest(uint64_t iteration)
{
    return store_digest_of(iteration, virtual_record(iteration));
}

uint64_t virtual_checksum(uint64_t first, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += store_digest(i);
    return sum;
}

static unsigned char *make_records(uint64_t first, uint64_t count, uint64_t *bytes)
{
    unsigned char *records = malloc((count + 1) * RECORD_BYTES);
    *bytes = count * RECORD_BYTES;
    for (uint64_t i = 0; records != NULL && i < count; i++) {
        uint64_t record = virtual_record(first + i);
        memcpy(records + i * RECORD_BYTES, &record, RECORD_BYTES);
    }
    return records;
}

static int handle_yield(uint64_t iteration, unsigned char *at, bool write)
{
    uint64_t record = virtual_record(iteration);
    for (uint32_t k = 0; k < virtual_length(iteration); k++) {
        unsigned char byte = (unsigned char)(record >> k % 8 * 8);
        if (write)
            at[k] = byte;
        else if (at[k] != byte)
            return -1;
    }
    return 0;
}

static unsigned char *make_block(uint64_t first, uint64_t count, uint64_t *bytes)
{
    *bytes = BLOCK_HEAD_BYTES + count * block_entry_bytes(1);
    uint64_t at = *bytes;
    for (uint64_t i = 0; i < count; i++)
        *bytes += virtual_length(first + i);
    unsigned char *block = malloc(*bytes + 1);
    if (block == NULL)
        return NULL;
    block_head_put(block, (uint32_t)count, 1);
    for (uint64_t i = 0; i < count; at += virtual_length(first + i), i++) {
        unsigned char *entry = block + BLOCK_HEAD_BYTES + i * block_entry_bytes(1);
        wire_put32(entry, 0);
        wire_put32(entry + 4, virtual_length(first + i));
        handle_yield(first + i, block + at, true);
    }
    return block;
}

unsigned char *store_make(const struct virtual_cluster *cluster, uint64_t first, uint64_t count, uint64_t *bytes)
{
    return cluster->config.variable ? make_block(first, count, bytes) : make_records(first, count, bytes);
}

static void write_block(struct virtual_cluster *cluster, const struct part *part, const unsigned char *data,
                        uint64_t bytes)
{
    struct block block;
    bool good = block_read(&block, data, bytes, 1);
    uint64_t at = 0;
    for (uint64_t i = 0; i < part->count; i++) {
        uint64_t place = part->first + i - cluster->config.first, record = virtual_record(part->first + i);
        good = good && i < block.count && block_length(&block, (uint32_t)i, 0) == virtual_length(part->first + i) &&
               handle_yield(part->first + i, (unsigned char *)block.stream[0] + at, false) == 0;
        at += virtual_length(part->first + i);
        cluster->output[place] = good ? record : ~record;
        cluster->result.stored_twice += cluster->written[place]++ > 0;
    }
}

static void write_records(struct virtual_cluster *cluster, const struct part *part, const unsigned char *data,
                          uint64_t bytes)
{
    if (cluster->config.variable) {
        write_block(cluster, part, data, bytes);
        return;
    }
    for (uint64_t i = 0; i < part->count; i++) {
        uint64_t place = part->first + i - cluster->config.first;
        memcpy(&cluster->output[place], data + i * RECORD_BYTES, RECORD_BYTES);
        cluster->result.stored_twice += cluster->written[place]++ > 0;
    }
}

static const char *store_write(struct virtual_cluster *cluster, const struct part *part, const void *data,
                               uint64_t bytes)
{
    if (part_is_unwanted(part))
        return NULL;
    if (++cluster->stores != cluster->config.failing_store) {
        write_records(cluster, part, data, bytes);
        return NULL;
    }
    struct part written = *part;
    written.count = cluster->config.short_writes ? part->count / 2 : 0;
    write_records(cluster, &written, data, bytes);
    cluster->result.failed_writes++;
    return "No space left on device";
}

static bool is_of_pod(const struct virtual_cluster *cluster, unsigned rank)
{
    return rank > cluster->config.masters + cluster->config.workers;
}

const char *store_take(struct virtual_cluster *cluster, unsigned rank, const struct part *part, const void *data,
                       uint64_t bytes)
{
    if (!cluster->config.sends_results || !is_of_pod(cluster, rank) || part_is_unwanted(part))
        return store_write(cluster, part, data, bytes);
    const struct message message = {.type = MESSAGE_STORE,
                                    .payload = bytes > INLINE_MAX ? PAYLOAD_DATA : PAYLOAD_INLINE,
                                    .payload_data = data,
                                    .payload_bytes = bytes,
                                    .store = {part->first, part->count}};
    cluster_send_message(
        cluster, rank,
        &(struct action){.type = ACTION_SEND, .send = {.to = cluster->topology.supermaster, .message = message}});
    return NULL;
}

bool store_look_at_message(struct virtual_cluster *cluster, unsigned from, struct message *message, const void *data)
{
    const struct part part = {.chunk = 1, .first = message->store.first, .count = message->store.count};
    if (message->type == MESSAGE_REPORT && cluster->cannot_store && is_of_pod(cluster, from))
        message->record_count = 0;
    if (message->type != MESSAGE_STORE)
        return false;
    const void *results = message->payload == PAYLOAD_INLINE ? message->payload_data : data;
    const char *failure = cluster->cannot_store ? NULL : store_write(cluster, &part, results, message->payload_bytes);
    cluster->cannot_store |= failure != NULL;
    if (failure != NULL)
        cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns,
                                                   .rank = cluster->topology.supermaster,
                                                   .type = EVENT_FATAL,
                                                   .text = failure});
    return true;
}

static void collect_later(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    const struct part *part = &action->store.part;
    unsigned from = action->store.from;
    struct future future = {
        .at_ns = cluster->now_ns + cluster->config.collect_ns,
        .rank = rank,
        .type = EVENT_STORED,
        .from = from,
        .part = *part,
        .lost = cluster->nodes[from].killed && !faults_spare(cluster, part, from),
    };
    if (!part_is_unwanted(part)) {
        future.data = cluster_copy(cluster, data, action->store.bytes);
        future.size = action->store.bytes;
    }
    cluster_schedule(cluster, &future);
}

static void store_phantom(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    cluster->step.sending_ns += cluster->config.byte_ns * (double)action->store.bytes;
    cluster_schedule(cluster, &(struct future){
                                  .at_ns = cluster->now_ns + cluster_so_far_ns(cluster, rank),
                                  .rank = rank,
                                  .type = EVENT_STORED,
                                  .from = action->store.from,
                                  .part = action->store.part,
                              });
}

void store_part(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    if (cluster->config.phantom_bytes > 0) {
        store_phantom(cluster, rank, action);
        return;
    }
    if (action->type == ACTION_COLLECT && faults_any(cluster)) {
        collect_later(cluster, rank, action, data);
        return;
    }
    const char *failure = store_take(cluster, rank, &action->store.part, data, action->store.bytes);
    cluster_schedule(cluster, &(struct future){
                                  .at_ns = cluster->now_ns,
                                  .rank = rank,
                                  .type = EVENT_STORED,
                                  .part = action->store.part,
                                  .text = failure,
                              });
}

static void store_tell_problem(struct virtual_cluster *cluster, unsigned rank, const char *text)
{
    cluster->result.failed_writes++;
    cluster_schedule(cluster,
                     &(struct future){.at_ns = cluster->now_ns, .rank = rank, .type = EVENT_FATAL, .text = text});
}

void store_sync(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    cluster->result.syncs++;
    node->sync_failed = ++cluster->syncs == cluster->config.failing_sync;
    node->synced = !node->sync_failed;
    if (node->sync_failed)
        store_tell_problem(cluster, rank, "Input/output error");
}

void store_journal(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    struct virtual_result *result = &cluster->result;
    if (++cluster->records == cluster->config.failing_journal) {
        store_tell_problem(cluster, rank, "cannot write: No space left on device");
        return;
    }
    for (size_t i = 0; i < action->journal.count; i++) {
        const struct range *range = &action->journal.ranges[i];
        uint64_t added = 0;
        if (ranges_add(&cluster->journalled, range->first, range->count, &added) < 0)
            cluster->out_of_memory = true;
        result->journalled_early += range->count - added;
        for (uint64_t k = 0; cluster->config.collect && k < range->count; k++)
            result->journalled_early += cluster->written[range->first - cluster->config.first + k] == 0;
    }
    result->journalled_digest += action->journal.digest;
    result->journal_writes++;
}

void store_deaths(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    const struct poison *deaths = &action->deaths;
    if (++cluster->records == cluster->config.failing_journal)
        store_tell_problem(cluster, rank, "cannot write: No space left on device");
    else if (poison_forget(&cluster->deaths, deaths->first, deaths->count) < 0 ||
             poison_add(&cluster->deaths, deaths) < 0)
        cluster->out_of_memory = true;
}

/* Stores data of a recovery point. Data that do not continue the last recovery point begin a new recovery point. */
void store_point(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    const uint64_t all = machines_boundary_bytes(&cluster->config), offset = action->point.offset;
    if (++cluster->records == cluster->config.failing_journal) {
        store_tell_problem(cluster, rank, "cannot write: No space left on device");
        return;
    }
    struct virtual_point *points =
        grow(cluster->points, cluster->point_count, &cluster->point_room, sizeof *cluster->points);
    if (points != NULL)
        cluster->points = points;
    if (points != NULL && offset == 0) {
        if (store_points(cluster) < cluster->point_count)
            free(points[--cluster->point_count].data);
        points[cluster->point_count++] = (struct virtual_point){.at = action->point.at, .data = malloc(all)};
    }
    struct virtual_point *last = cluster->point_count > 0 ? &points[cluster->point_count - 1] : NULL;
    if (last == NULL || last->data == NULL || last->at != action->point.at || last->bytes != offset ||
        action->point.bytes > all - offset || action->point.all != all) {
        cluster->result.misled += points != NULL && cluster->config.failing_journal == 0;
        cluster->out_of_memory |= points == NULL || last == NULL || last->data == NULL;
        return;
    }
    memcpy(last->data + offset, action->point.data, action->point.bytes);
    last->bytes += action->point.bytes;
}

unsigned store_points(const struct virtual_cluster *cluster)
{
    const unsigned count = cluster->point_count;
    const bool is_whole = count == 0 || cluster->points[count - 1].bytes == machines_boundary_bytes(&cluster->config);
    return is_whole ? count : count - 1;
}

void store_check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action)
{
    const struct message *message = &action->send.message;
    if (cluster->config.sync && action->type == ACTION_SEND && message->type == MESSAGE_REPORT)
        cluster->result.journalled_early += message->record_count > 0 && !node->synced && !node->sync_failed;
}

static bool was_done(const struct virtual_cluster *cluster, uint64_t iteration)
{
    return cluster->config.done != NULL && ranges_contains(cluster->config.done, iteration);
}

static uint64_t expected(const struct virtual_cluster *cluster, uint64_t iteration)
{
    return cluster->expected != NULL ? cluster->expected[iteration - cluster->config.first] : virtual_record(iteration);
}

/* Checks the output. If an iteration was done before the run, the run must not compute it again. In a loop with
 * dependencies it may do so, because it may need the boundary data. */
void store_check(struct virtual_cluster *cluster)
{
    const uint64_t first = cluster->config.first;
    const bool may_again = cluster->config.columns > 0;
    for (uint64_t i = 0; cluster->config.collect && i < cluster->config.count; i++)
        if (cluster->written[i] > 0)
            cluster->result.wrong +=
                cluster->output[i] != expected(cluster, first + i) || (!may_again && was_done(cluster, first + i));
        else
            cluster->result.wrong += cluster->result.status == EXIT_STATUS_DONE && !was_done(cluster, first + i);
}
