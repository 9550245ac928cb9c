/* SPDX-License-Identifier: MIT */
/* The scheduling techniques: how many iterations the next chunk has.
 *
 * A technique says how many, the ledger says which; a technique with `places` says both. Everything here is pure: no
 * clock, no state outside `struct sched`, and no allocation but in sched_init() and sched_again(), which may begin anew
 * by it: none between two chunks of a loop. One file and one `const struct technique` each, one registry. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "common/util/twofold.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_PARAMS_MAX     8
#define SCHED_SPEC_TEXT_MAX  256                 /* bytes of a spec's text, with its NUL */
#define SCHED_ITERATIONS_MAX (UINT64_C(1) << 63) /* iterations of a loop */
#define SCHED_WORKERS_MAX    (1u << 24)          /* workers of a loop */
#define SCHED_NO_START       UINT64_MAX          /* technique->start: the start takes a table */
#define SCHED_VARIANT        "variant"           /* parameter: whose rule, ours or that of the paper */
#define SCHED_POWER_MIN      1e-9
#define SCHED_POWER_MAX      1e9

/* Weighting of iterations on top of a technique that is not weighted by nature ([SW] eq 2). */
enum sched_weighting { SCHED_WEIGHTING_NONE, SCHED_WEIGHTING_POWER, SCHED_WEIGHTING_ACP };

/* Rule by which a run turns measured speeds into virtual powers. */
enum sched_powers {
    SCHED_POWERS_BY_SLOWEST, /* speed / slowest ([H]) */
    SCHED_POWERS_BY_FASTEST, /* speed / fastest ([SW]) */
    SCHED_POWERS_BY_MEAN,    /* speed / mean, so that they sum to P ([RMA]) */
};

enum sched_form { SCHED_FORM_RECURSIVE, SCHED_FORM_CLOSED };

enum sched_param_kind { SCHED_PARAM_INTEGER, SCHED_PARAM_REAL, SCHED_PARAM_CHOICE };

/* Choices of the parameter SCHED_VARIANT, in the order of VARIANT_PARAM. */
enum sched_variant { SCHED_VARIANT_HDSS, SCHED_VARIANT_PAPER };

/* Source of a parameter's value when it is not given. */
enum sched_measured {
    SCHED_NOT_MEASURED,         /* the parameter has a default */
    SCHED_MEASURED_BY_PROBE,    /* known before the first chunk, from timed iterations and messages: sched_config */
    SCHED_MEASURED_BY_FEEDBACK, /* known after the first batch */
};

/* A parameter of a technique, given as name=value. The table ends with a NULL name. What is measured may also be
 * given as `name=measure`, which is the same as leaving it out; it is a SCHED_PARAM_REAL. */
struct technique_param {
    const char *name;
    enum sched_param_kind kind;
    enum sched_measured measured;
    const char *fallback;    /* the default in words, for people ("ceil(N/(2P))") */
    double minimum, maximum; /* inclusive; integers up to 2^63 */
    const char *choices;     /* "ceil|floor" */
    const char *summary;     /* description in one line, with the unit */
};

union sched_value {
    uint64_t integer; /* also the index of a choice */
    double real;
};

struct technique;

/* A technique with its parameters as the user wrote them: `name` or `name:param=value,...`. */
struct sched_spec {
    const struct technique *technique;
    union sched_value values[SCHED_PARAMS_MAX];
    bool given[SCHED_PARAMS_MAX];
};

struct sched_config {
    uint64_t iterations;  /* N, up to SCHED_ITERATIONS_MAX */
    unsigned workers;     /* P, 1 .. SCHED_WORKERS_MAX */
    const double *powers; /* V_j, one per worker, SCHED_POWER_MIN .. _MAX, borrowed during init only; NULL for all 1 */
    uint64_t min_chunk;   /* 0 is taken as 1 */
    enum sched_weighting weighting;
    bool loads;        /* sched_set_load() will tell the loads of the workers, without which there is no ACP */
    double overhead_s; /* time that handing out one chunk costs its worker; 0: not known */
    double swr;        /* shortest over longest of five timed iterations, in (0, 1]; 0: not known */
};

