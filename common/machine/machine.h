/* SPDX-License-Identifier: MIT */
/* The interface of a daemon as a state machine.
 *
 * A daemon is a pure function: an event goes in (with the time), an ordered list of actions comes out, and a second
 * pure call returns when it must be woken. It reads no clock, opens nothing, prints nothing. A runtime owns the
 * effects: it feeds events, applies the actions in order, and reports their results as events. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEVER UINT64_MAX

/* Part of a chunk's results on the way from the message to the disk. The runtime returns it unchanged. */
struct part {
    unsigned worker; /* index among the workers of this master */
    uint32_t chunk;  /* 0: see part_is_unwanted() */
    uint64_t first, count, digest;
    bool has_failed; /* the kernel reports all of it as failed; it still counts as done */
};

/* True if another worker has already done the iterations. */
static inline bool part_is_unwanted(const struct part *part)
{
    return part->chunk == 0;
}

enum event_type {
    EVENT_START,
    EVENT_MESSAGE,
    EVENT_STORED, /* result of STORE or COLLECT: `part`; `text`: NULL or the error; `lost`: see there */
    EVENT_PROBED, /* result of PROBE: `speed` */
    EVENT_MARK,   /* the running chunk has reached its mark: `chunk` */
    EVENT_SLICE,  /* results of the running chunk, not its last, are ready: `chunk` */
    /* the next `chunk`.count iterations of the running chunk failed: `text`. All results before them have been sent;
     * the chunk continues after them. In a loop with dependencies they start at `chunk`.first and are retried unless
     * final; after final ones FINISHED or FATAL follows */
    EVENT_ITERATIONS_FAILED,
    /* loop with dependencies: more boundary data of the running chunk are complete: `ready`. Not for the loop's last
     * chunk; all are reported before FINISHED */
    EVENT_BOUNDARY_READY,
    /* result of CUT, before other events: `cut`, the end of a chunk, will not be computed; count 0: all has begun */
    EVENT_CUT,
    /* result of STEAL, and of a SEND of RECALL to a worker of this node: `stolen` of rank `from`. For that worker,
     * before any other event: the end of its running chunk is with others, who know of it */
    EVENT_STOLEN,
    EVENT_DRY,      /* a thread of this worker is idle */
    EVENT_FINISHED, /* the running chunk is finished: `chunk`, possibly empty */
    EVENT_TIMER,
    EVENT_DRAIN,     /* a signal or a user asks to stop; `now`: see below */
    EVENT_FATAL,     /* the runtime cannot continue: `text` */
    EVENT_LOAD,      /* the load of the worker's core has changed: `load` */
    EVENT_GROWN,     /* result of GROW, before any other event: `growth` */
    EVENT_MORE,      /* the loop was extended or completed: check it now */
    EVENT_JOINED,    /* a master with its workers was added to the topology */
    EVENT_LEAVING,   /* joined master `from` must leave with its workers; `now`: without finishing running iterations */
    EVENT_RANK_LOST, /* rank `from` is dead; at most once per rank, after everything that arrived from it */
};

/* The executor's report about the running chunk. */
struct chunk_event {
    uint64_t done;
    uint64_t compute_ns;
    uint64_t count; /* SLICE and FINISHED: iterations with results; ITERATIONS_FAILED: failed iterations */
    /* FINISHED with one thread: first of the chunk. ITERATIONS_FAILED with dependencies: first failed iteration */
    uint64_t first;
    bool final; /* ITERATIONS_FAILED: do not retry */
    bool died;  /* ITERATIONS_FAILED: the process that ran them died */
    uint64_t digest;
    bool has_failed;  /* SLICE and FINISHED: the kernel reports all these iterations as failed */
    const void *data; /* records of the results; borrowed until sent; NULL if results stay here */
    uint64_t bytes;
    uint64_t began_ns;   /* FINISHED: when its first iteration began; 0: unknown */
    double deviation_ns; /* FINISHED, if the spread is wanted: standard deviation of the time of one iteration */
    uint32_t samples;    /* timed pieces of the chunk; with fewer than two the deviation is 0 */
};

/* Returns how many of `unbegun` iterations, shared by `holders` workers, are given up for `waiting` idle ones: the idle
 * workers' share if all get the same number, rounded up. */
static inline uint64_t recall_share(uint64_t unbegun, unsigned holders, unsigned waiting)
{
    if (waiting == RECALL_ALL || unbegun == 0)
        return unbegun;
    unsigned __int128 all = (unsigned __int128)unbegun * waiting, workers = (uint64_t)holders + waiting;
    return (uint64_t)((all + workers - 1) / workers);
}

