/* SPDX-License-Identifier: MIT */
/* Messages over MPI: see net.c. */
#pragma once

#include "common/carrier/carrier.h"
#include "common/machine/machine.h"
#include "common/mpi/ops.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAG_CONTROL 1
#define TAG_DATA    2

#define RECEIVES_MAX 16
/* A rank with this many unfinished sends waits before it sends more. Only messages that must not wait are sent at once:
 * see send.c. */
#define SENDS_MAX 64
/* At most this many data messages are received at a time. Other data messages wait until one of these has arrived. */
#define COLLECTS_MAX 4

struct runtime;

/* The job to which a message belongs. `pending`: how many sends, and receives of boundary data, of the job are
 * unfinished. */
struct net_user {
    uint32_t job;
    unsigned pending;
};

enum send_state {
    /* MPI does not have the message yet: it waits for an earlier message to the same rank, or for room in the lane */
    SEND_HELD,
    SEND_BEGUN, /* MPI has the message, but not yet the data that belong to it */
    SEND_GONE,  /* MPI has sent the message and has all data that belong to it */
};

struct send_slot {
    unsigned char bytes[512];
    unsigned char *large; /* memory for a message that is longer than `bytes`; owned; used again for later messages */
    carrier_request control, data;
    const unsigned char *start;
    size_t size;
    struct net_user *user;
    const void *payload; /* borrowed until the message and its data are sent */
    size_t data_bytes;
    size_t data_put;
    enum send_state state;
    unsigned to;
    bool bytes_are_kept, payload_is_kept; /* the send was abandoned, but MPI may still read `bytes` (or the payload) */
};

struct data_receive {
    unsigned from;
    unsigned char *to;
    uint64_t bytes;
    carrier_request request;
    /* `place`: how many receives of data began before this one. `have`: how many bytes have arrived; only used without
     * MPI. */
    uint64_t place, have;
    bool has_failed;
};

struct collect {
    struct net_user *user;
    struct part part;
    struct data_receive data;
    unsigned char *buffer; /* [capacity] memory into which `data` are received; owned */
    uint64_t capacity;
    bool active;
};

/* Boundary data that have been announced. If their job is over, `user` is NULL, and the data are discarded after they
 * have arrived. */
struct inbound {
    struct net_user *user;
    uint64_t first, offset;
    struct data_receive data;
    void *room; /* memory for data that will be discarded; owned */
};

struct net {
    const struct runtime_ops *ops;
    struct runtime *runtime;
    struct lanes *lanes;
    carrier_comm comm;
    unsigned first_rank;
    struct ulfm *ulfm;
    struct heartbeat *heartbeat;
    const struct peers *peers;
    unsigned char (*receive_bytes)[MESSAGE_MAX]; /* [receive_count] owned */
    carrier_request receives[RECEIVES_MAX];
    unsigned receive_count, receive_head;
    bool receive_held;
    /* [send_capacity] the sends as a ring, the oldest first. An entry is NULL until it is first used. The array and the
     * slots are owned. */
    struct send_slot **sends;
    unsigned send_first, send_count, send_capacity;
    unsigned held_count;
    unsigned data_left;
    struct collect collects[COLLECTS_MAX];
    unsigned collects_active;
    uint64_t receives_begun;
    struct collect *waiting; /* results that are announced and wait for a buffer; a ring; owned */
    unsigned waiting_first, waiting_count, waiting_capacity;
    struct inbound *inbound; /* boundary data in the order in which they were announced; a ring; owned */
    unsigned inbound_first, inbound_count, inbound_capacity;
    struct net_user nobody;
    /* number of sends that have begun, and number of those that have ended; sends end in the order in which they began
     */
    uint64_t begun, over;
};

/* `receives`: how many receives are posted, at most RECEIVES_MAX. The table of peers must exist. */
int net_init(struct net *net, struct runtime *runtime, unsigned receives);
void net_fini(struct net *net);

/* Takes a message. Returns false if there is none. The bytes are valid until the next call. */
bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size);

void net_look_at(struct net *net, unsigned from);

bool net_is_loss(struct net *net, enum carrier_result result);

bool net_is_whole(enum carrier_result result, bool arrived);

/* Handles an error of MPI. If the reason is not a lost rank, ends the run. Returns true if the message has arrived
 * despite the error. */
bool net_note_error(struct net *net, enum carrier_result result, bool arrived);

static inline bool net_has_arrived(struct net *net, enum carrier_result result, bool arrived)
{
    return result == CARRIER_DONE ? arrived : net_note_error(net, result, arrived);
}

/* Replaces the oldest receive, which MPI has freed because its sender failed. */
void net_renew_receive(struct net *net);

bool net_can_send(const struct net *net);

int net_send(struct net *net, unsigned to, struct net_user *user, const struct message *message);

bool net_send_held(struct net *net, unsigned *to);

bool net_is_clear(struct net *net, unsigned to);

struct ended_send {
    struct net_user *user;
    unsigned to;
    const void *payload;
    /* true: the send was abandoned, and MPI may still read the payload, so the payload must stay unchanged until the
     * process ends */
    bool is_kept;
};

/* Removes the oldest send if it is finished, or if it was abandoned because its receiver has ended. Otherwise returns
 * false. */
bool net_sent(struct net *net, struct ended_send *sent);

/* Begins to receive the data of results. If `user` is NULL, they are discarded. Returns -1 if memory runs out. */
int net_collect(struct net *net, struct net_user *user, const struct part *part, unsigned from, uint64_t bytes);

/* Returns the data of results that have arrived completely, or NULL. The caller releases them by net_collected(). */
struct collect *net_poll_collect(struct net *net);
int net_collected(struct net *net, struct collect *collect);

int net_await(struct net *net, const struct inbound *wanted, void *room);

/* Takes the oldest boundary data if they have arrived. If `user` is NULL, the caller must discard them and free `room`.
 */
bool net_poll_inbound(struct net *net, struct inbound *arrived);

/* Abandons the receives of boundary data from a lost rank. Their memory is never freed, because MPI may still write to
 * it. */
void net_cancel_inbound(struct net *net, unsigned from);

bool net_awaits_data(const struct net *net, unsigned from);

bool net_knows(const struct net *net, unsigned rank);

/* Abandons one unfinished receive of results from a lost rank. Sets `*user` to the job of the results and `*part` to
 * their iterations. Returns 0 if there is no such receive, -1 if memory runs out. */
int net_cancel(struct net *net, unsigned from, struct net_user **user, struct part *part);

/* May MPI still access memory of the job? This is so while payloads are being sent or boundary data are being received.
 */
bool net_borrows(struct net *net, const struct net_user *user);

/* Detaches a job from its unfinished receives and sends. Each call returns one payload that MPI may read until the
 * process ends. If no such payload is left, returns NULL; MPI then uses no memory of the job any more. */
const void *net_forget(struct net *net, const struct net_user *user);

static inline bool net_is_pending(const struct net *net)
{
    return net->send_count > 0 || net->collects_active > 0 || net->inbound_count > 0;
}
