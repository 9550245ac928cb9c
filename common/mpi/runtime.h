/* SPDX-License-Identifier: MIT */
/* Runs the machine of a daemon over MPI and libevent: start-up, messages, waiting, signals.
 *
 * MPI is polled; libevent provides signals, timers and the doorbell. An idle rank polls for a moment (yielding its core
 * if ranks outnumber cores), then sleeps in epoll until a peer on its node wakes it. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

/* What a program does for its machine. Functions that are not needed may be NULL. */
struct effects {
    void *context;
    struct executor *executor;
    /* Called before the first chunk or probe; sets `executor`. */
    int (*open)(void *context, struct error *error);
    /* Called around computing and probing, for kernels that use the job's folder or environment. */
    int (*enter)(void *context, struct error *error);
    void (*leave)(void *context);
    void (*chunk_begins)(void *context);
    void (*chunk_ends)(void *context, const struct chunk_event *chunk);
    bool notes_ran; /* its chunks are noted, so that any rank of this node can call tell_ran() for them */
    /* Called if the supermaster is lost: reports the latest chunk of a worker of this node. */
    void (*tell_ran)(const struct range *range);
    struct load_meter *meter;
    int (*store)(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);
    /* In a pod's master: the stream carries results to the supermaster, which calls its own store(). */
    bool stores_far;
    bool (*fits)(void *context, const struct part *part, uint64_t bytes);
    /* Records ranges as done. The next three are for a rank that keeps a journal. */
    int (*journal)(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error);
    int (*deaths)(void *context, const struct poison *deaths, struct error *error);
    int (*point)(void *context, const struct action *action, struct error *error);
    int (*grow)(void *context, struct growth *growth, struct error *error);
    /* with --durability node */
    int (*sync)(void *context, struct error *error);
    void (*begun)(void *context);
    void (*asked)(void *context);
    void (*tell)(void *context, struct threads *threads);
    /* Called before other ranks are told of a loss, or are told to leave without waiting for each other. The program
     * must print its messages now, because a launcher may end this rank as soon as another rank ends. */
    void (*parting)(void *context);
    /* Called about every tick_ns, for a progress line; 0: never. */
    void (*tick)(void *context, uint64_t now_ns);
    uint64_t tick_ns;
    uint64_t calculation_ns, assignment_ns;
};

struct introduction {
    enum role role;
    const char *version; /* "major.minor.patch" */
    /* 0; otherwise an enum exit_status or HELLO_STATUS_HELP, which says why this rank cannot take part. The lowest rank
     * with that status prints `text`. */
    int status;
    const char *text;
    bool dca;
    bool pod;
    bool listens;
    bool has_threads; /* threads that make no MPI calls may compute */
};

struct runtime;

/* Did the launcher of an MPI library, or of a launch without MPI, start this process? Does not call MPI. */
bool runtime_is_launched(void);

/* Call it first in a rank: from now on drain signals are remembered and end no process. The first signal calls `tell`
 * (or NULL) in the signal handler. No effect without a launcher. */
void runtime_remember_signals(void (*tell)(void));

/* Initialises MPI, exchanges hellos and checks the line-up. NULL: the reason is printed, and the caller leaves with
 * `*status`. */
struct runtime *runtime_join(int *argc, char ***argv, const struct introduction *introduction, int *status);

/* Sends the job from the supermaster to all. The supermaster passes its words, or a status other than 0 with which all
 * leave: this then returns NULL with `*status` on every rank. The others receive `*count` words, borrowed until
 * runtime_leave(). */
char *const *runtime_share_job(struct runtime *runtime, int argc, char *const *argv, int *status, unsigned *count);

struct streams;
struct stream_welcome;

/* For the master of a launch that joins a set as a pod; called before runtime_share_job(), which then gives its ranks
 * the words of the welcome and their numbers. The stream to the supermaster is borrowed until runtime_leave(). */
void runtime_enter_set(struct runtime *runtime, struct streams *streams, const struct stream_welcome *welcome);

/* For a supermaster: pods may join by these streams, which are borrowed until link_close(). Must be called before
 * link_open(). */
void runtime_take_streams(struct runtime *runtime, struct streams *streams);

/* `grouping`: a set of enum topology_grouping. The result is valid until runtime_leave(). NULL: out of memory. */
const struct topology *runtime_group(struct runtime *runtime, unsigned grouping);

/* Returns the libevent base of this rank. Events that the program adds are served while a machine is driven, within a
 * millisecond even when busy. Must be called before runtime_drive(); borrowed until runtime_leave(). NULL: out of
 * memory or files. */
struct event_base;
struct event_base *runtime_base(struct runtime *runtime);

/* Returns the running chunk of this rank, which others of its node see; valid until runtime_leave(). */
struct span;
struct span *runtime_span(struct runtime *runtime);

unsigned runtime_rank(const struct runtime *runtime);
unsigned runtime_ranks(const struct runtime *runtime);

bool runtime_is_pod(const struct runtime *runtime);

/* Returns the rank that serves worker `rank` (the supermaster in the central topology). Valid after runtime_group(). */
unsigned runtime_master_of(const struct runtime *runtime, unsigned rank);

unsigned runtime_supermaster(const struct runtime *runtime);

/* Returns the host name of a rank's node, up to its first dot. Only rank 0 knows it; others get NULL. */
const char *runtime_host_of(const struct runtime *runtime, unsigned rank);

/* Returns how many cores the ranks of all nodes may use together, including pods that have joined. */
unsigned runtime_cores(const struct runtime *runtime);

/* "memory", or an MPI library with its version */
const char *runtime_carrier(void);

/* Sets the cores and workers of this node if the workers have more threads (`threads->count` each) than there are
 * cores; otherwise sets both to 0. Requires runtime_group(). */
void runtime_note_sharing(const struct runtime *runtime, struct threads *threads);

uint64_t runtime_now(void);

/* Waits `ns` for --inject-delay: busy if each rank has a core of its own, otherwise mostly asleep, so that the others
 * are as little affected as with a core per rank. */
void runtime_delay(struct runtime *runtime, uint64_t ns);

/* Sleeps for `ns` and some 15 us longer, which is less than with the default timer slack. */
void runtime_nap(struct runtime *runtime, uint64_t ns);

/* On the clock of runtime_now(). */
uint64_t runtime_process_start(void);

/* Drives the machine until it exits, and returns its status; on all ranks, after runtime_group(). A `failure` that is
 * not NULL is delivered as EVENT_FATAL instead of EVENT_START. */
int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure);

void runtime_wait(struct runtime *runtime);

bool runtime_is_degraded(const struct runtime *runtime);

void runtime_note_loss(struct runtime *runtime);

/* Finalises MPI and frees everything. If a rank was lost, finalising would not return, so the process exits with
 * `status`. */
void runtime_leave(struct runtime *runtime, int status);