/* Iterations taken from the end of a running chunk, and its number. Count 0: nothing is left to take. Chunk 0: what the
 * worker computes cannot be seen. */
struct stolen {
    struct range range;
    uint32_t chunk;
    bool is_answer; /* they were taken instead of sending a RECALL */
};

struct growth {
    uint64_t count; /* iterations, never fewer than before */
    bool is_complete;
};

/* Boundary data that the running chunk passes to the next chunk. */
struct boundary_ready {
    uint64_t boundary_at; /* iteration after the running chunk */
    /* the whole boundary, perhaps incomplete, at the same address in each event of the chunk; borrowed until RELEASE or
     * REUSE of the boundary, and in a SEND until that is complete */
    const void *data;
    uint64_t bytes; /* complete bytes: more than in the previous event */
};

struct event {
    enum event_type type;
    uint64_t now_ns; /* monotonic, one clock for all events of a machine; a message's time may be some 300 ns old */
    unsigned from;   /* of MESSAGE and RANK_LOST */
    bool lost;       /* STORED: not stored because the sender is dead, not because of the disk */
    const char *text;
    union {
        const struct message *message;
        struct part part;
        const struct speed *speed; /* borrowed for the step */
        struct chunk_event chunk;
        struct boundary_ready ready;
        struct range cut;
        struct stolen stolen;
        uint16_t load; /* as in a REQUEST, at least LOAD_ONE */
        struct growth growth;
        bool now; /* DRAIN, LEAVING: without finishing running iterations */
    };
};

enum turn {
    TURN_BLOCKED, /* no chunk, or no room for its results */
    TURN_WORKED,
    TURN_EVENT,
};

enum action_type {
    ACTION_SEND,
    ACTION_PROBE,
    /* begin the chunk `run`. With threads or a helper also while others run: events refer to the oldest */
    ACTION_RUN,
    /* give up iterations that have not begun, from the end of the newest chunk that has some: the share by
     * recall_share() for `cut.waiting`; with `cut.now` all of the oldest chunk that is not done, ending what runs in
     * other processes. EVENT_CUT follows before any other event, and FINISHED of that chunk when none of it runs any
     * more, even if nothing is left of it */
    ACTION_CUT,
    /* take what a worker of this node, rank `steal.to`, has not begun of its running chunk, for `steal.waiting`
     * workers: EVENT_STOLEN follows. A SEND of RECALL does the same first, and is no message if something is taken */
    ACTION_STEAL,
    ACTION_FORGET, /* give up all chunks except the oldest */
    ACTION_MARK,   /* report when the running chunk has done `run.mark` iterations */
    ACTION_STORE,  /* write store.data, valid during this step only */
    /* receive the data message of store.bytes from rank store.from and write it; discard it if part_is_unwanted() */
    ACTION_COLLECT,
    /* record deaths of iterations: `deaths` of workers, `failures` of child processes; FATAL on failure */
    ACTION_DEATHS,
    ACTION_POINT,   /* record `point`, the next part of the data of a recovery point; FATAL on failure */
    ACTION_JOURNAL, /* record the ranges of `journal` as done and stored; FATAL on failure */
    /* sync stored results. On failure the following SEND, which would report them, is omitted; FATAL follows */
    ACTION_SYNC,
    /* boundary data for the chunk at `boundary.first` are here, or arrive as a data message. They may precede the
     * chunk's RUN, for several chunks, in ascending order for each; later data must wait for earlier ones */
    ACTION_BOUNDARY,
    /* the boundary data of the chunk that ended at `boundary_at` are used in place by the next chunk: its RUN is the
     * next action, the data are complete, and no RELEASE follows */
    ACTION_REUSE,
    ACTION_RELEASE, /* the boundary data of the chunk that ended at `boundary_at` are only needed by unfinished SENDs */
    /* check how many iterations the growing loop has: EVENT_GROWN or FATAL follows before any other event */
    ACTION_GROW,
    /* declare rank `drop` lost because it sent something invalid: EVENT_RANK_LOST follows, and nothing more is sent to
     * it. If it is the supermaster, this rank ends */
    ACTION_DROP,
    ACTION_TAKEN, /* the data `taken` of an executor's event are not needed and were not sent */
    ACTION_EXIT,
};

