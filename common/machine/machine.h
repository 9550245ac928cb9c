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
    bool has_failed; /* the kernel reports all iterations of the part as failed; they still count as done */
};

/* True if another worker has already done the iterations. */
static inline bool part_is_unwanted(const struct part *part)
{
    return part->chunk == 0;
}

enum event_type {
    EVENT_START,
    EVENT_MESSAGE,
    EVENT_STORED, /* result of STORE or COLLECT: `part`; `text`: the error, or NULL; `lost`: see struct event */
    EVENT_PROBED, /* result of PROBE: `speed` */
    EVENT_MARK,   /* the running chunk has reached its mark: `chunk` */
    EVENT_SLICE,  /* some results of the running chunk are ready, but not the last ones: `chunk` */
    /* The next `chunk`.count iterations of the running chunk failed: `text`. The results before these have been sent,
     * and the chunk continues after them. In a loop with dependencies the failed iterations start at `chunk`.first and
     * are retried unless `chunk`.final; if final, FINISHED or FATAL follows. */
    EVENT_ITERATIONS_FAILED,
    /* More boundary data of the running chunk are complete: `ready`. Only in a loop with dependencies, and not for its
     * last chunk. All boundary data are reported before FINISHED. */
    EVENT_BOUNDARY_READY,
    /* Result of CUT, before any other event: `cut`, the end of a chunk, will not be computed. Count 0: all iterations
     * have begun. */
    EVENT_CUT,
    /* Result of STEAL, and of a SEND of RECALL to a worker of this node: `stolen` was taken from rank `from`. That
     * worker gets the event too, before any other: the end of its running chunk now belongs to others, which know of
     * it. */
    EVENT_STOLEN,
    EVENT_DRY,      /* a thread of this worker finds nothing more to compute */
    EVENT_FINISHED, /* the running chunk is finished: `chunk`, possibly empty */
    EVENT_TIMER,
    EVENT_DRAIN,     /* a signal or a user asks to stop; `now`: without finishing running iterations */
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
    /* FINISHED with one thread: first iteration of the chunk. ITERATIONS_FAILED with dependencies: first failed one. */
    uint64_t first;
    bool final; /* ITERATIONS_FAILED: the iterations must not be retried */
    bool died;  /* ITERATIONS_FAILED: the process that ran them died */
    uint64_t digest;
    bool has_failed;  /* SLICE and FINISHED: the kernel reports all these iterations as failed */
    const void *data; /* records of the results; borrowed until sent; NULL if results stay here */
    uint64_t bytes;
    uint64_t began_ns;   /* FINISHED: when the chunk's first iteration began; 0: unknown */
    double deviation_ns; /* FINISHED, if the spread is wanted: standard deviation of the time of one iteration */
    uint32_t samples;    /* number of timed pieces of the chunk; the deviation is 0 if it is below 2 */
};

/* Returns how many of the `unbegun` iterations that `holders` workers hold go to `waiting` idle workers, so that each
 * of all these workers gets the same number; rounded up. */
static inline uint64_t recall_share(uint64_t unbegun, unsigned holders, unsigned waiting)
{
    if (waiting == RECALL_ALL || unbegun == 0)
        return unbegun;
    unsigned __int128 all = (unsigned __int128)unbegun * waiting, workers = (uint64_t)holders + waiting;
    return (uint64_t)((all + workers - 1) / workers);
}

/* Iterations taken from the end of the running chunk with the number `chunk`. Count 0: nothing is left to take. Chunk
 * 0: what the worker computes cannot be seen. */
struct stolen {
    struct range range;
    uint32_t chunk;
    bool is_answer; /* the iterations were taken instead of sending a RECALL */
};

struct growth {
    uint64_t count; /* iterations of the loop, never fewer than before */
    bool is_complete;
};

/* Boundary data that the running chunk passes to the next chunk. */
struct boundary_ready {
    uint64_t boundary_at; /* iteration after the running chunk */
    /* The data of the whole boundary, at the same address in each event of the chunk; only the first `bytes` of them
     * are complete. Borrowed until RELEASE or REUSE of the boundary, and by a SEND until the message is sent. */
    const void *data;
    uint64_t bytes; /* more than in the previous event */
};

