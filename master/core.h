/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the master. */
#pragma once

#include "common/machine/machine.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"

/* A master waits at most this time before it reports stored results or a changed number of busy workers. */
#define REPORT_INTERVAL_NS 50000000u

void master_note_done(struct master *master, const struct part *part);
/* Like master_note_done(), but does not merge the range with others. Used for loops with dependencies, because there
 * each range must stay one chunk. */
void master_note_done_alone(struct master *master, const struct part *part);
void master_report(struct master *master, bool refill, uint64_t now_ns);

/* Measurements for a technique that learns. Messages of master_send_feedback() borrow the measurements until its next
 * call. */
int master_feedback_init(struct master *master);
void master_feedback_fini(struct master *master);
void master_note_feedback(struct master *master, unsigned w, const struct feedback_record *feedback);
void master_send_feedback(struct master *master);

void master_send_loads(struct master *master);

int master_speeds_init(struct master *master);
void master_speeds_fini(struct master *master);
void master_note_speed(struct master *master, unsigned w, const struct speed *speed);

void master_receive_recall(struct master *master, const struct recall *recall);
/* Returns work that the supermaster has recalled from this master. If workers of this master are idle, may also ask the
 * supermaster to recall work from other masters. */
void master_look_at_recalls(struct master *master, uint64_t now_ns);

void master_receive_refill(struct master *master, uint64_t now_ns, const struct message *message);
void master_ask_for_refill(struct master *master, uint64_t now_ns);

void master_leave(struct master *master, uint64_t now_ns);

void master_tell_counts(struct master *master);
void master_tell_verified(struct master *master);
void master_move(struct master *master, enum master_state state);
void master_fatal(struct master *master, unsigned rank, const char *text);
void master_refuse(struct master *master, unsigned from, const char *text);
