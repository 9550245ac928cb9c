/* SPDX-License-Identifier: MIT */
/* Messages of a launch without MPI, whose ranks were forked on one machine and share memory: see lanes.c. Independent
 * of MPI. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_RANKS_MAX 1024

struct lanes;

/* Creates the shared memory for `ranks` ranks, at most LANES_RANKS_MAX, and `*lanes` for the launcher, which is no
 * rank. Returns the descriptor of the memory; the caller owns both. */
int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error);

/* Returns the limit (`ulimit -v` or `ulimit -f`) that is too low for the shared memory of `ranks` ranks; NULL if no
 * limit is too low. */
const char *lanes_limit(unsigned ranks);

/* Shrinks the shared memory to fewer ranks, before any rank has called lanes_enter(). On failure returns -1 with
 * errno. */
int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks);

void lanes_name(int memory, unsigned rank, unsigned ranks);

/* True after the first rank has met all other ranks. From then on the ranks detect losses themselves. */
bool lanes_have_met(const struct lanes *lanes);

/* Returns the exit status with which a rank aborted the launch; -1 if none has. */
int lanes_aborted(const struct lanes *lanes);

enum lanes_slot {
    SLOT_TAKEN,  /* belongs to a process that has met the other ranks, even if it has ended */
    SLOT_FREE,   /* no process has it, and its lanes are empty: the launcher may start a process */
    SLOT_FILLED, /* belongs to a process that replaces a lost one and has not met the other ranks yet */
    SLOT_CLOSED,
};

enum lanes_slot lanes_slot(const struct lanes *lanes, unsigned rank);
void lanes_set_slot(struct lanes *lanes, unsigned rank, enum lanes_slot slot);

/* Maps the shared memory that the launcher named in the environment. Returns false if the environment names none. If
 * mapping fails, returns true and sets `*lanes` to NULL. */
bool lanes_enter(struct lanes **lanes, struct error *error);

void lanes_free(struct lanes *lanes);

unsigned lanes_rank(const struct lanes *lanes);
unsigned lanes_ranks(const struct lanes *lanes);

void lanes_note_met(struct lanes *lanes);

/* For the first rank, after the process of `rank` has ended: empties the lanes between the two ranks, and sets the slot
 * of `rank` to SLOT_FREE. */
void lanes_vacate(struct lanes *lanes, unsigned rank);

/* A rank that replaces a lost one ends only itself; any other rank makes the launcher end all ranks. */
_Noreturn void lanes_abort(struct lanes *lanes, int status);

/* A barrier: lanes_pass() announces this rank, and lanes_have_all_passed() is true after all ranks have called
 * lanes_pass(). The next barrier may begin only after all ranks have seen that it is true. */
void lanes_pass(struct lanes *lanes);
bool lanes_have_all_passed(const struct lanes *lanes);

/* Allocates memory that all ranks share until the end of the launch: zeroed, aligned to 64 bytes. Each rank must make
 * the same calls in the same order. Returns NULL if too little memory is left. */
void *lanes_share(struct lanes *lanes, size_t bytes);

bool lanes_have_room(struct lanes *lanes, unsigned to, size_t size);

/* The lane must have room for the message. */
void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size);

/* Takes a message from any rank; returns false if there is none. The bytes are valid, and their cells remain occupied,
 * until the next call. If a rank has written an impossible size, one empty message is taken from it, and no more after
 * that. */
bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes lanes_poll() check the lane from a rank that has ended, in case it ended before it set its bit. */
void lanes_look_at(struct lanes *lanes, unsigned from);

/* Send and receive data on lanes separate from messages; may be used before any message is exchanged. Each returns how
 * many bytes it has transferred, which may be fewer than `size`. */
size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size);

size_t lanes_data_room(const struct lanes *lanes, unsigned to);
size_t lanes_data_waiting(const struct lanes *lanes, unsigned from);