struct event {
    enum event_type type;
    uint64_t now_ns; /* monotonic, one clock for all events of a machine; a message's time may be some 300 ns old */
    unsigned from;   /* of MESSAGE and RANK_LOST */
    bool lost;       /* STORED: the part is not stored because its sender is dead; otherwise the disk is the reason */
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
    /* Begin the chunk `run`. With threads or a helper, other chunks may still run; events then refer to the oldest. */
    ACTION_RUN,
    /* Give up iterations that have not begun: from the end of the newest chunk that has some, the share by
     * recall_share() for `cut.waiting`. With `cut.now`: give up all iterations of the oldest chunk that are not done,
     * and end those that run in other processes. EVENT_CUT follows before any other event. FINISHED of that chunk
     * follows when none of it runs any more, even if nothing is left of it. */
    ACTION_CUT,
    /* Take iterations for `steal.waiting` workers that rank `steal.to`, a worker of this node, has not begun of its
     * running chunk: EVENT_STOLEN follows. A SEND of RECALL first does the same; if it takes something, no message is
     * sent. */
    ACTION_STEAL,
    ACTION_FORGET, /* give up all chunks except the oldest */
    ACTION_MARK,   /* report when the running chunk has done `run.mark` iterations */
    ACTION_STORE,  /* write store.data, valid during this step only */
    /* Receive the data message of store.bytes from rank store.from and write it; discard it if part_is_unwanted(). */
    ACTION_COLLECT,
    /* Record how many workers (`deaths`) and child processes (`failures`) died at iterations; FATAL on failure. */
    ACTION_DEATHS,
    ACTION_POINT,   /* record `point`, the next part of the data of a recovery point; FATAL on failure */
    ACTION_JOURNAL, /* record the ranges of `journal` as done and stored; FATAL on failure */
    /* Sync stored results. On failure the following SEND, which would report them, is omitted; FATAL follows. */
    ACTION_SYNC,
    /* Boundary data for the chunk at `boundary.first` are here, or arrive as a data message. Such data may precede the
     * chunk's RUN, and may be for several chunks; for each chunk they come in ascending order. */
    ACTION_BOUNDARY,
    /* The next chunk uses the boundary data of the chunk that ended at `boundary_at` in place: its RUN is the next
     * action, the data are complete, and no RELEASE follows. */
    ACTION_REUSE,
    ACTION_RELEASE, /* only unfinished SENDs still need the boundary data of the chunk that ended at `boundary_at` */
    /* Check how many iterations the growing loop has: EVENT_GROWN or FATAL follows before any other event. */
    ACTION_GROW,
    /* Declare rank `drop.rank` lost because it sent something invalid: EVENT_RANK_LOST follows, and nothing more is
     * sent to that rank. If it is the supermaster, this rank ends. */
    ACTION_DROP,
    ACTION_TAKEN, /* the data `taken` of an executor's event are not needed, and no SEND borrows them */
    ACTION_EXIT,
};

struct action {
    enum action_type type;
    union {
        struct {
            unsigned to;
            /* chunks that the step has cut and assigned before this SEND, for --inject-delay */
            unsigned calculations, assignments;
            struct message message;
        } send;
        struct {
            uint32_t chunk;
            uint64_t first, count;
            uint64_t mark; /* iterations until MARK; 0: none */
            bool isolated; /* run it in a child process; an iteration that ends the child fails for good */
        } run;
        struct {
            unsigned waiting; /* idle workers; RECALL_ALL: begin nothing more */
            bool now;         /* do not finish the chunk or the probe that runs */
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
            uint64_t offset; /* 0, or where the data of the previous POINT ended */
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
    struct action *items;           /* [length] actions of this step; empty with a sink; owned */
    const struct action_sink *sink; /* borrowed; NULL: actions are collected in `items` */
    size_t length, capacity;
    uint64_t messages, bytes; /* sent so far, payloads included */
    unsigned calculations; /* chunks that this step has cut; `assignments`: assigned to workers; for --inject-delay */
    unsigned assignments;
    bool out_of_memory; /* an action is missing, so the runtime must stop */
    struct actions_room room;
};

/* Makes room for `capacity` actions; the room grows if a step has more. */
int actions_init(struct actions *actions, size_t capacity);
/* Like actions_init(), but actions go to the sink, and nothing is allocated. */
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
    /* Asserts the invariants, between two steps. May be NULL. */
    void (*check)(const void *self);
    /* Makes the machine note its reasons in `sink`, which is borrowed; a NULL sink ends that. The function is NULL if
     * the machine notes no reasons. */
    void (*explain)(void *self, const struct reason_sink *sink);
    /* Makes the machine trace its chunks in `sink`, which is borrowed, from the first event on. NULL if the machine
     * assigns no chunks. */
    void (*trace)(void *self, struct trace_sink *sink);
    /* True if the machine waits for work that only this rank may do. NULL: it never does. */
    bool (*needs)(const void *self, unsigned rank);
};

/* Returns the index of `rank` in the sorted `ranks`, or `count` if they do not have it. */
unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank);
