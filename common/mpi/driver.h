/* SPDX-License-Identifier: MIT */
/* A machine that is driven, for the files that do so: loop.c (turns, events in), apply.c (actions out), send.c
 * (messages out), deferred.c (messages that wait) and leave.c (ranks that end). */
#pragma once

#include "common/machine/machine.h"
#include "common/mpi/deferred.h"
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

enum driver_state { DRIVER_RUNS, DRIVER_EXITS, DRIVER_BROKEN };

struct driver {
    struct runtime *runtime;
    const struct runtime_ops *ops; /* the runtime's */
    const struct machine *machine;
    const struct effects *effects;
    struct net net;
    struct wait wait;
    struct actions actions;
    struct action_sink sink;
    struct deferred deferred;
    struct releases releases;
    struct stores stores;
    struct outcome outcome;
    uint64_t now_ns;
    bool now_is_fresh;              /* now_ns was read just now, while there was nothing to do */
    unsigned since_clock;           /* messages handled since the clock was read */
    uint64_t looked_ns;             /* when a computing rank last looked at the messages */
    bool computed;                  /* the last turn computed */
    bool received_while_waiting;    /* a message was handled in wait_idle() */
    uint64_t next_tick_ns, exit_ns; /* exit_ns: when the rank began to exit */
    enum driver_state state;
    int status;
};

/* --- loop.c --- */

/* Tells the machine of the event, applies its actions, and does what they leave to be done. */
void driver_step(struct driver *driver, struct event *event);

/* Handles up to `most` control messages that have come. Returns whether there was one. */
bool driver_receive(struct driver *driver, unsigned most);

/* Takes a data message that has come, if there is one, to the output. */
bool driver_receive_data(struct driver *driver);

/* Tells the machine of all that has been stored. */
void driver_deliver_stored(struct driver *driver);

/* --- apply.c --- */

/* Applies any action but SEND; an action_sink's. */
void driver_apply(void *context, const struct action *action);

/* Notes that a part is stored, or was not, with the error, where `result` is negative. */
void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error);

/* Writes a part to the output, and notes it. */
void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes);

/* Times the kernel's probe iterations and tells the machine. */
void driver_probe(struct driver *driver);

/* --- send.c --- */

/* Sends a message, unless its receiver has ended; an action_sink's. */
void driver_send(void *context, unsigned to, const struct message *message);

/* Gives back what finished sends have borrowed, and rings their receivers. Returns whether one had finished. */
bool driver_progress_sends(struct driver *driver);

/* Releases the boundary data of a boundary once nothing of them is being sent. */
void driver_release(struct driver *driver, uint64_t boundary_at);

/* Lets the time pass that --inject-delay asks for the chunks cut and assigned so far in this step. */
void driver_delay(struct driver *driver);

/* --- leave.c --- */

/* Says why this rank cannot go on, and ends the run. */
void driver_give_up(struct driver *driver, const char *text);

/* Takes a rank for lost whose process may still be there. Its loss is told behind the step, by driver_lose_fenced().
 */
void driver_drop(struct driver *driver, unsigned rank, const char *text);
void driver_lose_fenced(struct driver *driver);

/* Deals with peers that have ended; ends this rank if others take it for lost, or the supermaster is gone. */
void driver_look_at_peers(struct driver *driver);
