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

/* The most stored parts that the machine has not been told about. A step stores at most one part, a turn has few steps,
 * and the machine is told in the same turn. */
#define STORES_MAX (2 * MESSAGES_PER_TURN + COLLECTS_MAX)

/* A ring of stored parts that the machine has not yet been told about: an EVENT_STORED for each, and the error to which
 * it points. Both arrays are [STORES_MAX] and owned. */
struct stores {
    struct event *events;
    struct error *errors;
    unsigned first, count;
};

/* The data of this boundary are released when `over` sends of this rank are finished: see `over` of struct net. */
struct release {
    uint64_t boundary_at, over;
};

struct releases {
    struct release *items;
    size_t count, room;
};

struct theft {
    unsigned rank;
    struct stolen stolen;
};

/* One step takes work from at most this many workers. */
#define THEFTS_MAX 256

/* What remains to be done after the actions of a step. `theft` is a ring. */
struct outcome {
    bool wants_probe;
    bool has_cut;
    struct range cut;
    unsigned thefts;
    unsigned first_theft;
    struct theft theft[THEFTS_MAX];
    bool has_grown; /* the loop was checked for growth; `growth` is the result */
    struct growth growth;
    struct error problem; /* the first error of the step; empty if there was none */
    bool sync_failed;     /* the next SEND must be omitted, because it would report data as stored that are not */
};

struct kept_job;

/* An announcement that is being received: `have` of `all` bytes. */
struct assembly {
    uint32_t job;
    uint32_t all, have;
    unsigned char *bytes;
};

/* A worker gets announcements from the supermaster and from its master. */
#define ANNOUNCERS 2

struct announcements {
    struct job_source source;
    struct net_user user;
    struct kept_job *live; /* list, on the supermaster only, of the unfinished jobs in order; owned */
    struct assembly assemblies[ANNOUNCERS];
    uint32_t newest;
    uint32_t end; /* no job has this number or a higher one; 0: unknown */
    uint64_t end_ns;
};

/* Lost workers of a set that the launcher starts again. */
struct returns {
    bool are_awaited;
    bool are_over; /* no worker returns any more, because all were lost at once */
    uint64_t due_ns;
    uint32_t *since; /* [ranks] the first job announced to the rank after it returned; 0: it has not returned; owned */
};

enum driver_state { DRIVER_RUNS, DRIVER_EXITS };

struct driver {
    struct net_user user; /* must be first: see driver_of() */
    struct link *link;
    bool exchanges;
    struct driver *next;
    const struct machine *machine;
    const struct effects *effects;
    struct actions actions;
    struct action_sink sink;
    struct releases releases;
    struct stores stores;
    struct outcome outcome;
    struct wait_work work;
    struct stride_share share;
    bool are_tasks;
    struct message owed; /* a REQUEST that is held back (asks.c); if it asks for 0 chunks there is none */
    unsigned owed_to;
    uint64_t next_tick_ns, exit_ns;
    enum driver_state state;
    uint64_t spent_ns;  /* how much of the executor's compute time is already charged to the job */
    bool may_tell;      /* the job does not have the core, but may have something to report */
    bool is_beside;     /* the job may report without the core, because its helper probes or because it ends */
    bool is_locked_out; /* the job's folder or environment could not be entered */
    bool cannot_store;  /* results of a pod could not be written, so later reports of pods are ignored */
    int status;
};

