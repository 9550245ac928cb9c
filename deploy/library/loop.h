/* SPDX-License-Identifier: MIT */
/* What the files of the library share: loops. */
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
    /* Local: checks whether the technique suits the mode, and allocates. Returns an enum hdss_status. */
    int (*prepare)(struct hdss_shared_loop *loop);
    /* close() is called also if it fails. */
    int (*open)(struct hdss_shared_loop *loop);
    /* Draws the next chunk. Returns false if none is left; also after a failure, which loop->state has. */
    bool (*draw)(struct hdss_shared_loop *loop, struct range *chunk);
    /* Requests the next chunk ahead; may be NULL. */
    void (*ask)(struct hdss_shared_loop *loop);
    /* Serves other ranks. Returns true if there was something to do. */
    bool (*serve)(struct hdss_shared_loop *loop);
    /* Ends drawing on this rank, perhaps early. Returns when no other rank needs this one. */
    void (*finish)(struct hdss_shared_loop *loop);
    void (*close)(struct hdss_shared_loop *loop);
    void (*fini)(struct hdss_shared_loop *loop);
};

extern const struct mode mode_served, mode_dca;

enum loop_state {
    LOOP_RUNS,
    LOOP_ENDED,
    LOOP_BROKEN, /* a time step could not begin, or a draw has failed */
};

struct figures {
    uint64_t iterations, chunks, pieces, refills, messages, bytes;
    uint64_t compute_ns, wait_ns;
    uint64_t first_ns, finish_ns;
    uint64_t least_wait_ns; /* shortest wait for a chunk; UINT64_MAX: none */
};

struct hdss_shared_loop {
    void *unused[2]; /* the beginning of freed memory is often overwritten; `magic` should not be */
    uint64_t magic;
    pthread_mutex_t mutex; /* locked during each call */
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

    /* The present chunk. */
    struct range rest; /* what the program has not been given yet */
    uint64_t piece;
    uint64_t piece_ns;   /* when it began; 0: no piece is running */
    uint64_t rest_least; /* the next chunk is requested when this many iterations are left; 0: at the end */
    bool asked;
    double iteration_ns;
    struct measured measured; /* chunks that are not reported yet, including the running one */
    bool has_chunk;

    /* For auto.c. */
    struct candidates *candidates; /* on rank 0; NULL: there is no choice */
    double seen_iterations, seen_compute_s;
    struct {
        double weight, mean_s, squares; /* of the time of an iteration, weighted by the length of pieces */
        uint64_t pieces;
    } spread;
    bool speeds_measured, technique_changed;

    /* For progress_thread.c. */
    bool helped;
    pthread_t progress_thread;
    pthread_mutex_t serving;
    _Atomic bool stop_helping;
};

/* Notes that the latest piece is finished; the time until the next call does not count as compute time. */
void loop_pause(struct hdss_shared_loop *loop);

void loop_finish(struct hdss_shared_loop *loop);

/* Sets loop->powers for the technique, a power per rank or per group. */
int loop_make_powers(struct hdss_shared_loop *loop, bool by_group);

/* Serves linked loops, and waits for a moment. Call it after each poll that has found nothing. */
void linked_wait(struct hdss_shared_loop *loop);

void linked_fini(struct hdss_shared_loop *loop);

/* Collective; to be called between two time steps, after loop->iterations is set. Returns an enum hdss_status. */
int auto_choose(struct hdss_shared_loop *loop);
/* Returns the choice for the report, on rank 0; NULL: no technique was chosen. */
const struct choice *auto_choice(const struct hdss_shared_loop *loop);
void auto_fini(struct hdss_shared_loop *loop);

/* Returns -1 if the thread cannot be started. */
int progress_start(struct hdss_shared_loop *loop);
void progress_stop(struct hdss_shared_loop *loop);
/* These lock state that the progress thread uses too. */
void progress_lock(struct hdss_shared_loop *loop);
void progress_unlock(struct hdss_shared_loop *loop);

/* Collective, after the end of the loop. Fills in the report on rank 0, where the caller frees `rows`. */
int totals_gather(struct hdss_shared_loop *loop, struct report *report, struct report_worker **rows);

/* Writes the report; call it on rank 0. Returns an enum hdss_status. */
int totals_write(struct hdss_shared_loop *loop, const struct report *report);
