/* SPDX-License-Identifier: MIT */
/* The interface of a daemon as a state machine.
 *
 * A daemon is a pure function: it gets an event with its time, and returns an ordered list of actions. A second pure
 * function returns when the daemon must be woken. Neither function reads a clock, opens anything or prints anything.
 * All effects belong to a runtime: it feeds events, carries out the actions in order, and reports their results as
 * events. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEVER UINT64_MAX

/* Part of a chunk's results on the way from a message to the disk. The runtime hands it back unchanged in STORED. */
struct part {
    unsigned worker;
    uint32_t chunk;
    uint64_t first, count, digest;
    /* the kernel reports all iterations of the part as failed; failed iterations still count as done */
    bool has_failed;
};

static inline bool part_is_unwanted(const struct part *part)
{
    return part->chunk == 0;
}

enum event_type {
    EVENT_START,
    EVENT_MESSAGE,
    EVENT_STORED, /* result of STORE or COLLECT, in the members `part`, `lost`, and `text` (if the disk failed) */
    EVENT_PROBED,
    EVENT_MARK,
    EVENT_SLICE, /* some results of the running chunk (`chunk`) are ready, and more results will follow */
    /* The next `chunk`.count iterations of the running chunk failed; `text` says why. Results of earlier iterations
     * were sent already, and the chunk continues after the failed iterations. In a loop with dependencies the failed
     * iterations begin at `chunk`.first. If `chunk`.final is not set, they are retried; if it is set, FINISHED or FATAL
     * follows. */
    EVENT_ITERATIONS_FAILED,
    /* Loops with dependencies: more boundary data of the running chunk are complete (`ready`). Does not come for the
     * loop's last chunk. FINISHED comes after all boundary data. */
    EVENT_BOUNDARY_READY,
    /* Result of CUT; it comes before any other event. `cut`: the iterations at the end of a chunk that will not be
     * computed. Count 0: nothing was given up, because all iterations have begun. */
    EVENT_CUT,
    /* Result of STEAL, or of a SEND of RECALL to a worker of this node. `stolen`: the iterations that were taken from
     * rank `from`. That worker gets this event, too, before any other event. */
    EVENT_STOLEN,
    EVENT_DRY,
    EVENT_FINISHED,
    EVENT_TIMER,
    EVENT_DRAIN, /* a signal or a user asks to stop; if `now` is set, running iterations are not finished */
    EVENT_FATAL,
    EVENT_LOAD,
    EVENT_GROWN,
    EVENT_MORE,
    EVENT_JOINED,    /* a master with its workers was added to the topology */
    EVENT_LEAVING,   /* joined master `from` must leave with its workers; `now` is used as by DRAIN */
    EVENT_RANK_LOST, /* rank `from` is dead; comes at most once per rank, after all messages from it */
};

struct chunk_event {
    uint64_t done;
    uint64_t compute_ns;
    uint64_t count; /* SLICE and FINISHED: iterations with results; ITERATIONS_FAILED: failed iterations */
    /* FINISHED: first iteration of the chunk, set only with one thread. ITERATIONS_FAILED: first failed iteration, set
     * only in a loop with dependencies. */
    uint64_t first;
    bool final;
    bool died;
    uint64_t digest;
    bool has_failed;
    const void *data; /* records of the results, borrowed until they are sent; NULL: there are no records to send */
    uint64_t bytes;
    uint64_t began_ns; /* FINISHED: time at which the first iteration of the chunk began; 0: unknown */
    /* FINISHED: standard deviation of the time of one iteration */
    double deviation_ns;
    uint32_t samples; /* number of timed pieces of the chunk; if it is below 2, the deviation is 0 */
};

/* Divides the `unbegun` iterations of `holders` workers evenly among these workers and `waiting` idle workers. Returns
 * how many iterations go to the idle workers, rounded up. */
static inline uint64_t recall_share(uint64_t unbegun, unsigned holders, unsigned waiting)
{
    if (waiting == RECALL_ALL || unbegun == 0)
        return unbegun;
    unsigned __int128 all = (unsigned __int128)unbegun * waiting, workers = (uint64_t)holders + waiting;
    return (uint64_t)((all + workers - 1) / workers);
}

