/* SPDX-License-Identifier: MIT */
/* Ranks of other launches, at the other ends of streams: the supermaster's pods, or, in a pod, the supermaster. See
 * far.c. */
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

/* Results of a pod that are on their way: what a STORE has announced, of which some data are here. */
struct far_results {
    uint32_t job;
    struct part part;
    uint64_t bytes, have; /* of them; 0 bytes: none are on their way */
    unsigned char *data;  /* [room] owned */
    uint64_t room;
};

/* A launch at the other end of a stream. */
struct far_launch {
    unsigned peer; /* of the streams */
    unsigned first_rank, count;
    unsigned node_rank; /* a pod's: the rank by which its node is known, see topology_append() */
    bool is_leaving;    /* gets no further job */
    bool is_gone;
    struct stream_lineup lineup; /* of a pod */
    struct far_results results;  /* of a pod */
};

struct far {
    struct streams *streams;     /* the runtime's; NULL: there are none */
    struct far_launch *launches; /* in the order of their ranks; owned */
    size_t count, room;
    unsigned launched_cores; /* of the nodes of this launch */
    bool looks_first;        /* the next message is looked for at the streams before MPI */
    uint64_t looked_ns;      /* when the sockets were last looked at for a message */
    bool has_stored;         /* data were taken since this was last asked */
    bool is_full;            /* a pod's: results wait for the stream, and nothing is taken of those who make more */
    struct collect *sending; /* a pod's: results of which a part is with the stream; borrowed; NULL: there are none */
    uint64_t sent;           /* bytes of them */
};

/* --- far_send.c --- */

/* Sends a message, which is copied, to a rank of another launch; nothing where that has gone. -1 when memory is out. */
int far_send(struct link *link, unsigned to, uint32_t job, const struct message *message);

/* Sends the STORE of a pod to the supermaster: with the results, PAYLOAD_INLINE, or for those that follow as data,
 * PAYLOAD_DATA. -1 when memory is out. */
int far_send_store(struct link *link, uint32_t job, const struct part *part, enum payload payload, const void *data,
                   uint64_t bytes);

/* Has what was sent go out. */
static inline void far_flush(struct far *far)
{
    if (far->streams != NULL)
        streams_flush(far->streams);
}

/* True for the ranks of a launch that has gone. */
bool far_has_gone(const struct link *link, unsigned rank);

/* The launch of a rank; NULL: it is of none that there was. */
struct far_launch *far_find(const struct far *far, unsigned rank);

/* Has nothing more to do with a launch, as of its rank what comes cannot be. */
void far_drop(struct link *link, unsigned rank);

/* Nothing more goes to the launch, or comes from it. */
void far_close_launch(struct link *link, struct far_launch *launch);

/* Notes for waiting whether this rank has a core of its own. A supermaster that waits polls for a while, but not on a
 * core that a pod of its node wants: the pod's master and workers count as ranks of this node. */
void far_share_cores(struct link *link);

void far_results_fini(struct far_results *results);

/* --- far_results.c --- */

/* Looks whether results have to wait. */
void far_look_for_room(struct link *link);

/* Sends results of a pod that came as a data message, as far as there is room, and notes those of which all is sent as
 * stored: what is sent behind them comes behind them. Returns whether something was sent; `is_over` whether all is. */
bool far_send_data(struct link *link, struct collect *collect, bool *is_over);

/* Takes the STORE of a pod. Returns NULL, or what is wrong with it. */
const char *far_take_store(struct link *link, unsigned from, const struct message *message);

/* Takes data of a pod. Returns NULL, or what is wrong with them. */
const char *far_take_data(struct link *link, struct far_launch *launch, const unsigned char *bytes, size_t size);

/* --- far.c --- */

/* For a link that begins. -1 when memory is out. */
int far_init(struct link *link);

/* Has what was sent arrive, and leaves in order. */
void far_close(struct link *link);

/* A message of a rank of another launch, or false. Deals with all else that has come before it: pods that join, and
 * ends. The bytes stay until the next call. */
bool far_poll(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);
