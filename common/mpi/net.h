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

/* Control messages that can lie unread before MPI keeps them itself. */
#define RECEIVES_MAX 16
/* Control messages on their way out, of a real rank, from which on a rank that can wait does so for the oldest. */
#define SENDS_MAX 64
/* Data messages being received at once; further ones wait their turn. */
#define COLLECTS_MAX 4

struct runtime;

/* A job that sends and receives. */
struct net_user {
    uint32_t job;
    unsigned pending; /* sends of it that are not over, and boundary data that are on their way to it */
};

/* A message on its way out is in one of these states. */
enum send_state {
    SEND_HELD,  /* waits behind another to the same rank */
    SEND_BEGUN, /* given to MPI; its data, if it has any, are not */
    SEND_GONE,  /* gone, and its data given to MPI */
};

struct send_slot {
    unsigned char bytes[512]; /* a control message that brings no long records */
    unsigned char *large;     /* a message that does; owned, kept for the next */
    carrier_request control, data;
    const unsigned char *start; /* the message; in `bytes`, in `large`, or before its payload */
    size_t size;
    struct net_user *user; /* borrowed */
    const void *payload;   /* to be released when both are gone */
    size_t data_bytes;     /* of a data message with the payload; 0: there is none */
    size_t data_put;       /* bytes of it that are gone, in a launch without MPI */
    enum send_state state;
    unsigned to;
    bool bytes_are_kept, payload_is_kept; /* given up while MPI may still read it */
};

/* A data message that is being received. */
struct data_receive {
    unsigned from;
    unsigned char *to; /* where the data go; [bytes] */
    uint64_t bytes;
    carrier_request request; /* over MPI */
    uint64_t place, have;    /* without MPI: the place among all receives of data, and the bytes that are here */
    bool has_failed;         /* with its sender */
};

/* Results that are on their way to this rank. */
struct collect {
    struct net_user *user; /* borrowed; NULL: what arrives is dropped */
    struct part part;
    struct data_receive data; /* goes to the buffer */
    unsigned char *buffer;    /* [capacity] owned */
    uint64_t capacity;
    bool active;
};

/* Boundary data that are on their way from another worker. */
struct inbound {
    struct net_user *user; /* borrowed; NULL: nobody wants the data, as its job is over */
    uint64_t first, offset;
    struct data_receive data;
    void *room; /* room for data that nobody wants; owned */
};

struct net {
    const struct runtime_ops *ops;
    struct runtime *runtime; /* borrowed */
    struct lanes *lanes;     /* the runtime's, where it does without MPI; else NULL */
    carrier_comm comm;
    unsigned first_rank;                         /* the runtime's: MPI counts from 0 */
    struct ulfm *ulfm;                           /* borrowed */
    struct heartbeat *heartbeat;                 /* borrowed */
    const struct peers *peers;                   /* borrowed: sends to whom nothing is sent any more are given up */
    unsigned char (*receive_bytes)[MESSAGE_MAX]; /* [receives], owned */
    carrier_request receives[RECEIVES_MAX];
    unsigned receive_count, receive_head;
    bool receive_held; /* the bytes of the message at receive_head are in use */
    struct send_slot *
        *sends; /* [send_capacity] ring in the order of sending; NULL: not used yet; owned, with the slots */
    unsigned send_first, send_count, send_capacity;
    unsigned held_count; /* sends of the ring that are held */
    unsigned data_left;  /* in a launch without MPI: sends of the ring whose data are not all in a lane */
    struct collect collects[COLLECTS_MAX];
    unsigned collects_active;
    uint64_t receives_begun; /* receives of data that have begun so far */
    struct collect *waiting; /* ring of those that have no buffer yet; owned */
    unsigned waiting_first, waiting_count, waiting_capacity;
    struct inbound *inbound; /* ring, in the order in which they were announced; owned */
    unsigned inbound_first, inbound_count, inbound_capacity;
    struct net_user nobody; /* sends what jobs have left behind */
    uint64_t begun, over;   /* messages whose sending has begun, and has ended, in this order */
};

