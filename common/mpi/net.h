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

/* Receives posted at a time. */
#define RECEIVES_MAX 16
/* On a real rank: from this many unfinished sends on, a rank that can wait does so. */
#define SENDS_MAX 64
/* Data messages received at a time; further ones wait. */
#define COLLECTS_MAX 4

struct runtime;

/* A job that sends and receives. */
struct net_user {
    uint32_t job;
    unsigned pending; /* unfinished sends, and boundary data to be received */
};

enum send_state {
    SEND_HELD,  /* waits for an earlier message to the same rank */
    SEND_BEGUN, /* given to MPI, without its data */
    SEND_GONE,  /* sent, and its data given to MPI */
};

struct send_slot {
    unsigned char bytes[512]; /* a control message without long records */
    unsigned char *large;     /* one with long records; owned, reused */
    carrier_request control, data;
    const unsigned char *start; /* the message: in `bytes`, in `large`, or before its payload */
    size_t size;
    struct net_user *user; /* borrowed */
    const void *payload;   /* released when both are gone */
    size_t data_bytes;     /* of a data message with the payload; 0: none */
    size_t data_put;       /* without MPI: bytes already transferred */
    enum send_state state;
    unsigned to;
    bool bytes_are_kept, payload_is_kept; /* abandoned while MPI may still read it */
};

struct data_receive {
    unsigned from;
    unsigned char *to; /* [bytes], destination */
    uint64_t bytes;
    carrier_request request; /* over MPI */
    uint64_t place, have;    /* without MPI: sequence number among data receives, and bytes received */
    bool has_failed;         /* its sender has failed */
};

/* Results being received. */
struct collect {
    struct net_user *user; /* borrowed; NULL: discard */
    struct part part;
    struct data_receive data; /* into `buffer` */
    unsigned char *buffer;    /* [capacity]; owned */
    uint64_t capacity;
    bool active;
};

/* Boundary data being received from another worker. */
struct inbound {
    struct net_user *user; /* borrowed; NULL: the job is over, discard */
    uint64_t first, offset;
    struct data_receive data;
    void *room; /* for discarded data; owned */
};

struct net {
    const struct runtime_ops *ops;
    struct runtime *runtime; /* borrowed */
    struct lanes *lanes;     /* the runtime's in a launch without MPI; else NULL */
    carrier_comm comm;
    unsigned first_rank;                         /* the runtime's; MPI ranks count from 0 */
    struct ulfm *ulfm;                           /* borrowed */
    struct heartbeat *heartbeat;                 /* borrowed */
    const struct peers *peers;                   /* borrowed; sends to peers that have ended are abandoned */
    unsigned char (*receive_bytes)[MESSAGE_MAX]; /* [receives]; owned */
    carrier_request receives[RECEIVES_MAX];
    unsigned receive_count, receive_head;
    bool receive_held; /* the message at receive_head is in use */
    struct send_slot *
        *sends; /* [send_capacity] ring in the order of sending; NULL: no slot yet; owned with the slots */
    unsigned send_first, send_count, send_capacity;
    unsigned held_count; /* held sends in the ring */
    unsigned data_left;  /* without MPI: sends whose data are not all in a lane */
    struct collect collects[COLLECTS_MAX];
    unsigned collects_active;
    uint64_t receives_begun; /* number of data receives begun */
    struct collect *waiting; /* ring of receives waiting for a buffer; owned */
    unsigned waiting_first, waiting_count, waiting_capacity;
    struct inbound *inbound; /* ring in the order of announcement; owned */
    unsigned inbound_first, inbound_count, inbound_capacity;
    struct net_user nobody; /* owner of sends left behind by ended jobs */
    uint64_t begun, over;   /* number of sends begun and ended, in order */
};

/* Requires the table of peers; at most RECEIVES_MAX receives. */
int net_init(struct net *net, struct runtime *runtime, unsigned receives);
void net_fini(struct net *net);

/* Takes a control message, or returns false. The bytes are valid until the next call. */
bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes net_poll() find the last messages of an ended rank. */
void net_look_at(struct net *net, unsigned from);

/* True if an operation failed because a rank has failed: ulfm.c then asks the library which one. */
bool net_is_loss(struct net *net, enum carrier_result result);

/* True if a receive has its message, from the result and flag of a test. */
bool net_is_whole(enum carrier_result result, bool arrived);

/* Handles an error of a receive; ends the run unless a rank was lost. True if the message has arrived anyway. */
bool net_note_error(struct net *net, enum carrier_result result, bool arrived);

/* True if a receive has its message, from the result of a test. */
static inline bool net_has_arrived(struct net *net, enum carrier_result result, bool arrived)
{
    return result == CARRIER_DONE ? arrived : net_note_error(net, result, arrived);
}

/* Replaces the oldest receive, which MPI freed when its sender failed. */
void net_renew_receive(struct net *net);

/* True if few sends are unfinished; otherwise a caller that can wait should finish some first. */
bool net_can_send(const struct net *net);

/* Sends a message, or holds it until earlier ones to that rank are gone. */
int net_send(struct net *net, unsigned to, struct net_user *user, const struct message *message);

/* Sends the oldest held message that can be sent, and returns its receiver. False if there is none. */
bool net_send_held(struct net *net, unsigned *to);

/* True if no message and no heartbeat to the rank is in progress. */
bool net_is_clear(struct net *net, unsigned to);

struct ended_send {
    struct net_user *user;
    unsigned to;
    const void *payload; /* may be NULL */
    /* the payload must stay unchanged: the send was abandoned, and MPI may read it until the process ends */
    bool is_kept;
};

/* Takes the oldest send if it is finished, or abandoned because its receiver has ended; else false. */
bool net_sent(struct net *net, struct ended_send *sent);

/* Receives a data message; `user` NULL: discards it. */
int net_collect(struct net *net, struct net_user *user, const struct part *part, unsigned from, uint64_t bytes);

/* Returns a complete data message, or NULL; release it with net_collected(). */
struct collect *net_poll_collect(struct net *net);
int net_collected(struct net *net, struct collect *collect);

/* Receives announced boundary data into `room`. */
int net_await(struct net *net, const struct inbound *wanted, void *room);

/* Takes the oldest boundary data if they have arrived. If they are to be discarded, the caller frees their room. */
bool net_poll_inbound(struct net *net, struct inbound *arrived);

/* Abandons boundary data from a lost rank; their room stays with MPI. */
void net_cancel_inbound(struct net *net, unsigned from);

/* True if data from a rank are still to arrive. */
bool net_awaits_data(const struct net *net, unsigned from);

/* True if anything is still sent to a rank or to arrive from it. */
bool net_knows(const struct net *net, unsigned rank);

/* Abandons an unfinished data message from a lost rank and returns its job. 0: none; -1: out of memory. */
int net_cancel(struct net *net, unsigned from, struct net_user **user, struct part *part);

/* True if MPI may still access memory of the job: payloads being sent, boundary data being received. */
bool net_borrows(struct net *net, const struct net_user *user);

/* Detaches unfinished receives and sends from a job. Returns a payload that MPI may read until the process ends, one
 * per call; NULL: no more, and nothing is borrowed. */
const void *net_forget(struct net *net, const struct net_user *user);

static inline bool net_is_pending(const struct net *net)
{
    return net->send_count > 0 || net->collects_active > 0 || net->inbound_count > 0;
}
