/* SPDX-License-Identifier: MIT */
/* A link and the machines that it drives; internal. The functions are in the order of the files: each file calls only
 * earlier ones (tests/tidy/layers.py).
 *     net.c, wait.c, far_send.c      messages over MPI, sleeping, streams to other launches
 *     drop.c                         ranks that cannot continue, or are declared lost
 *     deferred.c, send.c             queued messages, sending
 *     announce.c, early.c            announcements of jobs, messages that arrive before their job
 *     arbiter.c, apply.c             whose chunk is computed, applying actions
 *     step.c                         events and their consequences
 *     far_results.c, far.c           results of pods, and everything from streams
 *     receive.c                      receiving messages
 *     leave.c, returns.c             ranks that end, and workers that return
 *     loop.c, link.c (link.h)        turns; jobs that come and go */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/stride.h"
#include "common/mpi/deferred.h"
#include "common/mpi/far.h"
#include "common/mpi/link.h"
#include "common/mpi/net.h"
#include "common/mpi/wait.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages handled per turn, so that timers and signals are not delayed. */
#define MESSAGES_PER_TURN 16

/* Limit: stores are answered in the turn of their request, a step requests at most one, and a turn has few steps. */
#define STORES_MAX (2 * MESSAGES_PER_TURN + COLLECTS_MAX)

/* Stored parts not yet reported to the machine: a ring. */
struct stores {
    struct event *events; /* [STORES_MAX] EVENT_STORED; owned */
    struct error *errors; /* [STORES_MAX] their errors; owned */
    unsigned first, count;
};

/* Boundary data to be released after this many messages are finished. */
struct release {
    uint64_t boundary_at, over;
};

struct releases {
    struct release *items; /* boundary data still being sent; owned */
    size_t count, room;
};

/* What was taken from a worker. */
struct theft {
    unsigned rank;
    struct stolen stolen;
};

/* In one step nothing is taken from more workers. */
#define THEFTS_MAX 256

/* What a step's actions leave to be done after it. */
struct outcome {
    bool wants_probe;
    bool has_cut;
    struct range cut;
    unsigned thefts; /* a ring; the first is at `first_theft` */
    unsigned first_theft;
    struct theft theft[THEFTS_MAX];
    bool has_grown; /* the loop was checked for growth */
    struct growth growth;
    struct error problem; /* the first one; empty: none */
    bool sync_failed;     /* the next SEND is omitted because it would be untrue */
};

struct kept_job;

/* An announcement that is being received. */
struct assembly {
    uint32_t job;
    uint32_t all, have;   /* bytes */
    unsigned char *bytes; /* [all] owned; NULL: nothing yet */
};

/* The supermaster, and the master of a worker. */
#define ANNOUNCERS 2

/* Announcements of the jobs of a set. */
struct announcements {
    struct job_source source;
    struct net_user user;  /* for sending announcements */
    struct kept_job *live; /* the supermaster's: unfinished jobs in order; owned */
    struct assembly assemblies[ANNOUNCERS];
    uint32_t newest; /* number of the latest announced job; 0: none yet */
    uint32_t end;    /* no job comes from this number on; 0: unknown */
    uint64_t end_ns; /* when that became known */
};

/* Lost workers of a set that the launcher starts again. */
struct returns {
    bool are_awaited; /* some may return */
    bool are_over;    /* all workers were lost at once: none returns any more */
    uint64_t due_ns;  /* when to look for them */
    uint32_t *since;  /* [ranks] first job that is announced to the rank since it returned; 0: it has not; owned */
};

enum driver_state { DRIVER_RUNS, DRIVER_EXITS };

/* The machine of one job. */
struct driver {
    struct net_user user; /* first member: see driver_of() */
    struct link *link;
    bool exchanges; /* boundary data with other workers */
    struct driver *next;
    const struct machine *machine;
    const struct effects *effects;
    struct actions actions;
    struct action_sink sink;
    struct releases releases;
    struct stores stores;
    struct outcome outcome;
    struct wait_work work;
    struct stride_share share; /* its share of compute time */
    bool are_tasks;            /* see link.h */
    struct message owed;       /* a REQUEST that is held back (asks.c); asks for 0 chunks: none */
    unsigned owed_to;
    uint64_t next_tick_ns, exit_ns; /* exit_ns: when the machine exited */
    enum driver_state state;
    uint64_t spent_ns;  /* of the executor, charged so far */
    bool may_tell;      /* the executor is put off and may have something to report */
    bool is_beside;     /* its helper probes, or it ends: it may report without the core */
    bool is_locked_out; /* its folder or environment could not be entered */
    bool cannot_store;  /* results of a pod could not be written: later reports of pods do not count */
    int status;
};

