/* SPDX-License-Identifier: MIT */
/* The scheduling techniques. They determine how many iterations the next chunk has.
 *
 * A technique computes a chunk's size, and the ledger chooses the iterations. A technique with `places` does both.
 * The code is pure: no clock, and no state outside `struct sched`. Memory is allocated only in sched_init() and
 * sched_again(), not between two chunks of a loop. Each technique is one file with one `const struct technique`. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "common/util/twofold.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_PARAMS_MAX     8
#define SCHED_SPEC_TEXT_MAX  256
#define SCHED_ITERATIONS_MAX (UINT64_C(1) << 63)
#define SCHED_WORKERS_MAX    (1u << 24)
#define SCHED_NO_START       UINT64_MAX /* returned by technique->start() if it needs a table */
#define SCHED_VARIANT        "variant"  /* parameter that chooses between HDSS's rule and the paper's rule */
#define SCHED_POWER_MIN      1e-9
#define SCHED_POWER_MAX      1e9

enum sched_weighting { SCHED_WEIGHTING_NONE, SCHED_WEIGHTING_POWER, SCHED_WEIGHTING_ACP };

enum sched_powers {
    SCHED_POWERS_BY_SLOWEST, /* a power is the worker's speed / the slowest speed ([H]) */
    SCHED_POWERS_BY_FASTEST, /* a power is the worker's speed / the fastest speed ([SW]) */
    SCHED_POWERS_BY_MEAN,    /* a power is the worker's speed / the mean speed, so the powers sum to P ([RMA]) */
};

enum sched_form { SCHED_FORM_RECURSIVE, SCHED_FORM_CLOSED };

enum sched_param_kind { SCHED_PARAM_INTEGER, SCHED_PARAM_REAL, SCHED_PARAM_CHOICE };

/* The values of SCHED_VARIANT; VARIANT_PARAM has the same order. */
enum sched_variant { SCHED_VARIANT_HDSS, SCHED_VARIANT_PAPER };

enum sched_measured {
    SCHED_NOT_MEASURED,
    /* the value is measured before the first chunk, by timing iterations and messages; sched_config then contains it */
    SCHED_MEASURED_BY_PROBE,
    SCHED_MEASURED_BY_FEEDBACK,
};

/* A parameter of a technique, given as name=value. The table ends with a NULL name. A measured parameter is a
 * SCHED_PARAM_REAL; `name=measure` means the same as no value. */
struct technique_param {
    const char *name;
    enum sched_param_kind kind;
    enum sched_measured measured;
    const char *fallback;
    double minimum, maximum;
    const char *choices;
    const char *summary;
};

union sched_value {
    uint64_t integer; /* value of an integer, or index of the word of a choice */
    double real;
};

struct technique;

struct sched_spec {
    const struct technique *technique;
    union sched_value values[SCHED_PARAMS_MAX];
    bool given[SCHED_PARAMS_MAX];
};

struct sched_config {
    uint64_t iterations; /* N, at most SCHED_ITERATIONS_MAX */
    unsigned workers;    /* P, from 1 to SCHED_WORKERS_MAX */
    /* V_j, one per worker, SCHED_POWER_MIN .. SCHED_POWER_MAX. Borrowed only during sched_init(). NULL: all are 1. */
    const double *powers;
    uint64_t min_chunk; /* 0 counts as 1 */
    uint64_t max_chunk; /* upper bound of K before weighting, for the recursive form only; 0: no bound */
    enum sched_weighting weighting;
    bool loads;        /* true: sched_set_load() will be called; must be true for SCHED_WEIGHTING_ACP */
    double overhead_s; /* time that a worker needs to get one chunk; 0: unknown */
    double swr;        /* shortest time of five iterations divided by the longest, in (0, 1]; 0: unknown */
};

struct sched_feedback {
    unsigned worker;
    uint32_t chunks;
    uint64_t iterations;
    double compute_s;
    /* The worker's idle time before the chunks began. The sum of compute_s and wait_s is the total chunk time,
     * which includes the scheduling overhead. */
    double wait_s;
    /* Sample standard deviation of one iteration's time, from the spread within the chunks. */
    double deviation_s;
    /* number of pieces into which the chunks were divided for timing; below 2: the deviation is unknown */
    uint32_t samples;
};

