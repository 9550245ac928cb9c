/* SPDX-License-Identifier: MIT */
/* The worker requests chunks, computes them, and sends results with the next request. It requests ahead, so that it
 * rarely waits for the network. It is a pure state machine: see common/machine/machine.h. */
#pragma once

#include "common/machine/machine.h"
#include "proto/message.h"

/* STARTING: measures the round trip if speeds are needed. PROBING: times the probe iterations. ASKING: has requested a
 * chunk and has nothing to compute. STUCK: has reported a problem, or lost the master of a loop with dependencies, and
 * waits for END. LEAVING: finishes running iterations in a drain. */
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

/* The supermaster may ask for boundary data late, for the journal, so some data are kept after they were sent. */
#define HALO_SENDS_KEPT 2
/* Queued chunks, the running chunk, the chunk whose data the running one uses, and a finished chunk. Chunks finish in
 * order: after the next chunk of this worker has finished, the data of all earlier chunks have been sent. */
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
    /* Figures of the worker's threads at the latest EVENT_FINISHED; borrowed; NULL: one thread. With threads, chunks
     * begin and finish in the order of arrival. */
    const struct threads *threads;
    /* How many queued chunks the executor may begin while another chunk runs: 1 with a helper, all with threads. */
    unsigned ahead;
    /* Figures that a worker with one thread reports, unless their `cores` is 0. Borrowed; may be NULL. */
    const struct threads *alone;
    uint16_t load; /* load of the worker's cores at the start, as in a REQUEST; 0: unknown */
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
    uint64_t running_sent;   /* how many iterations of the running chunk have failed or have had their results sent */
    uint64_t running_before; /* the value of running_sent when the present master got to know of the chunk */
    unsigned asked;
    uint64_t asked_at_ns; /* when the request was sent whose round trip is measured; NEVER: none */
    unsigned asked_before;
    uint64_t round_trip_ns;
    double iteration_ns; /* smoothed; 0: unknown */
    /* when the latest wait for a chunk began; NEVER: the worker did not wait for the running one */
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