/* Iterations taken from the end of the running chunk; count 0: no iterations could be taken. `chunk`: number of the
 * running chunk; 0: unknown. */
struct stolen {
    struct range range;
    uint32_t chunk;
    bool is_answer;
};

struct growth {
    uint64_t count;
    bool is_complete;
};

struct boundary_ready {
    uint64_t boundary_at;
    /* Data of the whole boundary, but only the first `bytes` are complete yet. The address is the same in all events of
     * a chunk. The data are borrowed until RELEASE or REUSE; a SEND borrows them until its message is sent. */
    const void *data;
    uint64_t bytes;
};

struct event {
    enum event_type type;
    /* time on a monotonic clock, which all events of a machine use; for a MESSAGE it may be some 300 ns too early */
    uint64_t now_ns;
    unsigned from; /* set for MESSAGE, STOLEN, LEAVING and RANK_LOST */
    /* STORED: true if the part was not stored because its sender is dead. If `lost` is false and `text` is not NULL, an
     * error of the disk has prevented the storing, and `text` is this error. */
    bool lost;
    const char *text;
    union {
        const struct message *message;
        struct part part;
        const struct speed *speed; /* borrowed until the end of the step */
        struct chunk_event chunk;
        struct boundary_ready ready;
        struct range cut;
        struct stolen stolen;
        uint16_t load; /* load of the core, in the units of a REQUEST; at least LOAD_ONE */
        struct growth growth;
        bool now;
    };
};

enum turn {
    TURN_BLOCKED, /* the executor has no chunk, or it has no room for further results */
    TURN_WORKED,
    TURN_EVENT,
};

enum action_type {
    ACTION_SEND,
    ACTION_PROBE,
    /* Begin the chunk `run`. If the executor has threads or a helper, earlier chunks may still run. In this case the
     * events refer to the oldest chunk. */
    ACTION_RUN,
    /* Give up iterations that have not begun, from the end of the newest chunk that still has such iterations.
     * recall_share(), called for one holder and `cut.waiting` idle workers, tells how many. If `cut.now` is set,
     * instead give up all iterations of the oldest chunk that are not done, and end those that run in other processes.
     * EVENT_CUT comes before any other event. FINISHED comes after the last running iteration of the chunk, even if all
     * of its iterations were given up. */
    ACTION_CUT,
    /* Take iterations that have not begun from the running chunk of rank `steal.to`, a worker of this node. They are
     * for `steal.waiting` idle workers. EVENT_STOLEN follows. A SEND of RECALL also tries to take iterations in this
     * way, and sends its message only if none could be taken. */
    ACTION_STEAL,
    ACTION_FORGET,
    ACTION_MARK,
    ACTION_STORE, /* write the results store.data, which are valid during this step only */
    /* Receive the data message of store.bytes from rank store.from and write it; discard it if part_is_unwanted(). */
    ACTION_COLLECT,
    /* Record how many workers (`deaths`) and child processes (`failures`) died while they computed certain iterations.
     * If that fails, FATAL follows. */
    ACTION_DEATHS,
    ACTION_POINT,
    ACTION_JOURNAL,
    /* Sync stored results. If that fails, the next SEND would report results that are not stored, so it is omitted, and
     * FATAL follows. */
    ACTION_SYNC,
    /* Boundary data for the chunk at `boundary.first`. They are either in memory or come as a data message. This action
     * may come before the RUN of that chunk. The actions for one chunk come in ascending order of `boundary.offset`. */
    ACTION_BOUNDARY,
    /* Let the next chunk use the boundary data of the chunk that ended at `boundary_at`, without copying them. These
     * data are complete. The next action is the RUN of the next chunk. No RELEASE of these data follows. */
    ACTION_REUSE,
    /* The boundary data of the chunk that ended at `boundary_at` are not needed any more. Only SENDs that are not
     * finished may still use them. */
    ACTION_RELEASE,
    /* Ask how many iterations a growing loop has by now. EVENT_GROWN or FATAL comes before any other event. */
    ACTION_GROW,
    /* Declare rank `drop.rank` lost because it sent something invalid. EVENT_RANK_LOST follows, and nothing more is
     * sent to that rank. If that rank is the supermaster, this rank ends. */
    ACTION_DROP,
    /* the executor may reuse the memory `taken`: it has data of an event of the executor, and no SEND borrows them */
    ACTION_TAKEN,
    ACTION_EXIT,
};

