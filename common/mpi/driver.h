/* SPDX-License-Identifier: MIT */
/* A link, and the machines that it drives, for the files that do so. Their functions are below in the order of the
 * files: each calls those in front of it alone (tests/tidy/layers.py).
 *
 *     net.c, wait.c, far_send.c      messages by MPI, sleep, streams to other launches
 *     drop.c                         a rank that cannot go on, or that is taken for lost
 *     deferred.c, send.c             messages that wait, messages out
 *     announce.c, early.c            jobs of a set on their way down, messages that come before their job
 *     arbiter.c, apply.c             whose chunk is computed, actions out
 *     step.c                         events in, and what follows from a step
 *     far_results.c, far.c           results of pods, and all that comes by streams
 *     receive.c                      messages in
 *     leave.c                        ranks that end
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

/* Messages handled in one turn, so that timers and signals get theirs. */
#define MESSAGES_PER_TURN 16

/* Stores are answered in the turn in which they are asked for: a step asks for one at most, a turn makes few steps. */
#define STORES_MAX (2 * MESSAGES_PER_TURN + COLLECTS_MAX)

/* Parts that have been stored, of which the machine has still to be told: a ring. */
struct stores {
    struct event *events; /* [STORES_MAX] EVENT_STORED; owned */
    struct error *errors; /* [STORES_MAX] the text of each; owned */
    unsigned first, count;
};

/* Boundary data that nobody needs any more once so many messages are over. */
struct release {
    uint64_t boundary_at, over;
};

struct releases {
    struct release *items; /* for boundary data that are still being sent; owned */
    size_t count, room;
};

/* The rest of a step: its actions leave it to be done behind them. */
struct outcome {
    bool wants_probe;
    bool has_cut; /* the executor has answered a CUT with `cut` */
    struct range cut;
    bool has_grown; /* it was looked whether the loop has grown: `growth` */
    struct growth growth;
    struct error problem; /* the first one; empty where there is none */
    bool sync_failed;     /* the SEND that comes next is left out, as it says what is not so */
};

struct kept_job;

/* An announcement of which some parts are here. */
struct assembly {
    uint32_t job;
    uint32_t all, have;   /* bytes */
    unsigned char *bytes; /* [all] owned; NULL: nothing is here */
};

/* Who may announce: the supermaster, and the master of a worker. */
#define ANNOUNCERS 2

/* What comes down the tree about the jobs of a set. */
struct announcements {
    struct job_source source;
    struct net_user user;  /* sends what goes down */
    struct kept_job *live; /* the supermaster's: of jobs that are not removed, in their order; owned */
    struct assembly assemblies[ANNOUNCERS];
    uint32_t newest; /* number of the latest job that was announced; 0: there was none yet */
    uint32_t end;    /* from this number on no job comes; 0: that is not told */
    uint64_t end_ns; /* when that was told */
};

enum driver_state { DRIVER_RUNS, DRIVER_EXITS };

/* The machine of one job. */
struct driver {
    struct net_user user; /* the first member: see driver_of() */
    struct link *link;
    bool exchanges;      /* boundary data with other workers */
    struct driver *next; /* of the next job */
    const struct machine *machine;
    const struct effects *effects;
    struct actions actions;
    struct action_sink sink;
    struct releases releases;
    struct stores stores;
    struct outcome outcome;
    struct wait_work work;
    struct stride_share share;      /* in the time for computing */
    uint64_t next_tick_ns, exit_ns; /* exit_ns: when the machine exited */
    enum driver_state state;
    uint64_t spent_ns;  /* of the executor, as charged so far */
    bool may_tell;      /* the executor is put off, and may have something to tell */
    bool is_beside;     /* another process probes for it, or it ends: it may have something to tell without the core */
    bool is_locked_out; /* could not go where its executor computes */
    bool cannot_store;  /* results of a pod were not written: what a pod reports from then on is not counted */
    int status;
};

