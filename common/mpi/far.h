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

/* Results of a pod in transit: announced by a STORE, with part of the data received. */
struct far_results {
    uint32_t job;
    struct part part;
    uint64_t bytes, have; /* 0 bytes: none in transit */
    unsigned char *data;  /* [room]; owned */
    uint64_t room;
};

/* A launch at the other end of a stream. */
struct far_launch {
    unsigned peer;
    unsigned first_rank, count;
    unsigned node_rank; /* of a pod: rank that identifies its node, see topology_append() */
    bool is_leaving;    /* gets no further job */
    bool is_gone;
    struct stream_lineup lineup; /* of a pod */
    struct far_results results;  /* of a pod */
};

struct far {
    struct streams *streams;     /* the runtime's; may be NULL */
    struct far_launch *launches; /* in the order of their ranks; owned */
    size_t count, room;
    unsigned launched_cores; /* of the nodes of this launch */
    bool looks_first;        /* check the streams before MPI for the next message */
    uint64_t looked_ns;      /* when the sockets were last checked for a message */
    bool has_stored;         /* data were taken since the last query */
    bool is_full;            /* of a pod: results wait for the stream, and no more are accepted */
    struct collect *sending; /* of a pod: results partly given to the stream; borrowed; may be NULL */
    uint64_t sent;           /* bytes of them */
};

/* Sends a copy of a message to a rank of another launch; ignored if that has gone. */
int far_send(struct link *link, unsigned to, uint32_t job, const struct message *message);

/* Sends a pod's STORE to the supermaster, with the results or followed by them as data. */
int far_send_store(struct link *link, uint32_t job, const struct part *part, enum payload payload, const void *data,
                   uint64_t bytes);

static inline void far_flush(struct far *far)
{
    if (far->streams != NULL)
        streams_flush(far->streams);
}

/* True for the ranks of a launch that has gone. */
bool far_has_gone(const struct link *link, unsigned rank);

/* The launch of a rank, or NULL. */
struct far_launch *far_find(const struct far *far, unsigned rank);

/* Closes a launch whose messages are invalid. */
void far_drop(struct link *link, unsigned rank);

void far_close_launch(struct link *link, struct far_launch *launch);

/* Determines whether this rank has a core of its own. A waiting supermaster polls for a while, but not on a core needed
 * by a pod on its node, whose ranks count as ranks of this node. */
void far_share_cores(struct link *link);

void far_results_fini(struct far_results *results);

/* Checks whether results have to wait. */
void far_look_for_room(struct link *link);

/* Sends a pod's results from a data message as far as there is room, and records complete ones as stored: later
 * messages stay behind them. Returns whether something was sent; `is_over`: all of it. */
bool far_send_data(struct link *link, struct collect *collect, bool *is_over);

/* Handles the STORE of a pod. Returns NULL or an error. */
const char *far_take_store(struct link *link, unsigned from, const struct message *message);

/* Handles data of a pod. Returns NULL or an error. */
const char *far_take_data(struct link *link, struct far_launch *launch, const unsigned char *bytes, size_t size);

int far_init(struct link *link);

/* Waits for sent messages to arrive and leaves in order. */
void far_close(struct link *link);

/* Takes a message from another launch, valid until the next call; false: none. Handles preceding events. */
bool far_poll(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);
