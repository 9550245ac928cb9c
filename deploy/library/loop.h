/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the library: the shared loop and its modes. */
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

/* A way to share the loop among the ranks. open() and close() are collective. */
struct mode {
    size_t own_bytes;
    /* Checks whether the technique suits the mode, and allocates memory. Does not communicate. Returns an enum
     * hdss_status. */
    int (*prepare)(struct hdss_shared_loop *loop);
    /* If open() fails, close() must still be called. */
    int (*open)(struct hdss_shared_loop *loop);
    /* Draws the next chunk. Returns false if none is left, and also after a failure, which sets loop->state. */
    bool (*draw)(struct hdss_shared_loop *loop, struct range *chunk);
    void (*ask)(struct hdss_shared_loop *loop);
    bool (*serve)(struct hdss_shared_loop *loop);
    /* Ends drawing on this rank, even if iterations remain. Returns when no other rank needs this rank any more. */
    void (*finish)(struct hdss_shared_loop *loop);
    void (*close)(struct hdss_shared_loop *loop);
    void (*fini)(struct hdss_shared_loop *loop);
};

extern const struct mode mode_served, mode_dca;

enum loop_state {
    LOOP_RUNS,
    LOOP_ENDED,
    LOOP_BROKEN,
};

struct figures {
    uint64_t iterations, chunks, pieces, refills, messages, bytes;
    uint64_t compute_ns, wait_ns;
    uint64_t first_ns, finish_ns;
    uint64_t least_wait_ns;
};

struct hdss_shared_loop {
    /* keeps `magic` away from the first bytes, which are often overwritten after memory was freed */
    void *unused[2];
    uint64_t magic;
    pthread_mutex_t mutex;
    struct error error;
    struct api_settings settings;
    struct team team;
    double *speeds;
    double *powers;
    uint64_t iterations;
    uint32_t epoch;
    enum loop_state state;
    const struct mode *mode;
    void *own;
    bool open, finished;
    bool serves;
    struct backoff backoff;
    struct hdss_shared_loop **linked;
    unsigned linked_count;
    struct figures figures;
    uint64_t start_ns;
    int64_t started_at;

    struct range rest;
    uint64_t piece;
    uint64_t piece_ns; /* when the current piece began; 0: no piece is running */
    uint64_t rest_least;
    bool asked;
    double iteration_ns;
    struct measured measured;
    bool has_chunk;

    struct candidates *candidates;
    double seen_iterations, seen_compute_s;
    struct {
        double weight, mean_s, squares;
        uint64_t pieces;
    } spread;
    bool speeds_measured, technique_changed;

    bool helped;
    pthread_t progress_thread;
    pthread_mutex_t serving;
    _Atomic bool stop_helping;
};

/* Records the end of the latest piece: the time from now until the next call does not count as compute time. */
void loop_pause(struct hdss_shared_loop *loop);

void loop_finish(struct hdss_shared_loop *loop);

int loop_make_powers(struct hdss_shared_loop *loop, bool by_group);

/* Serves linked loops. If none of them has anything to serve, waits as described in backoff.h. Call it after each poll
 * that has found nothing. */
void linked_wait(struct hdss_shared_loop *loop);

void linked_fini(struct hdss_shared_loop *loop);

/* Chooses the technique for the next time step. Collective; call it between two time steps, after loop->iterations is
 * set. Returns an enum hdss_status. */
int auto_choose(struct hdss_shared_loop *loop);
/* Returns the choice for the report, on rank 0; NULL: no technique was chosen. */
const struct choice *auto_choice(const struct hdss_shared_loop *loop);
void auto_fini(struct hdss_shared_loop *loop);

int progress_start(struct hdss_shared_loop *loop);
void progress_stop(struct hdss_shared_loop *loop);
void progress_lock(struct hdss_shared_loop *loop);
void progress_unlock(struct hdss_shared_loop *loop);

/* Collective; call it after the end of the loop. Fills in the report on rank 0, and there allocates `rows`, which the
 * caller frees. */
int totals_gather(struct hdss_shared_loop *loop, struct report *report, struct report_worker **rows);

int totals_write(struct hdss_shared_loop *loop, const struct report *report);
