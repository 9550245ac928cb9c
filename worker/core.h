/* SPDX-License-Identifier: MIT */
/* What the files of the worker share. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "worker/worker.h"

static inline bool worker_is_dependent(const struct worker *worker)
{
    return worker->config.boundaries != NULL;
}

static inline void worker_send_up(const struct worker *worker, struct actions *actions, const struct message *message)
{
    actions_send(actions, worker->config.master, message);
}
/* Drops a rank that has sent an invalid message; `text` says what the rank did. */
void worker_refuse(const struct worker *worker, unsigned from, const char *text, struct actions *actions);

/* The functions of boundary.c. Those with a result return -1 if the message is invalid. */
int worker_expect_chunk(struct worker *worker, const struct assigned *chunk);
int worker_take_neighbour(struct worker *worker, const struct neighbour *neighbour, struct actions *actions);
int worker_take_boundary(struct worker *worker, unsigned from, const struct message *message, struct actions *actions);
void worker_begin_boundary(struct worker *worker, struct actions *actions);
void worker_note_boundary_ready(struct worker *worker, const struct boundary_ready *ready, struct actions *actions);
void worker_end_boundary(struct worker *worker, struct actions *actions);

void worker_receive_recall(struct worker *worker, const struct recall *recall, struct actions *actions);
void worker_note_stolen(struct worker *worker, const struct range *range);
void worker_tell_cut(struct worker *worker, const struct range *cut, struct actions *actions);

unsigned worker_wants(const struct worker *worker, uint64_t done);
uint64_t worker_next_mark(const struct worker *worker, uint64_t done);
bool worker_may_hold(const struct worker *worker, unsigned asks);
void worker_learn_round_trip(struct worker *worker, uint64_t now_ns);
void worker_came_in_time(struct worker *worker);
void worker_learn_from_mark(struct worker *worker, uint64_t compute_ns, uint64_t done);
void worker_learn_iteration_time(struct worker *worker, uint64_t compute_ns, uint64_t done);
void worker_note_asks(struct worker *worker, unsigned asks, uint64_t now_ns);
