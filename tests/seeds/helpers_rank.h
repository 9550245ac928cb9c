/* SPDX-License-Identifier: MIT */
/* A rank whose executor has a helper of the made-up world (helpers.h): it turns the executor, sleeps where that is
 * blocked as long as a rank does, and takes account of its events. Each iteration is to come to one end, and to one
 * that is due to what has happened. What is wrong is in helpers.wrong. */
#pragma once

#include "tests/seeds/helpers.h"
#include "worker/exec/inline.h"

#include <stdbool.h>
#include <stdint.h>

enum helpers_end { END_NONE, END_DONE, END_FAILED, END_DIED, END_BACK };

struct helpers_rank_config {
    bool collect, variable, has_effects, lets_go, begins_late;
    uint64_t limit_ns;
};

struct helpers_rank {
    struct exec exec;
    struct helper_start start;
    struct hdss_loop loop;
    struct range chunk[2];           /* the running one, and the next one; count 0: there is none */
    uint64_t told;                   /* iterations of the first that have come to an end */
    unsigned char end[HELPERS_LOOP]; /* enum helpers_end */
    unsigned failures, finished, probed;
    bool keeps_sends; /* what is sent stays on its way */
    struct {
        const void *data; /* NULL: nothing */
        uint64_t until_ns;
    } sent[EXEC_BUFFERS];
    uint64_t send_ns, turns, idle_turns;
    char text[HDSS_ERROR_MAX]; /* of the latest failure */
};

/* Opens the executor in the world, which is to be there, with its scripts. -1 as exec_init() does. */
int rank_open(struct helpers_rank *rank, const struct helpers_rank_config *config);
void rank_close(struct helpers_rank *rank);

void rank_begin(struct helpers_rank *rank, uint64_t first, uint64_t count, uint64_t mark);
void rank_cut(struct helpers_rank *rank, unsigned waiting);
void rank_forget(struct helpers_rank *rank);
void rank_end(struct helpers_rank *rank);

/* Turns once; returns whether it was blocked. */
bool rank_turn(struct helpers_rank *rank);

/* Sleeps as long as a rank does whose executor is blocked. */
void rank_sleep(struct helpers_rank *rank);

/* Turns and sleeps until no chunk is left, or something is wrong. */
void rank_finish(struct helpers_rank *rank);
