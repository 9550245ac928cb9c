/* SPDX-License-Identifier: MIT */
/* The worker requests chunks, computes them, and sends the results with the next request. It requests chunks ahead, so
 * that it rarely waits for the network. It is a pure state machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "proto/message.h"

/* STARTING: measures the round trip if speeds are needed. PROBING: times the probe iterations. ASKING: has requested a
 * chunk and has nothing to compute. STUCK: waits for END, because it has reported a problem, or because the master was
 * lost in a loop with dependencies. LEAVING: finishes running iterations in a drain. */
enum worker_state {
    WORKER_STARTING,
    WORKER_PROBING,
    WORKER_ASKING,
    WORKER_COMPUTING,
    WORKER_STUCK,
    WORKER_LEAVING,
    WORKER_GONE
};

#define WORKER_QUEUE_MAX (2 * ASKS_MAX)

struct halo_send {
    uint64_t boundary_at;
    bool known;
    bool finished;
    bool reused; /* the next chunk runs here and uses the data in place */
    bool copied; /* the journal wants a copy after the chunk is finished */
    unsigned to;
    const void *data; /* borrowed from the executor; NULL before the data exist */
    uint64_t bytes;
    uint64_t sent;
};

struct halo_receive {
    uint64_t first, bytes;
    unsigned from;
};

/* With a journal, the supermaster may ask for boundary data after they were sent to the next worker. So the data of
 * this many finished chunks are kept. */
#define HALO_SENDS_KEPT 2
/* Room for the queued chunks, the running chunk, the chunk whose data the running chunk uses, a finished chunk, and the
 * chunks whose data are kept. Chunks finish in order. So after a chunk of this worker has finished, the data of all
 * chunks before it have been sent. */
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
    unsigned master;
    unsigned supermaster;
    bool probe;
    bool in_steps;
    /* Figures of the worker's threads, as of the latest EVENT_FINISHED; borrowed; NULL: one thread. With threads,
     * chunks begin and finish in the order in which they arrive. */
    const struct threads *threads;
    /* How many queued chunks the executor may begin while another chunk runs. With a helper this is 1; with threads it
     * is the whole queue. */
    unsigned ahead;
    /* Figures that a worker with one thread reports. If their member `cores` is 0, the worker reports no figures.
     * Borrowed; may be NULL. */
    const struct threads *alone;
    uint16_t load; /* load of the worker's cores at the start, in the unit of a REQUEST; 0: unknown */
    /* Borrowed; NULL: the iterations are independent. Loops with dependencies have one thread. */
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
    unsigned behind_probe;
    struct assigned queue[WORKER_QUEUE_MAX];
    unsigned queue_first, queue_count;
    unsigned queue_begun;
    uint64_t queue_iterations;
    struct assigned running;
    uint64_t running_sent;   /* number of iterations of the running chunk that have failed or whose results were sent */
    uint64_t running_before; /* value of running_sent at the time when the present master learned of the chunk */
    unsigned asked;
    /* when the request was sent whose round trip is being measured; NEVER: no round trip is being measured */
    uint64_t asked_at_ns;
    unsigned asked_before;
    uint64_t round_trip_ns;
    double iteration_ns; /* smoothed; 0: unknown */
    /* when the latest wait for a chunk began; NEVER: the worker did not wait before the running chunk */
    uint64_t idle_since_ns;
    uint16_t load;
    struct request done[ASKS_MAX];
    unsigned done_count;
    uint64_t done_deadline_ns;
    uint64_t waited_ns;
    uint64_t largest; /* largest chunk so far in a loop with time steps; otherwise 0 */
    uint64_t give_up_ns;
    uint32_t echoes;
    uint64_t echo_sent_ns;
    uint64_t least_echo_ns;
};

void worker_init(struct worker *worker, const struct worker_config *config);
void worker_step(struct worker *worker, const struct event *event, struct actions *actions);
const char *worker_state_name(const struct worker *worker);

void worker_check(const struct worker *worker);

struct machine worker_machine(struct worker *worker);
