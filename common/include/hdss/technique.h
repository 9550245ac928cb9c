/* SPDX-License-Identifier: MIT */
/* Plug-in techniques: user-defined rules for the sizes of chunks.
 *
 * A technique is a constant `struct hdss_technique` named `hdss_technique` in a shared object (declared by
 * HDSS_TECHNIQUE). `--technique ./mine.so:param=value,...` uses it for a job, `hdss chunks`, `hdss simulate` and
 * studies. See hdss-technique(3).
 *
 * A technique returns how many iterations a chunk has; HDSS chooses the iterations and applies the common bounds. A
 * chunk has min(R, max(K, min_chunk, 1)) iterations: K is the result of next() or at(), and R is the number of
 * remaining iterations. Hence K = 0 gives the smallest chunk, a K above R gives all remaining iterations, and the loop
 * ends for any K. With --weighting, HDSS first multiplies K by the power of the worker.
 *
 * Calls for one state are sequential, from one thread. A process may have several states whose calls alternate, so a
 * technique must keep all variables in its state. Calls should return quickly and never wait, because the rank that
 * cuts chunks serves no worker during a call. */
#ifndef HDSS_TECHNIQUE_H
#define HDSS_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* HDSS increases this number if a structure or the meaning of a call in this header changes. */
#define HDSS_TECHNIQUE_ABI 1

#define HDSS_TECHNIQUE_PARAMS_MAX 8
#define HDSS_TECHNIQUE_ERROR_MAX  256
/* A technique that needs a larger state must allocate memory in init(). */
#define HDSS_TECHNIQUE_STATE_MAX (UINT64_C(1) << 20)

enum hdss_technique_kind {
    HDSS_TECHNIQUE_INTEGER, /* the value is value.integer, 0 to 2^63 */
    HDSS_TECHNIQUE_REAL,
    HDSS_TECHNIQUE_CHOICE, /* the value is value.integer, an index into `choices` */
};

/* A parameter, which the user gives as name=value. The table ends with a NULL name. One of `fallback` and
 * `computed` must be NULL. */
struct hdss_technique_param {
    const char *name;
    enum hdss_technique_kind kind;
    const char *fallback;
    const char *computed;    /* describes the default if init() computes it from the loop, for example "ceil(N/(2P))" */
    double minimum, maximum; /* inclusive bounds of integers and reals */
    const char *choices;     /* the accepted words of a choice, for example "ceil|floor" */
    const char *summary;
};

struct hdss_technique_value {
    bool is_known; /* true: the value is that of the user, or the fallback; false: init() must compute the default */
    union {
        uint64_t integer;
        double real;
    };
};

enum hdss_technique_powers {
    /* a power is the worker's speed / the slowest speed, so the slowest worker has power 1 */
    HDSS_TECHNIQUE_BY_SLOWEST,
    /* a power is the worker's speed / the fastest speed, so the fastest worker has power 1 */
    HDSS_TECHNIQUE_BY_FASTEST,
    HDSS_TECHNIQUE_BY_MEAN, /* a power is the worker's speed / the mean speed, so the powers sum to P */
};

/* Returned by next() if the technique cannot continue. The run then fails. */
#define HDSS_TECHNIQUE_FAILED UINT64_MAX

struct hdss_technique;

struct hdss_technique_loop {
    /* N: number of iterations that remain in the loop or time step when init() or again() is called; at most 2^63 */
    uint64_t iterations;
    uint64_t min_chunk;   /* at least 1 */
    uint32_t workers;     /* P: number of workers, at least 1 */
    const double *powers; /* powers of the workers, 1e-9 to 1e9; NULL if the technique is not `is_weighted` */
    const struct hdss_technique_value *values;
    const struct hdss_technique *technique;
};

struct hdss_technique_request {
    /* R: number of unassigned iterations, at least 1. Increases if iterations of a chunk come back, for example
     * from a lost worker. */
    uint64_t remaining;
    uint64_t step;
    uint32_t worker;
    char *error; /* error[HDSS_TECHNIQUE_ERROR_MAX]: receives one line if next() returns HDSS_TECHNIQUE_FAILED */
};

struct hdss_technique_feedback {
    uint32_t worker;
    uint32_t chunks; /* number of chunks that are measured together, at least 1 */
    uint64_t iterations;
    double compute_s;
    double wait_s;      /* the worker's waiting time before these chunks */
    double deviation_s; /* sample standard deviation of the time of one iteration */
    /* number of pieces into which the chunks were divided for timing; below 2: the deviation is unknown */
    uint32_t samples;
};

struct hdss_technique {
    uint32_t abi;
    const char *name; /* one word; it need not be the name of the file */
    const char *title;
    const char *rule;
    const char *source; /* the paper that describes the technique; may be NULL */
    const char *when;
    /* the table of parameters, which ends with a NULL name; NULL: there are no parameters */
    const struct hdss_technique_param *params;
    size_t state_bytes; /* size of the state in bytes, at most HDSS_TECHNIQUE_STATE_MAX */
    /* K depends on the powers. init() then receives the powers, and HDSS does not apply --weighting power in
     * addition. */
    bool is_weighted;
    enum hdss_technique_powers powers;
    bool may_grow; /* K depends neither on N nor on R, so the technique can be used for a loop that grows */

    /* Prepares a loop. `state` has state_bytes zero bytes, aligned as by malloc(), and keeps its address. `loop` and
     * its pointers stay valid until fini(). Returns 0. If the values contradict each other or do not suit the loop,
     * returns -1 with nothing allocated and one line in `error`: what is wrong and what is accepted. The caller adds
     * the file's name to this line. May be NULL. */
    int (*init)(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX]);

    /* Returns K, the size of the next chunk in iterations, or HDSS_TECHNIQUE_FAILED with one line in
     * request->error. After a failure next() is not called again. */
    uint64_t (*next)(void *state, const struct hdss_technique_request *request);

    /* Closed form: returns K of chunk number `step`, counted from 0. Workers without a supermaster (--dca)
     * compute each chunk from its number. All these workers load the technique, and at() must return the same
     * results on all of them. May be NULL. */
    uint64_t (*at)(const void *state, uint64_t step);

    /* Receives measurements of chunks. Should take O(1) time on average. NULL: the technique is not adaptive. */
    void (*feedback)(void *state, const struct hdss_technique_feedback *feedback);

    /* Returns the estimated speed of a worker as a weight with mean 1 over all workers, for reports. May be NULL. */
    double (*weight)(const void *state, uint32_t worker);

    /* Begins the next time step, whose number of iterations is in `loop`, and keeps what the technique has
     * learned. NULL: HDSS calls fini() and init() instead. */
    void (*again)(void *state, const struct hdss_technique_loop *loop);

    /* Releases what init() has allocated. Called once for each successful init(). May be NULL. */
    void (*fini)(void *state);
};

/* Declares the technique of a shared object before its definition: HDSS_TECHNIQUE(hdss_technique) = {
 * HDSS_TECHNIQUE_ABI, .. }; */
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
