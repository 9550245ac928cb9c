/* SPDX-License-Identifier: MIT */
/* Model of the threads of a worker in virtual time, after worker/exec/thread_pool.h.
 *
 * A chunk is planned when it begins. The thread that is free first draws the next scheduling step of the technique for
 * threads, until nothing is left of the chunk. Then a free thread draws from the next chunk. As in a real pool, events
 * are about the oldest chunk until it is FINISHED. DRY is reported once, when a thread finds nothing to draw in any
 * chunk. Thread 0 computes, too. It reports events between two pieces of its work, and checks for messages after
 * several pieces. The plan changes when a chunk is cut, and when the worker becomes slower.
 *
 * Differences from a real pool: all iterations of a draw take the same time. If a chunk has more than some 65,000
 * steps, several steps are drawn at once. A waiting thread draws as soon as a chunk begins; a real thread may have to
 * be woken first. Adaptive techniques get planned times as measurements.
 *
 * Pure. */
#pragma once

#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

#define THREAD_MODEL_CHUNKS_MAX (2 * ASKS_MAX + 1)

struct thread_draw {
    uint64_t start_ns, end_ns;
    uint64_t count;
    unsigned thread;
};

struct thread_model_chunk {
    uint64_t first, count;
    uint64_t planned;
    uint64_t begins_ns;
    uint64_t mark;
    uint64_t told;
    struct thread_draw *draws;
    size_t draw_count, draw_room;
};

/* Work of a thread: iterations [first, first + count) in `calls` kernel calls, from `start_ns` on. `before_ns` is when
 * the previous call of the thread began; negative: there was none. */
struct thread_work {
    double before_ns;
    uint64_t start_ns, first, count, calls;
};

typedef double thread_model_time(void *context, const struct thread_work *work);

struct thread_model {
    struct threads figures;
    unsigned threads;
    uint64_t slice; /* iterations between two reports of results; 0: results are reported once, at the end */
    bool spread;
    thread_model_time *time_ns;
    void *context;
    struct sched sched;
    struct thread_model_chunk chunk[THREAD_MODEL_CHUNKS_MAX];
    unsigned chunk_count;
    /* [threads] each; owned. free_ns: when the thread has ended its work on all chunks. over_ns: when it has ended its
     * work on the finished chunks. busy_ns: how long it has computed in finished chunks. */
    uint64_t *free_ns;
    uint64_t *over_ns;
    double *busy_ns;
    bool dry_told;
    uint64_t ended_ns;
    double later_ns;
    bool is_out_of_memory;
};

struct thread_model_event {
    enum event_type type;
    uint64_t at_ns;
    uint64_t done;
};

int thread_model_init(struct thread_model *model, unsigned rank, unsigned threads, const struct sched_spec *technique,
                      thread_model_time *time_ns, void *context, struct error *error);
void thread_model_fini(struct thread_model *model);

void thread_model_begin(struct thread_model *model, uint64_t begins_ns, uint64_t first, uint64_t count, uint64_t mark);
void thread_model_set_mark(struct thread_model *model, uint64_t mark);
void thread_model_forget(struct thread_model *model, uint64_t now_ns);
/* Gives up iterations of steps that no thread has drawn, and returns them. They belong to the newest chunk that has
 * such steps. recall_share() gives their number, which may be 0. The oldest chunk keeps at least one iteration that was
 * not reported. */
struct range thread_model_cut(struct thread_model *model, uint64_t now_ns, unsigned waiting);
/* From now on threads take `factor` times as long. From now on, `time_ns` must include `factor`. */
void thread_model_slow(struct thread_model *model, uint64_t now_ns, double factor);

/* Returns when thread 0 handles a message that arrives now: at the end of its present turn. */
uint64_t thread_model_hears_ns(const struct thread_model *model, uint64_t now_ns);

bool thread_model_next(const struct thread_model *model, struct thread_model_event *next);
struct range thread_model_take(struct thread_model *model, const struct thread_model_event *next, uint64_t now_ns,
                               struct event *event);
