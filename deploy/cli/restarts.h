/* SPDX-License-Identifier: MIT */
/* Starting a lost run again: whether it is worth it, and the line that says so.
 *
 * A run is lost when no rank has said how it went: its supermaster died, or its launcher did; or when it has said that
 * it lost a rank without which it cannot go on. Its journal then says what of it is stored. Any other run that has said
 * how it went is not lost, whatever its status, nor is one that somebody wanted to end. One that records nothing
 * between two losses would only be lost once more. A set that was up goes on with the jobs of its queue. */
#pragma once

#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Largest value of --restarts: a run that was lost more often than this is not helped by one more start. */
#define RESTARTS_MAX 1000

/* A journal as it was found at some moment. */
struct journal_seen {
    bool readable; /* it is there, and a journal; else the others are 0 */
    dev_t device;
    ino_t inode;
    struct timespec changed;
    uint64_t done;   /* iterations that it calls done */
    uint64_t deaths; /* that iterations have caused */
};

struct restarts {
    const char *journal; /* borrowed: the path of the job's journal; empty: it keeps none */
    const char *without; /* constant: what follows from a loss where no journal is kept */
    bool is_set;
    unsigned limit;             /* starts after the first, at most */
    unsigned count;             /* those that were due until now */
    struct journal_seen before; /* before the first start: of an earlier run, or nothing */
    struct journal_seen latest; /* at the last start */
    bool is_stored;             /* the journal is that of this run: --resume goes on with it */
};

/* To be called before the first start. */
void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without);
void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without);

/* After a start that has ended: true if the run is to be started again. Says of a lost run what becomes of it. */
bool restarts_are_due(struct restarts *restarts, const struct launch *how);