struct sched_value_used {
    const char *name;
    double value;
};

/* The state of one loop. Code outside of common/sched may read all members, but may write only `is_laid_out`. The
 * functions below change the other members. */
struct sched {
    const struct technique *technique;
    struct sched_spec spec;
    uint64_t iterations; /* N */
    unsigned workers;    /* P */
    uint64_t min_chunk, max_chunk;
    /* how the technique's K is weighted; never SCHED_WEIGHTING_POWER if the technique has SCHED_NEEDS_POWER */
    enum sched_weighting weighting;
    uint64_t remaining;
    uint64_t step;    /* i, the number of chunks cut so far */
    uint64_t formula; /* K of the latest chunk as the technique has computed it */
    double *powers;   /* V_j; owned; NULL if neither the technique nor the weighting uses powers */
    double power_sum; /* V */
    /* The decimal number for which each power stands, minus the power, which is a double. Owned. NULL: all differences
     * are 0. */
    double *power_rests;
    struct twofold power_total; /* V as a decimal number: the sum of the numbers for which the powers stand */
    double power_doubt;         /* relative error of the powers; 0 if each power stands for a decimal number */
    double *loads;              /* Q_j, owned; NULL if the weighting does not use them */
    double overhead_s, swr;
    /* [index of the parameter] measured values of parameters that were not given; NaN until they are known */
    double measured[SCHED_PARAMS_MAX];
    union {
        uint64_t integer[8];
        double real[8];
    } constant, state; /* values of the technique; all are zero before its init() */
    uint64_t place;    /* place at which the latest chunk begins: see struct technique_places below */
    /* true: the parts must be laid out again before the next chunk, see struct technique_places below */
    bool is_disturbed;
    bool is_laid_out;    /* true: the parts were laid out again for the latest chunk; the caller sets this to false */
    const char *failure; /* reason why the technique cannot continue, borrowed from `own`; NULL: it can continue */
    /* memory of the technique; released by fini() of the technique and then by free(); may be NULL */
    void *own;
};

/* Functions of a technique that also chooses the iterations of a chunk. Each worker has a part of the loop, from
 * which its chunks come. Laying out the parts divides all remaining iterations among the workers. Parts are laid out
 * before the first chunk. They are laid out again if the remaining work has changed other than by cutting chunks. A
 * place is an index into the list of iterations that remained when the parts were laid out, in ascending order. */
struct technique_places {
    void (*lay_out)(struct sched *sched);
    /* Takes up to `count` (at least 1) iterations from the front of the worker's part, after next() has computed a
     * chunk for this worker. Returns how many iterations were taken, and sets sched->place to the first of them.
     * Returns 0 only if the part is empty. */
    uint64_t (*take)(struct sched *sched, unsigned worker, uint64_t count);
    /* Puts the last `count` iterations that were taken for `worker` back into their part. */
    void (*put_back)(struct sched *sched, unsigned worker, uint64_t count);
};

enum {
    SCHED_NEEDS_POWER = 1,
    SCHED_NEEDS_FEEDBACK = 2,
};