/* For a rank whose peers are in their table; at most RECEIVES_MAX receives. -1 when memory is out. */
int net_init(struct net *net, struct runtime *runtime, unsigned receives);
void net_fini(struct net *net);

/* A received control message, or false. The bytes stay until the next call. */
bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes net_poll() find the last messages of a rank that has ended. */
void net_look_at(struct net *net, unsigned from);

/* True where an operation returned `result` because a rank has failed: the MPI library is asked which one (ulfm.c). */
bool net_is_loss(struct net *net, enum carrier_result result);

/* True where a receive has its message, by the result and the flag of testing it. */
bool net_is_whole(enum carrier_result result, bool arrived);

/* Testing a receive has returned an error. Where errors are not fatal of themselves, only those of lost ranks are not:
 * another one ends the run. True where the message is here all the same. */
bool net_note_error(struct net *net, enum carrier_result result, bool arrived);

/* True where a receive has its message, by the result of testing it. */
static inline bool net_has_arrived(struct net *net, enum carrier_result result, bool arrived)
{
    return result == CARRIER_DONE ? arrived : net_note_error(net, result, arrived);
}

/* Puts a new receive in place of the oldest one, which MPI has freed as it failed with its sender. */
void net_renew_receive(struct net *net);

/* True if few messages are on their way out; false: who can wait progresses the sends first. */
bool net_can_send(const struct net *net);

/* Sends a message, or holds it until what was sent to that rank before is gone. -1 when memory is out. */
int net_send(struct net *net, unsigned to, struct net_user *user, const struct message *message);

/* Sends the oldest held message that can go now, and says to whom. False where there is none. */
bool net_send_held(struct net *net, unsigned *to);

/* True where no message to the rank, and no beat, is still on its way out. */
bool net_is_clear(struct net *net, unsigned to);

/* A send that is over. */
struct ended_send {
    struct net_user *user;
    unsigned to;
    const void *payload; /* NULL: it had none */
    bool is_kept;        /* the payload stays as it is: it was given up, and MPI may read it until the process ends */
};

/* Takes one finished send from the ring. False when the oldest is not through. One to a rank to which nothing is sent
 * any more is given up, and through. */
bool net_sent(struct net *net, struct ended_send *sent);

/* Receives a data message; one for nobody (NULL) is dropped. -1 when memory is out. */
int net_collect(struct net *net, struct net_user *user, const struct part *part, unsigned from, uint64_t bytes);

/* Returns a data message that has arrived, or NULL; to be given back by net_collected(). */
struct collect *net_poll_collect(struct net *net);
int net_collected(struct net *net, struct collect *collect);

/* Receives boundary data, of a data message that was announced, at `room`. -1 when memory is out. */
int net_await(struct net *net, const struct inbound *wanted, void *room);

/* Takes the oldest awaited boundary data if they have arrived. If nobody wants them the caller frees their room. */
bool net_poll_inbound(struct net *net, struct inbound *arrived);

/* Gives up the boundary data on their way from a lost rank, whose room stays with MPI. */
void net_cancel_inbound(struct net *net, unsigned from);

/* True where data of a rank are still to come. */
bool net_awaits_data(const struct net *net, unsigned from);

/* Gives up a data message from a rank that is lost and that is not here, and says whose and which; 0 where there is
 * none, -1 when memory is out. */
int net_cancel(struct net *net, unsigned from, struct net_user **user, struct part *part);

/* True where MPI may still read or write memory of the job's own: payloads that are being sent, boundary data that
 * come. */
bool net_borrows(struct net *net, const struct net_user *user);

/* Has what is still received for a job go to nobody, and what is still being sent, to ranks that are silent, be
 * nobody's. Returns a payload that MPI may read until the process ends, each once; NULL: there is none left, and
 * nothing is borrowed any more. */
const void *net_forget(struct net *net, const struct net_user *user);

static inline bool net_is_pending(const struct net *net)
{
    return net->send_count > 0 || net->collects_active > 0 || net->inbound_count > 0;
}
