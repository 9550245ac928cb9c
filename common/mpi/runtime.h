/* SPDX-License-Identifier: MIT */
/* A machine over MPI and libevent: start-up, messages, waiting, signals. One of these drives any of the three daemons.
 *
 * MPI is polled; libevent brings signals, timers and the doorbell. A rank that has nothing to do first polls for a
 * moment (yielding its core where ranks outnumber cores), then sleeps in epoll until a peer on its node rings. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

/* The effects that the daemon's program has for its machine. Calls that a role never needs may be NULL. */
struct effects {
    void *context;
    /* worker */
    struct executor *executor; /* computes the chunks; borrowed; NULL for daemons that never compute */
    /* Opens the executor before the first chunk, or probe, and sets `executor`; NULL: it is open, or there is none. -1
     * with one line. */
    int (*open)(void *context, struct error *error);
    /* Called before the executor computes, or probes, and behind it: for kernels that do more than compute, where the
     * process is not at home. NULL: it is. enter() returns -1 with one line. */
    int (*enter)(void *context, struct error *error);
    void (*leave)(void *context);
    /* Called when a chunk begins, and chunk_ends() when it is finished; may be NULL. */
    void (*chunk_begins)(void *context);
    void (*chunk_ends)(void *context, const struct chunk_event *chunk);
    struct load_meter *meter; /* meter of the load that the machine is told; NULL: none is told */
    /* A rank that collects: writes to the output. -1 with one line. */
    int (*store)(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);
    /* A pod's master: what there is to be written goes to the supermaster by the stream, and is stored by its store().
     */
    bool stores_far;
    /* A supermaster: true if this part, of so many bytes, can be one of the output's. */
    bool (*fits)(void *context, const struct part *part, uint64_t bytes);
    /* A rank that keeps a journal: records that the ranges are done. -1 with one line. */
    int (*journal)(void *context, const struct range *ranges, size_t count, uint64_t digest, struct error *error);
    /* Likewise: records the deaths that iterations have seen so far. -1 with one line. */
    int (*deaths)(void *context, const struct poison *deaths, struct error *error);
    /* Likewise, in a loop with dependencies: records boundary data, as ACTION_POINT has them. -1 with one line. */
    int (*point)(void *context, const struct action *action, struct error *error);
    /* A rank that leads a loop which may grow: says how much of it there is by now. -1 with one line. */
    int (*grow)(void *context, struct growth *growth, struct error *error);
    /* A rank that stores for --durability node: brings what is stored to the disk. -1 with one line. */
    int (*sync)(void *context, struct error *error);
    /* Called when all ranks are there, and from now on the loss of one is noticed; may be NULL. */
    void (*begun)(void *context);
    /* Called when a signal has asked this rank to drain; may be NULL. */
    void (*asked)(void *context);
    /* A worker tells what its threads have done: completes the message. May be NULL. */
    void (*tell)(void *context, struct threads *threads);
    /* Called when the others are about to be told that a rank was lost, or that they are to leave without waiting for
     * one another: the program says now what it has to say, as a launcher may end this rank with the first of them. May
     * be NULL. */
    void (*parting)(void *context);
    /* about every tick_ns, for a progress line; NULL or 0: never */
    void (*tick)(void *context, uint64_t now_ns);
    uint64_t tick_ns;
    /* --inject-delay: each chunk that the machine cuts, or assigns to a worker, takes so much longer */
    uint64_t calculation_ns, assignment_ns;
};

/* Introduction of a rank, which each rank brings to the start. */
struct introduction {
    enum role role;
    const char *version; /* "major.minor.patch" */
    int status;          /* 0, or why it cannot take part: an enum exit_status, or HELLO_STATUS_HELP */
    const char *text;    /* text to print on behalf of all if it is the lowest rank with that status; may be NULL */
    bool dca;
    bool pod;         /* a master's: its launch joins a set, by runtime_enter_set() */
    bool listens;     /* a supermaster's: pods may join */
    bool has_threads; /* threads of its own may compute; none of them uses MPI */
};

struct runtime;

/* True where this process was started by an MPI launcher (without touching MPI). */
bool runtime_is_launched(void);

/* The first thing that a rank does: a signal that asks to drain is remembered from now on, and ends nobody. The first
 * one calls `tell` (NULL: nobody is told), which may do what handlers of signals may. Where no launcher has started
 * this process, signals are left alone. */
void runtime_remember_signals(void (*tell)(void));

