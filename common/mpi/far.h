/* SPDX-License-Identifier: MIT */
/* Ranks of other launches, reached by streams: the supermaster's pods or, in a pod, the supermaster. See far.c. */
#pragma once

#include "common/machine/machine.h"
#include "common/stream/stream.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collect;
struct driver;
struct link;

/* Results of a pod that are arriving. A STORE has announced `bytes` of results; `have` bytes have arrived. */
struct far_results {
    uint32_t job;
    struct part part;
    uint64_t bytes, have; /* `bytes` is 0 if no results are arriving */
    unsigned char *data;
    uint64_t room;
};

struct far_launch {
    unsigned peer;
    unsigned first_rank, count;
    unsigned node_rank;
    bool is_leaving;
    bool is_gone;
    struct stream_lineup lineup;
    struct far_results results;
};

struct far {
    struct streams *streams;
    struct far_launch *launches; /* sorted by rank; owned */
    size_t count, room;
    unsigned launched_cores;
    bool looks_first;
    uint64_t looked_ns;
    bool has_stored;
    bool is_full;
    /* In a pod's master: the results that are being sent (borrowed, may be NULL). `sent`: how many of their bytes the
     * stream has accepted. */
    struct collect *sending;
    uint64_t sent;
};

/* Sends a copy of the message. Does nothing if the launch of rank `to` has ended. */
int far_send(struct link *link, unsigned to, uint32_t job, const struct message *message);

int far_send_store(struct link *link, uint32_t job, const struct part *part, enum payload payload, const void *data,
                   uint64_t bytes);

static inline void far_flush(struct far *far)
{
    if (far->streams != NULL)
        streams_flush(far->streams);
}

bool far_has_gone(const struct link *link, unsigned rank);

struct far_launch *far_find(const struct far *far, unsigned rank);

void far_drop(struct link *link, unsigned rank);

void far_close_launch(struct link *link, struct far_launch *launch);

/* Determines whether this rank has a core of its own, or shares its core with ranks of pods on its node. A rank with a
 * core of its own polls for a while before it sleeps. */
void far_share_cores(struct link *link);

void far_results_fini(struct far_results *results);

void far_look_for_room(struct link *link);

/* For a pod's master: sends as many bytes of the results as the stream accepts. After the stream has accepted all
 * bytes, the results count as stored: every later message follows them in the stream. Returns true if anything was
 * sent, and sets `*is_over` if nothing is left to be sent. */
bool far_send_data(struct link *link, struct collect *collect, bool *is_over);

/* Both functions return an error, or NULL. */
const char *far_take_store(struct link *link, unsigned from, const struct message *message);

const char *far_take_data(struct link *link, struct far_launch *launch, const unsigned char *bytes, size_t size);

int far_init(struct link *link);

void far_close(struct link *link);

/* Handles events of streams until a message has come. The message is valid until the next call. Returns false if no
 * message has come. */
bool far_poll(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);
