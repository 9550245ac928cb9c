/* SPDX-License-Identifier: MIT */
/* Messages of a launch without MPI, whose ranks were forked on one machine and share memory: see lanes.c. Independent
 * of MPI. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most ranks of such a launch. */
#define LANES_RANKS_MAX 1024

struct lanes;

/* --- For the launcher. */

/* Creates the memory for 1 to LANES_RANKS_MAX ranks, and lanes of no rank. Returns its descriptor, owned. */
int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error);

/* Names the limit (`ulimit -v` or `ulimit -f`) that is too low for the memory of this many ranks, or NULL. */
const char *lanes_limit(unsigned ranks);

/* Shrinks the memory to fewer ranks before any rank has entered. -1 with errno. */
int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks);

/* Describes the memory in the environment of the program that becomes this rank. */
void lanes_name(int memory, unsigned rank, unsigned ranks);

/* True once the first rank knows all others: then the ranks detect losses themselves. */
bool lanes_have_met(const struct lanes *lanes);

/* The status with which a rank aborted the launch, or -1. */
int lanes_aborted(const struct lanes *lanes);

/* The slot of a rank: which process is behind its lanes. */
enum lanes_slot {
    SLOT_TAKEN,  /* one that has met the others, or had when it ended */
    SLOT_FREE,   /* none: its lanes are empty, and the launcher may start one */
    SLOT_FILLED, /* one that the launcher has started instead, and that has not met the others yet */
    SLOT_CLOSED, /* none, and none follows */
};

enum lanes_slot lanes_slot(const struct lanes *lanes, unsigned rank);
void lanes_set_slot(struct lanes *lanes, unsigned rank, enum lanes_slot slot);

/* --- For a rank. */

/* Maps the memory that the launcher described. False, with NULL, if there is none; NULL with an error on failure. */
bool lanes_enter(struct lanes **lanes, struct error *error);

/* NULL is allowed. */
void lanes_free(struct lanes *lanes);

unsigned lanes_rank(const struct lanes *lanes);
unsigned lanes_ranks(const struct lanes *lanes);

void lanes_note_met(struct lanes *lanes);

/* For the first rank: empties the lanes between it and a rank whose process has ended, and frees the slot of that. */
void lanes_vacate(struct lanes *lanes, unsigned rank);

/* Makes the launcher end all ranks and exit with the status; a rank that has returned ends alone. */
_Noreturn void lanes_abort(struct lanes *lanes, int status);

/* A barrier: announces this rank; true once all ranks have. All must see it complete before the next one. */
void lanes_pass(struct lanes *lanes);
bool lanes_have_all_passed(const struct lanes *lanes);

/* Allocates memory shared by all ranks until the end of the launch, zeroed, aligned to 64 bytes. Each rank must make
 * the same calls in the same order. NULL if none is left. */
void *lanes_share(struct lanes *lanes, size_t bytes);

/* True if a message of this size can be sent. */
bool lanes_have_room(struct lanes *lanes, unsigned to, size_t size);

/* Sends a message of 1 to MESSAGE_MAX bytes, for which there is room. */
void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size);

/* Takes a message from any rank, or returns false. The bytes are valid, and their room taken, until the next call. From
 * a rank with inconsistent memory an empty message is returned, and nothing else. */
bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes lanes_poll() check the lane of a rank that has ended, even if it has not set its bit. */
void lanes_look_at(struct lanes *lanes, unsigned from);

/* Data besides messages, and bytes exchanged before messages are. Return how many fitted or were there. */
size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size);

/* How many bytes of data fit, and how many are there. */
size_t lanes_data_room(const struct lanes *lanes, unsigned to);
size_t lanes_data_waiting(const struct lanes *lanes, unsigned from);
