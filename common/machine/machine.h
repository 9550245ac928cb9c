/* SPDX-License-Identifier: MIT */
/* The step interface: what a daemon is.
 *
 * A daemon is a pure function: an event goes in (time is a field of it), an ordered list of actions comes out, and a
 * second pure call tells when it next wants to be woken. It reads no clock, opens nothing, prints nothing. A runtime
 * owns the effects: it feeds events, applies the actions in order, and reports what came of them as events. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEVER UINT64_MAX

/* A part of a chunk's results on their way from the message to the disk. The runtime hands it back unchanged. */
struct part {
    unsigned worker; /* index among the workers of this master */
    uint32_t chunk;  /* 0: see part_is_unwanted() */
    uint64_t first, count, digest;
    bool has_failed; /* the kernel calls all of it failed, and it is done all the same */
};

/* The iterations are done already: another worker was quicker. */
static inline bool part_is_unwanted(const struct part *part)
{
    return part->chunk == 0;
}

enum event_type {
    EVENT_START,   /* first event of every machine */
    EVENT_MESSAGE, /* `message` came from rank `from` */
    EVENT_STORED,  /* a STORE or COLLECT is over: `part`; `text` is NULL or says what failed; `lost`: see there */
    EVENT_PROBED,  /* a PROBE is over: `speed` */
    EVENT_MARK,    /* the running chunk has reached its mark: `chunk` says how far it is */
    EVENT_SLICE,   /* results of the running chunk, not its last, are ready: `chunk` */
    EVENT_ITERATIONS_FAILED, /* the next iterations of the running chunk, `chunk`.count of them, did not work: `text`
                      says why. All results before them have left; the chunk goes on behind them. In a loop with
                      dependencies they are those from `chunk`.first on, and are tried again where they are not final;
                      behind final ones comes FINISHED or FATAL */
    EVENT_BOUNDARY_READY, /* more boundary data of the running chunk are complete: `ready`. In a loop with dependencies
                   only, and not of its last chunk; those of the whole chunk are told before FINISHED */
    EVENT_CUT,            /* the answer to CUT: `cut` is what the executor will not compute, the end of a chunk that it
                   has; its count is 0 where all has begun. No other event comes between */
    EVENT_DRY,            /* a thread of this worker finds nothing to compute in the chunks that run */
    EVENT_FINISHED,       /* the running chunk is over: `chunk`, in which there may be nothing left */
    EVENT_TIMER,          /* the deadline has passed */
    EVENT_DRAIN,          /* a signal or a user asks to stop: `now` */
    EVENT_FATAL,          /* the runtime cannot go on: `text` */
    EVENT_LOAD,           /* the load of the worker's cores is another: `load` */
    EVENT_GROWN,          /* the answer to GROW: `growth`. No other event comes between */
    EVENT_MORE,           /* somebody has made the loop longer, or complete: it is to be looked at now */
    EVENT_JOINED,         /* the topology has a master more, with its workers, than at the event before */
    EVENT_LEAVING,        /* master `from`, which has joined, is to leave with its workers; `now`: nor is what runs to
                             be finished */
    EVENT_RANK_LOST,      /* rank `from` is dead; at most once for a rank, and after all that had arrived from it */
};

/* The executor's news of the running chunk. */
struct chunk_event {
    uint64_t done;       /* iterations of the chunk finished so far */
    uint64_t compute_ns; /* time in the kernel so far */
    uint64_t count;      /* SLICE and FINISHED: iterations with results; ITERATIONS_FAILED: iterations that failed */
    uint64_t first;  /* FINISHED, of a worker with one thread: the first of the chunk. ITERATIONS_FAILED, in a loop with
                        dependencies: the first of them */
    bool final;      /* ITERATIONS_FAILED: not to be tried again */
    bool died;       /* ITERATIONS_FAILED: the process that ran them has died */
    uint64_t digest; /* digest of the results */
    bool has_failed; /* SLICE and FINISHED: the kernel calls all iterations failed that the results are of */
    const void *data; /* records of the results, NULL where results stay here; borrowed until the send is over */
    uint64_t bytes;
    uint64_t began_ns;   /* FINISHED: when its first iteration began; 0: not known */
    double deviation_ns; /* FINISHED, where the spread is wanted: of the time of one iteration */
    uint32_t samples;    /* pieces of the chunk that were timed; with fewer than two the deviation is 0 */
};

/* How many of so many iterations that have not begun their holder gives up, where `holders` workers share them and
 * `waiting` others have nothing to do: as many as belong to those if all take the same number, rounded up. */
static inline uint64_t recall_share(uint64_t unbegun, unsigned holders, unsigned waiting)
{
    if (waiting == RECALL_ALL || unbegun == 0)
        return unbegun;
    unsigned __int128 all = (unsigned __int128)unbegun * waiting, workers = (uint64_t)holders + waiting;
    return (uint64_t)((all + workers - 1) / workers);
}

/* A loop that grows while it runs, as far as it is known by now. */
struct growth {
    uint64_t count;   /* its iterations, never fewer than before */
    bool is_complete; /* there will be no more */
};