struct link {
    struct runtime *runtime;
    const struct runtime_ops *ops; /* the runtime's */
    struct net net;
    struct far far;
    struct wait wait;
    struct deferred deferred;
    struct deferred early; /* messages of jobs that are not there yet, and what their senders have sent after them */
    bool early_is_due;     /* a job has come for which some of them may have waited */
    bool exchange_ends;    /* of a set: an END of the job that exchanges boundary data is among the deferred messages */
    bool expects_jobs;     /* see link_expect_jobs() */
    bool has_asked_to_leave;            /* of a pod: it has no workers, or a signal was here */
    struct announcements announcements; /* of a set */
    bool is_broken;                     /* the run ends */
    struct driver *drivers;             /* in the order of their jobs; owned */
    uint32_t newest;                    /* number of the latest job; 0: there was none yet */
    struct stride stride;               /* the jobs whose machines run and that have an executor */
    uint64_t compute_ns;                /* when the driver that has its chance began to compute; several only */
    unsigned ran_on;                    /* the CPU, and 1, on which another process has computed last; 0: none has */
    uint64_t now_ns;
    bool now_is_fresh;           /* now_ns was read just now, while there was nothing to do */
    unsigned since_clock;        /* messages handled since the clock was read */
    uint64_t looked_ns;          /* when a computing rank last looked at the messages */
    bool computed;               /* the last turn computed */
    bool computes;               /* a job has an executor */
    bool serves;                 /* others wait for this rank, also while it computes */
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

/* Says why this rank cannot go on, and ends the run. */
void link_give_up(struct link *link, const char *text);

/* Takes a rank for lost whose process may still be there. Its loss is told behind the step, by link_lose_fenced(). */
void link_drop(struct link *link, unsigned rank, const char *text);

/* --- send.c --- */

/* Sends a message to a rank of this launch, or of another one. False where memory is out: the run ends. */
bool link_send(struct link *link, struct net_user *user, unsigned to, const struct message *message);

/* Sends a message, unless its receiver has ended; an action_sink's. */
void driver_send(void *context, unsigned to, const struct message *message);

/* Gives back what finished sends have borrowed, and rings their receivers. Returns whether one had finished. */
bool link_progress_sends(struct link *link);

/* Waits until few messages are on their way out. */
void link_make_room(struct link *link);

/* Releases the boundary data of a boundary once nothing of them is being sent. */
void driver_release(struct driver *driver, uint64_t boundary_at);

/* Lets the time pass that --inject-delay asks for the chunks cut and assigned so far in this step. */
void driver_delay(struct driver *driver);

/* --- announce.c --- */

/* Takes a JOB or SET_OVER. Returns NULL, or what is wrong with it. */
const char *announcements_receive(struct link *link, unsigned from, const struct message *message);

/* Announces, for the supermaster of a set, all jobs that are not removed to the workers of a lost master. */
void announce_to_orphans(struct link *link, unsigned master);

/* Announces, for the supermaster of a set, all jobs that are not removed to a rank of its launch. */
void announce_all(struct link *link, unsigned to);

/* Announces, for the supermaster of a set, the jobs for pods whose machines run to a pod that has come. */
void announce_all_to_pod(struct link *link, unsigned to);

/* Tells a pod that no further job comes to it, for the supermaster of a set that goes on. */
void announce_end_to(struct link *link, unsigned to);

/* Ends, for the supermaster of a set, a job that is over for a worker that asks to be served: it lost its master in the
 * moment in which the job ended. */
void announcements_end_late(struct link *link, unsigned to, uint32_t job);

/* Forgets an announcement, if it is kept. */
void announcements_forget(struct announcements *announcements, uint32_t job);
void announcements_fini(struct announcements *announcements);

/* --- early.c --- */

/* True where the message has to wait: its job is not there yet, or an earlier one of its sender waits. */
bool early_must_wait(const struct link *link, unsigned from, const struct message *message);

/* Takes the oldest message whose job is there by now. False where there is none. The bytes stay until the next call. */
bool early_take(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size);

/* Drops a message of a job that is over, with its payload. */
void link_drop_late(struct link *link, unsigned from, const struct message *message);

/* --- arbiter.c --- */

/* The job that is first to compute in this turn, of several; NULL: none has anything to compute with. */
struct driver *arbiter_begin(struct link *link);

/* The link is about to get a second job: the first has the core, if it can use it. */
void arbiter_share(struct link *link);

/* A job has gone: who is left alone has the core. */
void arbiter_leave(struct link *link);

/* The job is about to begin a chunk. */
void arbiter_note_chunk(struct driver *driver);

/* The job has given up iterations. */
void arbiter_note_cut(struct driver *driver);

/* The job is to end: its executor computes nothing any more. */
void arbiter_note_end(struct driver *driver);

/* The moment at which this rank has to look whether the job that has the core leaves it to another; STRIDE_NEVER: there
 * is none, or a process that computes for it stops by itself. */
uint64_t arbiter_due_ns(const struct link *link);

/* Charges the job for what it `computed`, if it could, and says which one has its chance now. NULL: the turn is over.
 */
struct driver *arbiter_next(struct driver *driver, bool computed);

/* --- apply.c --- */

/* Applies any action but SEND; an action_sink's. */
void driver_apply(void *context, const struct action *action);

/* Notes that a part is stored, or was not, with the error, where `result` is negative. */
void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error);

