/* SPDX-License-Identifier: MIT */
/* The technique as a plug-in: how many iterations the next chunk of a loop has, by a rule of one's own.
 *
 * A technique is a constant `struct hdss_technique` in a shared object, under the name `hdss_technique`
 * (HDSS_TECHNIQUE declares it). `--technique ./mine.so:param=value,...` runs a job by it; so do `hdss chunks`,
 * `hdss simulate` and studies. See hdss-technique(3).
 *
 * A technique says how many, and HDSS says which. HDSS also keeps what holds of every technique: a chunk has
 *
 *     min(R, max(K, min_chunk, 1))
 *
 * iterations, where K is what next() or at() returns and R what remains. So a K of 0 is taken as the smallest chunk,
 * one that is too large as all that remains, and the loop ends whatever a technique returns. --weighting multiplies K
 * by the power of the worker before that.
 *
 * Calls of one state come one after another, from one thread. There may be several states in a process at the same
 * time, and their calls may alternate: all that changes belongs into the state. Every call should return at once and
 * call nothing that waits: the rank that cuts serves nobody meanwhile. */
#ifndef HDSS_TECHNIQUE_H
#define HDSS_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be raised when a structure or the meaning of a call in this header changes. */
#define HDSS_TECHNIQUE_ABI 1

#define HDSS_TECHNIQUE_PARAMS_MAX 8
/* Bytes of a line of error, with its NUL. */
#define HDSS_TECHNIQUE_ERROR_MAX 256
/* The most bytes that a state may have by `state_bytes`; what is larger is for init() to allocate. */
#define HDSS_TECHNIQUE_STATE_MAX (UINT64_C(1) << 20)

enum hdss_technique_kind {
    HDSS_TECHNIQUE_INTEGER, /* value.integer, from 0 to 2^63 */
    HDSS_TECHNIQUE_REAL,    /* value.real */
    HDSS_TECHNIQUE_CHOICE,  /* value.integer: index into `choices` */
};

/* A parameter, given as name=value. The table ends with a NULL name. Of `fallback` and `computed` one is NULL. */
struct hdss_technique_param {
    const char *name;
    enum hdss_technique_kind kind;
    const char *fallback;    /* the default, as a user would write it */
    const char *computed;    /* or, where init() makes it from the loop, the default in words: "ceil(N/(2P))" */
    double minimum, maximum; /* inclusive; for integers and reals */
    const char *choices;     /* "ceil|floor", for choices */
    const char *summary;     /* description in one line, with the unit */
};

/* The value of a parameter, of its kind and within its range. */
struct hdss_technique_value {
    bool is_known; /* false where the user has given none and its default is computed */
    union {
        uint64_t integer;
        double real;
    };
};

/* Measure by which speeds become virtual powers, for a technique that is weighted. */
enum hdss_technique_powers {
    HDSS_TECHNIQUE_BY_SLOWEST, /* speed / slowest speed: the slowest worker has 1 */
    HDSS_TECHNIQUE_BY_FASTEST, /* speed / fastest speed: the fastest worker has 1 */
    HDSS_TECHNIQUE_BY_MEAN,    /* speed / mean speed: the powers sum to P */
};

/* Returned by next() where the technique cannot go on: the run ends as one that has failed. */
#define HDSS_TECHNIQUE_FAILED UINT64_MAX

struct hdss_technique;

/* The loop that is to be cut. */
struct hdss_technique_loop {
    uint64_t iterations;  /* N, up to 2^63; what a run has left of its loop, or those of one time step */
    uint64_t min_chunk;   /* at least 1 */
    uint32_t workers;     /* P, at least 1 */
    const double *powers; /* V_j of each of the workers, from 1e-9 to 1e9; NULL where the technique is not weighted */
    const struct hdss_technique_value *values; /* one for each parameter, in the order of the table */
    const struct hdss_technique *technique;    /* the constant whose calls these are, which several may share */
};