/* A worker's measurements of chunks that it has finished. */
struct sched_feedback {
    unsigned worker; /* 0 .. P-1 */
    uint32_t chunks; /* number of chunks, at least 1 */
    uint64_t iterations;
    double compute_s; /* in the kernel */
    double wait_s;    /* idle before they began; compute + wait is the total chunk time with the scheduling overhead */
    double deviation_s; /* sample standard deviation of the time of one iteration, as the spread within the chunks shows
                           it */
    uint32_t samples;   /* pieces of the chunks that were timed; below 2 the deviation is not known */
};

/* A value that was not given and has been measured. */
struct sched_value_used {
    const char *name; /* name of the parameter */
    double value;     /* times in seconds */
};

/* The state of one loop. Members are read by the techniques; others use the functions. */
struct sched {
    const struct technique *technique;
    struct sched_spec spec;
    uint64_t iterations; /* N */
    unsigned workers;    /* P */
    uint64_t min_chunk;
    enum sched_weighting weighting; /* on top of the technique; not POWER where that is weighted by nature */
    uint64_t remaining;             /* R */
    uint64_t step;                  /* number of chunks cut so far, i */
    uint64_t formula;               /* K of the latest chunk, as the technique gave it */
    double *powers;                 /* V_j, owned; NULL where nothing is weighted */
    double power_sum;               /* V */
    double *power_rests; /* what the decimal number that a power stands for is above it, owned; NULL where they are
                            equal */
    struct twofold power_total;        /* V of the decimal numbers */
    double power_doubt;                /* part of itself by which a power may be off: 0 where all are decimal numbers */
    double *loads;                     /* Q_j, owned; NULL where they do not matter */
    double overhead_s, swr;            /* values of the configuration; 0: not known */
    double measured[SCHED_PARAMS_MAX]; /* values measured instead of given, by parameter; NaN until known */
    union {
        uint64_t integer[8];
        double real[8];
    } constant, state;   /* the technique's own, zero before its init */
    uint64_t place;      /* where the latest chunk begins: see struct technique_places */
    bool is_disturbed;   /* the remaining work has changed otherwise than by chunks that were cut */
    bool is_laid_out;    /* places are counted anew from the latest chunk on; the user of the places clears it */
    const char *failure; /* the technique cannot go on: why, in one line, borrowed from own; NULL: it can */
    void *own; /* the technique's own block, owned, released by its fini() and free(); NULL where it needs none */
};

/* Functions of a technique that says which iterations are in a chunk: each worker has a part of the loop, and chunks of
 * the worker come from there. A place is a number of iterations of the remaining work, in ascending order, as that was
 * when the parts were laid out. They are laid out before the first chunk, and anew where work has come back or has gone
 * otherwise than by chunks. */
struct technique_places {
    /* Deals sched->remaining out to the parts. */
    void (*lay_out)(struct sched *sched);
    /* Takes up to `count` iterations, at least 1, from the front of the part from which next() has just told the size
     * of a chunk for `worker`. Sets sched->place where it takes some; returns how many, 0 only where the part is empty.
     */
    uint64_t (*take)(struct sched *sched, unsigned worker, uint64_t count);
    /* Puts the last `count` iterations that were taken for the worker back where they were. */
    void (*put_back)(struct sched *sched, unsigned worker, uint64_t count);
};

enum {
    SCHED_NEEDS_POWER = 1,    /* weighted by nature */
    SCHED_NEEDS_FEEDBACK = 2, /* the measured time of each chunk */
};

