/* SPDX-License-Identifier: MIT */
/* Library for MPI programs: the ranks of a communicator share a loop whose body stays in the program.
 *     struct hdss_shared_loop *loop;
 *     int64_t first, count;
 *     hdss_loop_new(MPI_COMM_WORLD, iterations, NULL, &loop);
 *     while (hdss_loop_next(loop, &first, &count) > 0)
 *         for (int64_t i = first; i < first + count; i++)
 *             compute(i);
 *     hdss_loop_free(&loop);
 *
 * Each iteration in [0, iterations) is given to exactly one rank. Each loop duplicates the communicator, so the
 * messages of a loop do not interfere with other messages. Functions return 0 or a positive number on success. On
 * failure they return a negative enum hdss_status, and the loop or the options store the error text. Functions never
 * print, end the program, or use global state. Several threads may call functions for the same loop or options, but
 * not at the same time. Counts are signed, so that negative arguments are detected.
 *
 * See hdss_loop_new(3), hdss_loop_next(3), hdss_options_set(3). */
#ifndef HDSS_HDSS_H
#define HDSS_HDSS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum hdss_status {
    HDSS_OK = 0,
    HDSS_ERROR_USE = -1, /* an invalid call, for example with a null pointer or a freed loop */
    /* MPI is not initialized, is finalized already, or does not have the required thread support */
    HDSS_ERROR_MPI = -2,
    HDSS_ERROR_COMM = -3, /* the communicator is no intracommunicator with at least one rank */
    HDSS_ERROR_COUNT = -4,
    HDSS_ERROR_OPTION = -5,
    HDSS_ERROR_TECHNIQUE = -6, /* the technique rejects the loop or does not support this mode */
    HDSS_ERROR_DIFFERENT = -7,
    HDSS_ERROR_ENDED = -8,
    HDSS_ERROR_MEMORY = -9,
    HDSS_ERROR_REPORT = -10, /* the report cannot be written; everything else has succeeded */
};

const char *hdss_error_text(int status);

const char *hdss_version(void);

struct hdss_options;

/* Creates options with default values. NULL if memory runs out. */
struct hdss_options *hdss_options_new(void);
void hdss_options_free(struct hdss_options *options);

/* Sets an option as on a command line, for example "technique" to "css:chunk=80". hdss_options_set(3) lists the
 * options. */
int hdss_options_set(struct hdss_options *options, const char *name, const char *value);

/* Copies the speeds of the ranks, which may have any unit. Speeds that ranks other than rank 0 set are ignored. */
int hdss_options_set_powers(struct hdss_options *options, const double *powers, int count);

/* Returns one line about the last error of hdss_options_set(), hdss_options_set_powers() or hdss_loop_new() with
 * these options. Returns "" if there was no error. */
const char *hdss_options_error(const struct hdss_options *options);

struct hdss_shared_loop;

/* Begins a loop; collective on `comm`. `options` may be NULL, and may be freed after the call. If the call fails on
 * one rank, it fails on all ranks and sets *loop to NULL. */
int hdss_loop_new(MPI_Comm comm, int64_t iterations, struct hdss_options *options, struct hdss_shared_loop **loop);

/* Gets the next iterations for this rank. Returns 1 with the range [*first, *first + *count), or 0 if no iterations are
 * left. After a 0 the function must not be called again in this time step. */
int hdss_loop_next(struct hdss_shared_loop *loop, int64_t *first, int64_t *count);

/* Serves other ranks that wait for this rank. Call it from time to time while this rank computes long iterations. */
int hdss_loop_progress(struct hdss_shared_loop *loop);

/* For programs that alternate between two loops: links the loops on this rank. While this rank then waits in one
 * loop, it also serves ranks that wait in the other loop. */
int hdss_loop_link(struct hdss_shared_loop *loop, struct hdss_shared_loop *other);

/* Begins the next time step, which has `iterations` iterations and the same options; collective. The technique keeps
 * what it has learned. */
int hdss_loop_again(struct hdss_shared_loop *loop, int64_t iterations);

/* Ends the loop and sets *loop to NULL; collective. */
int hdss_loop_free(struct hdss_shared_loop **loop);

/* Returns one line about the last error of this loop; "" if there was none. */
const char *hdss_loop_error(const struct hdss_shared_loop *loop);

/* Figures of the calling rank in the present time step. */
struct hdss_stats {
    int64_t iterations, chunks;
    int64_t pieces;   /* number of calls of hdss_loop_next() that returned iterations */
    double compute_s; /* seconds between the calls of hdss_loop_next(), in which this rank has computed */
    double wait_s;
};

/* Figures of all ranks in the present time step. */
struct hdss_totals {
    int64_t iterations, chunks, messages;
    double elapsed_s;
    double compute_s;
    double efficiency; /* compute_s / (elapsed_s * number of ranks) */
    double max_over_mean;
};

/* Gets the figures of the calling rank, at any time. `size` must be sizeof *stats, because newer versions may
 * append members. */
int hdss_loop_stats(struct hdss_shared_loop *loop, struct hdss_stats *stats, size_t size);

/* Gets the figures of all ranks; collective, after the end of the loop. */
int hdss_loop_totals(struct hdss_shared_loop *loop, struct hdss_totals *totals, size_t size);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
