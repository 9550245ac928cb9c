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
    bool has_failed; /* the kernel reports all iterations of the part as failed; they still count as done */
};

static inline bool part_is_unwanted(const struct part *part)
{
    return part->chunk == 0;
}

enum event_type {
    EVENT_START,
    EVENT_MESSAGE,
    EVENT_STORED, /* result of STORE or COLLECT; members: `part`, `lost`, and `text` for an error of the disk */
    EVENT_PROBED,
    EVENT_MARK,
    EVENT_SLICE, /* the running chunk has results (`chunk`), but more will follow */
    /* The next `chunk`.count iterations of the running chunk failed; `text` says why. Results of earlier iterations
     * were sent already, and the chunk continues after the failed iterations. In a loop with dependencies the failed
     * iterations begin at `chunk`.first. There they are retried unless `chunk`.final is set; if it is set, FINISHED or
     * FATAL follows. */
    EVENT_ITERATIONS_FAILED,
    /* Loops with dependencies: more boundary data of the running chunk are complete (`ready`). Does not come for the
     * loop's last chunk. FINISHED comes after all boundary data. */
    EVENT_BOUNDARY_READY,
    /* Result of CUT; it comes before any other event. `cut`: the iterations at the end of a chunk that will not be
     * computed. Count 0: nothing was given up, because all iterations have begun. */
    EVENT_CUT,
    /* Result of STEAL, or of a SEND of RECALL to a worker of this node. `stolen`: the iterations that were taken from
     * rank `from`. The worker that lost them gets this event, too, before any other event. */
    EVENT_STOLEN,
    EVENT_DRY,
    EVENT_FINISHED,
    EVENT_TIMER,
    EVENT_DRAIN, /* a signal or a user asks to stop; `now`: without finishing running iterations */
    EVENT_FATAL,
    EVENT_LOAD,
    EVENT_GROWN,
    EVENT_MORE,
    EVENT_JOINED,    /* a master with its workers was added to the topology */
    EVENT_LEAVING,   /* joined master `from` must leave with its workers; `now`: see DRAIN */
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
    const void *data; /* records of the results; borrowed until sent; NULL if there are no records to send */
    uint64_t bytes;
    uint64_t began_ns; /* FINISHED: when the chunk's first iteration began; 0: unknown */
    /* FINISHED: standard deviation of the time of one iteration, if the machine asked for the spread */
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

/* Iterations taken from the end of the running chunk. Count 0: nothing is left to take. `chunk`: number of the running
 * chunk; 0: unknown. */
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
    /* Data of the whole boundary, of which only the first `bytes` are complete. The address is the same in all events
     * of a chunk. The data are borrowed until RELEASE or REUSE; a SEND borrows them until its message is sent. */
    const void *data;
    uint64_t bytes;
};

struct event {
    enum event_type type;
    /* monotonic, one clock for all events of a machine; the time of a message may be some 300 ns old */
    uint64_t now_ns;
    unsigned from; /* set for MESSAGE, STOLEN, LEAVING and RANK_LOST */
    /* STORED: true if the part was not stored because its sender is dead. If it is false, a `text` that is not NULL is
     * an error of the disk. */
    bool lost;
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
        bool now;
    };
};

enum turn {
    TURN_BLOCKED, /* the executor has no chunk, or no room for its results */
    TURN_WORKED,
    TURN_EVENT,
};

