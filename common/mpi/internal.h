/* SPDX-License-Identifier: MIT */
/* The parts of the MPI runtime, for its own files and for common/flat, whose ranks drive no machine. */
#pragma once

#include "common/mpi/folder.h"
#include "common/mpi/runtime.h"

#include <event2/event.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#define TAG_CONTROL 1
#define TAG_DATA    2
#define TAG_BEAT    3
#define TAG_START   4

/* Control messages that can lie unread before MPI keeps them itself. */
#define RECEIVES_MAX 16
/* Control messages on their way out; more must wait for the oldest. */
#ifndef SENDS_MAX
#define SENDS_MAX 64
#endif
/* Data messages being received at once; further ones wait their turn. */
#define COLLECTS_MAX 4
/* Messages handled in one turn, so that timers and signals get theirs. */
#define MESSAGES_PER_TURN 16

/* --- singleton.c --- */

/* For a rank that is alone in its world: whether a launcher of another MPI library has started several such, which is
 * wrong use. The first of them says so in one line. */
bool singleton_refuse(const char *program);

struct runtime;

/* --- doorbell.c: waking a sleeping rank of the same node --- */

struct bell {
    _Atomic uint32_t sleeping;
    _Atomic uint32_t left;    /* the rank has ended in order, be it without the others */
    _Atomic uint32_t mourned; /* somebody says, or has said, that it was lost */
    _Atomic uint32_t outcast; /* somebody has taken the rank for lost, and it is to leave */
    char pad[48];             /* a cache line each */
};

/* Memory that the ranks of a node share. */
struct bells {
    _Atomic uint32_t mapped; /* ranks that have it */
    char pad[60];
    struct bell bell[]; /* [ranks of the node] */
};

struct doorbell {
    struct bells *shared; /* mapped; NULL: not yet */
    struct bell *bells;   /* [ranks of the node], in it */
    int *node_index;      /* [ranks] index on this node, -1 elsewhere; owned */
    int own;              /* own index */
    int node_ranks;
    int socket;
    char folder[FOLDER_MAX]; /* of the sockets of the node's ranks */
};

/* All ranks of the node call it, and none waits for more than the first of them. -1 with one line where it failed; the
 * line is empty where another rank says why. */
int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error);
void doorbell_fini(struct doorbell *doorbell);

/* Wakes `rank` if it sleeps and is on this node. No system call while it is awake. */
void doorbell_ring(struct doorbell *doorbell, unsigned rank);
void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping);
bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank);

/* For a rank that goes without waiting for the others, so that they do not take it for lost. */
void doorbell_leave(struct doorbell *doorbell);
/* For a rank that goes because it cannot go on: its socket goes with it, and the others if it is the last. */
void doorbell_abandon(struct doorbell *doorbell);
/* Of a rank of this node. */
bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank);
/* Has a rank of this node leave. */
void doorbell_cast_out(struct doorbell *doorbell, unsigned rank);
static inline bool doorbell_is_outcast(const struct doorbell *doorbell)
{
    return atomic_load_explicit(&doorbell->bells[doorbell->own].outcast, memory_order_relaxed) != 0;
}
/* True for one rank of the node: the one to say that `rank` was lost. */
bool doorbell_mourn(struct doorbell *doorbell, unsigned rank);

/* --- watch.c: peers of this node whose process has ended --- */

struct peer {
    unsigned rank;
    int pid;
    int process;         /* pidfd, -1: none */
    bool is_gone;        /* before it could be watched */
    bool watched, aided; /* aided: by its pidfd */
    bool ended, taken;
};

struct watch {
    struct peer *peers; /* owned; NULL: nobody is watched */
    unsigned count;
    unsigned unaided; /* peers that must be asked for */
    unsigned ended;   /* peers that have ended and were not taken */
    int set;          /* an epoll set: readable when somebody has ended */
    uint64_t ask_ns;
};

/* -1 when memory or files are out. */
int watch_peers(struct watch *watch, const struct runtime *runtime);
void watch_fini(struct watch *watch);

