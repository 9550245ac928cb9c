/* SPDX-License-Identifier: MIT */
/* The parts of a shared loop, for the library's own files: the team, the mode, and what is handed out. */
#pragma once

#include "common/metrics/report.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/library/backoff.h"
#include "deploy/library/options.h"
#include "deploy/library/team.h"
#include "hdss/hdss.h"

#include <pthread.h>

struct hdss_shared_loop;

bool loop_is_valid(const struct hdss_shared_loop *loop);

/* Measurements of a rank for chunks that it has finished. */
struct measured {
    uint32_t worker; /* rank */
    uint32_t chunks;
    uint64_t iterations;
    double compute_s, wait_s;
};

/* A way to share the loop. What all ranks call together: open, close. */
struct mode {
    size_t own_bytes; /* bytes that the mode keeps at loop->own, zero at first */
    /* Prepares a rank by itself, for a loop or the next time step: looks whether the technique goes with the mode, and
     * allocates. An enum hdss_status, with a line. */
    int (*prepare)(struct hdss_shared_loop *loop);
    /* -1 with one line; close() comes all the same. */
    int (*open)(struct hdss_shared_loop *loop);
    /* Draws the next chunk, from the loop's beginning. False: no chunk is left, or loop->state says why. */
    bool (*draw)(struct hdss_shared_loop *loop, struct range *chunk);
    /* Asks for the next chunk ahead; NULL: not to be had. */
    void (*ask)(struct hdss_shared_loop *loop);
    /* Answers other ranks; returns whether there was something to do. */
    bool (*serve)(struct hdss_shared_loop *loop);
    /* Ends this rank's drawing, at the end or before: returns when nobody needs it. */
    void (*finish)(struct hdss_shared_loop *loop);
    void (*close)(struct hdss_shared_loop *loop);
    /* Releases what prepare() has left. */
    void (*fini)(struct hdss_shared_loop *loop);
};

extern const struct mode mode_served, mode_dca;

enum loop_state {
    LOOP_RUNS,
    LOOP_ENDED,  /* hdss_loop_next() has returned 0 */
    LOOP_BROKEN, /* the next time step could not begin, or a draw has failed */
};

/* Times since the common start. */
struct figures {
    uint64_t iterations, chunks, pieces, refills, messages, bytes;
    uint64_t compute_ns, wait_ns;
    uint64_t first_ns, finish_ns; /* UINT64_MAX without a chunk */
    uint64_t least_wait_ns;       /* for a chunk; UINT64_MAX without one */
};

struct hdss_shared_loop {
    void *unused[2]; /* the place that is most often overwritten in released memory */
    uint64_t magic;
    pthread_mutex_t mutex; /* held during each call */
    struct error error;
    struct api_settings settings;
    struct team team;
    double *speeds; /* [ranks], owned; NULL: all the same */
    double *powers; /* [ranks] for the technique, owned; NULL where it takes none */
    uint64_t iterations;
    uint32_t epoch; /* time steps begun */
    enum loop_state state;
    const struct mode *mode;
    void *own;           /* the mode's, owned */
    bool open, finished; /* the mode was opened, and told to finish, in this time step */
    bool serves;         /* other ranks ask this rank */
    struct backoff backoff;
    struct hdss_shared_loop **linked; /* [linked_count], owned */
    unsigned linked_count;
    struct figures figures;
    uint64_t start_ns;
    int64_t started_at; /* seconds since 1970 */

    /* the chunk that is being handed out */
    struct range rest;   /* rest of the chunk, not handed out yet */
    uint64_t piece;      /* iterations of the latest piece */
    uint64_t piece_ns;   /* when the piece was handed out; 0: the rank has none */
    uint64_t rest_least; /* the next chunk is asked for when so much is left; 0: it is not asked for ahead */
    bool asked;
    double iteration_ns;      /* time of an iteration of the latest piece; 0: not known */
    struct measured measured; /* measurements of the finished chunks that are not told yet, and of the open one */
    bool has_chunk;

    /* auto.c */
    struct candidates *candidates; /* rank 0, owned; NULL: nothing was chosen */
    double seen_iterations, seen_compute_s;
    struct {
        double weight, mean_s, squares; /* time of an iteration, each piece weighted by its length */
        uint64_t pieces;
    } spread;
    bool speeds_measured, technique_changed;

    /* progress_thread.c */
    bool helped;
    pthread_t progress_thread;
    pthread_mutex_t serving;
    _Atomic bool stop_helping;
};

/* The program has computed its latest piece, and what it does until the next call is none of the loop's. */
void loop_pause(struct hdss_shared_loop *loop);

/* Ends this rank's drawing; returns when nobody needs it. */
void loop_finish(struct hdss_shared_loop *loop);

/* Makes loop->powers for the technique, of the ranks or of the groups. -1 when memory is out. */
int loop_make_powers(struct hdss_shared_loop *loop, bool by_group);

/* --- linked.c: loops that are answered for while this one waits --- */

/* To be called after each look for a message that found none. */
void linked_wait(struct hdss_shared_loop *loop);

/* For a loop that ends: the others forget it. */
void linked_fini(struct hdss_shared_loop *loop);

/* --- auto.c: choosing the technique --- */

/* Collective, between two time steps, once loop->iterations is that of the next. An enum hdss_status. */
int auto_choose(struct hdss_shared_loop *loop);
/* On rank 0, for the report; NULL: nothing was chosen. */
const struct choice *auto_choice(const struct hdss_shared_loop *loop);
void auto_fini(struct hdss_shared_loop *loop);

/* --- progress_thread.c: a thread that answers others --- */

/* -1 when there is no thread to be had. */
int progress_start(struct hdss_shared_loop *loop);
void progress_stop(struct hdss_shared_loop *loop);
/* Around whatever the thread might do as well. */
void progress_lock(struct hdss_shared_loop *loop);
void progress_unlock(struct hdss_shared_loop *loop);

/* --- totals.c: figures of all ranks --- */

/* Collective, after the end: fills in the report on rank 0, whose rows are to be freed. -1 when memory is out. */
int totals_gather(struct hdss_shared_loop *loop, struct report *report, struct report_worker **rows);

/* Rank 0's file. An enum hdss_status. */
int totals_write(struct hdss_shared_loop *loop, const struct report *report);