enum action_type {
    ACTION_SEND,
    ACTION_PROBE,
    /* Begin the chunk `run`. If the executor has threads or a helper, other chunks may still run; events then refer to
     * the oldest chunk. */
    ACTION_RUN,
    /* Give up iterations that have not begun, from the end of the newest chunk that has such iterations. Their number
     * is recall_share() for one holder and `cut.waiting` idle workers. If `cut.now` is set: give up all iterations of
     * the oldest chunk that are not done, and end those that run in other processes. EVENT_CUT comes before any other
     * event. After the last running iteration of the chunk its FINISHED comes, even if all of its iterations were given
     * up. */
    ACTION_CUT,
    /* Take iterations that have not begun from the running chunk of rank `steal.to`, a worker of this node, for
     * `steal.waiting` idle workers. EVENT_STOLEN follows. A SEND of RECALL first tries the same, and sends its message
     * only if nothing could be taken. */
    ACTION_STEAL,
    ACTION_FORGET,
    ACTION_MARK,
    ACTION_STORE, /* write store.data, which is valid during this step only */
    /* Receive the data message of store.bytes from rank store.from and write it; discard it if part_is_unwanted(). */
    ACTION_COLLECT,
    /* Record how many workers (`deaths`) and child processes (`failures`) died while they computed certain iterations.
     * If that fails, FATAL follows. */
    ACTION_DEATHS,
    ACTION_POINT,
    ACTION_JOURNAL,
    /* Sync stored results. If that fails, the next SEND is omitted, because it would report these results, and FATAL
     * follows. */
    ACTION_SYNC,
    /* Boundary data for the chunk at `boundary.first`. They are either in memory or come as a data message. This action
     * may come before the RUN of that chunk. The actions for one chunk come in ascending order of `boundary.offset`. */
    ACTION_BOUNDARY,
    /* Let the next chunk use in place the boundary data of the chunk that ended at `boundary_at`. These data are
     * complete. The next action is the RUN of that next chunk. No RELEASE of these data follows. */
    ACTION_REUSE,
    /* The boundary data of the chunk that ended at `boundary_at` are not needed any more, except by SENDs under way. */
    ACTION_RELEASE,
    /* Ask how many iterations a growing loop has by now. EVENT_GROWN or FATAL comes before any other event. */
    ACTION_GROW,
    /* Declare rank `drop.rank` lost because it sent something invalid. EVENT_RANK_LOST follows, and nothing more is
     * sent to that rank. If that rank is the supermaster, this rank ends. */
    ACTION_DROP,
    ACTION_TAKEN, /* the executor may reuse the memory `taken`, the data of one of its events: no SEND borrows them */
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
            unsigned waiting; /* number of idle workers; RECALL_ALL: begin nothing more */
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
            uint64_t offset;
            const void *data;
            uint64_t bytes;
            uint64_t all; /* size of the whole boundary; once all of it is recorded, the restart point is complete */
        } point;
        struct {
            unsigned rank;
            const char *text; /* borrowed for the step */
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
    struct action *items;           /* [length] actions of this step; empty with a sink; owned */
    const struct action_sink *sink; /* borrowed; NULL: actions are collected in `items` */
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

/* Writes the name of a `struct event`, "EVENT" or "MESSAGE TYPE", for state tables. */
void event_write_name(const void *event, char *text, size_t size);

/* Makes a FATAL message about `rank`; the text is borrowed and truncated to TEXT_MAX. */
struct message fatal_message(unsigned rank, const char *text);

/* Receives the reasons of a machine's decisions, one line each, cut off at 199 bytes. A reason is formatted only if
 * there is a sink. */
struct reason_sink {
    void (*note)(void *context, const char *text); /* the text is borrowed for the call */
    void *context;
};

void reason_note(const struct reason_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

#define REASON(sink, ...) ((sink) != NULL ? reason_note((sink), __VA_ARGS__) : (void)0)

struct trace_sink;

struct machine {
    void *self;
    void (*step)(void *self, const struct event *event, struct actions *actions);
    uint64_t (*deadline)(const void *self); /* returns when the machine needs EVENT_TIMER, or NEVER */
    const char *(*state)(const void *self);
    /* Asserts the invariants, between two steps. May be NULL. */
    void (*check)(const void *self);
    /* Makes the machine note its reasons in `sink`, which is borrowed; NULL: stop noting. The function is NULL if the
     * machine notes no reasons. */
    void (*explain)(void *self, const struct reason_sink *sink);
    /* Makes the machine trace its chunks in `sink`, which is borrowed. Called before the first event. NULL if the
     * machine assigns no chunks. */
    void (*trace)(void *self, struct trace_sink *sink);
    /* Returns true if the machine waits for work that only this rank may do. NULL: it never does. */
    bool (*needs)(const void *self, unsigned rank);
};

/* Returns the index of `rank` in the sorted `ranks`, or `count` if it is not among them. */
unsigned rank_index(const unsigned *ranks, unsigned count, unsigned rank);
