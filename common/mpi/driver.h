/* SPDX-License-Identifier: MIT */
/* A link and the machines that it drives: the interface between the files below. The functions are in the order of the
 * files; each file calls only functions of earlier files (tests/tidy/layers.py).
 *
 *     net.c, wait.c, far_send.c      messages over MPI, sleeping, streams to other launches
 *     drop.c                         ranks that cannot continue, or are declared lost
 *     deferred.c, send.c             queued messages, sending
 *     announce.c, early.c            announcements of jobs, messages that arrive before their job
 *     arbiter.c, apply.c             which job computes next, applying actions
 *     step.c                         events and their consequences
 *     far_results.c, far.c           results of pods, and all that arrives by streams
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

/* Maximum number of messages that are handled per turn. More messages would delay timers and signals. */
#define MESSAGES_PER_TURN 16

/* Maximum number of stored parts that the machine does not know of yet. A step stores at most one part, a turn has few
 * steps, and the machine is told in the same turn. */
#define STORES_MAX (2 * MESSAGES_PER_TURN + COLLECTS_MAX)

/* A ring of stored parts that the machine does not know of yet. Each part is an EVENT_STORED, which points to its error
 * in `errors`. Both arrays are [STORES_MAX] and owned. */
struct stores {
    struct event *events;
    struct error *errors;
    unsigned first, count;
};

/* After `over` of struct net has reached this `over`, all sends that use the boundary data at `boundary_at` have ended.
 * The data are then released. */
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

#define THEFTS_MAX 256

/* What the actions of a step have caused. It is handled after the step. `theft` is a ring buffer. */
struct outcome {
    bool wants_probe;
    bool has_cut;
    struct range cut;
    unsigned thefts;
    unsigned first_theft;
    struct theft theft[THEFTS_MAX];
    bool has_grown;
    struct growth growth;
    struct error problem;
    bool sync_failed; /* the next SEND is skipped, because it would report data as stored that are not stored */
};

struct kept_job;

struct assembly {
    uint32_t job;
    uint32_t all, have;
    unsigned char *bytes;
};

#define ANNOUNCERS 2

struct announcements {
    struct job_source source;
    struct net_user user;
    struct kept_job *live; /* for the supermaster only: the unfinished jobs, sorted by number; owned */
    struct assembly assemblies[ANNOUNCERS];
    uint32_t newest;
    uint32_t end; /* once the set has ended: all jobs have numbers below this; 0: the set has not ended */
    uint64_t end_ns;
};

struct returns {
    bool are_awaited;
    bool are_over;
    uint64_t due_ns;
    /* [ranks] number of the first job that was announced to the process that has replaced a lost rank; 0: the rank was
     * not replaced; owned */
    uint32_t *since;
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
    /* asks.c: a REQUEST that is held back; a REQUEST for no chunks means that nothing is held back */
    struct message owed;
    unsigned owed_to;
    uint64_t next_tick_ns, exit_ns;
    enum driver_state state;
    uint64_t spent_ns;
    bool may_tell;
    bool is_beside;
    bool is_locked_out;
    bool cannot_store; /* the results of a pod could not be written, so later reports of pods are ignored */
    int status;
};

