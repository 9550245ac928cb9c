/* SPDX-License-Identifier: MIT */
/* A listening end and pods that join it, all in one process on one event base, which the tests turn until what they
 * wait for has come. */
#pragma once

#include "common/os/clock.h"
#include "common/stream/peer.h"
#include "common/stream/stream.h"

#include <stdbool.h>
#include <stdint.h>

#define SECOND_NS   UINT64_C(1000000000)
#define PATIENCE_NS (20 * SECOND_NS) /* of tests that fail */
#define PODS_MAX    4

/* What has come from one peer; messages are numbered from 0 on, and filled by their number. */
struct tally {
    unsigned joins, left, lost;
    uint64_t messages, data; /* data follow the message of their number */
    struct stream_lineup lineup;
};

struct ends {
    char folder[40], path[64];
    struct event_base *base;
    struct event *attending; /* a timer */
    struct stream_address address;
    struct streams *set;
    struct tally from[PODS_MAX];   /* by the peer of the set */
    struct streams *pod[PODS_MAX]; /* owned */
    struct tally to[PODS_MAX];
    uint64_t grace_ns;        /* of ends that are made from now on */
    const unsigned char *key; /* the same */
    const char *refusal;      /* NULL: pods are welcomed */
    struct stream_welcome welcome;
    unsigned warnings;
    struct error warning; /* the last one */
};

static inline uint64_t ends_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* A set that listens at a socket in a folder, or at a port of this machine. */
void ends_init(struct ends *ends, bool is_tcp);
void ends_fini(struct ends *ends);

struct streams_setup ends_setup(struct ends *ends);

/* Joins as pod `i`; false with the line. */
bool ends_join(struct ends *ends, unsigned i, struct error *error);
void ends_joined(struct ends *ends, unsigned i);

/* Turns the base once and takes what has come at both sides. */
void ends_turn(struct ends *ends);

/* Turns until the condition holds. */
#define ENDS_WAIT(ends, condition)                                                                                     \
    do {                                                                                                               \
        const uint64_t until_ns_ = ends_now() + PATIENCE_NS;                                                           \
        while (!(condition)) {                                                                                         \
            ck_assert_msg(ends_now() < until_ns_, "waits for " #condition);                                            \
            ends_turn(ends);                                                                                           \
        }                                                                                                              \
    } while (0)

/* Sends the message of that number. */
#define NUMBERED_BYTES 64
void ends_send(struct streams *streams, unsigned peer, uint64_t number);

/* Sends data of that number, of which some are as long as can be. */
void ends_send_data(struct streams *streams, unsigned peer, uint64_t number);

/* Breaks the connection of a peer, as a network does. */
void ends_cut(struct streams *streams, unsigned peer);

/* A socket that is connected to the set, which says nothing by itself and never blocks. */
int ends_connect(const struct ends *ends);

/* Turns until the other end has closed the socket or has sent so many bytes; returns how many came. */
size_t ends_read(struct ends *ends, int fd, unsigned char *bytes, size_t size);