struct technique {
    const char *name;
    const char *alias;                    /* NULL if none */
    const char *title;                    /* "guided self-scheduling" */
    const char *rule;                     /* the formula in one line */
    const char *source;                   /* paper and equation */
    const char *when;                     /* advice on its use, one sentence */
    const struct technique_param *params; /* NULL if none */
    unsigned needs;
    enum sched_powers powers;
    bool for_comparison; /* `auto` does not choose it */
    bool may_grow;       /* K depends neither on N nor on R: the loop may grow while it is cut */
    /* Checks the parameters against N and P and sets constant, state and own; NULL if there is nothing to do. -1
     * with one line in `error`. */
    int (*init)(struct sched *sched, struct error *error);
    /* Recursive form: K before clamping for a request of `worker`, from the state and sched->remaining. */
    uint64_t (*next)(struct sched *sched, unsigned worker);
    /* NULL where the technique does not say which iterations; else there is neither a closed form nor from_rest, and
     * powers and loads are in the parts and in K. */
    const struct technique_places *places;
    /* Closed form: K_i before clamping from the step alone; NULL where there is none. */
    uint64_t (*at)(const struct sched *sched, uint64_t step);
    /* Closed form: iterations before chunk `step` when no chunk is below sched->min_chunk, in O(1) or O(log S), cut at
     * N; NULL where that takes a table (see bounds.h), SCHED_NO_START where it does with these parameters. */
    uint64_t (*start)(const struct sched *sched, uint64_t step);
    /* For flat scheduling without a closed form: K before clamping for `worker` from sched->remaining, N and what was
     * fed back alone, whatever chunks were cut before, and by whom. The remaining work never grows from call to call.
     * NULL where K takes more than that. */
    uint64_t (*from_rest)(struct sched *sched, unsigned worker);
    /* For flat scheduling by the closed form of fac2: the weight of `worker` for its chunk of batch `batch`, counted
     * from 1, from the powers and what was fed back; the weights sum to P. NULL where from_rest, or at, says all. */
    double (*batch_weight)(struct sched *sched, unsigned worker, uint64_t batch);
    /* Takes what was measured; NULL where nothing is learned. O(1), amortised. */
    void (*feedback)(struct sched *sched, const struct sched_feedback *feedback);
    /* The technique's estimate of a worker, as a weight (the mean of all workers is 1); NULL where it learns none. */
    double (*weight)(const struct sched *sched, unsigned worker);
    /* The next time step begins, remaining and step are set: keeps what was learned. NULL: begins anew by init(). */
    void (*again)(struct sched *sched);
    /* Releases what sched->own, which is not NULL, refers to; the block itself is freed behind it. NULL where that is
     * nothing. */
    void (*fini)(struct sched *sched);
};

/* Returns all techniques in the order of the manual; `*count` receives their number. */
const struct technique *const *sched_techniques(size_t *count);

/* By name or alias, in any case, as papers write them in capitals, and with underscores for dashes, as LB4OMP does;
 * NULL if there is none. */
const struct technique *sched_find(const char *name);

/* Parses `name[:param=value,...]`. -1 with one line (the parameter, the value, what is accepted), with `spec` as it
 * was. A plug-in is refused: see technique_load() of common/job/technique_load.h. */
int sched_spec_parse(struct sched_spec *spec, const char *text, struct error *error);

/* The same of a technique that is known: `params` is what stands behind the colon, NULL where there is none. */
int sched_spec_parse_params(struct sched_spec *spec, const struct technique *technique, const char *params,
                            struct error *error);

/* Length of the name that a spec begins with. */
size_t sched_spec_name_length(const char *text);

/* True if the spec names a plug-in: a file, as "./mine.so:param=1" does, whose name has a slash or ends in .so, or a
 * class, "python:module.Class". */
bool sched_spec_is_plugin(const char *text);

/* Writes the spec back in its canonical spelling, cut at `size`. */
void sched_spec_format(const struct sched_spec *spec, char *text, size_t size);

/* True if a loop with this spec wants sched_feedback() of its chunks: it learns, or measures what was not given. */
bool sched_spec_learns(const struct sched_spec *spec);

/* True if the technique is to follow its paper to the letter: variant=paper. */
bool sched_spec_is_paper(const struct sched_spec *spec);

/* True if sched_config.overhead_s or .swr is wanted, which take a probe. */
bool sched_spec_probes(const struct sched_spec *spec);

/* Reads the value of a parameter. -1 where it is not of its kind or not within its range, with `value` as it was or
 * not. */
int technique_param_parse(const struct technique_param *param, const char *text, union sched_value *value);

/* Writes what values the parameter accepts, for people ("an integer from 1 to 2^63"), cut at `size`. */
void technique_param_accepts(const struct technique_param *param, char *text, size_t size);

