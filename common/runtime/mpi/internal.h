/* The parts of the MPI runtime, for its own files and for common/flat, whose ranks drive no machine. */
#pragma once

#include "common/runtime/mpi/runtime.h"

#include <event2/event.h>
#include <mpi.h>
#include <stdatomic.h>

#define TAG_CONTROL 1
#define TAG_DATA    2

/* Control messages that can lie unread before MPI keeps them itself. */
#define RECEIVES_MAX 16
/* Control messages on their way out; more must wait for the oldest. */
#define SENDS_MAX 64
/* Data messages being received at once; further ones wait their turn. */
#define COLLECTS_MAX 4
/* Messages handled in one turn, so that timers and signals get theirs. */
#define MESSAGES_PER_TURN 16

/* --- doorbell.c: waking a sleeping rank of the same node --- */

struct bell {
    _Atomic uint32_t sleeping;
    _Atomic uint32_t left;    /* the rank has ended in order, be it without the others */
    _Atomic uint32_t mourned; /* somebody says, or has said, that it was lost */
    char pad[52];             /* a cache line each */
};

struct doorbell {
    MPI_Comm node;
    MPI_Win window;
    struct bell *bells; /* [ranks of the node], shared */
    int *node_index;    /* [ranks] index on this node, -1 elsewhere; owned */
    int own;            /* own index */
    int node_ranks;
    uint64_t token; /* names the sockets of this run */
    int socket;
};

int doorbell_init(struct doorbell *doorbell, MPI_Comm world, MPI_Comm node);
void doorbell_fini(struct doorbell *doorbell);

/* Wakes `rank` if it sleeps and is on this node. No system call while it is awake. */
void doorbell_ring(struct doorbell *doorbell, unsigned rank);
void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping);
bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank);

/* For a rank that goes without waiting for the others, so that they do not take it for lost. */
void doorbell_leave(struct doorbell *doorbell);
/* Of a rank of this node. */
bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank);
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

struct runtime;

/* Collective on the node. -1 when memory or files are out. */
int watch_peers(struct watch *watch, const struct runtime *runtime);
void watch_fini(struct watch *watch);

/* From now on `rank`, a peer that was of no concern so far, is watched, too. */
void watch_begin(struct watch *watch, unsigned rank);

void watch_look(struct watch *watch);
/* Asks for those whose end the kernel does not tell, once a second. */
void watch_ask(struct watch *watch, uint64_t now_ns);
/* A peer that has ended, each once. */
bool watch_take(struct watch *watch, unsigned *rank);

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

struct net {
    MPI_Comm comm;
    unsigned char (*receive_bytes)[MESSAGE_MAX]; /* [receives], owned */
    MPI_Request receives[RECEIVES_MAX];
    unsigned receive_count, receive_head;
    bool receive_held; /* the bytes of the message at receive_head are in use */
    struct send_slot sends[SENDS_MAX];
    unsigned send_first, send_count; /* a ring, in the order of sending */
    struct collect collects[COLLECTS_MAX];
    unsigned collects_active;
    struct collect *waiting; /* ring of those that have no buffer yet; owned */
    unsigned waiting_first, waiting_count, waiting_capacity;
    unsigned char *ends; /* [ranks] enum net_end; owned */
    unsigned ended;      /* ranks that have */
};

/* ENDED: nothing is sent to it. LOST: nor is anything taken from it. */
enum net_end { NET_LIVES, NET_ENDED, NET_LOST };

/* -1 when memory is out. */
int net_init(struct net *net, MPI_Comm comm, unsigned receives);
void net_fini(struct net *net);

/* A received control message, or false. The bytes stay until the next call. */
bool net_poll(struct net *net, unsigned *from, const unsigned char **bytes, size_t *size);

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
    return net->send_count > 0 || net->collects_active > 0;
}

/* --- wait.c: libevent, and how to wait --- */

struct wait {
    struct event_base *base; /* owned */
    struct event *signals[3];
    struct event *bell;
    struct event *timer;
    struct event *ends;     /* of peers; NULL: none is watched */
    bool cores_are_free;    /* each rank of this node can have a core */
    bool far_peers;         /* some messages come from where no doorbell reaches */
    bool patient;           /* nobody waits for this rank while it waits */
    bool drain;             /* a signal asked for it; cleared by the loop */
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
    MPI_Comm world, node;
    struct hello *hellos; /* [ranks], owned */
    char *words;          /* the job, owned */
    char **word;          /* [count + 1], owned */
    struct topology topology;
    bool grouped, prepared;
    bool over;  /* all ranks are through */
    bool lossy; /* a rank of the run was lost: from now on nobody waits for all */
    struct doorbell doorbell;
    struct watch watch;
    bool cores_are_free;
    unsigned cores;
    bool sleeps_precisely; /* the timer's slack is set */
};

/* start.c: what all ranks do together before they run. */
int runtime_prepare(struct runtime *runtime);

/* Returns when all ranks have called it, asleep; or, as the run is lossy then, when a peer has ended. */
void runtime_wait_for_all(struct runtime *runtime);