/* Boundary data that the running chunk hands to the chunk behind it. */
struct boundary_ready {
    uint64_t boundary_at; /* iteration at which the chunk behind begins: behind the last one of the running chunk */
    const void *data; /* the whole boundary from its first byte on, with bytes that are not complete yet; at the same
                         place in each event of the chunk; borrowed until RELEASE or REUSE of the boundary, and in a
                         SEND until that is over */
    uint64_t bytes;   /* bytes complete so far: more than in the event before */
};

struct event {
    enum event_type type;
    uint64_t now_ns; /* monotonic, the same clock for all events of one machine; a message's may be some 300 ns old */
    unsigned from;   /* MESSAGE, RANK_LOST: rank */
    bool lost;       /* STORED: its sender is dead, the part is not stored, and the disk is not to blame */
    const char *text;
    union {
        const struct message *message;
        struct part part;
        const struct speed *speed; /* borrowed for the step */
        struct chunk_event chunk;
        struct boundary_ready ready;
        struct range cut;
        uint16_t load; /* load, as in a REQUEST, at least LOAD_ONE */
        struct growth growth;
        bool now; /* DRAIN, LEAVING: nor is what runs to be finished */
    };
};

/* The outcome of a turn of computing. */
enum turn {
    TURN_BLOCKED, /* no computing is possible now: no chunk, or its results have nowhere to go yet */
    TURN_WORKED,  /* computed, no event */
    TURN_EVENT,   /* an event for the machine is there */
};

enum action_type {
    ACTION_SEND,  /* send.message to rank send.to */
    ACTION_PROBE, /* time the kernel's probe iterations */
    ACTION_RUN, /* begin to compute the chunk `run`; with threads also while others run, with a helper while another one
                   does: the running chunk is then the oldest of them, which the events tell of */
    ACTION_CUT, /* give up iterations that have not begun, from the end of the newest chunk that has some: the share
                 that recall_share() says for `cut.waiting`; with `cut.now` all of the oldest chunk that is not done,
                   of which what runs outside of the rank is ended. EVENT_CUT follows before any other event, and
                   FINISHED of that chunk when nothing of it runs any more, also where nothing is left of it */
    ACTION_FORGET,  /* give up the chunks that run, but for the oldest */
    ACTION_MARK,    /* tell when the running chunk has done `run.mark` iterations */
    ACTION_STORE,   /* write store.data, it is valid during this step only, to its place */
    ACTION_COLLECT, /* receive the data message of store.bytes from rank store.from and write it to its place; what
                       part_is_unwanted() is received and dropped */
    ACTION_DEATHS,  /* record the deaths that iterations have seen so far: `deaths` of workers that computed them,
                       `failures` by the end of a process that ran them; FATAL follows where that fails */
    ACTION_POINT,   /* record `point`, the next of the boundary data from which a loop with dependencies can be resumed;
                       FATAL follows where that fails */
    ACTION_JOURNAL, /* record that the ranges of `journal` are done and stored; FATAL follows where that fails */
    ACTION_SYNC, /* bring to the disk what is stored so far. Where that fails the SEND behind it, which would say that
                    it is there, is left out, and FATAL follows */
    ACTION_BOUNDARY, /* boundary data that the chunk at `boundary.first` needs are here, or on their way as a data
                        message. They may come before the chunk is RUN, for several chunks at a time, in ascending order
                        for each; data behind some that are on their way must wait for them */
    ACTION_REUSE,    /* the boundary data of the chunk that ended at `boundary_at` are used where they lie by the chunk
                        that begins there: its RUN is the next action, the data are complete, no RELEASE follows */
    ACTION_RELEASE,  /* the boundary data of the chunk that ended at `boundary_at` are not needed any more, except by
                        SENDs of them that are not over yet */
    ACTION_GROW,  /* look how many iterations the loop has by now, which may grow: EVENT_GROWN or FATAL follows before
                     any other event */
    ACTION_DROP,  /* take the rank `drop` for lost, which has sent what cannot be, and say why: EVENT_RANK_LOST of it
                     follows, and it is sent nothing more. If it is the supermaster, that ends this rank */
    ACTION_TAKEN, /* the data `taken` of an event of the executor are not needed any more, and were not sent */
    ACTION_EXIT,  /* leave with exit.status */
};

