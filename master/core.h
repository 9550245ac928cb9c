/* SPDX-License-Identifier: MIT */
/* The parts of the master, for its own files only. */
#pragma once

#include "common/machine/machine.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"

/* A stored result, or a change in the number of busy workers, waits at most this long for a report when nothing else
 * sends one. */
#define REPORT_INTERVAL_NS 50000000u

/* collect.c */
void master_note_done(struct master *master, const struct part *part);
/* Notes a chunk of a loop with dependencies, which may have been done before, other than its neighbours. */
void master_note_done_alone(struct master *master, const struct part *part);
void master_report(struct master *master, bool refill, uint64_t now_ns);

/* feedback.c: only where the job's technique learns */
int master_feedback_init(struct master *master); /* -1 when memory is out */
void master_feedback_fini(struct master *master);
void master_note_feedback(struct master *master, unsigned w, const struct feedback_record *feedback);
/* Sends the gathered measurements; the messages borrow them until the next ones. */
void master_send_feedback(struct master *master);

/* loads.c */
/* Tells the loads that have changed; the messages borrow them until the next one. */
void master_send_loads(struct master *master);

/* speeds.c */
int master_speeds_init(struct master *master); /* -1 when memory is out */
void master_speeds_fini(struct master *master);
/* Keeps the speed of worker `w`. */
void master_note_speed(struct master *master, unsigned w, const struct speed *speed);

/* recall.c: work that has not begun moves to who is idle */
void master_receive_recall(struct master *master, const struct recall *recall);
/* Gives back what is recalled from here, and asks for what may be recalled elsewhere. */
void master_look_at_recalls(struct master *master, uint64_t now_ns);

/* refill.c */
void master_receive_refill(struct master *master, uint64_t now_ns, const struct message *message);
void master_ask_for_refill(struct master *master, uint64_t now_ns);

/* leave.c */
void master_leave(struct master *master, uint64_t now_ns);

/* core.c */
/* Tells the supermaster what the service has counted since it was told last, if that is anything. */
void master_tell_counts(struct master *master);
/* Tells the supermaster what was computed a second time since it was told last, and what differed, if there is any. */
void master_tell_verified(struct master *master);
void master_move(struct master *master, enum master_state state);
/* Tells the supermaster that the run cannot go on. */
void master_fatal(struct master *master, unsigned rank, const char *text);
/* Drops the sender of a message that cannot be. */
void master_refuse(struct master *master, unsigned from, const char *text);
