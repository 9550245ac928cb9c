/* SPDX-License-Identifier: MIT */
/* The worker: requests chunks, computes, sends results with the next request, and requests ahead so that it rarely
 * waits for the network. A pure state machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "proto/message.h"

/* STARTING: measures the round trip, if speeds are wanted. PROBING: measures the time of the probe iterations.
 * ASKING: has requested a chunk and has nothing to compute. STUCK: has reported a problem, or lost the master of a
 * loop with dependencies, and waits for END. LEAVING: finishes its chunk in a drain. */
enum worker_state {
    WORKER_STARTING,
    WORKER_PROBING,
    WORKER_ASKING,
    WORKER_COMPUTING,
    WORKER_STUCK,
    WORKER_LEAVING,
    WORKER_GONE
};

/* Chunks that were requested, and those requested again while the first ones wait. */
#define WORKER_QUEUE_MAX (2 * ASKS_MAX)

/* Boundary data of a chunk of this worker, for the worker of the next chunk. */
struct halo_send {
    uint64_t boundary_at; /* iteration at which that chunk begins */
    bool known;
    bool finished;
    bool reused; /* the next chunk is running here and uses the data in place */
    bool copied; /* the journal wants a copy as soon as the chunk is finished */
    unsigned to;
    const void *data; /* borrowed from the executor; NULL: none yet */
    uint64_t bytes;
    uint64_t sent;
};

struct halo_receive {
    uint64_t first, bytes;
    unsigned from;
};

/* Complete sends are kept, because the supermaster may ask for them late, for the journal. */
#define HALO_SENDS_KEPT 2
/* Queued chunks, the running one, the one whose data it uses, and a finished one. Chunks finish in order: when the
 * next chunk of this worker is finished, all data of earlier ones have been sent. */
#define HALO_SENDS_MAX (WORKER_QUEUE_MAX + 3 + HALO_SENDS_KEPT)
/* Boundary data may arrive before their chunk. */
#define HALO_RECEIVES_MAX (WORKER_QUEUE_MAX + ASKS_MAX + 1)

struct boundaries {
    struct halo_send halo_sends[HALO_SENDS_MAX];
    unsigned halo_send_count;
    struct halo_receive halo_receives[HALO_RECEIVES_MAX];
    unsigned halo_receive_count;
};

struct worker_config {
    const struct run_spec *spec;
    unsigned rank;
    unsigned master;      /* the supermaster if there are no masters */
    unsigned supermaster; /* serves the worker if its master is lost */
    bool probe;           /* send a SPEED before the first request */
    bool in_steps;
    /* Of its threads, as of the latest EVENT_FINISHED; borrowed. NULL: one thread. With threads, chunks begin and
     * finish in the order of arrival. */
    const struct threads *threads;
    /* How many queued chunks may begin while another runs: one with a helper, all with threads. */
    unsigned ahead;
    /* What a worker with one thread reports of itself; `cores` 0: nothing. Borrowed; may be NULL. */
    const struct threads *alone;
    uint16_t load; /* of its cores at the start, as in a REQUEST; 0: unknown */
    /* for loops with dependencies, which have one thread; borrowed; NULL: independent iterations */
    struct boundaries *boundaries;
    uint64_t boundary_bytes;
    uint64_t end;
    const struct topology *topology;
};

struct assigned {
    uint64_t first, count;
    uint32_t chunk;
    bool isolated;
};

struct worker {
    struct worker_config config;
    const struct reason_sink *reasons; /* may be NULL */
    unsigned state;
    /* the state that follows STARTING and PROBING: ASKING, or LEAVING if END has arrived */
    unsigned behind_probe;
    struct assigned queue[WORKER_QUEUE_MAX];
    unsigned queue_first, queue_count;
    unsigned queue_begun; /* how many of the oldest queued chunks the executor has begun */
    uint64_t queue_iterations;
    struct assigned running;
    uint64_t running_sent;   /* its iterations whose results were sent, or that failed */
    uint64_t running_before; /* those of them that were sent before the present master knew of the chunk */
    unsigned asked;
    uint64_t asked_at_ns;  /* when the request was sent whose round trip is measured; NEVER: none */
    unsigned asked_before; /* chunks of earlier requests, which arrive before its answer */
    uint64_t round_trip_ns;
    double iteration_ns;    /* smoothed; 0: unknown */
    uint64_t idle_since_ns; /* since when the worker waited for the running chunk; NEVER: it did not wait */
    uint16_t load;          /* of its cores, as in a REQUEST */
    struct request done[ASKS_MAX];
    unsigned done_count;
    uint64_t done_deadline_ns; /* when they must be sent */
    uint64_t waited_ns;
    uint64_t largest;    /* largest chunk so far, in a loop with time steps; otherwise 0 */
    uint64_t give_up_ns; /* LEAVING: when to leave even if a chunk is running */
    uint32_t echoes;     /* number sent; in STARTING the last one is not answered yet */
    uint64_t echo_sent_ns;
    uint64_t least_echo_ns; /* shortest time of an echo; NEVER: none yet */
};

void worker_init(struct worker *worker, const struct worker_config *config);
void worker_step(struct worker *worker, const struct event *event, struct actions *actions);
const char *worker_state_name(const struct worker *worker);

void worker_check(const struct worker *worker);

struct machine worker_machine(struct worker *worker);
