/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the library: shared loops. */
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

struct measured {
    uint32_t worker;
    uint32_t chunks;
    uint64_t iterations;
    double compute_s, wait_s;
};

/* A way to share the loop. open() and close() are collective. */
struct mode {
    size_t own_bytes; /* size of loop->own, initially zero */
    /* Local preparation: checks that the technique fits the mode, and allocates. Returns an enum hdss_status. */
    int (*prepare)(struct hdss_shared_loop *loop);
    /* After a failure close() is called as well. */
    int (*open)(struct hdss_shared_loop *loop);
    /* Draws the next chunk. False if none is left, or after a failure in loop->state. */
    bool (*draw)(struct hdss_shared_loop *loop, struct range *chunk);
    /* Asks ahead for the next chunk; may be NULL. */
    void (*ask)(struct hdss_shared_loop *loop);
    /* Serves other ranks; true if there was something to do. */
    bool (*serve)(struct hdss_shared_loop *loop);
    /* Ends drawing on this rank, possibly early; returns when no rank needs it. */
    void (*finish)(struct hdss_shared_loop *loop);
    void (*close)(struct hdss_shared_loop *loop);
    /* Frees what prepare() allocated. */
    void (*fini)(struct hdss_shared_loop *loop);
};

extern const struct mode mode_served, mode_dca;

enum loop_state {
    LOOP_RUNS,
    LOOP_ENDED,  /* hdss_loop_next() has returned 0 */
    LOOP_BROKEN, /* a time step could not begin, or a draw failed */
};

/* Times since the common start. */
struct figures {
    uint64_t iterations, chunks, pieces, refills, messages, bytes;
    uint64_t compute_ns, wait_ns;
    uint64_t first_ns, finish_ns; /* UINT64_MAX: no chunk */
    uint64_t least_wait_ns;       /* for a chunk; UINT64_MAX: none */
};

struct hdss_shared_loop {
    void *unused[2]; /* padding: the start of freed memory is often overwritten */
    uint64_t magic;
    pthread_mutex_t mutex; /* locked during each call */
    struct error error;
    struct api_settings settings;
    struct team team;
    double *speeds; /* [ranks] owned; NULL: equal */
    double *powers; /* [ranks] for the technique; owned; NULL: none */
    uint64_t iterations;
    uint32_t epoch; /* number of time steps begun */
    enum loop_state state;
    const struct mode *mode;
    void *own; /* state of the mode; owned */
    bool open, finished;
    bool serves; /* other ranks send requests to this one */
    struct backoff backoff;
    struct hdss_shared_loop **linked; /* [linked_count] owned */
    unsigned linked_count;
    struct figures figures;
    uint64_t start_ns;
    int64_t started_at; /* seconds since 1970 */

    /* the present chunk */
    struct range rest; /* not yet returned to the program */
    uint64_t piece;
    uint64_t piece_ns;   /* its start; 0: none */
    uint64_t rest_least; /* remaining iterations at which the next chunk is requested; 0: not ahead */
    bool asked;
    double iteration_ns;      /* of the latest piece; 0: unknown */
    struct measured measured; /* unreported chunks, including the open one */
    bool has_chunk;

    /* auto.c */
    struct candidates *candidates; /* rank 0; owned; NULL: no choice */
    double seen_iterations, seen_compute_s;
    struct {
        double weight, mean_s, squares; /* time of an iteration, weighted by the length of pieces */
        uint64_t pieces;
    } spread;
    bool speeds_measured, technique_changed;

    /* progress_thread.c */
    bool helped;
    pthread_t progress_thread;
    pthread_mutex_t serving;
    _Atomic bool stop_helping;
};

/* The latest piece is finished; time until the next call does not count. */
void loop_pause(struct hdss_shared_loop *loop);

void loop_finish(struct hdss_shared_loop *loop);

/* Sets loop->powers for the technique, per rank or group. */
int loop_make_powers(struct hdss_shared_loop *loop, bool by_group);

/* Called after each unsuccessful poll. */
void linked_wait(struct hdss_shared_loop *loop);

/* Unlinks an ended loop. */
void linked_fini(struct hdss_shared_loop *loop);

/* Collective, between two time steps, after loop->iterations is set. Returns an enum hdss_status. */
int auto_choose(struct hdss_shared_loop *loop);
/* For the report on rank 0; NULL: no choice. */
const struct choice *auto_choice(const struct hdss_shared_loop *loop);
void auto_fini(struct hdss_shared_loop *loop);

/* -1: the thread cannot be started. */
int progress_start(struct hdss_shared_loop *loop);
void progress_stop(struct hdss_shared_loop *loop);
/* Protect state shared with the thread. */
void progress_lock(struct hdss_shared_loop *loop);
void progress_unlock(struct hdss_shared_loop *loop);

/* Collective, after the end: fills in the report on rank 0; `rows` is freed by the caller. */
int totals_gather(struct hdss_shared_loop *loop, struct report *report, struct report_worker **rows);

/* Writes the report of rank 0. Returns an enum hdss_status. */
int totals_write(struct hdss_shared_loop *loop, const struct report *report);
