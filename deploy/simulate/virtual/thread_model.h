/* SPDX-License-Identifier: MIT */
/* Model of the threads of a worker in virtual time, after worker/exec/thread_pool.h.
 *
 * A chunk is planned when it begins: the thread that becomes free first draws the next scheduling step of the technique
 * among threads, and so on. A thread that finds a chunk exhausted continues with the next one. Events concern the
 * oldest chunk, as in a real pool, until it is FINISHED; DRY is reported once, when a thread finds nothing to draw.
 * Thread 0 computes, too, and reports between two pieces of its work; it checks messages after several pieces. The plan
 * changes when a chunk is cut, and when the worker becomes slower.
 *
 * Differences from a real pool: draws progress evenly; beyond some 65,000 steps of a chunk several are drawn at once; a
 * waiting thread draws at the moment a chunk begins, while a real one may have to be woken; adaptive techniques get
 * planned times as measurements.
 *
 * Pure. */
#pragma once

#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

/* Limit of running and waiting chunks: the worker's queue and the oldest chunk. */
#define THREAD_MODEL_CHUNKS_MAX (2 * ASKS_MAX + 1)

/* Iterations drawn together by a thread, following those of the previous draw. */
struct thread_draw {
    uint64_t start_ns, end_ns;
    uint64_t count;
    unsigned thread;
};

struct thread_model_chunk {
    uint64_t first, count; /* without the part that was cut off */
    uint64_t planned;      /* with it: the loop of the technique */
    uint64_t begins_ns;
    uint64_t mark;             /* 0: none */
    uint64_t told;             /* iterations with reported results */
    struct thread_draw *draws; /* [draw_count] in order; owned */
    size_t draw_count, draw_room;
};

/* Work of a thread from `start_ns` on: [first, first + count) in `calls` kernel calls. Its previous call began at
 * `before_ns`; negative: none. */
struct thread_work {
    double before_ns;
    uint64_t start_ns, first, count, calls;
};

/* Returns the duration of the work. */
typedef double thread_model_time(void *context, const struct thread_work *work);

struct thread_model {
    struct threads figures; /* of the threads, up to the last finished chunk */
    unsigned threads;
    uint64_t slice; /* iterations between results; 0: all at the end */
    bool spread;    /* measure the spread of a chunk's iterations */
    thread_model_time *time_ns;
    void *context;
    struct sched sched;
    struct thread_model_chunk chunk[THREAD_MODEL_CHUNKS_MAX]; /* [chunk_count] the oldest first */
    unsigned chunk_count;
    uint64_t *free_ns;     /* [threads] when each is free after all chunks; owned, like the next two */
    uint64_t *over_ns;     /* [threads] the same after the finished chunks */
    double *busy_ns;       /* [threads] time in finished chunks */
    bool dry_told;         /* DRY was reported for all chunks */
    uint64_t ended_ns;     /* end of the last finished chunk */
    double later_ns;       /* time spent in later chunks by then */
    bool is_out_of_memory; /* the plan is invalid */
};

struct thread_model_event {
    enum event_type type; /* MARK, SLICE, FINISHED or DRY */
    uint64_t at_ns;
    uint64_t done; /* iterations of the oldest chunk */
};

/* For the worker with this rank; `threads` >= 2. Fails if memory runs out. */
int thread_model_init(struct thread_model *model, unsigned rank, unsigned threads, const struct sched_spec *technique,
                      thread_model_time *time_ns, void *context, struct error *error);
void thread_model_fini(struct thread_model *model);

/* Adds a chunk after the others. */
void thread_model_begin(struct thread_model *model, uint64_t begins_ns, uint64_t first, uint64_t count, uint64_t mark);
void thread_model_set_mark(struct thread_model *model, uint64_t mark);
/* Gives up all chunks except the oldest; threads finish their draws. */
void thread_model_forget(struct thread_model *model, uint64_t now_ns);
/* Gives up steps that no thread has drawn, as many as recall_share() says, from the newest chunk that has some; the
 * oldest keeps at least one unreported iteration. Returns them; may be empty. */
struct range thread_model_cut(struct thread_model *model, uint64_t now_ns, unsigned waiting);
/* Threads take `factor` times as long from now on; `time_ns` must take this into account as well. */
void thread_model_slow(struct thread_model *model, uint64_t now_ns, double factor);

/* When thread 0 checks a message that arrives now: after the pieces of a turn. */
uint64_t thread_model_hears_ns(const struct thread_model *model, uint64_t now_ns);

/* The next event, possibly in the past; false if no chunk is running. */
bool thread_model_next(const struct thread_model *model, struct thread_model_event *next);
/* Takes the event: fills in `event` without results, and returns the iterations with results. */
struct range thread_model_take(struct thread_model *model, const struct thread_model_event *next, uint64_t now_ns,
                               struct event *event);
