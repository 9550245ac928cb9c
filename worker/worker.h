/* SPDX-License-Identifier: MIT */
/* The worker: requests chunks, computes, sends results with the next request, and requests ahead so that it rarely
 * waits for the network. A pure state machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "proto/message.h"

/* STARTING: measures the round trip, if a speed is wanted. PROBING: times the probe iterations. ASKING: has requested a
 * chunk and has nothing to compute. COMPUTING. STUCK: reported a problem, or lost the master of a loop with
 * dependencies, and waits for END. LEAVING: finishes its chunk in a drain. GONE. */
enum worker_state {
    WORKER_STARTING,
    WORKER_PROBING,
    WORKER_ASKING,
    WORKER_COMPUTING,
    WORKER_STUCK,
    WORKER_LEAVING,
    WORKER_GONE
};

/* Most queued chunks: requested, and requested again while these wait. */
#define WORKER_QUEUE_MAX (2 * ASKS_MAX)

/* Boundary data that a chunk of this worker passes to the next chunk. */
struct halo_send {
    uint64_t boundary_at; /* iteration at which the next chunk begins */
    bool known;
    bool finished;    /* the chunk is finished */
    bool reused;      /* the running chunk uses the data in place */
    bool copied;      /* the journal wants a copy when the chunk is finished */
    unsigned to;      /* rank that computes the next chunk */
    const void *data; /* borrowed from the executor; NULL: none yet */
    uint64_t bytes;   /* complete so far */
    uint64_t sent;
};

/* Boundary data for the chunk that begins at `first`. */
struct halo_receive {
    uint64_t first, bytes;
    unsigned from;
};

/* Complete sends that are kept, because the supermaster may ask for them late for the journal. */
#define HALO_SENDS_KEPT 2
/* Room for the queued chunks, the running one, the one whose data it uses, and a finished one: chunks finish in order,
 * so when the next chunk of this worker is finished, all data of earlier ones have been sent. */
#define HALO_SENDS_MAX (WORKER_QUEUE_MAX + 3 + HALO_SENDS_KEPT)
/* Boundary data may arrive before their chunk. */
#define HALO_RECEIVES_MAX (WORKER_QUEUE_MAX + ASKS_MAX + 1)

/* Boundary data of a loop with dependencies: see boundary.c. */
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
    unsigned supermaster; /* replaces a lost master */
    bool probe;           /* send a SPEED */
    bool in_steps;        /* a time step begins only after the one before has ended */
    /* Statistics of the threads, as of the latest EVENT_FINISHED; borrowed. NULL: one thread. With threads, chunks
     * begin and finish in the order of arrival. */
    const struct threads *threads;
    /* Queued chunks that may begin while another runs: one with a helper, all with threads. */
    unsigned ahead;
    /* Statistics to report for a worker with one thread; `cores` 0: none. Borrowed; may be NULL. */
    const struct threads *alone;
    uint16_t load; /* initial load of its cores, as in a REQUEST; 0: unknown */
    /* For loops with dependencies; such a worker has one thread. */
    struct boundaries *boundaries;   /* borrowed; NULL: independent iterations */
    uint64_t boundary_bytes;         /* size of the boundary data of a chunk */
    uint64_t end;                    /* end of the loop */
    const struct topology *topology; /* ranks of the workers; borrowed */
};

struct assigned {
    uint64_t first, count;
    uint32_t chunk;
    bool isolated;
};

struct worker {
    struct worker_config config;
    const struct reason_sink *reasons; /* borrowed; may be NULL */
    unsigned state;                    /* enum worker_state */
    unsigned behind_probe;             /* state after STARTING and PROBING: ASKING, or LEAVING if END has arrived */
    struct assigned queue[WORKER_QUEUE_MAX];
    unsigned queue_first, queue_count;
    unsigned queue_begun; /* oldest queued chunks that the executor has begun */
    uint64_t queue_iterations;
    struct assigned running; /* count 0: none yet */
    uint64_t running_sent;   /* iterations of it whose results were sent or that failed */
    uint64_t running_before; /* those of them sent before the present master knew of the chunk */
    unsigned asked;          /* chunks requested and not received */
    uint64_t asked_at_ns;    /* time of the request being measured; NEVER: none */
    unsigned asked_before;   /* chunks of earlier requests that arrive before its answer */
    uint64_t round_trip_ns;  /* smoothed */
    double iteration_ns;     /* smoothed time of one iteration; 0: unknown */
    uint64_t idle_since_ns;  /* when the worker ran out of work before the running chunk; NEVER: it did not */
    uint16_t load;           /* load of its cores, as in a REQUEST */
    /* Completions to be sent with the next request, latest last. */
    struct request done[ASKS_MAX];
    unsigned done_count;
    uint64_t done_deadline_ns; /* when they are sent at the latest */
    uint64_t waited_ns;        /* idle time before the running chunk */
    uint64_t largest;          /* largest chunk so far in a loop of several steps; otherwise 0 */
    uint64_t give_up_ns;       /* LEAVING: when to leave even while computing */
    uint32_t echoes;           /* echoes sent; in STARTING the last one is unanswered */
    uint64_t echo_sent_ns;
    uint64_t least_echo_ns; /* shortest echo; NEVER: none yet */
};

void worker_init(struct worker *worker, const struct worker_config *config);
void worker_step(struct worker *worker, const struct event *event, struct actions *actions);
const char *worker_state_name(const struct worker *worker);

void worker_check(const struct worker *worker);

struct machine worker_machine(struct worker *worker);