struct link {
    struct runtime *runtime;
    const struct runtime_ops *ops; /* the runtime's */
    struct net net;
    struct far far;
    struct wait wait;
    struct deferred deferred;
    struct deferred early;              /* messages whose job is not there yet, and later ones of their senders */
    bool early_is_due;                  /* a job has arrived for which messages may be queued */
    bool exchange_ends;                 /* in a set: an END of the job that exchanges boundary data is deferred */
    bool expects_jobs;                  /* see link_expect_jobs() */
    bool has_asked_to_leave;            /* of a pod: it has no workers, or got a signal */
    struct announcements announcements; /* in a set */
    struct returns returns;             /* of a set without masters */
    bool is_broken;                     /* the run ends */
    struct driver *drivers;             /* in the order of their jobs; owned */
    uint32_t newest;                    /* number of the latest job; 0: none yet */
    struct stride stride;               /* running jobs with an executor */
    uint64_t compute_ns;                /* with several jobs: when the current driver began to compute */
    unsigned ran_on;                    /* CPU + 1 of the latest helper that computed; 0: none */
    uint64_t now_ns;
    bool now_is_fresh;           /* now_ns was read just now, while idle */
    unsigned since_clock;        /* messages handled since the clock was read */
    uint64_t looked_ns;          /* when a computing rank last checked for messages */
    bool computed;               /* in the last turn */
    bool computes;               /* a job has an executor */
    bool serves;                 /* other ranks wait for this one even while it computes */
    uint64_t asked_ns;           /* when a REQUEST that was held back was sent last */
    bool are_owed;               /* a REQUEST of a driver may be held back */
    bool received_while_waiting; /* a message was handled in wait_idle() */
};

static inline struct driver *driver_of(struct net_user *user)
{
    return (struct driver *)user;
}

static inline void driver_leave(const struct driver *driver)
{
    if (driver->effects->leave != NULL)
        driver->effects->leave(driver->effects->context);
}

/* --- drop.c --- */

/* Prints why this rank cannot continue, and ends the run. */
void link_give_up(struct link *link, const char *text);

/* Declares a rank lost whose process may still exist. link_lose_fenced() reports it after the step. */
void link_drop(struct link *link, unsigned rank, const char *text);

/* --- send.c --- */

/* Sends a message to a rank of this or another launch. False if memory runs out, which ends the run. */
bool link_send(struct link *link, struct net_user *user, unsigned to, const struct message *message);

/* Sends a message unless its receiver has ended; for an action_sink. */
void driver_send(void *context, unsigned to, const struct message *message);

/* The same without holding anything back. */
void driver_send_now(struct driver *driver, unsigned to, const struct message *message);

/* Takes iterations of a worker of this node, of which the machine hears after the step. False if nothing is taken; as
 * the answer to a RECALL it only hears then of what the worker computes. */
bool driver_steal(struct driver *driver, unsigned to, unsigned waiting, bool is_answer);

/* Releases what finished sends have borrowed and rings their receivers. Returns whether one had finished. */
bool link_progress_sends(struct link *link);

/* Waits until only few messages are being sent. */
void link_make_room(struct link *link);

/* Releases the data of a boundary when none of them is being sent. */
void driver_release(struct driver *driver, uint64_t boundary_at);

/* Waits as --inject-delay demands for the chunks of this step. */
void driver_delay(struct driver *driver);

/* --- announce.c --- */

/* Handles a JOB or SET_OVER. Returns NULL or an error. */
const char *announcements_receive(struct link *link, unsigned from, const struct message *message);

/* Supermaster of a set: announces all live jobs to the workers of a lost master. */
void announce_to_orphans(struct link *link, unsigned master);

/* Supermaster of a set: announces all live jobs to a rank of its launch. */
void announce_all(struct link *link, unsigned to);

/* Supermaster of a set: announces the running jobs for pods to a new pod. */
void announce_all_to_pod(struct link *link, unsigned to);

/* Supermaster of a continuing set: tells a pod that it gets no further job. */
void announce_end_to(struct link *link, unsigned to);

/* Supermaster of a set: ends a finished job for a worker that lost its master just then and asks to be served. */
void announcements_end_late(struct link *link, unsigned to, uint32_t job);

/* If the rank has returned: the first job that was announced to it after that. Otherwise 0. */
uint32_t link_returned_since(const struct link *link, unsigned rank);

/* True if the job takes in pods, and workers that have returned. */
bool announced_for_all(const struct announcements *announcements, uint32_t job);