struct technique {
    const char *name;
    const char *alias;
    const char *title;
    const char *rule;
    const char *source;
    const char *when;
    const struct technique_param *params;
    unsigned needs;
    enum sched_powers powers;
    bool for_comparison;
    bool may_grow; /* K depends neither on N nor on R, so the technique can be used for a loop that grows */
    /* Checks the parameters against N and P and sets constant, state and own. May be NULL. */
    int (*init)(struct sched *sched, struct error *error);
    /* Recursive form: returns K for `worker`, computed from the state and sched->remaining. The caller clamps K. */
    uint64_t (*next)(struct sched *sched, unsigned worker);
    /* NULL unless the technique chooses the iterations. A technique with `places` has neither a closed form nor
     * from_rest(), and must itself take the powers and loads of the workers into account. */
    const struct technique_places *places;
    /* Closed form: returns K_i, computed from the step i alone. The caller clamps K_i. The member is NULL if the
     * technique has no closed form. */
    uint64_t (*at)(const struct sched *sched, uint64_t step);
    /* Closed form: returns the number of iterations in all chunks before chunk `step`, at most N, in O(1) or O(log S).
     * Chunks smaller than sched->min_chunk count as sched->min_chunk. Returns SCHED_NO_START if a table is needed with
     * these parameters (see bounds.h). The member is NULL if a table is always needed. */
    uint64_t (*start)(const struct sched *sched, uint64_t step);
    /* For DCA without a closed form: returns K for `worker`; the caller clamps K. The function may use
     * sched->remaining, N and the feedback, but not earlier chunks. The remaining work never grows between calls. The
     * member is NULL if K cannot be computed from these values. */
    uint64_t (*from_rest)(struct sched *sched, unsigned worker);
    /* For DCA with the closed form of fac2: returns the weight of `worker` in batch `batch`, counted from 1. The weight
     * follows from the powers and the feedback. The weights of all workers sum to P. The member is NULL if the
     * technique does not need this function. */
    double (*batch_weight)(struct sched *sched, unsigned worker, uint64_t batch);
    /* Receives a measurement. Takes amortized O(1) time. The member is NULL if the technique does not learn. */
    void (*feedback)(struct sched *sched, const struct sched_feedback *feedback);
    /* Returns the estimated speed of a worker as a weight (mean 1). The member is NULL if the technique does not learn
     * speeds. */
    double (*weight)(const struct sched *sched, unsigned worker);
    /* Starts the next time step, and keeps what was learned; sched->remaining and sched->step are already set.
     * NULL: init() is called again. */
    void (*again)(struct sched *sched);
    /* Releases the memory to which the block sched->own points; the caller frees the block itself. Not called if
     * sched->own is NULL. May be NULL. */
    void (*fini)(struct sched *sched);
};

const struct technique *const *sched_techniques(size_t *count);

/* Finds a technique by its name or alias. Case is ignored, and underscores may replace dashes, as in LB4OMP. NULL if
 * there is none. */
const struct technique *sched_find(const char *name);

/* Parses `name[:param=value,...]`. On failure `spec` is unchanged. Plug-ins are refused: see technique_load() of
 * common/job/technique_load.h. */
int sched_spec_parse(struct sched_spec *spec, const char *text, struct error *error);

/* Like sched_spec_parse(), for a known technique. `params` is the text after the colon, or NULL. */
int sched_spec_parse_params(struct sched_spec *spec, const struct technique *technique, const char *params,
                            struct error *error);

size_t sched_spec_name_length(const char *text);

/* True if the spec names a plug-in. A plug-in is a file such as "./mine.so:param=1", whose name has a slash or ends
 * in .so, or a class such as "python:module.Class". */
bool sched_spec_is_plugin(const char *text);

void sched_spec_format(const struct sched_spec *spec, char *text, size_t size);

/* True if a loop with this spec needs sched_feedback(): the technique learns, or a parameter is measured in the
 * loop. */
bool sched_spec_learns(const struct sched_spec *spec);

bool sched_spec_is_paper(const struct sched_spec *spec);

/* True if the technique needs sched_config.overhead_s or sched_config.swr, which a probe measures. */
bool sched_spec_probes(const struct sched_spec *spec);

/* Parses the value of a parameter. Returns -1 if the value has the wrong kind or is out of range; then `value` is
 * undefined. */
int technique_param_parse(const struct technique_param *param, const char *text, union sched_value *value);

void technique_param_accepts(const struct technique_param *param, char *text, size_t size);

/* Parses `none`, `power` or `acp`. On failure `weighting` is unchanged. */
int sched_weighting_parse(enum sched_weighting *weighting, const char *text, struct error *error);
const char *sched_weighting_name(enum sched_weighting weighting);

/* Prepares one loop. The powers are copied, and all loads are 1. For a technique with SCHED_NEEDS_POWER,
 * config->weighting only decides whether loads are used. On failure `sched` owns nothing. */
int sched_init(struct sched *sched, const struct sched_spec *spec, const struct sched_config *config,
               struct error *error);
