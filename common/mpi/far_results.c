/* SPDX-License-Identifier: MIT */
/* Results of pods that cannot or must not write files (--results here). The pod sends the results to the supermaster,
 * which writes them.
 *
 * A pod's master sends a STORE with the data before all other messages about these iterations, such as its report. A
 * stream keeps this order and delivers each message once, even if a connection breaks. So the supermaster writes the
 * results before it reads the report. Therefore the pod's machine may count results as stored as soon as the stream has
 * accepted them. If the supermaster cannot write the results, it ends the job and ignores later reports of pods.
 *
 * Memory: the pod keeps data in the stream until they are acknowledged, up to a limit (streams_has_room()). Beyond that
 * limit, results stay in the few buffers for data messages. If these buffers are full too, results stay with the
 * workers until there is room. The supermaster holds one data message per pod, and the streams' inbox, whose size is
 * limited too. */
#include "common/mpi/far.h"

#include "common/mpi/driver.h"
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"

#include <stdlib.h>
#include <string.h>

static unsigned set_peer(const struct far *far)
{
    return far->launches[0].peer;
}

void far_look_for_room(struct link *link)
{
    link->far.is_full = link->runtime->first_rank > 0 && !streams_has_room(link->far.streams, set_peer(&link->far));
}

/* Flushes the stream only if it has no room otherwise. If flushes are rare, the pieces that are sent are large. */
static bool has_room_for_data(struct far *far)
{
    if (!streams_has_room(far->streams, set_peer(far)))
        far_flush(far);
    return streams_has_room(far->streams, set_peer(far));
}

bool far_send_data(struct link *link, struct collect *collect, bool *is_over)
{
    struct far *far = &link->far;
    const uint64_t before = far->sent;
    if (far->sending == NULL) {
        if (far_send_store(link, collect->user->job, &collect->part, PAYLOAD_DATA, NULL, collect->data.bytes) < 0)
            link_give_up(link, "out of memory for a message");
        far->sending = collect;
    }
    while (far->sent < collect->data.bytes && has_room_for_data(far)) {
        const uint64_t left = collect->data.bytes - far->sent;
        const size_t size = left < STREAM_DATA_MAX ? (size_t)left : STREAM_DATA_MAX;
        if (streams_send_data(far->streams, set_peer(far), collect->buffer + far->sent, size) < 0) {
            link_give_up(link, "out of memory for results");
            break;
        }
        far->sent += size;
    }
    far_flush(far);
    *is_over = far->sent == collect->data.bytes;
    if (!*is_over)
        return far->sent > before;
    far->sending = NULL;
    far->sent = 0;
    if (collect->user != NULL)
        driver_note_stored(driver_of(collect->user), &collect->part, 0, NULL);
    return true;
}

static const char *write_results(struct link *link, uint32_t job, const struct part *part, const void *data,
                                 uint64_t bytes)
{
    struct driver *driver = link_find_driver(link, job);
    struct error error;
    if (driver == NULL || driver->state != DRIVER_RUNS || driver->cannot_store)
        return NULL;
    const struct effects *effects = driver->effects;
    if (effects->fits == NULL || !effects->fits(effects->context, part, bytes))
        return "sent results that cannot be";
    heartbeat_release(&link->runtime->heartbeat);
    const int result = effects->store(effects->context, part, data, bytes, &error);
    heartbeat_retake(&link->runtime->heartbeat);
    link->now_ns = link->ops->now();
    driver->cannot_store = result < 0;
    if (result < 0)
        driver_step(driver, &(struct event){.type = EVENT_FATAL, .text = error.text});
    return NULL;
}

const char *far_take_store(struct link *link, unsigned from, const struct message *message)
{
    struct far_launch *launch = far_find(&link->far, from);
    const struct part part = {.first = message->store.first, .count = message->store.count};
    if (link->runtime->role != ROLE_SUPERMASTER || launch == NULL)
        return "sent results that are not for this rank";
    if (message->payload == PAYLOAD_INLINE)
        return write_results(link, message->job, &part, message->payload_data, message->payload_bytes);
    struct far_results *results = &launch->results;
    if (results->bytes > 0)
        return "sent results before the end of others";
    if (results->room < message->payload_bytes) {
        free(results->data);
        results->room = message->payload_bytes;
        /* this is cheap, because the system provides pages only after data have arrived */
        results->data = malloc(results->room);
    }
    if (results->data == NULL) {
        results->room = 0;
        link_give_up(link, "out of memory for results");
        return NULL;
    }
    results->job = message->job;
    results->part = part;
    results->bytes = message->payload_bytes;
    results->have = 0;
    return NULL;
}

const char *far_take_data(struct link *link, struct far_launch *launch, const unsigned char *bytes, size_t size)
{
    struct far_results *results = &launch->results;
    if (size > results->bytes - results->have)
        return "sent data that belong to no results";
    memcpy(results->data + results->have, bytes, size);
    results->have += size;
    if (results->have < results->bytes)
        return NULL;
    const uint64_t all = results->bytes;
    results->bytes = results->have = 0;
    return write_results(link, results->job, &results->part, results->data, all);
}
