/* SPDX-License-Identifier: MIT */
/* The surroundings of a rank: the machine that it runs on (ops_mpi.c), or a simulated one (deploy/simulate/simgrid).
 * The files that drive a machine (driver.h) and net.c ask them for the time, for what has come, for sleep and for the
 * lives of peers. Beside them they use the carrier (common/carrier), of which a simulator may bring its own. */
#pragma once

#include "common/carrier/carrier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct executor;
struct net;
struct runtime;
struct wait;
struct wait_work;

struct runtime_ops {
    /* --- time --- */
    uint64_t (*now)(void);                               /* ns of the clock that events carry */
    void (*delay)(struct runtime *runtime, uint64_t ns); /* lets so much pass, see runtime_delay() */
    void (*nap)(struct runtime *runtime, uint64_t ns);   /* sleeps, see runtime_nap() */

    /* --- peers: see peers.h, to which their ends are reported --- */
    /* Makes the doorbells that the ranks of a node share. -1 with one line, which is empty where another rank says
     * why. */
    int (*prepare)(struct runtime *runtime, struct error *error);
    /* Makes the table, and watches all that concern the rank from the start. -1 when memory, files or threads are out.
     */
    int (*watch_all)(struct runtime *runtime);
    void (*watch)(struct runtime *runtime, unsigned rank);           /* watches another rank from now on */
    void (*look_at_peers)(struct runtime *runtime, uint64_t now_ns); /* cheap where nothing is due */
    void (*fence)(struct runtime *runtime, unsigned rank);           /* makes a rank leave that is taken for lost */
    const char *(*fenced)(const struct runtime *runtime); /* reason why this rank was taken for lost, or NULL */
    /* Says that this rank goes without the others. */
    void (*abandon)(struct runtime *runtime);
    /* True for one rank of the node: the one to say that the supermaster was lost. */
    bool (*claim_report)(struct runtime *runtime);

    /* --- messages: for net.c --- */
    unsigned sends; /* control messages on their way out from which on a rank waits for the oldest: see send.c */
    void (*start_receive)(struct net *net, unsigned receive);
    /* Tells that a message of so many bytes is about to be sent; false: it would not arrive, and is not sent. */
    bool (*announce)(struct net *net, unsigned to, size_t bytes);
    /* True where a control message has come: then net->receive_head is its receive. */
    bool (*find_message)(struct net *net, struct carrier_status *status);
    /* True where a send is over, and MPI has its request back. */
    bool (*is_sent)(carrier_request *request);
    void (*ring)(struct runtime *runtime, unsigned rank); /* wakes the receiver of what was sent */

    /* --- waiting: see wait.h --- */
    int (*open_wait)(struct wait *wait, struct runtime *runtime); /* -1: memory is out */
    void (*close_wait)(struct wait *wait);
    /* Waits from now on for what an executor (NULL: none) waits for, too. -1: memory is out. */
    int (*begin_work)(struct wait *wait, struct wait_work *work, const struct executor *executor);
    void (*end_work)(struct wait *wait, struct wait_work *work);
    /* The rank exchanges boundary data from now on, or no longer, as runtime->exchanges says. */
    void (*exchange)(struct wait *wait, struct runtime *runtime);
    void (*look)(struct wait *wait, uint64_t now_ns); /* looks at signals and timers */
    /* Waits as wait_idle() does. */
    bool (*idle)(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                 bool (*poll)(void *context), void *context);

    /* --- processes: those of this node, for watch.c and rouse.c, and the rank's own --- */
    int (*open_process)(int pid);   /* a descriptor that is readable once the process has ended; -1 with errno */
    char (*process_state)(int pid); /* see common/os/process.h */
    int (*signal_process)(int pid, int signal);                /* as kill() */
    void (*end_process)(int status) __attribute__((noreturn)); /* as _exit() */
    void (*exit_after)(unsigned seconds, int status);          /* exits then at the latest; 0: does not */
};

/* For a rank over MPI on a real machine. */
extern const struct runtime_ops runtime_mpi_ops;