/* From now on `rank`, a peer that was of no concern so far, is watched, too. */
void watch_begin(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* The peer, if it is watched, has ended. */
void watch_note(struct watch *watch, unsigned rank);
/* Asks for those whose end the kernel does not tell, once a second. */
void watch_ask(struct watch *watch, uint64_t now_ns);
/* A peer that has ended, each once. */
bool watch_take(struct watch *watch, unsigned *rank);

/* --- pulse.c: peers whose process nobody here can watch --- */

struct beating {
    bool is_far;  /* to be watched here, if at all */
    bool watched; /* beats go there and are expected from there */
    bool heard;   /* it has come up */
    bool ended, taken;
    bool has_left;   /* in order */
    bool lost;       /* so it seems */
    bool is_outcast; /* it is to be told that it was taken for lost */
    unsigned char sent;
    unsigned missed;
    MPI_Request request;
};

struct pulse {
    MPI_Comm world;
    unsigned ranks;
    struct beating *peers; /* [ranks], owned; NULL: the kernel tells of all */
    unsigned ended;        /* peers that have ended and were not taken */
    bool is_outcast;       /* somebody has taken this rank for lost */
    unsigned char received;
    MPI_Request receive;
    uint64_t due_ns;
    bool is_on; /* there is a thread */
    pthread_t thread;
    pthread_mutex_t turn; /* held by who uses MPI */
    int stop;
};

/* After watch_peers(). -1 when memory or threads are out. */
int pulse_init(struct pulse *pulse, const struct runtime *runtime);
/* From now on one thread uses MPI. */
void pulse_stop(struct pulse *pulse);
void pulse_fini(struct pulse *pulse);

/* From now on `rank` is watched, too, if it is not watched elsewhere. */
void pulse_begin(struct pulse *pulse, unsigned rank);

/* Takes and sends beats when that is due; cheap when not. */
void pulse_look(struct pulse *pulse, uint64_t now_ns);
/* The peer, if it is watched, has ended. */
void pulse_note(struct pulse *pulse, unsigned rank);
/* The peer is taken for lost for another reason: it is told so at its next beat, and has ended and is taken. */
void pulse_cast_out(struct pulse *pulse, unsigned rank);
/* A peer that has left or missed too many beats, each once. */
bool pulse_take(struct pulse *pulse, unsigned *rank);
/* The last beats, of a rank that goes without waiting for the others. */
void pulse_leave(struct pulse *pulse);

/* A message came from there. */
static inline void pulse_heard(struct pulse *pulse, unsigned rank)
{
    if (pulse->peers == NULL)
        return;
    pulse->peers[rank].heard = true;
    pulse->peers[rank].missed = 0;
}

/* Around what may take long and uses no MPI. */
static inline void pulse_release(struct pulse *pulse)
{
    if (pulse->is_on)
        pthread_mutex_unlock(&pulse->turn);
}

static inline void pulse_retake(struct pulse *pulse)
{
    if (pulse->is_on)
        pthread_mutex_lock(&pulse->turn);
}

/* --- ulfm.c: what the MPI library tells of failed ranks --- */

struct ulfm {
    bool told; /* by an operation that failed */
    int known;
    uint64_t due_ns;
};

void ulfm_begin(MPI_Comm comm);
/* Whether an operation returned `result` because a rank has failed. */
bool ulfm_is_loss(struct ulfm *ulfm, int result);
/* Tells watch and pulse who has failed; cheap when that is not due. */
void ulfm_look(struct runtime *runtime, uint64_t now_ns);

/* --- net.c: messages --- */

struct send_slot {
    unsigned char bytes[512]; /* a control message that brings no long records */
    unsigned char *large;     /* one that does; owned, kept for the next */
    MPI_Request control, data;
    const void *payload; /* to be released when both are gone */
    unsigned to;
};

struct collect {
    struct part part;
    unsigned from;
    uint64_t bytes;
    unsigned char *buffer; /* owned */
    uint64_t capacity;
    MPI_Request request;
    bool active;
};

/* Boundary data that are on their way from another worker. */
struct inbound {
    unsigned from;
    uint64_t first, offset, bytes;
    bool is_late; /* nobody wants them any more */
    void *room;   /* where such are received, where they never had another place; owned */
    MPI_Request request;
};

struct net {
    MPI_Comm comm;
    struct ulfm *ulfm;                           /* borrowed */
    unsigned char (*receive_bytes)[MESSAGE_MAX]; /* [receives], owned */
    MPI_Request receives[RECEIVES_MAX];
    unsigned receive_count, receive_head;
    bool receive_held; /* the bytes of the message at receive_head are in use */
    struct mail *mail; /* of a simulated rank: what has come; borrowed; NULL in a real run */
    struct send_slot sends[SENDS_MAX];
    unsigned send_first, send_count; /* a ring, in the order of sending */
    struct collect collects[COLLECTS_MAX];
    unsigned collects_active;
    struct collect *waiting; /* ring of those that have no buffer yet; owned */
    unsigned waiting_first, waiting_count, waiting_capacity;
    struct inbound *inbound; /* ring, in the order in which they were announced; owned */
    unsigned inbound_first, inbound_count, inbound_capacity;
    uint64_t begun, over; /* messages whose sending has begun, and has ended, in this order */
    unsigned char *ends;  /* [ranks] enum net_end; owned */
    unsigned ended;       /* ranks that have */
};

/* ENDED: nothing is sent to it. LOST: nor is anything taken from it. */
enum net_end { NET_LIVES, NET_ENDED, NET_LOST };

/* -1 when memory is out. */
int net_init(struct net *net, MPI_Comm comm, unsigned receives, struct ulfm *ulfm);
void net_fini(struct net *net);

/* A received control message, or false. The bytes stay until the next call. */
bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size);

