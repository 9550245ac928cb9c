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

/* Creates the memory for up to LANES_RANKS_MAX ranks, and `*lanes` for a process that is no rank. Returns the memory's
 * descriptor; the caller owns both. */
int lanes_make(struct lanes **lanes, unsigned ranks, struct error *error);

/* Returns the limit (`ulimit -v` or `ulimit -f`) that is too low for the memory of this many ranks, or NULL. */
const char *lanes_limit(unsigned ranks);

/* Shrinks the memory to fewer ranks; no rank may have entered it. On failure returns -1 with errno. */
int lanes_shrink(struct lanes *lanes, int memory, unsigned ranks);

void lanes_name(int memory, unsigned rank, unsigned ranks);

/* True after the first rank has met all others: from then on the ranks detect losses themselves. */
bool lanes_have_met(const struct lanes *lanes);

/* Returns the status with which a rank aborted the launch, or -1. */
int lanes_aborted(const struct lanes *lanes);

enum lanes_slot {
    SLOT_TAKEN,  /* a process that has met the other ranks, even if it has ended */
    SLOT_FREE,   /* no process; the lanes are empty, and the launcher may start a process */
    SLOT_FILLED, /* a process that replaces a lost one and has not met the other ranks yet */
    SLOT_CLOSED,
};

enum lanes_slot lanes_slot(const struct lanes *lanes, unsigned rank);
void lanes_set_slot(struct lanes *lanes, unsigned rank, enum lanes_slot slot);

/* Maps the memory that the launcher described. Returns false if no launcher did. On failure `*lanes` is NULL. */
bool lanes_enter(struct lanes **lanes, struct error *error);

void lanes_free(struct lanes *lanes);

unsigned lanes_rank(const struct lanes *lanes);
unsigned lanes_ranks(const struct lanes *lanes);

void lanes_note_met(struct lanes *lanes);

/* For the first rank: empties the lanes between it and a rank whose process has ended, and makes the slot SLOT_FREE. */
void lanes_vacate(struct lanes *lanes, unsigned rank);

/* A rank that has returned ends only itself; any other makes the launcher end all ranks. */
_Noreturn void lanes_abort(struct lanes *lanes, int status);

/* A barrier. lanes_pass() announces this rank; lanes_have_all_passed() is true after all ranks have passed. All ranks
 * must see that before the next barrier begins. */
void lanes_pass(struct lanes *lanes);
bool lanes_have_all_passed(const struct lanes *lanes);

/* Allocates memory shared by all ranks until the end of the launch: zeroed, aligned to 64 bytes. Each rank must make
 * the same calls in the same order. Returns NULL if too little is left. */
void *lanes_share(struct lanes *lanes, size_t bytes);

bool lanes_have_room(struct lanes *lanes, unsigned to, size_t size);

/* The lane must have room for the message. */
void lanes_send(struct lanes *lanes, unsigned to, const unsigned char *bytes, size_t size);

/* Takes a message from any rank; returns false if there is none. The bytes are valid, and occupy the lane, until the
 * next call. If a rank has written inconsistent memory, one empty message is taken from it, and then no more. */
bool lanes_poll(struct lanes *lanes, unsigned *from, const unsigned char **bytes, size_t *size);

/* Makes lanes_poll() check the lane of a rank that has ended, which may not have set its bit. */
void lanes_look_at(struct lanes *lanes, unsigned from);

/* These send and receive data besides messages, even before messages are exchanged. They return how many bytes they
 * have transferred, which may be fewer than `size`. */
size_t lanes_put_data(struct lanes *lanes, unsigned to, const void *bytes, size_t size);
size_t lanes_take_data(struct lanes *lanes, unsigned from, void *bytes, size_t size);

size_t lanes_data_room(const struct lanes *lanes, unsigned to);
size_t lanes_data_waiting(const struct lanes *lanes, unsigned from);