struct action {
    enum action_type type;
    union {
        struct {
            unsigned to;
            unsigned calculations, assignments;
            struct message message;
        } send;
        struct {
            uint32_t chunk;
            uint64_t first, count;
            uint64_t mark;
            bool isolated;
        } run;
        struct {
            unsigned waiting; /* number of idle workers; RECALL_ALL: give up all iterations that have not begun */
            bool now;
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
            /* borrowed for the step, like all data of actions; NULL: the data come in the next data message of rank
             * `from` */
            const void *data;
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
            uint64_t offset;
            const void *data;
            uint64_t bytes;
            /* size of the whole boundary; after all its bytes are recorded, the recovery point is complete */
            uint64_t all;
        } point;
        struct {
            unsigned rank;
            const char *text; /* borrowed until the end of the step */
        } drop;
        const void *taken;
        struct {
            int status;
        } exit;
    };
};

struct action_sink {
    void (*send)(void *context, unsigned to, const struct message *message);
    void (*apply)(void *context, const struct action *action);
    void *context;
};

struct actions_room {
    unsigned char completions[(ASKS_MAX - 1) * COMPLETION_BYTES];
    unsigned char speed[SPEED_BODY_MAX];
    unsigned char returned[RETURNED_MAX * ASSIGN_RECORD_BYTES];
    struct error problem;
    struct error refusal;
};

struct actions {
    const struct event *event;
    struct action *items;           /* [length] the actions of this step; empty if there is a sink; owned */
    const struct action_sink *sink; /* receives the actions; borrowed; NULL: actions are collected in `items` */
    size_t length, capacity;
    uint64_t messages, bytes;
    /* How many chunks this step has cut (`calculations`) and assigned (`assignments`): --inject-delay needs these
     * counts. */
    unsigned calculations;
    unsigned assignments;
    bool out_of_memory;
    struct actions_room room;
};

int actions_init(struct actions *actions, size_t capacity);
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

/* Writes the name of a `struct event` for state tables: "EVENT", or "MESSAGE TYPE" for a message. */
void event_write_name(const void *event, char *text, size_t size);

/* Makes a FATAL message about `rank`. The text is borrowed; it is truncated to TEXT_MAX. */
struct message fatal_message(unsigned rank, const char *text);

/* Receives the reasons of a machine's decisions. Each reason is a line, truncated to 199 bytes. A reason is formatted
 * only if there is a sink. */
struct reason_sink {
    void (*note)(void *context, const char *text); /* `text` is valid only during the call */
    void *context;
};

void reason_note(const struct reason_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

#define REASON(sink, ...) ((sink) != NULL ? reason_note((sink), __VA_ARGS__) : (void)0)

struct trace_sink;

struct machine {
    void *self;
    void (*step)(void *self, const struct event *event, struct actions *actions);
    /* returns the time at which the machine needs EVENT_TIMER; NEVER: it needs none */
    uint64_t (*deadline)(const void *self);
    const char *(*state)(const void *self);
    /* Asserts the invariants. Called between two steps. May be NULL. */
    void (*check)(const void *self);
    /* Makes the machine note its reasons in `sink`, which is borrowed; if `sink` is NULL, the machine stops noting
     * them. The member is NULL if the machine never notes reasons. */
    void (*explain)(void *self, const struct reason_sink *sink);
    /* Makes the machine trace its chunks in `sink`, which is borrowed. Called before the first event. The member is
     * NULL if the machine assigns no chunks. */
    void (*trace)(void *self, struct trace_sink *sink);
    /* Returns true if the machine waits for work that only rank `rank` may do. If the pointer is NULL, it never waits
     * for such work. */
    bool (*needs)(const void *self, unsigned rank);
};

/* Returns the index of `rank` in the sorted `ranks`, or `count` if it is not among them. */
unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank);