/* Where a simulated run (deploy/simulate/simgrid, which is built with HDSS_SIMULATED) takes over: its ranks wait for a
 * message where real ones poll, and see messages in the order of their arrival. */
#ifdef HDSS_SIMULATED
/* Starts a receive. */
void net_start(struct net *net, unsigned receive);
/* A message of so many bytes is about to be sent to `to`; false: this rank fails before it would arrive. */
bool net_announce(struct net *net, unsigned to, size_t bytes);
/* Whether a control message has come: then receive_head is its receive. */
bool net_has_mail(struct net *net, MPI_Status *status);
#else
static inline void net_start(struct net *net, unsigned receive)
{
    MPI_Start(&net->receives[receive]);
}

static inline bool net_announce(struct net *net, unsigned to, size_t bytes)
{
    (void)net, (void)to, (void)bytes;
    return true;
}
#endif

/* Room for one more message; false: progress the sends first. */
bool net_can_send(const struct net *net);
int net_send(struct net *net, unsigned to, const struct message *message);

/* Takes one finished send from the ring: its receiver and its payload (NULL if none). False when the oldest is not
 * through. One to a rank that has ended is through. */
bool net_sent(struct net *net, unsigned *to, const void **payload);

/* Receives a data message. -1 when memory is out. */
int net_collect(struct net *net, const struct part *part, unsigned from, uint64_t bytes);

/* A data message that has arrived, or NULL; to be given back by net_collected(). */
struct collect *net_poll_collect(struct net *net);
int net_collected(struct net *net, struct collect *collect);

/* Receives boundary data, of a data message that was announced, at `room`. -1 when memory is out. */
int net_await(struct net *net, const struct inbound *wanted, void *room);

/* Takes the oldest of them if it has arrived. What is late is the caller's to free. */
bool net_poll_inbound(struct net *net, struct inbound *arrived);

/* All that are on their way are late. Those of a rank that is lost are given up: where they were to go stays MPI's. */
void net_halt_inbound(struct net *net);
void net_cancel_inbound(struct net *net, unsigned from);

/* The rank has ended: sends to it are given up. The caller sends it nothing any more. */
void net_end(struct net *net, unsigned rank, enum net_end end);

static inline bool net_has_ended(const struct net *net, unsigned rank, enum net_end end)
{
    return net->ended > 0 && net->ends[rank] >= end;
}

/* Gives up a data message from a rank that is lost, and says which; 0 where there is none, -1 when memory is out. */
int net_cancel(struct net *net, unsigned from, struct part *part);

static inline bool net_is_pending(const struct net *net)
{
    return net->send_count > 0 || net->collects_active > 0 || net->inbound_count > 0;
}

/* --- wait.c: libevent, and how to wait --- */

