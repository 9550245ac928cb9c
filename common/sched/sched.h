/* The scheduling techniques: how many iterations the next chunk has.
 *
 * A technique says how many, the ledger says which. Everything here is pure: no clock, no allocation after
 * sched_init(), no state outside `struct sched`. One file and one `const struct technique` each, one registry. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_PARAMS_MAX     8
#define SCHED_SPEC_TEXT_MAX  256                 /* of a spec, with its NUL */
#define SCHED_ITERATIONS_MAX (UINT64_C(1) << 63) /* of a loop */
#define SCHED_WORKERS_MAX    (1u << 24)          /* of a loop */
#define SCHED_POWER_MIN      1e-9
#define SCHED_POWER_MAX      1e9

/* How iterations are weighted on top of a technique that is not weighted by nature ([SW] eq 2). */
enum sched_weighting { SCHED_WEIGHTING_NONE, SCHED_WEIGHTING_POWER, SCHED_WEIGHTING_ACP };

/* How a run turns measured speeds into virtual powers. */
enum sched_powers {
    SCHED_POWERS_BY_SLOWEST, /* speed / slowest ([H]) */
    SCHED_POWERS_BY_FASTEST, /* speed / fastest ([SW]) */
    SCHED_POWERS_BY_MEAN,    /* speed / mean, so that they sum to P ([RMA]) */
};

enum sched_form { SCHED_FORM_RECURSIVE, SCHED_FORM_CLOSED };

enum sched_param_kind { SCHED_PARAM_INTEGER, SCHED_PARAM_REAL, SCHED_PARAM_CHOICE };

/* One parameter of a technique, given as name=value. The table ends with a NULL name. */
struct sched_param {
    const char *name;
    enum sched_param_kind kind;
    const char *fallback;    /* the default in words, for people ("ceil(N/(2P))") */
    double minimum, maximum; /* inclusive; integers up to 2^63 */
    const char *choices;     /* "ceil|floor" */
    const char *summary;     /* one line with the unit */
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
};

/* The state of one loop. Members are read by the techniques; others use the functions. */
struct sched {
    const struct technique *technique;
    struct sched_spec spec;
    uint64_t iterations; /* N */
    unsigned workers;    /* P */
    uint64_t min_chunk;
    enum sched_weighting weighting; /* on top of the technique; NONE where that is weighted by nature */
    uint64_t remaining;             /* R */
    uint64_t step;                  /* i, chunks cut so far */
    double *powers;                 /* V_j, owned; NULL where nothing is weighted */
    double power_sum;               /* V */
    union {
        uint64_t integer[8];
        double real[8];
    } constant, state; /* the technique's own, zero before its init */
    void *own;         /* the technique's own block, owned, released by free(); NULL where it needs none */
};

enum {
    SCHED_NEEDS_POWER = 1,     /* weighted by nature */
    SCHED_NEEDS_DEVIATION = 2, /* mean and standard deviation of an iteration's time */
    SCHED_NEEDS_FEEDBACK = 4,  /* the measured time of each chunk */
};

struct technique {
    const char *name;
    const char *alias;                /* NULL if none */
    const char *title;                /* "guided self-scheduling" */
    const char *rule;                 /* the formula in one line */
    const char *source;               /* paper and equation */
    const struct sched_param *params; /* NULL if none */
    unsigned needs;
    enum sched_powers powers;
    /* Checks the parameters against N and P and sets constant, state and own; NULL if there is nothing to do. -1
     * with one line in `error`. */
    int (*init)(struct sched *sched, struct error *error);
    /* Recursive form: K before clamping for a request of `worker`, from the state and sched->remaining. */
    uint64_t (*next)(struct sched *sched, unsigned worker);
    /* Closed form: K_i before clamping from the step alone; NULL where there is none. */
    uint64_t (*at)(const struct sched *sched, uint64_t step);
};

/* All techniques in the order of the manual; `*count` receives how many. */
const struct technique *const *sched_techniques(size_t *count);

/* By name or alias; NULL if there is none. */
const struct technique *sched_find(const char *name);

/* Parses `name[:param=value,...]`. -1 with one line (the parameter, the value, what is accepted), with `spec` as it
 * was. */
int sched_spec_parse(struct sched_spec *spec, const char *text, struct error *error);

/* Writes the spec back in its canonical spelling, cut at `size`. */
void sched_spec_format(const struct sched_spec *spec, char *text, size_t size);

/* Writes what values the parameter accepts, for people ("an integer from 1 to 2^63"), cut at `size`. */
void sched_param_accepts(const struct sched_param *param, char *text, size_t size);

/* `none`, `power` or `acp`. -1 with one line, with `weighting` as it was. */
int sched_weighting_parse(enum sched_weighting *weighting, const char *text, struct error *error);
const char *sched_weighting_name(enum sched_weighting weighting);

/* Prepares one loop. The powers are taken as they are given. The weighting does nothing to a technique that is
 * weighted by nature. On failure (-1, one line) nothing is owned. */
int sched_init(struct sched *sched, const struct sched_spec *spec, const struct sched_config *config,
               struct error *error);
void sched_fini(struct sched *sched);

/* The size of the next chunk, for a request of `worker` (0 .. P-1): min(R, max(K', min_chunk, 1)), where K' is K or,
 * weighted by power, floor(K V_j); the remaining work shrinks by it. 0 when no work remains. */
uint64_t sched_next(struct sched *sched, unsigned worker);

/* Puts `count` iterations of earlier chunks back into the remaining work (a chunk cut short by the ledger, a
 * worker lost). Never more than were cut. */
void sched_give_back(struct sched *sched, uint64_t count);

/* Closed form: the size of chunk `step` (from 0) before it is clamped to what remains, at least max(min_chunk, 1).
 * Never weighted. Only where technique->at is not NULL. */
uint64_t sched_at(const struct sched *sched, uint64_t step);

/* Turns measured speeds (any unit, all > 0) into the powers that technique and weighting expect. */
void sched_powers_from_speeds(const struct technique *technique, enum sched_weighting weighting, const double *speeds,
                              unsigned workers, double *powers);