/* A request for a chunk. */
struct hdss_technique_request {
    uint64_t remaining; /* R: iterations that no chunk has yet, at least 1. More than before where a chunk came back, as
                           that of a lost worker does */
    uint64_t step;      /* number of chunks cut so far */
    uint32_t worker;    /* the worker that the chunk is for, from 0 to P - 1 */
    char *error;        /* room for a line of HDSS_TECHNIQUE_ERROR_MAX bytes, for HDSS_TECHNIQUE_FAILED */
};

/* Measurements of chunks that a worker has finished. */
struct hdss_technique_feedback {
    uint32_t worker;     /* from 0 to P - 1 */
    uint32_t chunks;     /* number of chunks, at least 1 */
    uint64_t iterations; /* of them together, at least 1 */
    double compute_s;    /* seconds in the kernel */
    double wait_s;       /* seconds of waiting before them */
    double deviation_s;  /* sample standard deviation of the time of one iteration, seconds */
    uint32_t samples;    /* pieces of the chunks that were timed; below 2 the deviation is not known */
};

struct hdss_technique {
    uint32_t abi;                              /* HDSS_TECHNIQUE_ABI */
    const char *name;                          /* a word: of its own, not of the file */
    const char *title;                         /* "guided self-scheduling" */
    const char *rule;                          /* the formula in one line: "K = ceil(R/P)" */
    const char *source;                        /* the paper that it is from; NULL: none */
    const char *when;                          /* advice on its use, one sentence; NULL: none */
    const struct hdss_technique_param *params; /* ends with a NULL name; NULL: no parameters */
    size_t state_bytes;                        /* bytes of a state, up to HDSS_TECHNIQUE_STATE_MAX; 0: there is none */
    bool is_weighted; /* K follows the powers: init() has them, and --weighting power is not applied on top */
    enum hdss_technique_powers powers; /* where it is weighted */
    bool may_grow;                     /* K depends neither on N nor on R: the loop may become longer while it is cut */

    /* Prepares a loop. `state` has state_bytes zero bytes, aligned as malloc() aligns, and stays where it is; `loop`
     * and all that it points to stay until fini(). Returns 0, or -1 with one line in `error` for values that do not go
     * together or do not fit the loop (what, what is accepted; the caller puts the file's name before it) and nothing
     * left allocated. NULL where there is nothing to prepare. */
    int (*init)(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX]);

    /* Returns K, the size of the next chunk in iterations, for a request; or HDSS_TECHNIQUE_FAILED with one line in
     * request->error, after which it is not called again. */
    uint64_t (*next)(void *state, const struct hdss_technique_request *request);

    /* Returns K of chunk `step`, counted from 0, by the step alone: the closed form, by which workers without a
     * supermaster (--dca) know each chunk by its number. All of them load the technique and must get the same. NULL
     * where there is none. */
    uint64_t (*at)(const void *state, uint64_t step);

    /* Takes what was measured. O(1), amortised. NULL where nothing is learned. */
    void (*feedback)(void *state, const struct hdss_technique_feedback *feedback);

    /* Returns the technique's estimate of a worker, as a weight for reports: the mean of all workers is 1. NULL where
     * the technique has none. */
    double (*weight)(const void *state, uint32_t worker);

    /* Begins the next time step, of as many iterations as the loop says by now, with all that was learned. NULL: it
     * begins anew, by fini() and init(). */
    void (*again)(void *state, const struct hdss_technique_loop *loop);

    /* Releases what init() has allocated. Called once for each init() that returned 0. NULL where that is nothing. */
    void (*fini)(void *state);
};

/* Declares the technique of a shared object, before its definition:
 * HDSS_TECHNIQUE(hdss_technique) = { HDSS_TECHNIQUE_ABI, .. }; */
#ifdef __cplusplus
#define HDSS_TECHNIQUE(name)                                                                                           \
    extern "C" __attribute__((visibility("default"))) const struct hdss_technique name;                                \
    const struct hdss_technique name
#else
#define HDSS_TECHNIQUE(name)                                                                                           \
    extern __attribute__((visibility("default"))) const struct hdss_technique name;                                    \
    const struct hdss_technique name
#endif

#ifdef __cplusplus
}
#endif

#endif
