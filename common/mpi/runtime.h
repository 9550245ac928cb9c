/* SPDX-License-Identifier: MIT */
/* Runs the machine of a daemon over MPI and libevent: start-up, messages, waiting, signals.
 *
 * MPI is polled; libevent provides signals, timers and the doorbell. An idle rank polls for a fraction of a
 * millisecond. If there are more ranks than cores, it yields its core meanwhile. Then it sleeps in epoll until a peer
 * on its node wakes it. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

/* What a program does for its machine. Functions that are not needed may be NULL. */
struct effects {
    void *context;
    struct executor *executor;
    /* Called before the first chunk or probe; must set `executor`. */
    int (*open)(void *context, struct error *error);
    /* Used if the kernel needs the job's folder or environment: enter() is called before computing or probing, leave()
     * after it. */
    int (*enter)(void *context, struct error *error);
    void (*leave)(void *context);
    void (*chunk_begins)(void *context);
    void (*chunk_ends)(void *context, const struct chunk_event *chunk);
    /* True if the chunks of this rank are noted in shared memory. If the supermaster is lost, a rank of this node then
     * calls tell_ran() for each noted chunk. */
    bool notes_ran;
    /* Called after the supermaster was lost. Prints the chunk that a worker of this node has begun last. */
    void (*tell_ran)(const struct range *range);
    struct load_meter *meter;
    int (*store)(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);
    /* True in a pod's master if the results go to the supermaster: the stream transports them, and the supermaster
     * calls its own store(). */
    bool stores_far;
    bool (*fits)(void *context, const struct part *part, uint64_t bytes);
    /* journal() records ranges as done. Only a rank that keeps a journal has journal(), deaths() and point(). */
    int (*journal)(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error);
    int (*deaths)(void *context, const struct poison *deaths, struct error *error);
    int (*point)(void *context, const struct action *action, struct error *error);
    int (*grow)(void *context, struct growth *growth, struct error *error);
    /* Called if --durability is node. */
    int (*sync)(void *context, struct error *error);
    void (*begun)(void *context);
    void (*asked)(void *context);
    void (*tell)(void *context, struct threads *threads);
    /* Called before other ranks are told of a loss, or are told to leave without waiting for each other. The program
     * must then print all its remaining messages, because a launcher may end this rank after another rank has ended. */
    void (*parting)(void *context);
    /* Called about every tick_ns, to show the progress. Never called if tick_ns is 0. */
    void (*tick)(void *context, uint64_t now_ns);
    uint64_t tick_ns;
    uint64_t calculation_ns, assignment_ns;
};

struct introduction {
    enum role role;
    const char *version; /* the version as "major.minor.patch" */
    /* 0 if this rank can take part; otherwise an enum exit_status or HELLO_STATUS_HELP. All ranks then leave, and the
     * lowest rank with that status prints `text`, the reason. */
    int status;
    const char *text;
    bool dca;
    bool pod;
    bool listens;
    bool has_threads; /* true: this process may have computing threads, which make no MPI calls */
};

struct runtime;

/* Was this process started by a launcher, either that of an MPI library or that of a launch without MPI? Does not call
 * MPI. */
bool runtime_is_launched(void);

/* Must be called first in a rank. From then on a drain signal does not end the process but is remembered. The first
 * drain signal calls `tell` (may be NULL) in the signal handler. Does nothing if no launcher started this process. */
void runtime_remember_signals(void (*tell)(void));

/* Initialises MPI, exchanges hellos and checks the line-up. If this returns NULL, the reason has been printed, and the
 * caller must leave with `*status`. */
struct runtime *runtime_join(int *argc, char ***argv, const struct introduction *introduction, int *status);

/* Sends the job from the supermaster to all ranks. The supermaster passes the words of the command line. If it passes a
 * `*status` other than 0, this returns NULL on all ranks and sets their `*status`, and all must leave. Otherwise
 * returns the words of the job and sets `*count` to their number. They are borrowed until runtime_leave(). */
char *const *runtime_share_job(struct runtime *runtime, int argc, char *const *argv, int *status, unsigned *count);

struct streams;
struct stream_welcome;

/* For the master of a launch that joins a set as a pod. Must be called before runtime_share_job(). The pod's ranks then
 * get the words and the rank numbers of the welcome. The stream to the supermaster is borrowed until runtime_leave().
 */
void runtime_enter_set(struct runtime *runtime, struct streams *streams, const struct stream_welcome *welcome);

/* For a supermaster: lets pods join by these streams, which are borrowed until link_close(). Must be called before
 * link_open(). */
void runtime_take_streams(struct runtime *runtime, struct streams *streams);

/* Chooses the masters and groups the workers. `grouping`: a set of enum topology_grouping. The result is valid until
 * runtime_leave(). Returns NULL if memory runs out. */
const struct topology *runtime_group(struct runtime *runtime, unsigned grouping);

/* Returns the libevent base of this rank, borrowed until runtime_leave(). Must be called before runtime_drive(). The
 * program may add events to the base. While a machine is driven, they are served within a millisecond even if the rank
 * is busy. Returns NULL if memory or files run out. */
struct event_base;
struct event_base *runtime_base(struct runtime *runtime);

/* Returns the record of this rank's running chunk, which the other ranks of its node can read; valid until
 * runtime_leave(). */
struct span;
struct span *runtime_span(struct runtime *runtime);

unsigned runtime_rank(const struct runtime *runtime);
unsigned runtime_ranks(const struct runtime *runtime);

bool runtime_is_pod(const struct runtime *runtime);

/* Returns the rank that serves worker `rank`: its master, or the supermaster in the central topology. Valid after
 * runtime_group(). */
unsigned runtime_master_of(const struct runtime *runtime, unsigned rank);

unsigned runtime_supermaster(const struct runtime *runtime);

/* Returns the host name of a rank's node, up to its first dot. Only rank 0 knows the names; NULL on all other ranks. */
const char *runtime_host_of(const struct runtime *runtime, unsigned rank);

/* Returns how many cores the ranks may use, summed over all nodes, including those of pods that have joined. */
unsigned runtime_cores(const struct runtime *runtime);

/* Returns "memory", or the name and version of the MPI library. */
const char *runtime_carrier(void);

/* Tells in `threads` whether the workers of this node share its cores. Each worker has `threads->count` threads. If all
 * these threads together are more than the node has cores, sets the numbers of cores and workers of the node. Otherwise
 * sets both numbers to 0. Requires runtime_group(). */
void runtime_note_sharing(const struct runtime *runtime, struct threads *threads);

uint64_t runtime_now(void);

/* Waits `ns` for --inject-delay. If each rank has a core of its own, polls the clock. Otherwise sleeps for most of the
 * time, so that the other ranks on this core are delayed little. */
void runtime_delay(struct runtime *runtime, uint64_t ns);

/* Sleeps for `ns`. The timer slack is reduced, so the sleep is only about 15 us too long. */
void runtime_nap(struct runtime *runtime, uint64_t ns);

/* Returns the time at which this process started, on the clock of runtime_now(). */
uint64_t runtime_process_start(void);

/* Drives the machine until it exits, and returns its exit status. All ranks must call this, after runtime_group(). If
 * `failure` is not NULL, the machine gets it in EVENT_FATAL instead of EVENT_START. */
int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure);

void runtime_wait(struct runtime *runtime);

bool runtime_is_degraded(const struct runtime *runtime);

void runtime_note_loss(struct runtime *runtime);

/* Finalises MPI and frees everything. If a rank was lost, MPI_Finalize() would never return. In that case this function
 * does not return either: the process exits with `status`. */
void runtime_leave(struct runtime *runtime, int status);