/* Writes a part to the output, and notes it. */
void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes);

/* Opens the executor where that has not been done. False where it cannot be: the machine is to be told. */
bool driver_open(struct driver *driver);

/* Enters the folder and the environment in which the executor computes. False if that cannot be: the reason is left for
 * the machine, see driver_step_on(). */
bool driver_enter_slowly(struct driver *driver);

static inline bool driver_enter(struct driver *driver)
{
    return driver->effects->enter == NULL || driver_enter_slowly(driver);
}

/* Times the kernel's probe iterations. False if they are not timed now: the executor cannot be opened, which the
 * machine is to be told, or another process probes, which a turn of it tells. */
bool driver_probe(struct driver *driver, struct speed *speed);

/* --- step.c --- */

/* Tells the machine of the event and applies its actions. Then tells it of the events that these have left, until none
 * is left. */
void driver_step(struct driver *driver, struct event *event);

/* Tells the machine of the events that were left outside of a step. */
void driver_step_on(struct driver *driver);

/* Tells the machine of all that has been stored. */
void driver_deliver_stored(struct driver *driver);

/* The driver of a job; NULL: it is not there. */
struct driver *link_find_driver(const struct link *link, uint32_t job);

/* True where a machine runs, or may come to. */
bool link_runs(const struct link *link);

/* Tells the machines of the loss of all ranks that were dropped. */
void link_lose_fenced(struct link *link);

/* As link_drop(), and tells of the loss: outside of a step. */
void link_refuse(struct link *link, unsigned rank, const char *problem);

/* Deals with a peer that has ended, whose last messages are taken: it has left `in_order`, or is lost. */
void link_close_peer(struct link *link, unsigned rank, bool in_order);

/* Asks the set to let this rank's pod leave, which it does when what runs is finished, or at once with `now`. */
void link_ask_to_leave(struct link *link, bool now);

/* --- receive.c --- */

/* Handles up to `most` control messages that have come. Returns whether there was one. */
bool link_receive(struct link *link, unsigned most);

/* Takes a data message that has come, if there is one, to the output. */
bool link_receive_data(struct link *link);

/* Takes boundary data that have come, if there are any, to the executor. */
bool link_receive_boundary(struct link *link);

/* --- leave.c --- */

/* Deals with peers that have ended; ends this rank if others take it for lost, or the supermaster is gone. */
void link_look_at_peers(struct link *link);