struct action {
    enum action_type type;
    union {
        struct {
            unsigned to;
            unsigned calculations, assignments; /* in the step before this SEND, for --inject-delay */
            struct message message;
        } send;
        struct {
            uint32_t chunk;
            uint64_t first, count;
            uint64_t mark; /* iterations until MARK; 0: none */
            bool isolated; /* in a child process: iterations that end it fail for good */
        } run;
        struct {
            unsigned waiting; /* idle workers; RECALL_ALL: begin nothing more */
            bool now;         /* do not finish what runs, a chunk or a probe */
        } cut;
        struct {
            unsigned to, waiting;
        } steal;
        struct {
            struct part part;
            unsigned from;
            const void *data;
            uint64_t bytes;
        } store;
        struct {
            uint64_t first, offset;
            const void *data; /* borrowed for the step, like all data of actions; NULL: receive the data message of rank
                                 `from` */
            uint64_t bytes;
            unsigned from;
        } boundary;
        uint64_t boundary_at;
        struct {
            const struct range *ranges;
            size_t count;
            uint64_t digest;
        } journal;
        struct poison deaths;
        struct {
            uint64_t at;
            uint64_t offset; /* of these data: after those of the previous POINT, or 0 */
            const void *data;
            uint64_t bytes;
            uint64_t all; /* size of all data of the boundary, with which the point is complete */
        } point;
        struct {
            unsigned rank;
            const char *text; /* what the rank did wrong; borrowed for the step */
        } drop;
        const void *taken;
        struct {
            int status;
        } exit;
    };
};

/* Applies actions at once, in order: a message is sent before the step ends. */
struct action_sink {
    void (*send)(void *context, unsigned to, const struct message *message);
    void (*apply)(void *context, const struct action *action); /* any action except SEND */
    void *context;
};

struct actions_room {
    unsigned char completions[(ASKS_MAX - 1) * COMPLETION_BYTES];
    unsigned char speed[SPEED_BODY_MAX];
    unsigned char returned[RETURNED_MAX * ASSIGN_RECORD_BYTES];
    struct error problem; /* text of a FATAL or ITERATIONS_FAILED */
    struct error refusal; /* text of a DROP */
};

struct actions {
    const struct event *event;
    struct action *items;           /* actions of this step, without a sink; owned */
    const struct action_sink *sink; /* borrowed; NULL: actions are collected in `items` */
    size_t length, capacity;
    uint64_t messages, bytes; /* sent so far, payloads included */
    unsigned calculations;    /* chunks cut and chunks assigned to workers in this step, for --inject-delay */
    unsigned assignments;
    bool out_of_memory; /* an action is missing: the runtime must stop */
    struct actions_room room;
};

/* Makes room for `capacity` actions; more are allocated. */
int actions_init(struct actions *actions, size_t capacity);
/* Actions go to a sink; nothing is allocated. */
void actions_init_sink(struct actions *actions, const struct action_sink *sink);
void actions_fini(struct actions *actions);

static inline void actions_clear(struct actions *actions)
{
    actions->length = 0;
    actions->calculations = actions->assignments = 0;
}

/* Appends a SEND; records and payloads of the message are borrowed until the next step. */
void actions_send(struct actions *actions, unsigned to, const struct message *message);

void actions_add(struct actions *actions, const struct action *action);

void actions_drop(struct actions *actions, unsigned rank, const char *text);

/* Writes the name of a `struct event`, "EVENT" or "MESSAGE TYPE", for state tables. */
void event_write_name(const void *event, char *text, size_t size);

/* Makes a FATAL message about `rank`; the text is borrowed and truncated to TEXT_MAX. */
struct message fatal_message(unsigned rank, const char *text);

/* Receives the reasons of a machine's decisions, one line each, truncated to some 200 characters. They are only
 * formatted if there is a sink. */
struct reason_sink {
    void (*note)(void *context, const char *text); /* the text is borrowed for the call */
    void *context;
};

void reason_note(const struct reason_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

#define REASON(sink, ...) ((sink) != NULL ? reason_note((sink), __VA_ARGS__) : (void)0)

struct trace_sink;

/* A daemon as a runtime sees it. */
struct machine {
    void *self;
    void (*step)(void *self, const struct event *event, struct actions *actions);
    uint64_t (*deadline)(const void *self); /* returns when the machine needs EVENT_TIMER, or NEVER */
    const char *(*state)(const void *self);
    /* Asserts the invariants, between two steps. NULL: there are none. */
    void (*check)(const void *self);
    /* Makes the machine note its reasons in `sink`, which is borrowed; NULL: no more. The function is NULL if the
     * machine has no reasons. */
    void (*explain)(void *self, const struct reason_sink *sink);
    /* Makes the machine trace its chunks in `sink`, which is borrowed, from the first event on. NULL if it assigns
     * none. */
    void (*trace)(void *self, struct trace_sink *sink);
    /* True if the machine waits for work that only this rank may do. NULL: never. */
    bool (*needs)(const void *self, unsigned rank);
};

/* Returns the index of `rank` in the sorted `ranks`; `count` if it is missing. */
unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank);
