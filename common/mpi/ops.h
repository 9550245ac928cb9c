/* SPDX-License-Identifier: MIT */
/* The environment of a rank: the real machine (ops_mpi.c) or a simulated one (deploy/simulate/simgrid). The files that
 * drive a machine (driver.h) and net.c get time, messages, sleep and the state of peers through it. They also use the
 * carrier (common/carrier), which a simulator may replace. */
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

    /* Creates the node's doorbells. On failure the error is empty if another rank reports it. */
    int (*prepare)(struct runtime *runtime, struct error *error);
    /* -1: out of memory, files or threads */
    int (*watch_all)(struct runtime *runtime);
    void (*watch)(struct runtime *runtime, unsigned rank);
    void (*look_at_peers)(struct runtime *runtime, uint64_t now_ns);
    void (*fence)(struct runtime *runtime, unsigned rank);
    /* Returns why this rank was declared lost; NULL if it was not. */
    const char *(*fenced)(const struct runtime *runtime);
    void (*abandon)(struct runtime *runtime);
    /* Returns true for exactly one rank of the node, which then reports the loss of the supermaster. */
    bool (*claim_report)(struct runtime *runtime);

    unsigned sends; /* a rank waits while it has this many unfinished sends: see send.c */
    void (*start_receive)(struct net *net, unsigned receive);
    /* Returns false if the message would not arrive; the caller then does not send it. */
    bool (*announce)(struct net *net, unsigned to, size_t bytes);
    bool (*find_message)(struct net *net, struct carrier_status *status);
    /* If the send is complete, its request is freed. */
    bool (*is_sent)(carrier_request *request);
    void (*ring)(struct runtime *runtime, unsigned rank);
    /* Takes iterations of a worker of this node by span_steal(). Returns 1 if it took some, -1 if there is nothing to
     * take, and 0 if it cannot be seen what the worker computes. NULL: there is no shared memory. */
    int (*steal)(struct runtime *runtime, unsigned rank, unsigned waiting, struct stolen *stolen);

    /* See wait.h. open_wait() and begin_work() return -1 if memory runs out. */
    int (*open_wait)(struct wait *wait, struct runtime *runtime);
    void (*close_wait)(struct wait *wait);
    int (*begin_work)(struct wait *wait, struct wait_work *work, const struct executor *executor);
    void (*end_work)(struct wait *wait, struct wait_work *work);
    void (*exchange)(struct wait *wait, struct runtime *runtime);
    void (*look)(struct wait *wait, uint64_t now_ns);
    bool (*idle)(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                 bool (*poll)(void *context), void *context);

    int (*open_process)(int pid); /* returns a descriptor that is readable after the process has ended; -1 with errno */
    char (*process_state)(int pid);
    int (*signal_process)(int pid, int signal);
    void (*end_process)(int status) __attribute__((noreturn));
    void (*exit_after)(unsigned seconds, int status); /* exits at the latest after this time; 0: never */
};

extern const struct runtime_ops runtime_mpi_ops;