struct action {
    enum action_type type;
    union {
        struct {
            unsigned to;
            unsigned calculations, assignments; /* calculations and assignments of the step before this SEND */
            struct message message;
        } send;
        struct {
            uint32_t chunk;
            uint64_t first, count;
            uint64_t mark; /* iterations after which to tell; 0: not at all */
            bool isolated; /* in a child process: iterations that end it fail, and for good */
        } run;
        struct {
            unsigned waiting; /* workers that wait; RECALL_ALL: nothing is to begin any more */
            bool now;         /* nor is what runs to be finished, be it a chunk or a probe */
        } cut;
        struct {
            struct part part;
            unsigned from;
            const void *data;
            uint64_t bytes;
        } store;
        struct {
            uint64_t first, offset; /* offset and bytes within what the chunk before hands over */
            const void *data;       /* borrowed for the step; NULL: receive the data message of rank `from` */
            uint64_t bytes;
            unsigned from;
        } boundary;
        uint64_t boundary_at; /* REUSE, RELEASE */
        struct {
            const struct range *ranges; /* borrowed for the step */
            size_t count;
            uint64_t digest; /* sum of the digests of the ranges */
        } journal;
        struct poison deaths;
        struct {
            uint64_t at;      /* boundary */
            uint64_t offset;  /* of the data in all data of the boundary: behind those of the POINT before, or 0 */
            const void *data; /* borrowed for the step */
            uint64_t bytes;
            uint64_t all; /* bytes of all data of the boundary: the point is complete when they are there */
        } point;
        struct {
            unsigned rank;
            const char *text; /* offence of the rank, as in "rank 5 ..."; borrowed for the step */
        } drop;
        const void *taken;
        struct {
            int status; /* enum exit_status */
        } exit;
    };
};

/* A sink takes actions at once, in their order: a message is on its way before the rest of the step. */
struct action_sink {
    void (*send)(void *context, unsigned to, const struct message *message);
    void (*apply)(void *context, const struct action *action); /* any action but a SEND */
    void *context;
};

/* Room for what the messages of a worker's step borrow, so that no worker has its own. */
struct actions_room {
    unsigned char completions[(ASKS_MAX - 1) * COMPLETION_BYTES];
    unsigned char speed[SPEED_BODY_MAX];
    unsigned char returned[RETURNED_MAX * ASSIGN_RECORD_BYTES];
    struct error problem; /* text of a FATAL or ITERATIONS_FAILED */
    struct error refusal; /* text of a DROP */
};

/* The actions of one step, and what the machine has sent in its life. */
struct actions {
    const struct event *event;      /* event of the step that is running; borrowed for it */
    struct action *items;           /* actions of this step, where there is no sink; owned */
    const struct action_sink *sink; /* borrowed; NULL: actions are noted in `items` */
    size_t length, capacity;
    uint64_t messages, bytes; /* sent so far, payloads included */
    unsigned calculations;    /* chunks cut in this step, and chunks assigned to workers: what --inject-delay slows */
    unsigned assignments;
    bool out_of_memory; /* an action could not be noted: the runtime must stop */
    struct actions_room room;
};

/* Room for `capacity` actions; more in one step allocates. -1 when memory is out. */
int actions_init(struct actions *actions, size_t capacity);
/* Actions that go to a sink; nothing is allocated. */
void actions_init_sink(struct actions *actions, const struct action_sink *sink);
void actions_fini(struct actions *actions);

/* Empties the list before a step. */
static inline void actions_clear(struct actions *actions)
{
    actions->length = 0;
    actions->calculations = actions->assignments = 0;
}

/* Appends a SEND; records and payloads of the message are borrowed until the next step. */
void actions_send(struct actions *actions, unsigned to, const struct message *message);

/* Appends any other action. */
void actions_add(struct actions *actions, const struct action *action);

/* Appends a DROP. */
void actions_drop(struct actions *actions, unsigned rank, const char *text);

/* Writes the name of a `struct event` into `text`, as "EVENT" or "MESSAGE TYPE": for the tables of states. */
void event_write_name(const void *event, char *text, size_t size);

/* A FATAL message about `rank`; the text is borrowed, and cut at TEXT_MAX. */
struct message fatal_message(unsigned rank, const char *text);

/* A sink takes the reasons of a machine's decisions, one line for each. No text is made while nobody listens. */
struct reason_sink {
    void (*note)(void *context, const char *text); /* the text is borrowed for the call */
    void *context;
};

/* Says a reason to `sink`, cut at some 200 characters. */
void reason_note(const struct reason_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Says a reason where somebody listens: `sink` may be NULL. */
#define REASON(sink, ...) ((sink) != NULL ? reason_note((sink), __VA_ARGS__) : (void)0)

struct trace_sink;

/* A daemon as a runtime sees it. */
struct machine {
    void *self;
    void (*step)(void *self, const struct event *event, struct actions *actions);
    uint64_t (*deadline)(const void *self); /* when the machine wants EVENT_TIMER, or NEVER */
    const char *(*state)(const void *self); /* for traces */
    /* Between two steps: stops the program where an invariant of the daemon does not hold. NULL: it has none. */
    void (*check)(const void *self);
    /* Has the machine say its reasons to `sink`, borrowed, from now on; NULL: to nobody, as at first. The function is
     * NULL where the machine has no reasons. */
    void (*explain)(void *self, const struct reason_sink *sink);
    /* Has the machine note what becomes of chunks in `sink`, borrowed, from now on; before its first event. NULL where
     * it assigns no chunks. */
    void (*trace)(void *self, struct trace_sink *sink);
    /* True if the machine waits for work that only this rank may do. NULL: it never waits so. */
    bool (*needs)(const void *self, unsigned rank);
};

/* Place of `rank` in `ranks`, which are sorted; `count` where it is not among them. */
unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank);
