/* SPDX-License-Identifier: MIT */
/* Runs the machine of a daemon over MPI and libevent: start-up, messages, waiting, signals.
 *
 * MPI is polled; libevent provides signals, timers and the doorbell. An idle rank polls for a fraction of a millisecond
 * (and yields its core if there are more ranks than cores), then sleeps in epoll until a peer on its node wakes it. */
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
    /* enter() and leave() are called before and after computing or probing, if the kernel uses the job's folder or
     * environment. */
    int (*enter)(void *context, struct error *error);
    void (*leave)(void *context);
    void (*chunk_begins)(void *context);
    void (*chunk_ends)(void *context, const struct chunk_event *chunk);
    /* its chunks are noted in shared memory, so that after the loss of the supermaster a rank of this node can call
     * tell_ran() for each */
    bool notes_ran;
    /* Called after the supermaster was lost: prints which chunk a worker of this node has begun last. */
    void (*tell_ran)(const struct range *range);
    struct load_meter *meter;
    int (*store)(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);
    /* True in a pod's master: results are sent by the stream to the supermaster, which calls its own store(). */
    bool stores_far;
    bool (*fits)(void *context, const struct part *part, uint64_t bytes);
    /* journal() records ranges as done. journal(), deaths() and point() are for a rank that keeps a journal. */
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
     * must then print all it has to say, because a launcher may end this rank as soon as another rank ends. */
    void (*parting)(void *context);
    /* Called about every tick_ns, for a progress line. tick_ns 0: never called. */
    void (*tick)(void *context, uint64_t now_ns);
    uint64_t tick_ns;
    uint64_t calculation_ns, assignment_ns;
};

struct introduction {
    enum role role;
    const char *version; /* "major.minor.patch" */
    /* 0 if this rank can take part; otherwise an enum exit_status or HELLO_STATUS_HELP. The lowest rank with that
     * status prints `text`, which says why all leave. */
    int status;
    const char *text;
    bool dca;
    bool pod;
    bool listens;
    bool has_threads; /* threads that make no MPI calls may compute in this process */
};

struct runtime;

/* Was this process started by the launcher of an MPI library, or by that of a launch without MPI? Does not call MPI. */
bool runtime_is_launched(void);

/* Must be called first in a rank: from then on drain signals are remembered and do not end the process. The first such
 * signal calls `tell` (may be NULL) in the signal handler. Does nothing if no launcher started this process. */
void runtime_remember_signals(void (*tell)(void));

/* Initialises MPI, exchanges hellos and checks the line-up. If it returns NULL, the reason was printed and the caller
 * must leave with `*status`. */
struct runtime *runtime_join(int *argc, char ***argv, const struct introduction *introduction, int *status);

/* Sends the job from the supermaster to all ranks. The supermaster passes the words of the command line. If it passes a
 * `*status` other than 0, this returns NULL on all ranks, with `*status` set, and all ranks must leave. Otherwise
 * returns the words, `*count` of them, which are borrowed until runtime_leave(). */
char *const *runtime_share_job(struct runtime *runtime, int argc, char *const *argv, int *status, unsigned *count);

struct streams;
struct stream_welcome;

/* For the master of a launch that joins a set as a pod. Must be called before runtime_share_job(), which then gives the
 * pod's ranks the words of the welcome and their numbers. The stream to the supermaster is borrowed until
 * runtime_leave(). */
void runtime_enter_set(struct runtime *runtime, struct streams *streams, const struct stream_welcome *welcome);

/* For a supermaster: lets pods join by these streams, which are borrowed until link_close(). Must be called before
 * link_open(). */
void runtime_take_streams(struct runtime *runtime, struct streams *streams);

/* Chooses the masters and groups the workers. `grouping`: a set of enum topology_grouping. The result is valid until
 * runtime_leave(). NULL: out of memory. */
const struct topology *runtime_group(struct runtime *runtime, unsigned grouping);

/* Returns the libevent base of this rank, borrowed until runtime_leave(). Must be called before runtime_drive(). While
 * a machine is driven, events that the program adds are served, within a millisecond even if the rank is busy. NULL:
 * out of memory or files. */
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

/* Sets the numbers of cores and workers of this node in `threads`, if the workers with `threads->count` threads each
 * have more threads than the node has cores; otherwise sets both numbers to 0. Requires runtime_group(). */
void runtime_note_sharing(const struct runtime *runtime, struct threads *threads);

uint64_t runtime_now(void);

/* Waits `ns` for --inject-delay: by polling the clock if each rank has a core of its own, otherwise mostly asleep, so
 * that ranks that share the core are delayed little. */
void runtime_delay(struct runtime *runtime, uint64_t ns);

/* Sleeps for `ns` and about 15 us longer; with the default timer slack it would be more. */
void runtime_nap(struct runtime *runtime, uint64_t ns);

/* Returns when this process started, on the clock of runtime_now(). */
uint64_t runtime_process_start(void);

/* Drives the machine until it exits, and returns its exit status. Must be called on all ranks, after runtime_group().
 * If `failure` is not NULL, the machine gets it in EVENT_FATAL instead of EVENT_START. */
int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure);

void runtime_wait(struct runtime *runtime);

bool runtime_is_degraded(const struct runtime *runtime);

void runtime_note_loss(struct runtime *runtime);

/* Finalises MPI and frees everything. If a rank was lost, MPI_Finalize() would not return, so the process exits with
 * `status` instead. */
void runtime_leave(struct runtime *runtime, int status);
