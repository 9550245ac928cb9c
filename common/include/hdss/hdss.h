/* SPDX-License-Identifier: MIT */
/* The library for MPI programs: the ranks of a communicator share a loop that stays in the program.
 *
 *     struct hdss_shared_loop *loop;
 *     int64_t first, count;
 *     hdss_loop_new(MPI_COMM_WORLD, iterations, NULL, &loop);
 *     while (hdss_loop_next(loop, &first, &count) > 0)
 *         for (int64_t i = first; i < first + count; i++)
 *             compute(i);
 *     hdss_loop_free(&loop);
 *
 * Every iteration of [0, iterations) is handed out to exactly one rank. Each loop has a communicator of its own, so
 * that neither the program's messages nor those of another loop can meet its own. Calls return 0 or more when all is
 * well, and else one of enum hdss_status; the text of an error is kept by the object. No call prints, ends the program,
 * or keeps anything outside the objects. Calls of one object may come from several threads, one after another; objects
 * do not know each other. Counts are 64 bits and signed, so that a negative one can be seen.
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
    HDSS_ERROR_USE = -1,    /* the call makes no sense: a null pointer, a loop that was freed */
    HDSS_ERROR_MPI = -2,    /* MPI is not initialised or already finalised, or not with the threads that are needed */
    HDSS_ERROR_COMM = -3,   /* not a communicator of at least one rank within one group */
    HDSS_ERROR_COUNT = -4,  /* a number of iterations below 0 or too large */
    HDSS_ERROR_OPTION = -5, /* no such option, or a value that it does not accept */
    HDSS_ERROR_TECHNIQUE = -6, /* the technique refuses the loop, or cannot be run in this mode */
    HDSS_ERROR_DIFFERENT = -7, /* the ranks were not given the same loop */
    HDSS_ERROR_ENDED = -8,     /* the loop has ended before */
    HDSS_ERROR_MEMORY = -9,    /* memory is out */
    HDSS_ERROR_REPORT = -10,   /* the report cannot be written; all else is done */
};

/* Returns the meaning of the status in a few words; never NULL. */
const char *hdss_error_text(int status);

/* The library's version, as "1.2.3". */
const char *hdss_version(void);

/* --- options --- */

struct hdss_options;

/* Makes options with everything at its default. NULL when memory is out. */
struct hdss_options *hdss_options_new(void);
void hdss_options_free(struct hdss_options *options);

/* Sets one option, as on a command line: "technique" to "css:chunk=80". See hdss_options_set(3) for the list. */
int hdss_options_set(struct hdss_options *options, const char *name, const char *value);

/* Sets the speeds of the ranks, one number each, in any unit; copied. Those of rank 0 count. */
int hdss_options_set_powers(struct hdss_options *options, const double *powers, int count);

/* The latest error in one line: of a call above, or of an hdss_loop_new() that was given these options. "" if none. */
const char *hdss_options_error(const struct hdss_options *options);

/* --- a loop --- */

struct hdss_shared_loop;

/* Begins a loop of `iterations`, on all ranks of `comm` together. Options may be NULL, and freed afterwards. On
 * failure, which is that of all ranks, *loop is NULL. */
int hdss_loop_new(MPI_Comm comm, int64_t iterations, struct hdss_options *options, struct hdss_shared_loop **loop);

/* Draws the next iterations for this rank: 1 with [*first, *first + *count), or 0 when none are left, once. */
int hdss_loop_next(struct hdss_shared_loop *loop, int64_t *first, int64_t *count);

/* Answers other ranks that wait for this one, if there are any: for a rank that takes long over its iterations. */
int hdss_loop_progress(struct hdss_shared_loop *loop);

/* Links two loops on this rank: from now on waiting in one answers ranks that wait in the other. For a program that
 * draws from several loops in turn. */
int hdss_loop_link(struct hdss_shared_loop *loop, struct hdss_shared_loop *other);

/* Begins the next time step, on all ranks together: a loop of `iterations` with the same options and all that was
 * learned of the ranks. */
int hdss_loop_again(struct hdss_shared_loop *loop, int64_t iterations);

/* Ends the loop, on all ranks together, and sets *loop to NULL. */
int hdss_loop_free(struct hdss_shared_loop **loop);

/* The latest error in one line; "" if none. */
const char *hdss_loop_error(const struct hdss_shared_loop *loop);

/* --- figures --- */

/* Figures of this rank in this time step. */
struct hdss_stats {
    int64_t iterations, chunks; /* handed to this rank */
    int64_t pieces;             /* calls in which they were handed out */
    double compute_s;           /* between the calls */
    double wait_s;              /* in hdss_loop_next(), waiting */
};

/* Figures of all ranks in this time step. */
struct hdss_totals {
    int64_t iterations, chunks, messages;
    double elapsed_s;     /* from the first chunk to the last rank's end */
    double compute_s;     /* sum over all ranks */
    double efficiency;    /* compute_s / (elapsed_s * ranks) */
    double max_over_mean; /* latest over mean of the times at which the ranks came to their ends */
};

/* Fills in the figures of this rank, at any time. `size` is the structure's: newer versions may append to it. */
int hdss_loop_stats(struct hdss_shared_loop *loop, struct hdss_stats *stats, size_t size);

/* Fills in the figures of all ranks, on each of them. Called when the loop has ended, on all ranks together. */
int hdss_loop_totals(struct hdss_shared_loop *loop, struct hdss_totals *totals, size_t size);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