struct link {
    struct runtime *runtime;
    const struct runtime_ops *ops;
    struct net net;
    struct far far;
    struct wait wait;
    struct deferred deferred;
    struct deferred early;
    bool early_is_due;
    bool exchange_ends;
    bool expects_jobs;
    bool has_asked_to_leave;
    struct announcements announcements;
    struct returns returns;
    bool is_broken;
    struct driver *drivers; /* sorted by job number; owned */
    uint32_t newest;
    struct stride stride;
    uint64_t compute_ns;
    unsigned ran_on; /* number of the CPU on which a helper computed last, plus 1; 0: no helper has computed */
    uint64_t now_ns;
    bool now_is_fresh;
    unsigned since_clock;
    uint64_t looked_ns;
    bool computed;
    bool computes;
    bool serves;
    uint64_t asked_ns;
    bool are_owed;
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

/* Prints the text, and ends the run. */
void link_give_up(struct link *link, const char *text);

/* Declares a rank lost, although its process may still exist, and prints the text. The machines are told after the
 * step, by link_lose_fenced(). */
void link_drop(struct link *link, unsigned rank, const char *text);

/* --- send.c --- */

/* Sends a message; the rank may be in another launch. Returns false if memory runs out, which ends the run. */
bool link_send(struct link *link, struct net_user *user, unsigned to, const struct message *message);

void driver_send(void *context, unsigned to, const struct message *message);

void driver_send_now(struct driver *driver, unsigned to, const struct message *message);

/* Takes iterations that worker `to` of this node has not begun, and returns true if it took some. After the step the
 * machine gets the result in an EVENT_STOLEN. There is no event in two cases: THEFTS_MAX events of this type are queued
 * already, or `is_answer` is set (the call replaces a RECALL) and the worker's chunk is not visible in shared memory.
 */
bool driver_steal(struct driver *driver, unsigned to, unsigned waiting, bool is_answer);

bool link_progress_sends(struct link *link);

void link_make_room(struct link *link);

void driver_release(struct driver *driver, uint64_t boundary_at);

void driver_delay(struct driver *driver);

/* --- announce.c --- */

/* Returns an error, or NULL. */
const char *announcements_receive(struct link *link, unsigned from, const struct message *message);

/* This function and those below, up to announcements_end_late(), are for the supermaster of a set.
 * announce_to_orphans() announces all unfinished jobs to the workers of a lost master. */
void announce_to_orphans(struct link *link, unsigned master);

void announce_all(struct link *link, unsigned to);

void announce_all_to_pod(struct link *link, unsigned to);

void announce_end_to(struct link *link, unsigned to);

void announcements_end_late(struct link *link, unsigned to, uint32_t job);

/* If a lost rank was replaced by another process, returns the number of the first job that was announced to that
 * process. Otherwise returns 0. */
uint32_t link_returned_since(const struct link *link, unsigned rank);

bool announced_for_all(const struct announcements *announcements, uint32_t job);

void announcements_forget(struct announcements *announcements, uint32_t job);
void announcements_fini(struct announcements *announcements);

/* --- early.c --- */

bool early_must_wait(const struct link *link, unsigned from, const struct message *message);

/* Takes the oldest queued message whose job has arrived. Its bytes are valid until the next call. Returns false if
 * there is no such message. */
bool early_take(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);

void link_drop_late(struct link *link, unsigned from, const struct message *message);

/* --- arbiter.c --- */

struct driver *arbiter_begin(struct link *link);

/* Must be called before a second job starts. If the first job has something to compute, makes it the owner of the core.
 */
void arbiter_share(struct link *link);

/* Must be called after a job was removed. If one job remains, makes it the owner of the core. */
void arbiter_leave(struct link *link);

void arbiter_note_chunk(struct driver *driver);

void arbiter_note_cut(struct driver *driver);

void arbiter_note_end(struct driver *driver);

/* Returns the time at which to check whether the running job should give up the core. Returns STRIDE_NEVER if no other
 * job wants the core, or if the helper of the running job checks the time itself. */
uint64_t arbiter_due_ns(const struct link *link);

/* If `computed` is set, charges the job for its time. Returns the next job that may compute in this turn, or NULL. */
struct driver *arbiter_next(struct driver *driver, bool computed);

/* --- apply.c --- */

void driver_apply(void *context, const struct action *action);

void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error);

void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes);

/* Opens the executor if it is closed. If this function returns false, the caller must tell the machine that opening
 * failed. */
bool driver_open(struct driver *driver);

bool driver_enter_slowly(struct driver *driver);

static inline bool driver_enter(struct driver *driver)
{
    return driver->effects->enter == NULL || driver_enter_slowly(driver);
}

/* Times the kernel's probe iterations. Returns false if the executor cannot be opened; the caller must tell the
 * machine. Also returns false if a helper does the probe; the result then follows in a later turn. */
bool driver_probe(struct driver *driver, struct speed *speed);

/* --- step.c --- */

void driver_step(struct driver *driver, struct event *event);

void driver_step_on(struct driver *driver);

void driver_deliver_stored(struct driver *driver);

/* Returns false if the rank is a lost worker that has returned and takes no part in this job. It takes no part if the
 * job began before its return, or if the job accepts no workers after its beginning. */
bool driver_knows(const struct driver *driver, unsigned rank);

struct driver *link_find_driver(const struct link *link, uint32_t job);

bool link_runs(const struct link *link);

void link_lose_fenced(struct link *link);

/* Like link_drop(), but also tells the machines of the loss. Must not be called during a step. */
void link_refuse(struct link *link, unsigned rank, const char *problem);

void link_close_peer(struct link *link, unsigned rank, bool in_order);

void link_ask_to_leave(struct link *link, bool now);

/* --- receive.c --- */

bool link_receive(struct link *link, unsigned most);

/* Each of these functions receives at most one data message: link_receive_data() one with results,
 * link_receive_boundary() one with boundary data. Returns true if a message was received. */
bool link_receive_data(struct link *link);

bool link_receive_boundary(struct link *link);

/* Handles peers that have ended. If other ranks have declared this rank lost, or if the supermaster has ended, ends
 * this rank. */
void link_look_at_peers(struct link *link);

/* --- returns.c --- */

void link_look_for_returns(struct link *link);

/* --- asks.c --- */

/* Called before a REQUEST is sent. If another job of tasks has a chunk or a request that is held back, takes the
 * request for chunks out of the message and keeps it for later. Returns false if nothing remains to be sent now.
 * Otherwise sets `*message` to the message to send, which may be `*rest`. */
bool asks_hold_back(struct driver *driver, unsigned to, const struct message **message, struct message *rest);

/* Returns the job that may send its REQUEST now, and sets `*message` to this REQUEST. If several jobs may send one,
 * chooses the job that would get the core next. Returns NULL if no job may send now. */
struct driver *asks_take(struct link *link, struct message *message);

/* Returns the time at which a REQUEST that is held back may be sent. Returns NEVER if no REQUEST is held back, or if a
 * chunk of tasks must end before one may be sent. */
uint64_t asks_due_ns(const struct link *link);
