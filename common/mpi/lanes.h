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

/* Creates the shared memory for `ranks` ranks, at most LANES_RANKS_MAX. Sets `*lanes` to lanes for the launcher, which
 * is no rank. Returns the descriptor of the memory. The caller owns both. */
int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error);

/* Returns the name of a limit (`ulimit -v` or `ulimit -f`) that is too low for the shared memory of `ranks` ranks, or
 * NULL. */
const char *lanes_limit(unsigned ranks);

/* Shrinks the shared memory to fewer ranks, before any rank has called lanes_enter(). On failure returns -1 with
 * errno. */
int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks);

void lanes_name(int memory, unsigned rank, unsigned ranks);

/* True after the first rank has met all other ranks. From then on the ranks detect losses themselves. */
bool lanes_have_met(const struct lanes *lanes);

/* If a rank has aborted the launch, returns the exit status that it gave; otherwise -1. */
int lanes_aborted(const struct lanes *lanes);

enum lanes_slot {
    SLOT_TAKEN,  /* a process has this slot and has met the other ranks; this process may have ended since then */
    SLOT_FREE,   /* no process has this slot and the lanes are empty, so the launcher may start a process */
    SLOT_FILLED, /* a process that replaces a lost one has this slot, but has not met the other ranks yet */
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

/* For the first rank, after the process of `rank` has ended: empties the lanes between these two ranks, and sets the
 * slot of `rank` to SLOT_FREE. */
void lanes_vacate(struct lanes *lanes, unsigned rank);

/* Ends this process. The launcher then ends all other ranks too, unless this process replaces a lost rank. */
_Noreturn void lanes_abort(struct lanes *lanes, int status);

/* A barrier. lanes_pass() says that this rank has reached the barrier. lanes_have_all_passed() returns true once all
 * ranks have called lanes_pass(). Before the next barrier begins, every rank must have seen that true. */
void lanes_pass(struct lanes *lanes);
bool lanes_have_all_passed(const struct lanes *lanes);

/* Allocates memory that all ranks share until the end of the launch: zeroed, aligned to 64 bytes. Each rank must make
 * the same calls in the same order. Returns NULL if too little memory is left. */
void *lanes_share(struct lanes *lanes, size_t bytes);

bool lanes_have_room(struct lanes *lanes, unsigned to, size_t size);

/* The lane must have room for the message. */
void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size);

/* Takes a message from any rank. Returns false if there is none. The bytes are valid, and their cells remain occupied,
 * until the next call. If a rank has written an impossible size, one empty message is taken from this rank, and none
 * after that. */
bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes lanes_poll() check the lane from a rank that has ended. That rank may have ended before it set its bit. */
void lanes_look_at(struct lanes *lanes, unsigned from);

/* These functions send and receive data. Data have lanes of their own, so they may be used before any message is
 * exchanged. Each function returns how many bytes it has transferred, which may be fewer than `size`. */
size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size);

size_t lanes_data_room(const struct lanes *lanes, unsigned to);
size_t lanes_data_waiting(const struct lanes *lanes, unsigned from);