struct wait {
    struct event_base *base; /* owned */
    struct event *signals[3];
    struct event *bell;
    struct event *timer;
    struct event *ends;     /* of peers; NULL: none is watched */
    struct event *work;     /* something that a kernel waits for; NULL: nothing */
    bool work_is_ready;     /* it has ended the sleep */
    bool work_is_own;       /* by other threads of this rank, not by a process that wants the core */
    bool cores_are_free;    /* each rank of this node can have a core */
    bool far_peers;         /* some messages come from where no doorbell reaches */
    bool patient;           /* nobody waits for this rank while it waits */
    bool drain;             /* a signal asked for it; cleared by the loop */
    struct net *net;        /* what a simulated rank waits for; borrowed */
    uint64_t idle_since_ns; /* NEVER while busy */
    uint64_t nap_ns;        /* next nap, while something is pending or peers are far */
    uint64_t looked_at_ns;  /* last time at libevent */
};

/* From now on a signal that asks to drain is remembered until wait_init(), and ends nobody. */
void wait_catch_early(void);

int wait_init(struct wait *wait, struct doorbell *doorbell, bool cores_are_free);
void wait_fini(struct wait *wait);

/* Has waiting end, and wait_look() notice, when a peer ends. -1 when memory is out. */
int wait_watch(struct wait *wait, struct watch *watch);

/* Has waiting end when the descriptor is readable; -1 stands for none. -1 when memory is out. */
int wait_for_work(struct wait *wait, int descriptor);

/* Whether the kernel's descriptor has ended the last sleep: said once. */
static inline bool wait_take_work(struct wait *wait)
{
    bool ready = wait->work_is_ready;
    wait->work_is_ready = false;
    return ready;
}

/* Something happened: the next wait begins with polling again. */
static inline void wait_reset(struct wait *wait)
{
    wait->idle_since_ns = NEVER;
}

/* Signals and timers without waiting, about once in a millisecond. */
void wait_look(struct wait *wait, uint64_t now_ns);

/* Nothing to do: polls on, or sleeps until a bell, a signal or `until_ns`. `poll` looks for a message and handles it;
 * it returns whether there was one. It is called once more after this rank has said that it sleeps. Returns whether the
 * core was given away, so that some time may have passed. */
bool wait_idle(struct wait *wait, struct doorbell *doorbell, uint64_t now_ns, uint64_t until_ns, bool pending,
               bool (*poll)(void *context), void *context);

/* Gives the core to another rank, if one wants it. Here, as sched.h of the system and that of the techniques do not go
 * together. */
void wait_yield(void);

/* --- runtime --- */

struct runtime {
    unsigned rank, ranks;
    enum role role;
    MPI_Comm world, node; /* node: once runtime_node() has made it */
    struct hello *hellos; /* [ranks], owned */
    char *words;          /* the job, owned */
    char **word;          /* [count + 1], owned */
    struct topology topology;
    bool grouped, prepared;
    bool exchanges; /* boundary data, with other workers */
    bool over;      /* all ranks are through */
    bool lossy;     /* a rank of the run was lost: from now on nobody waits for all */
    struct doorbell doorbell;
    struct watch watch;
    struct pulse pulse;
    struct ulfm ulfm;
    bool cores_are_free;
    bool is_blind; /* a pid is not the same process to all ranks of the node */
    bool can_beat; /* each worker could while it computes */
    unsigned cores;
    unsigned node_cores;   /* that the ranks of this node may run on */
    bool sleeps_precisely; /* the timer's slack is set */
};

/* start.c: what all ranks do together before they run. */
int runtime_prepare(struct runtime *runtime, struct error *error);

/* The ranks of this node, as a communicator. The first call is collective. */
MPI_Comm runtime_node(struct runtime *runtime);

/* Looks whether peers have ended. */
bool runtime_has_lost_peers(struct runtime *runtime);

/* Whether `rank`, which has ended, did so in order. */
bool runtime_has_left(const struct runtime *runtime, unsigned rank);

/* Returns when all ranks have called it, asleep; or, as the run is lossy then, when a peer has ended. */
void runtime_wait_for_all(struct runtime *runtime);

/* --- meet.c: who is where --- */

/* Collective. -1 where a hello is none, or memory is out. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);

/* --- tree.c: what all ranks tell one another. All wait asleep --- */

/* Collective. `bytes` of each rank, at rank 0 in `all`, in the tree's order. -1 when memory is out. */
int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all);
/* Collective. `bytes` of the rank `root`, for all. */
void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes);
/* From the first rank of a node to the others of it, which hear it. -1 when memory is out. */
int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes);
void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes);
/* Returns when all have called it; false when a peer has ended before. */
bool tree_wait(struct runtime *runtime);
