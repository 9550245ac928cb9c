/* SPDX-License-Identifier: MIT */
/* The worker: asks for work, computes, sends the result with the next request, and asks ahead so that it never waits on
 * the network. Pure: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "proto/message.h"

/* STARTING: measures what a message round trip costs, where a speed is wanted. PROBING: times the probe iterations.
 * ASKING: has nothing to compute, and has asked. COMPUTING. STUCK: has told a problem, or has lost the master of
 * a loop with dependencies, and waits for END. LEAVING: computes on though a drain came. GONE. */
enum worker_state {
    WORKER_STARTING,
    WORKER_PROBING,
    WORKER_ASKING,
    WORKER_COMPUTING,
    WORKER_STUCK,
    WORKER_LEAVING,
    WORKER_GONE
};

/* Chunks that can be waiting here: those asked for, and those asked for while they wait. */
#define WORKER_QUEUE_MAX (2 * ASKS_MAX)

/* Boundary data that a chunk of this worker hands to the one behind it. */
struct halo_send {
    uint64_t boundary_at; /* iteration at which the chunk behind begins */
    bool known;           /* the rank `to`, which computes the chunk behind, is known */
    bool finished;        /* the chunk that hands the data over is finished */
    bool reused;          /* the running chunk uses the data where they lie */
    bool copied;          /* the journal is to have the data: a copy goes up when the chunk is finished */
    unsigned to;          /* rank */
    const void *data;     /* borrowed from the executor; NULL while there are none */
    uint64_t bytes;       /* complete so far */
    uint64_t sent;        /* bytes sent so far */
};

/* Boundary data that come for the chunk that begins at `first`. */
struct halo_receive {
    uint64_t first, bytes;
    unsigned from; /* rank */
};

/* The number of complete sends that are kept: the supermaster may ask for them late, for the journal. */
#define HALO_SENDS_KEPT 2
/* Slots for the chunks that wait, the running one and the one whose data it has reused, and one that is finished:
 * chunks finish in their order, so when the next one of this worker does, all data behind the finished one have been
 * sent. */
#define HALO_SENDS_MAX (WORKER_QUEUE_MAX + 3 + HALO_SENDS_KEPT)
/* Boundary data may come before their chunk does. */
#define HALO_RECEIVES_MAX (WORKER_QUEUE_MAX + ASKS_MAX + 1)

/* Account of the boundary data of a loop with dependencies: see boundary.c. */
struct boundaries {
    struct halo_send halo_sends[HALO_SENDS_MAX]; /* [halo_send_count] ascending */
    unsigned halo_send_count;
    struct halo_receive halo_receives[HALO_RECEIVES_MAX]; /* [halo_receive_count] */
    unsigned halo_receive_count;
};

struct worker_config {
    const struct run_spec *spec; /* borrowed for the machine's life */
    unsigned rank;
    unsigned master;      /* rank of the master, or of the supermaster in the central topology */
    unsigned supermaster; /* rank that the worker turns to when its master is lost */
    bool probe;           /* a SPEED is wanted */
    bool in_steps;        /* no iteration of a time step begins before the step before it is over */
    /* The threads' work until the latest EVENT_FINISHED, borrowed; NULL: the worker has one thread. With several
     * threads chunks begin as they come, and finish in that order. */
    const struct threads *threads;
    /* So many of the chunks that wait begin while another runs, in that order: a helper has one. All with threads. */
    unsigned ahead;
    /* Figures that a worker of one thread tells instead, borrowed; none while `cores` is 0. NULL: never any. */
    const struct threads *alone;
    uint16_t load; /* load of its cores at first, as in a REQUEST; 0: not told */
    /* for loops whose iterations depend on earlier ones; such a worker has one thread */
    struct boundaries *boundaries;   /* account of the boundary data, borrowed; NULL: independent iterations */
    uint64_t boundary_bytes;         /* bytes of all boundary data that a chunk hands to the one behind it */
    uint64_t end;                    /* the iteration behind the loop's last */
    const struct topology *topology; /* ranks of the workers, which send one another boundary data; borrowed */
};

struct assigned {
    uint64_t first, count;
    uint32_t chunk;
    bool isolated;
};

struct worker {
    struct worker_config config;
    const struct reason_sink *reasons; /* borrowed; NULL: nobody listens */
    unsigned state;                    /* enum worker_state */
    unsigned behind_probe;             /* STARTING, PROBING: what comes then: ASKING, or LEAVING where END has come */
    struct assigned queue[WORKER_QUEUE_MAX];
    unsigned queue_first, queue_count;
    unsigned queue_begun;      /* the oldest of them that the executor has already */
    uint64_t queue_iterations; /* iterations of the chunks in the queue */
    struct assigned running;   /* running chunk; count 0 before the first one */
    uint64_t running_sent;     /* iterations of the running chunk whose results have left, or that failed */
    uint64_t running_before;   /* those of them that had when the present master came to know of the chunk */
    unsigned asked;            /* chunks asked for and not received */
    uint64_t asked_at_ns;      /* the ask that is being timed; NEVER if none */
    unsigned asked_before;     /* chunks asked for earlier, still to come before its answer */
    uint64_t round_trip_ns;    /* smoothed */
    double iteration_ns;       /* smoothed time of one iteration; 0: not known yet */
    uint64_t idle_since_ns;    /* when the worker ran out of work before the running chunk; NEVER: it did not */
    uint16_t load;             /* load of its cores, as in a REQUEST */
    /* completions that go with the next request: of short chunks, the latest last */
    struct request done[ASKS_MAX];
    unsigned done_count;
    uint64_t done_deadline_ns; /* when the completions go at the latest */
    uint64_t waited_ns;        /* idle time before the running chunk */
    uint64_t largest;          /* largest chunk so far in a loop of several steps; 0 in others */
    uint64_t give_up_ns;       /* LEAVING: when the worker leaves though it computes */
    uint32_t echoes;           /* echoes sent; the last one is on its way while STARTING */
    uint64_t echo_sent_ns;     /* when the last echo was sent */
    uint64_t least_echo_ns;    /* time of the quickest echo; NEVER before the first */
};

void worker_init(struct worker *worker, const struct worker_config *config);
void worker_step(struct worker *worker, const struct event *event, struct actions *actions);
const char *worker_state_name(const struct worker *worker);

/* Between two steps: stops the program where an invariant of the worker does not hold. */
void worker_check(const struct worker *worker);

/* The worker as a runtime sees it. */
struct machine worker_machine(struct worker *worker);
