/* SPDX-License-Identifier: MIT */
/* Messages of a launch without MPI, whose ranks were forked on one machine and share memory: see lanes.c. Nothing here
 * knows of MPI. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranks of such a launch, at most. */
#define LANES_RANKS_MAX 1024

struct lanes;

/* --- for the launcher --- */

/* Makes the memory for so many ranks, 1 to LANES_RANKS_MAX. Returns its descriptor, which the ranks inherit and which
 * is the caller's; -1 with one line. The lanes are of no rank. */
int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error);

/* Names the limit of this process (`ulimit -v` or `ulimit -f`) that is too low for the memory of so many ranks; NULL:
 * no limit is. */
const char *lanes_limit(unsigned ranks);

/* Makes the memory smaller, for fewer ranks, before any rank enters. -1 with errno. */
int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks);

/* Names the memory in the environment, for the program that is about to become this rank. */
void lanes_name(int memory, unsigned rank, unsigned ranks);

/* True once the first rank has heard of all others: from then on the ranks find out themselves who is lost. */
bool lanes_have_met(const struct lanes *lanes);

/* The status with which a rank has ended the whole launch; -1: none has. */
int lanes_aborted(const struct lanes *lanes);

/* --- for a rank --- */

/* Takes the memory that the launcher has named. False, and NULL, where there is none; NULL alone, with one line, where
 * it cannot be taken. */
bool lanes_enter(struct lanes **lanes, struct error *error);

/* NULL is fine. */
void lanes_free(struct lanes *lanes);

unsigned lanes_rank(const struct lanes *lanes);
unsigned lanes_ranks(const struct lanes *lanes);

void lanes_note_met(struct lanes *lanes);

/* Has the launcher end all ranks, and leave with the status. */
_Noreturn void lanes_abort(struct lanes *lanes, int status);

/* A barrier: says that this rank has come to it; true once all have. Between two barriers all ranks must have left the
 * first. */
void lanes_pass(struct lanes *lanes);
bool lanes_have_all_passed(const struct lanes *lanes);

/* Gives memory that all ranks share to the end of the launch, at first zeros, aligned to 64 bytes. Each rank asks for
 * the same sizes in the same order, and gets the same memory. NULL if none is left. */
void *lanes_share(struct lanes *lanes, size_t bytes);

/* Bytes without messages, for what ranks exchange before there are any. Return how many found room, or were there. */
size_t lanes_put(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take(struct lanes *lanes, unsigned from, void *bytes, size_t size);

/* True where a message of so many bytes can be sent. */
bool lanes_have_room(const struct lanes *lanes, unsigned to, size_t size);

/* Sends a message of 1 to MESSAGE_MAX bytes, for which there is room. */
void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size);

/* A message that has come, of any rank, or false. The bytes stay until the next call. Of a rank whose memory does not
 * make sense an empty message comes, and all else that it had there is dropped. */
bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes lanes_poll() look into the lane of a rank that has ended, also if that rank has not set its bit. */
void lanes_look_at(struct lanes *lanes, unsigned from);

/* Data beside the messages. Return how many bytes found room, or were there. */
size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size);
