/* SPDX-License-Identifier: MIT */
/* How the threads of a simulated worker share its chunks: what worker/exec/thread_pool.h does, in modelled time.
 *
 * A chunk that begins is planned at once: the thread that is free first draws the next scheduling step of the technique
 * among threads, then the one that is free next, each from the moment at which it is free. A thread that finds a chunk
 * dry goes on with the one behind it. Events are of the oldest chunk, as in a real pool, until it has FINISHED; DRY is
 * told once for all that has begun, when a thread finds nothing to draw. Thread 0 computes, too, and tells of all that
 * between two pieces of its work; at messages it looks after some pieces. What is planned changes when a chunk is cut,
 * and when the worker becomes slower.
 *
 * Differences from a real pool: a draw makes progress evenly; of more than some 65,000 steps of a chunk several are
 * drawn at once; a thread that waited draws the moment a chunk begins,
 * where a real one may have to be woken; of a technique that learns what is planned counts as measured.
 *
 * Pure. Time is that of the simulation. */
#pragma once

#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

/* Chunks that run, or are to: those of the worker's queue, and the oldest. */
#define THREAD_MODEL_CHUNKS_MAX (2 * ASKS_MAX + 1)

/* Iterations that a thread has drawn together; they follow those of the draw before. */
struct thread_draw {
    uint64_t start_ns, end_ns;
    uint64_t count;
    unsigned thread;
};

struct thread_model_chunk {
    uint64_t first, count;     /* without what was cut off */
    uint64_t planned;          /* with it: the loop of the technique */
    uint64_t begins_ns;        /* none of it is drawn before */
    uint64_t mark;             /* 0: none */
    uint64_t told;             /* iterations whose results have left */
    struct thread_draw *draws; /* [draw_count] in the order of drawing; owned */
    size_t draw_count, draw_room;
};

/* Work of one thread from `start_ns` on: [first, first + count), in so many calls of the kernel. It called that last at
 * `before_ns`; below 0: never. */
struct thread_work {
    double before_ns;
    uint64_t start_ns, first, count, calls;
};

/* Returns the time that it takes. */
typedef double thread_model_time(void *context, const struct thread_work *work);

struct thread_model {
    struct threads figures; /* of the threads until the latest chunk that was over */
    unsigned threads;
    uint64_t slice; /* iterations after which results leave; 0: all at the end */
    bool spread;    /* how the iterations of a chunk differ is wanted */
    thread_model_time *time_ns;
    void *context;
    struct sched sched;
    struct thread_model_chunk chunk[THREAD_MODEL_CHUNKS_MAX]; /* [chunk_count] the oldest first */
    unsigned chunk_count;
    uint64_t *free_ns;     /* [threads] when each is free behind all chunks; owned, and with it the next two */
    uint64_t *over_ns;     /* [threads] the same behind those chunks that are over */
    double *busy_ns;       /* [threads] time in chunks that are over */
    bool dry_told;         /* of all that has begun */
    uint64_t ended_ns;     /* the latest chunk that was over ended */
    double later_ns;       /* time that threads had spent by then in chunks behind it */
    bool is_out_of_memory; /* nothing that is planned counts */
};

/* What comes next. */
struct thread_model_event {
    enum event_type type; /* MARK, SLICE, FINISHED or DRY */
    uint64_t at_ns;
    uint64_t done; /* iterations of the oldest chunk */
};

/* `rank` is the worker's; `threads` is at least 2. -1 with one line when memory is out. */
int thread_model_init(struct thread_model *model, unsigned rank, unsigned threads, const struct sched_spec *technique,
                      thread_model_time *time_ns, void *context, struct error *error);
void thread_model_fini(struct thread_model *model);

/* Begins a chunk behind those that run. */
void thread_model_begin(struct thread_model *model, uint64_t begins_ns, uint64_t first, uint64_t count, uint64_t mark);
/* Sets the mark of the oldest chunk. */
void thread_model_set_mark(struct thread_model *model, uint64_t mark);
/* Gives up all chunks but the oldest; threads finish what they have drawn of them. */
void thread_model_forget(struct thread_model *model, uint64_t now_ns);
/* Gives up, of the newest chunk that has some, what recall_share() says of the steps that nobody has drawn; the oldest
 * keeps an iteration that has not been told. Returns them, none where all is drawn. */
struct range thread_model_cut(struct thread_model *model, uint64_t now_ns, unsigned waiting);
/* From now on the threads take `factor` times as long, which `time_ns` knows of as well. */
void thread_model_slow(struct thread_model *model, uint64_t now_ns, double factor);

/* When thread 0 looks at a message that comes now: when it has done the pieces of a turn. */
uint64_t thread_model_hears_ns(const struct thread_model *model, uint64_t now_ns);

/* Finds what comes next; false: nothing does, as no chunk runs. It may be at a time that has passed. */
bool thread_model_next(const struct thread_model *model, struct thread_model_event *next);
/* Has it come: fills in the event but for its results, which are those of the returned iterations. */
struct range thread_model_take(struct thread_model *model, const struct thread_model_event *next, uint64_t now_ns,
                               struct event *event);