/* Initialises MPI, exchanges hellos and checks the line-up. NULL where this rank must leave with `*status`: everything
 * is said (once, by one rank) and MPI is finalised. */
struct runtime *runtime_join(int *argc, char ***argv, const struct introduction *introduction, int *status);

/* The job, from the supermaster to all. The supermaster gives its words, or a status other than 0 with which all are to
 * leave: then this returns NULL on every rank, and `*status` is what to leave with. The others receive the words,
 * `*count` of them, borrowed from the runtime for its life. */
char *const *runtime_share_job(struct runtime *runtime, int argc, char *const *argv, int *status, unsigned *count);

struct streams;
struct stream_welcome;

/* For the master of a launch that joins a set as a pod, before runtime_share_job(), which then gives its ranks the
 * words of the welcome, and their numbers: the supermaster is at the other end of the stream, which is borrowed until
 * runtime_leave(). */
void runtime_enter_set(struct runtime *runtime, struct streams *streams, const struct stream_welcome *welcome);

/* For a supermaster: pods may join its set by these streams, which are borrowed until link_close(). Before link_open().
 */
void runtime_take_streams(struct runtime *runtime, struct streams *streams);

/* Groups the ranks, each for itself, by a set of enum topology_grouping; valid until runtime_leave(). NULL when memory
 * is out. */
const struct topology *runtime_group(struct runtime *runtime, unsigned grouping);

/* The base of libevent in which this rank waits: events that its program adds are served while a machine is driven,
 * within a millisecond where there is work. To be called before runtime_drive(); borrowed until runtime_leave(). NULL
 * when memory or files are out. */
struct event_base;
struct event_base *runtime_base(struct runtime *runtime);

unsigned runtime_rank(const struct runtime *runtime);
unsigned runtime_ranks(const struct runtime *runtime);

/* True where this launch is a pod: its supermaster is at the other end of a stream. */
bool runtime_is_pod(const struct runtime *runtime);

/* Rank of the master (the supermaster in the central topology) that serves worker `rank`; after runtime_group(). */
unsigned runtime_master_of(const struct runtime *runtime, unsigned rank);

/* Rank of the supermaster, where there is one. */
unsigned runtime_supermaster(const struct runtime *runtime);

/* Host name of the node of a rank, as far as its first dot; NULL where it is not known: rank 0 knows it. */
const char *runtime_host_of(const struct runtime *runtime, unsigned rank);

/* Cores that the ranks of all nodes may run on together; 0 before runtime_drive(). */
unsigned runtime_cores(const struct runtime *runtime);

/* What carries the messages of this launch: "memory", or an MPI library and its version. */
const char *runtime_carrier(void);

/* Sets the cores and workers of this node where the workers have more threads than there are cores, all as many as
 * `threads` counts; else 0 and 0. After runtime_prepare(), which runtime_drive() does. */
void runtime_note_sharing(const struct runtime *runtime, struct threads *threads);

/* Nanoseconds of the clock that events carry. */
uint64_t runtime_now(void);

/* Lets `ns` pass, for --inject-delay: with the core kept busy where each rank has its own, else asleep but for the last
 * moment, as on a machine with a core for each rank the others would not feel it. After runtime_prepare(). */
void runtime_delay(struct runtime *runtime, uint64_t ns);

/* Sleeps for `ns` and some 15 us more, less than the timer's usual slack. */
void runtime_nap(struct runtime *runtime, uint64_t ns);

/* The start of this process, on that clock. */
uint64_t runtime_process_start(void);

/* Drives the machine (all ranks do, after runtime_group()) until it exits; returns its status. `failure` (NULL or a
 * line) is delivered first, as EVENT_FATAL instead of EVENT_START. */
int runtime_drive(struct runtime *runtime, const struct machine *machine, const struct effects *effects,
                  const char *failure);

/* Waits for all ranks to be through. Not where one of them was lost. */
void runtime_wait(struct runtime *runtime);

/* True where a rank of the run was lost. */
bool runtime_is_degraded(const struct runtime *runtime);

/* Notes that the machine took a rank for lost whose process may still be there: nobody waits for all from now on. */
void runtime_note_loss(struct runtime *runtime);

/* Finalises MPI and frees everything, once all ranks are through. Where one was lost, that would not end: then MPI is
 * left as it is, and this ends the process with `status`. */
void runtime_leave(struct runtime *runtime, int status);
