/* SPDX-License-Identifier: MIT */
/* Ranks of other launches, at the other ends of streams: the supermaster's pods, or, in a pod, the supermaster. See
 * far.c. */
#pragma once

#include "common/stream/stream.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link;

/* A launch at the other end of a stream. */
struct far_launch {
    unsigned peer; /* of the streams */
    unsigned first_rank, count;
    bool is_leaving; /* gets no further job */
    bool is_gone;
    struct stream_lineup lineup; /* of a pod */
};

struct far {
    struct streams *streams;     /* the runtime's; NULL: there are none */
    struct far_launch *launches; /* in the order of their ranks; owned */
    size_t count, room;
    unsigned launched_cores; /* of the nodes of this launch */
    bool looks_first;        /* the next message is looked for at the streams before MPI */
    uint64_t looked_ns;      /* when the sockets were last looked at for a message */
};

/* For a link that begins. -1 when memory is out. */
int far_init(struct link *link);

/* Has what was sent arrive, and leaves in order. */
void far_close(struct link *link);

/* A message of a rank of another launch, or false. Deals with all else that has come before it: pods that join, and
 * ends. The bytes stay until the next call. */
bool far_poll(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);

/* Sends a message, which is copied, to a rank of another launch; nothing where that has gone. */
void far_send(struct link *link, unsigned to, uint32_t job, const struct message *message);

/* Has nothing more to do with a launch, as of its rank what comes cannot be. */
void far_drop(struct link *link, unsigned rank);

/* Has what was sent go out. */
static inline void far_flush(struct far *far)
{
    if (far->streams != NULL)
        streams_flush(far->streams);
}

/* True for the ranks of a launch that has gone. */
bool far_has_gone(const struct link *link, unsigned rank);