void announcements_forget(struct announcements *announcements, uint32_t job);
void announcements_fini(struct announcements *announcements);

/* --- early.c --- */

/* True if the message must wait for its job, or for an earlier message of its sender. */
bool early_must_wait(const struct link *link, unsigned from, const struct message *message);

/* Takes the oldest queued message whose job has arrived, valid until the next call; false if there is none. */
bool early_take(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);

/* Drops a message of a finished job with its payload. */
void link_drop_late(struct link *link, unsigned from, const struct message *message);

/* --- arbiter.c --- */

/* With several jobs: the first to compute in this turn, or NULL. */
struct driver *arbiter_begin(struct link *link);

/* A second job is about to start: the first gets the core if it can use it. */
void arbiter_share(struct link *link);

/* A job has gone; a single remaining one gets the core. */
void arbiter_leave(struct link *link);

/* The job is about to begin a chunk. */
void arbiter_note_chunk(struct driver *driver);

/* The job has given up iterations. */
void arbiter_note_cut(struct driver *driver);

/* The job ends: its executor computes no more. */
void arbiter_note_end(struct driver *driver);

/* When to check whether the running job should give up the core; STRIDE_NEVER: never, or its helper does. */
uint64_t arbiter_due_ns(const struct link *link);

/* Charges the job if it `computed`, and returns the next one in this turn, or NULL. */
struct driver *arbiter_next(struct driver *driver, bool computed);

/* --- apply.c --- */

/* Applies any action except SEND; for an action_sink. */
void driver_apply(void *context, const struct action *action);

/* Records that a part is stored, or could not be (`result` < 0, with the error). */
void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error);

/* Writes a part to the output and records that. */
void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes);

/* Opens the executor if necessary. False if that fails: the machine must be told. */
bool driver_open(struct driver *driver);

/* Enters the folder and environment of the executor. False on failure: driver_step_on() reports it to the machine. */
bool driver_enter_slowly(struct driver *driver);

static inline bool driver_enter(struct driver *driver)
{
    return driver->effects->enter == NULL || driver_enter_slowly(driver);
}

/* Times the kernel's probe iterations. False if the executor cannot be opened, which the machine must be told, or if a
 * helper probes, which reports in a later turn. */
bool driver_probe(struct driver *driver, struct speed *speed);

/* --- step.c --- */

/* Passes the event to the machine, applies its actions, and repeats that for the events that result. */
void driver_step(struct driver *driver, struct event *event);

/* Passes events that arose outside of a step. */
void driver_step_on(struct driver *driver);

/* Passes all stored parts. */
void driver_deliver_stored(struct driver *driver);

/* False if the rank is a worker that was lost and started again, and the job does without it: the job began before
 * that, or it takes in no workers later. */
bool driver_knows(const struct driver *driver, unsigned rank);

/* The driver of a job, or NULL. */
struct driver *link_find_driver(const struct link *link, uint32_t job);

/* True if a machine runs or may start. */
bool link_runs(const struct link *link);

/* Passes the losses of all dropped ranks to the machines. */
void link_lose_fenced(struct link *link);

/* Like link_drop(), but also reports the loss; only outside of a step. */
void link_refuse(struct link *link, unsigned rank, const char *problem);

/* Handles an ended peer whose last messages have been received: it left `in_order` or is lost. */
void link_close_peer(struct link *link, unsigned rank, bool in_order);

/* Asks the set to let this pod leave after running iterations, or at once with `now`. */
void link_ask_to_leave(struct link *link, bool now);

/* --- receive.c --- */

/* Handles up to `most` control messages. Returns whether there was one. */
bool link_receive(struct link *link, unsigned most);

/* Receives a data message for the output, if there is one. */
bool link_receive_data(struct link *link);

/* Receives boundary data for the executor, if there are any. */
bool link_receive_boundary(struct link *link);

/* --- leave.c --- */

/* Handles ended peers; ends this rank if others declared it lost, or the supermaster is gone. */
void link_look_at_peers(struct link *link);

/* --- returns.c --- */

/* Does the next step for workers that may return, if it is due. */
void link_look_for_returns(struct link *link);

/* --- asks.c --- */

/* Takes from a message what is to be held back of it. False if nothing of it is left to be sent now; else `*rest`, a
 * copy if it was changed, is. */
bool asks_hold_back(struct driver *driver, unsigned to, const struct message **message, struct message *rest);

/* The job that may send a REQUEST now that was held back: that which would have the core next; NULL: none. */
struct driver *asks_take(struct link *link, struct message *message);

/* When one may be sent that is held back; NEVER: after something has happened. */
uint64_t asks_due_ns(const struct link *link);
