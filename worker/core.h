/* SPDX-License-Identifier: MIT */
/* The parts of the worker, for its own files only. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "worker/worker.h"

static inline bool worker_is_dependent(const struct worker *worker)
{
    return worker->config.boundaries != NULL;
}

/* core.c */
static inline void worker_send_up(const struct worker *worker, struct actions *actions, const struct message *message)
{
    actions_send(actions, worker->config.master, message);
}
/* Takes a rank for broken: nothing that it sends can be relied on. */
void worker_refuse(const struct worker *worker, unsigned from, const char *text, struct actions *actions);

/* boundary.c: in a loop with dependencies. -1 where the message cannot be right. */
int worker_expect_chunk(struct worker *worker, const struct assigned *chunk);
int worker_take_neighbour(struct worker *worker, const struct neighbour *neighbour, struct actions *actions);
int worker_take_boundary(struct worker *worker, unsigned from, const struct message *message, struct actions *actions);
/* Note that the running chunk is about to begin; has more boundary data; is finished. */
void worker_begin_boundary(struct worker *worker, struct actions *actions);
void worker_note_boundary_ready(struct worker *worker, const struct boundary_ready *ready, struct actions *actions);
void worker_end_boundary(struct worker *worker, struct actions *actions);

/* recall.c: work that has not begun goes back */
void worker_receive_recall(struct worker *worker, const struct recall *recall, struct actions *actions);
/* The executor has cut the end off a chunk. */
void worker_tell_cut(struct worker *worker, const struct range *cut, struct actions *actions);

/* ahead.c */
/* Number of chunks to ask for now, with `done` iterations of the running chunk behind it; all of them: the worker is
 * about to be idle. */
unsigned worker_wants(const struct worker *worker, uint64_t done);
/* Iterations of the running chunk after which to look again; 0: not before its end. */
uint64_t worker_next_mark(const struct worker *worker, uint64_t done);
/* True if completions may wait for the next one, with `asks` chunks to be asked for. */
bool worker_may_hold(const struct worker *worker, unsigned asks);
void worker_learn_round_trip(struct worker *worker, uint64_t now_ns);
/* Notes that the next chunk was here when it was needed, so that the lead may be shorter. */
void worker_came_in_time(struct worker *worker);
/* Takes in how long `done` iterations of the running chunk took so far. */
void worker_learn_from_mark(struct worker *worker, uint64_t compute_ns, uint64_t done);
/* Takes in how long all iterations of a chunk took. */
void worker_learn_iteration_time(struct worker *worker, uint64_t compute_ns, uint64_t done);
/* Notes that `asks` chunks are asked for. */
void worker_note_asks(struct worker *worker, unsigned asks, uint64_t now_ns);