struct link {
    struct runtime *runtime;
    const struct runtime_ops *ops;
    struct net net;
    struct far far;
    struct wait wait;
    struct deferred deferred;
    struct deferred early; /* messages whose job has not arrived yet, and later messages of the same senders */
    bool early_is_due;     /* a job has arrived for which `early` may have messages */
    bool exchange_ends;    /* in a set, an END waits for the job that exchanges boundary data */
    bool expects_jobs;
    bool has_asked_to_leave;
    struct announcements announcements;
    struct returns returns;
    bool is_broken;
    struct driver *drivers; /* sorted by job number; owned */
    uint32_t newest;
    struct stride stride; /* shares of the running jobs that have an executor */
    uint64_t compute_ns;  /* if there are several jobs, when the current one began to compute */
    unsigned ran_on;      /* CPU + 1 on which a helper computed last; 0: none has */
    uint64_t now_ns;
    bool now_is_fresh;
    unsigned since_clock;
    uint64_t looked_ns; /* when a computing rank last checked for messages */
    bool computed;
    bool computes;
    bool serves;       /* other ranks wait for this one even while it computes */
    uint64_t asked_ns; /* when the last REQUEST was sent that had been held back */
    bool are_owed;     /* some driver may hold back a REQUEST */
    bool received_while_waiting;
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

/* Declares a rank lost whose process may still exist. The machines learn it after the step, by link_lose_fenced(). */
void link_drop(struct link *link, unsigned rank, const char *text);

/* --- send.c --- */

/* Sends a message to a rank of this launch or another one. Returns false if memory runs out, which ends the run. */
bool link_send(struct link *link, struct net_user *user, unsigned to, const struct message *message);

/* An action_sink: sends a message unless its receiver has ended. */
void driver_send(void *context, unsigned to, const struct message *message);

/* Like driver_send(), but never holds a request back. */
void driver_send_now(struct driver *driver, unsigned to, const struct message *message);

/* Takes iterations from a worker of this node. The machine gets EVENT_STOLEN after the step. Returns false if nothing
 * was taken; the machine may get the event even then if `is_answer` (the call replaces a RECALL). */
bool driver_steal(struct driver *driver, unsigned to, unsigned waiting, bool is_answer);

/* Releases what finished sends have borrowed, and rings their receivers. Returns whether any send had finished. */
bool link_progress_sends(struct link *link);

/* Waits until only few messages are being sent. */
void link_make_room(struct link *link);

void driver_release(struct driver *driver, uint64_t boundary_at);

/* Waits as --inject-delay demands for the chunks that this step sends. */
void driver_delay(struct driver *driver);

/* --- announce.c --- */

/* Handles a JOB or SET_OVER. Returns an error, or NULL. */
const char *announcements_receive(struct link *link, unsigned from, const struct message *message);

/* The next functions are for the supermaster of a set. announce_to_orphans() announces all unfinished jobs to the
 * workers of a lost master. */
void announce_to_orphans(struct link *link, unsigned master);

void announce_all(struct link *link, unsigned to);

/* Announces the running jobs that accept pods to a new pod. */
void announce_all_to_pod(struct link *link, unsigned to);

/* Tells a pod that it gets no further jobs, although the set continues. */
void announce_end_to(struct link *link, unsigned to);

/* Ends a finished job for a worker that lost its master at that time and asks to be served. */
void announcements_end_late(struct link *link, unsigned to, uint32_t job);

/* Returns the first job that was announced to the rank after it had returned, or 0 if it has not returned. */
uint32_t link_returned_since(const struct link *link, unsigned rank);

/* True if the job accepts pods and workers that have returned. */
bool announced_for_all(const struct announcements *announcements, uint32_t job);

void announcements_forget(struct announcements *announcements, uint32_t job);
void announcements_fini(struct announcements *announcements);

/* --- early.c --- */

bool early_must_wait(const struct link *link, unsigned from, const struct message *message);

/* Takes the oldest queued message whose job has arrived; it is valid until the next call. False if there is none. */
bool early_take(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);

/* Drops a message of a finished job with its payload. */
void link_drop_late(struct link *link, unsigned from, const struct message *message);

/* --- arbiter.c --- */

/* Returns the first of several jobs to compute in this turn, or NULL. */
struct driver *arbiter_begin(struct link *link);

/* Call it before a second job starts: gives the core to the first job if that has something to compute. */
void arbiter_share(struct link *link);

/* Call it after a job has gone: if one job remains, gives it the core. */
void arbiter_leave(struct link *link);

void arbiter_note_chunk(struct driver *driver);

void arbiter_note_cut(struct driver *driver);

void arbiter_note_end(struct driver *driver);

/* Returns when to check whether the running job should give up the core. STRIDE_NEVER if no other job wants the core,
 * or if the job's helper checks. */
uint64_t arbiter_due_ns(const struct link *link);

/* Charges the job if it `computed`. Returns the next job of this turn, or NULL. */
struct driver *arbiter_next(struct driver *driver, bool computed);

/* --- apply.c --- */

/* An action_sink for every action except SEND. */
void driver_apply(void *context, const struct action *action);

/* Records that a part is stored, or could not be stored (`result` < 0, with the error). */
void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error);

void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes);

/* Opens the executor if necessary. If it returns false, the caller must tell the machine. */
bool driver_open(struct driver *driver);

/* Enters the folder and environment of the executor. Returns false on failure, which driver_step_on() reports. */
bool driver_enter_slowly(struct driver *driver);

static inline bool driver_enter(struct driver *driver)
{
    return driver->effects->enter == NULL || driver_enter_slowly(driver);
}

/* Times the kernel's probe iterations. Returns false if the executor cannot be opened, which the caller must tell the
 * machine, or if a helper probes, which reports in a later turn. */
bool driver_probe(struct driver *driver, struct speed *speed);

/* --- step.c --- */

void driver_step(struct driver *driver, struct event *event);

/* Passes to the machine the events that arose outside of a step. */
void driver_step_on(struct driver *driver);

void driver_deliver_stored(struct driver *driver);

/* False if the rank is a worker that was lost and started again, and has no part in this job because the job began
 * before that or accepts no workers after its beginning. */
bool driver_knows(const struct driver *driver, unsigned rank);

struct driver *link_find_driver(const struct link *link, uint32_t job);

bool link_runs(const struct link *link);

/* Tells the machines of all ranks that were dropped. */
void link_lose_fenced(struct link *link);

/* Like link_drop(), but also tells the machines; only outside of a step. */
void link_refuse(struct link *link, unsigned rank, const char *problem);

/* Handles the end of a peer whose last messages have been received. It left `in_order`, or it is lost. */
void link_close_peer(struct link *link, unsigned rank, bool in_order);

/* Asks the set to let this pod leave after the running iterations, or at once if `now`. */
void link_ask_to_leave(struct link *link, bool now);

/* --- receive.c --- */

/* Handles up to `most` control messages. Returns whether there was any. */
bool link_receive(struct link *link, unsigned most);

/* These receive one data message, with results for the output or with boundary data. They return whether there was
 * one. */
bool link_receive_data(struct link *link);

bool link_receive_boundary(struct link *link);

/* Handles ended peers. Ends this rank if others declared it lost or the supermaster is gone. */
void link_look_at_peers(struct link *link);

/* --- returns.c --- */

void link_look_for_returns(struct link *link);

/* --- asks.c --- */

/* Takes out of a message a REQUEST that is to be held back. Returns false if nothing remains to be sent now; otherwise
 * `*message` is the remaining message, which is in `*rest` if it was changed. */
bool asks_hold_back(struct driver *driver, unsigned to, const struct message **message, struct message *rest);

/* Returns the job that may now send a REQUEST that was held back, or NULL. Of several it is the one that would have the
 * core next. */
struct driver *asks_take(struct link *link, struct message *message);

/* Returns when a REQUEST that is held back may be sent; NEVER if another event must come first. */
uint64_t asks_due_ns(const struct link *link);