void sched_fini(struct sched *sched);

/* Returns the size of the next chunk for `worker` (0 .. P-1), and subtracts it from the remaining work; 0 if none
 * remains. The size is min(R, max(K', min_chunk, 1)). K' is K, or floor(K V_j) if weighted by power, or floor(K V_j /
 * Q_j) if weighted by acp. If a plug-in fails, sched->failure is set, and chunks have the smallest size.
 *
 * If the technique has `places`, the chunk is at most as large as the worker's part, and begins at sched->place. */
uint64_t sched_next(struct sched *sched, unsigned worker);

/* Like sched_next(), but also chooses the iterations. They are in ascending order unless the technique has `places`.
 * Must not be used for a loop in which sched_give_back() is called. Returns false if no work remains. */
bool sched_cut(struct sched *sched, unsigned worker, struct range *chunk);

/* Enlarges the chunk that sched_next() has just returned by up to `more` iterations. Returns how many iterations were
 * added. */
uint64_t sched_widen(struct sched *sched, unsigned worker, uint64_t more);

/* Makes the chunk that sched_next() or sched_widen() has just returned shorter by `count` iterations. These iterations
 * become remaining work again. */
void sched_shorten(struct sched *sched, unsigned worker, uint64_t count);

/* Sets the load for SCHED_WEIGHTING_ACP: the number of runnable processes on the worker's core, including the
 * worker. */
void sched_set_load(struct sched *sched, unsigned worker, double load);

/* Returns `count` iterations of earlier chunks to the remaining work, because the ledger shortened a chunk or a
 * worker was lost. `count` must not exceed the number of iterations in all chunks. */
void sched_give_back(struct sched *sched, uint64_t count);

/* Adds `count` iterations to the loop. The technique must have may_grow. */
void sched_grow(struct sched *sched, uint64_t count);

/* Removes `count` iterations from the remaining work, because they were handed out without cutting a chunk. `count`
 * must not exceed the number of remaining iterations. */
void sched_claim(struct sched *sched, uint64_t count);

/* Passes a measurement to the technique; needed if sched_spec_learns(). Invalid measurements (no iterations, no
 * chunks, or a time that is negative or not finite) are ignored. */
void sched_feedback(struct sched *sched, const struct sched_feedback *feedback);

/* Returns the technique's estimate of the worker's speed as a weight (mean 1). If the technique does not learn
 * speeds, the weight is the worker's power divided by the mean power, or 1 without powers. */
double sched_weight(const struct sched *sched, unsigned worker);

unsigned sched_values_used(const struct sched *sched, struct sched_value_used used[SCHED_PARAMS_MAX]);

/* Starts the next time step: a loop of `iterations` iterations with the same workers. The technique keeps what it
 * has learned. After a failure only sched_fini() is allowed. */
int sched_again(struct sched *sched, uint64_t iterations, struct error *error);

/* Fails if the loop cannot be cut by a closed form. Reasons are that the technique has no closed form, that
 * max_chunk is set, or that a parameter's value is missing because it is measured in the loop or was not probed. */
int sched_check_closed(const struct sched *sched, struct error *error);

/* Closed form: returns the size of chunk `step`, counted from 0. The size is at least max(min_chunk, 1). It is not
 * clamped to the remaining work, and never weighted. sched_check_closed() must have succeeded. */
uint64_t sched_at(const struct sched *sched, uint64_t step);

/* Returns the size of a chunk for `worker` if `remaining` iterations remain. Another rank counts the remaining
 * iterations. The size is min(R, max(K', min_chunk, 1)) with R = `remaining`. K' is K, or floor(K V_j / Q_j) with
 * SCHED_WEIGHTING_ACP. The technique must have from_rest(). For a loop that is cut by this function, only
 * sched_feedback() may be called besides. */
uint64_t sched_from_rest(struct sched *sched, unsigned worker, uint64_t remaining);

/* Converts measured speeds (in any unit, all > 0) to the powers that the technique and the weighting need. */
void sched_powers_from_speeds(const struct technique *technique, enum sched_weighting weighting, const double *speeds,
                              unsigned workers, double *powers);
