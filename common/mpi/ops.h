/* SPDX-License-Identifier: MIT */
/* The environment of a rank: a real computer (ops_mpi.c) or a simulated one (deploy/simulate/simgrid). The link and
 * net.c use this table for time, messages, sleep and the state of peers. They also use the carrier (common/carrier),
 * which a simulator may replace. */
#pragma once

#include "common/carrier/carrier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct executor;
struct net;
struct runtime;
struct stolen;
struct wait;
struct wait_work;

struct runtime_ops {
    uint64_t (*now)(void);
    void (*delay)(struct runtime *runtime, uint64_t ns);
    void (*nap)(struct runtime *runtime, uint64_t ns);

    /* Creates the doorbells of the node. On failure `error` is empty if another rank prints the reason of the failure.
     */
    int (*prepare)(struct runtime *runtime, struct error *error);
    /* returns -1 if memory, files or threads run out */
    int (*watch_all)(struct runtime *runtime);
    void (*watch)(struct runtime *runtime, unsigned rank);
    void (*look_at_peers)(struct runtime *runtime, uint64_t now_ns);
    void (*fence)(struct runtime *runtime, unsigned rank);
    /* If this rank was declared lost, returns the reason; otherwise NULL. */
    const char *(*fenced)(const struct runtime *runtime);
    void (*abandon)(struct runtime *runtime);
    /* Returns true in exactly one rank of the node, which then prints that the supermaster was lost. */
    bool (*claim_report)(struct runtime *runtime);

    unsigned sends; /* a rank with this many unfinished sends waits before it sends more: see send.c */
    void (*start_receive)(struct net *net, unsigned receive);
    /* Called before a message is sent to rank `to`. Returns false if the message would not arrive; in this case it is
     * not sent. */
    bool (*announce)(struct net *net, unsigned to, size_t bytes);
    bool (*find_message)(struct net *net, struct carrier_status *status);
    /* Is the send complete? A complete request is also freed. */
    bool (*is_sent)(carrier_request *request);
    void (*ring)(struct runtime *runtime, unsigned rank);
    /* Takes iterations from a worker of this node, by span_steal(). Returns 1 if it took some, and -1 if the worker has
     * no iterations to take. Returns 0 if the worker's chunk is not visible in shared memory. The pointer is NULL if
     * there is no shared memory. */
    int (*steal)(struct runtime *runtime, unsigned rank, unsigned waiting, struct stolen *stolen);

    /* These functions implement wait.h. open_wait() and begin_work() return -1 if memory runs out. */
    int (*open_wait)(struct wait *wait, struct runtime *runtime);
    void (*close_wait)(struct wait *wait);
    int (*begin_work)(struct wait *wait, struct wait_work *work, const struct executor *executor);
    void (*end_work)(struct wait *wait, struct wait_work *work);
    void (*exchange)(struct wait *wait, struct runtime *runtime);
    void (*look)(struct wait *wait, uint64_t now_ns);
    bool (*idle)(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                 bool (*poll)(void *context), void *context);

    /* returns a descriptor that becomes readable when the process ends, or -1 with errno */
    int (*open_process)(int pid);
    char (*process_state)(int pid);
    int (*signal_process)(int pid, int signal);
    void (*end_process)(int status) __attribute__((noreturn));
    /* makes this process exit if it still runs after this time; 0: cancels the limit */
    void (*exit_after)(unsigned seconds, int status);
};

extern const struct runtime_ops runtime_mpi_ops;
