/* A rank of a simulated run: the runtime of real ranks (common/runtime/mpi: loop.c and net.c) drives its machine over
 * simulated MPI. What differs is here: the clock is SimGrid's, a rank that has nothing to do waits in MPI, and what the
 * daemons do beside computing takes the time that the platform says. */
#pragma once

#include "common/runtime/mpi/internal.h"
#include "common/runtime/simgrid/run.h"

struct simulated_rank {
    struct simulated_run *run;
    unsigned rank;
    struct machine machine; /* that is driven */
    struct mail *mail;
    double owed_ns;      /* that what it has done takes, and has not taken yet: on a core of speed 1 */
    uint64_t owed_at_ns; /* since when */
    bool computed;       /* and has not looked at its messages since */
};

/* Drives the machine to its end; returns its status. The rank has called MPI_Init. */
int simulated_drive(struct simulated_run *run, unsigned rank, const struct machine *machine,
                    const struct effects *effects);

/* The rank that this is. */
struct simulated_rank *simulated_self(void);

/* Of the core of this rank, in flops a nanosecond. */
double simulated_speed(void);

/* How long the core of this rank takes from now on for what takes so long on one of speed 1. */
double simulated_core_ns(const struct simulated_rank *self, double ns);

/* Lets the core of this rank be busy for what takes so long on one of speed 1, behind what is owed. */
void simulated_work(struct simulated_rank *self, double ns);
/* The effect of storing imagined results: it takes its time. */
int simulated_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);

/* Notes that handling messages takes so long on a core of speed 1. */
void simulated_note_busy(struct simulated_rank *self, double ns);
/* What is owed is done: it was taken together with something else. */
void simulated_clear(struct simulated_rank *self);

/* --- mail.c --- */

/* NULL when memory is out. */
struct mail *mail_new(struct simulated_run *run, unsigned rank);
void mail_free(struct mail *mail);