/* `none`, `power` or `acp`. -1 with one line, with `weighting` as it was. */
int sched_weighting_parse(enum sched_weighting *weighting, const char *text, struct error *error);
const char *sched_weighting_name(enum sched_weighting weighting);

/* Prepares one loop. The powers are taken as they are given, and the loads are 1. Of the weighting only the loads
 * matter to a technique that is weighted by nature. On failure (-1, one line) nothing is owned. */
int sched_init(struct sched *sched, const struct sched_spec *spec, const struct sched_config *config,
               struct error *error);
void sched_fini(struct sched *sched);

/* The size of the next chunk, for a request of `worker` (0 .. P-1): min(R, max(K', min_chunk, 1)), where K' is K,
 * weighted by power floor(K V_j), and by acp floor(K V_j / Q_j); the remaining work shrinks by it. 0 when no work
 * remains. Of a technique with places it is at most what is left of the part, and sched->place says where it begins.
 * Behind it sched->failure says whether a plug-in has failed; chunks are as small as they may be then. */
uint64_t sched_next(struct sched *sched, unsigned worker);

/* The next chunk of a loop that is cut from its first iteration to its last, where none comes back: sched_next() says
 * how long it is. False when no work remains. */
bool sched_cut(struct sched *sched, unsigned worker, struct range *chunk);

/* Makes the chunk that sched_next() has just returned for the worker up to `more` iterations longer; returns by how
 * many. */
uint64_t sched_widen(struct sched *sched, unsigned worker, uint64_t more);

/* The chunk that sched_next() has just returned for the worker, or sched_widen() made longer, is `count` iterations
 * shorter: its last ones remain. */
void sched_shorten(struct sched *sched, unsigned worker, uint64_t count);

/* With ACP: so many runnable processes, at least 1, compete for the worker's core, itself being one. */
void sched_set_load(struct sched *sched, unsigned worker, double load);

/* Puts `count` iterations of earlier chunks back into the remaining work (a chunk cut short by the ledger, a
 * worker lost). Never more than were cut. */
void sched_give_back(struct sched *sched, uint64_t count);

/* The loop has `count` iterations more than before. Only where technique->may_grow. */
void sched_grow(struct sched *sched, uint64_t count);

/* Takes `count` iterations out of the remaining work that were handed out without a chunk being cut for them. Never
 * more than remain. */
void sched_claim(struct sched *sched, uint64_t count);

/* Tells the technique what was measured; of use where sched_spec_learns(). What cannot be (no iterations, a time that
 * is negative or not a number) is dropped. */
void sched_feedback(struct sched *sched, const struct sched_feedback *feedback);

/* The technique's estimate of the worker, as a weight: the mean of all workers is 1. Its power over the mean power
 * where the technique does not learn. */
double sched_weight(const struct sched *sched, unsigned worker);

/* The measured values that are in use, of parameters that were not given; returns how many. */
unsigned sched_values_used(const struct sched *sched, struct sched_value_used used[SCHED_PARAMS_MAX]);

/* Begins the next time step: a loop of `iterations` with the same workers and all that was learned. -1 with one line,
 * after which the sched is only good for sched_fini(). */
int sched_again(struct sched *sched, uint64_t iterations, struct error *error);

/* Checks whether the loop may be cut by its closed form. -1 with one line: the technique has none, or a value was
 * not given that is measured only during the loop, or by a probe that was not made. */
int sched_check_closed(const struct sched *sched, struct error *error);

/* Closed form: the size of chunk `step` (from 0) before it is clamped to what remains, at least max(min_chunk, 1).
 * Never weighted. Only where sched_check_closed() is 0. */
uint64_t sched_at(const struct sched *sched, uint64_t step);

/* The size of a chunk for `worker` when `remaining` iterations are left, as another rank's count has it: min(R, max(K,
 * min_chunk, 1)). Only where technique->from_rest is not NULL; such a loop uses nothing else but sched_feedback(). */
uint64_t sched_from_rest(struct sched *sched, unsigned worker, uint64_t remaining);

/* Turns measured speeds (any unit, all > 0) into the powers that technique and weighting expect. */
void sched_powers_from_speeds(const struct technique *technique, enum sched_weighting weighting, const double *speeds,
                              unsigned workers, double *powers);
