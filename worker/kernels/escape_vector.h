/* SPDX-License-Identifier: MIT */
/* Template of the vector variants of escape.h. It has no include guard: the including file defines LANES, VECTORS and
 * VECTOR_TARGET, and this file undefines them. A group of VECTORS independent vectors hides the latency of a step.
 *
 * A batch passes three stages, each over a list of points. Stage 1 runs the first steps of each point, with a test
 * before each step, so points that escape early are cheap. Stage 2 runs the other steps in blocks of ESCAPE_BLOCK
 * steps. It makes no test within a block, and saves z at the start of each block. A lane whose point is finished gets
 * the next point, so no lane idles while there are points. If a point escaped in a block, stage 3 repeats this block
 * with a test before each step, to find the exact count. Stage 1 leaves a multiple of ESCAPE_BLOCK steps, so stage 2
 * never passes max_iter.
 *
 * With the bound 4, an escaped point must still be outside at the end of the block, or stage 2 would miss it. For
 * exponent 2 and |z| > 2: |z^2 + c| >= |z|^2 - |c|. This exceeds |z| by more than the rounding error, unless |c| is
 * close to 2. If |c| is close to 2, stays_out() is false, and the scalar code computes the point. For exponent 4 an
 * escaped point always stays outside. Growing values become infinity or NaN, and neither passes the test `<= 4`. With
 * other bounds z may return. Then `comes_back` is true, and stage 2 records before each step of a block which points
 * are outside. */

#define POINTS_AT_ONCE (VECTORS * LANES)
#define vec            VECTOR_NAME(escape_vec)
#define mask           VECTOR_NAME(escape_mask)

_Static_assert(POINTS_AT_ONCE <= ESCAPE_PAD, "a group reads at most the padding beyond the last point");

typedef double vec __attribute__((vector_size(LANES * 8)));
typedef int64_t mask __attribute__((vector_size(LANES * 8)));

VECTOR_INLINE void VECTOR_NAME(escape_step)(vec *x, vec *y, const vec *cx, const vec *cy, unsigned exponent)
{
    for (unsigned power = exponent; power > 1; power /= 2) {
        vec real = *x * *x - *y * *y, product = *x * *y;
        *x = real;
        *y = product + product;
    }
    *x += *cx;
    *y += *cy;
}

VECTOR_INLINE bool VECTOR_NAME(escape_any)(const mask *m)
{
    int64_t any = 0;
    for (int lane = 0; lane < LANES; lane++)
        any |= (*m)[lane];
    return any != 0;
}

/* Runs at most `steps` steps with tests, for the group of points that begins at index `at`. taken[]: steps before the
 * point escaped. x_out, y_out: z of the points that did not escape. */
VECTOR_INLINE void VECTOR_NAME(escape_group)(const struct escape_points *points, size_t at, unsigned exponent,
                                             double bound, uint32_t steps, double *x_out, double *y_out, int64_t *taken)
{
    vec x[VECTORS], y[VECTORS], cx[VECTORS], cy[VECTORS];
    mask inside[VECTORS], count[VECTORS];
    __builtin_memcpy(x, points->x + at, sizeof x);
    __builtin_memcpy(y, points->y + at, sizeof y);
    __builtin_memcpy(cx, points->cx + at, sizeof cx);
    __builtin_memcpy(cy, points->cy + at, sizeof cy);
    VECTOR_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        inside[v] = (mask){0} - 1;
        count[v] = (mask){0};
    }
    for (uint32_t step = 0; step < steps; step++) {
        mask any = {0};
        VECTOR_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            inside[v] &= x[v] * x[v] + y[v] * y[v] <= bound;
            count[v] -= inside[v];
            any |= inside[v];
            VECTOR_NAME(escape_step)(&x[v], &y[v], &cx[v], &cy[v], exponent);
        }
        if (step % 4 == 3 && !VECTOR_NAME(escape_any)(&any))
            break;
    }
    __builtin_memcpy(x_out, x, sizeof x);
    __builtin_memcpy(y_out, y, sizeof y);
    __builtin_memcpy(taken, count, sizeof count);
}

VECTOR_INLINE void VECTOR_NAME(escape_tested)(struct escape_points *points, struct escape_points *deep,
                                              unsigned exponent, double bound, uint32_t steps, uint32_t *counts)
{
    escape_pad(points);
    for (size_t at = 0; at < points->length; at += POINTS_AT_ONCE) {
        _Alignas(64) double x[POINTS_AT_ONCE], y[POINTS_AT_ONCE];
        _Alignas(64) int64_t taken[POINTS_AT_ONCE];
        VECTOR_NAME(escape_group)(points, at, exponent, bound, steps, x, y, taken);
        for (size_t i = 0; i < POINTS_AT_ONCE && at + i < points->length; i++) {
            uint32_t count = points->count[at + i] + (uint32_t)taken[i];
            if (deep != NULL && taken[i] == steps)
                escape_append(deep, x[i], y[i], points->cx[at + i], points->cy[at + i], count, points->index[at + i]);
            else
                counts[points->index[at + i]] = count;
        }
    }
}

struct VECTOR_NAME(escape_lanes) {
    _Alignas(64) double x[POINTS_AT_ONCE], y[POINTS_AT_ONCE];
    _Alignas(64) double x_before[POINTS_AT_ONCE], y_before[POINTS_AT_ONCE];
    _Alignas(64) double cx[POINTS_AT_ONCE], cy[POINTS_AT_ONCE];
    _Alignas(64) int64_t blocks[POINTS_AT_ONCE];
    _Alignas(64) int64_t through[POINTS_AT_ONCE], escaped[POINTS_AT_ONCE];
    uint32_t index[POINTS_AT_ONCE];
    size_t live;
};

VECTOR_INLINE void VECTOR_NAME(escape_refill)(struct VECTOR_NAME(escape_lanes) * lanes, size_t lane,
                                              const struct escape_points *deep, size_t *next, int64_t blocks)
{
    bool some = *next < deep->length;
    size_t i = *next;
    *next += some;
    lanes->live += some;
    lanes->x[lane] = some ? deep->x[i] : 0;
    lanes->y[lane] = some ? deep->y[i] : 0;
    lanes->cx[lane] = some ? deep->cx[i] : 0;
    lanes->cy[lane] = some ? deep->cy[i] : 0;
    lanes->index[lane] = some ? deep->index[i] : UINT32_MAX;
    lanes->blocks[lane] = some ? blocks : INT64_MAX;
}

VECTOR_INLINE bool VECTOR_NAME(escape_block)(struct VECTOR_NAME(escape_lanes) * lanes, unsigned exponent,
                                             bool comes_back, double bound)
{
    vec x[VECTORS], y[VECTORS], cx[VECTORS], cy[VECTORS];
    mask blocks[VECTORS], through[VECTORS], escaped[VECTORS] = {{0}}, any = {0};
    __builtin_memcpy(x, lanes->x, sizeof x);
    __builtin_memcpy(y, lanes->y, sizeof y);
    __builtin_memcpy(cx, lanes->cx, sizeof cx);
    __builtin_memcpy(cy, lanes->cy, sizeof cy);
    __builtin_memcpy(blocks, lanes->blocks, sizeof blocks);
    __builtin_memcpy(lanes->x_before, x, sizeof x);
    __builtin_memcpy(lanes->y_before, y, sizeof y);
    for (int step = 0; step < ESCAPE_BLOCK; step++) {
        VECTOR_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            if (comes_back)
                escaped[v] |= ~(x[v] * x[v] + y[v] * y[v] <= bound);
            VECTOR_NAME(escape_step)(&x[v], &y[v], &cx[v], &cy[v], exponent);
        }
    }
    VECTOR_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        blocks[v] -= 1;
        escaped[v] |= ~(x[v] * x[v] + y[v] * y[v] <= bound);
        through[v] = escaped[v] | (blocks[v] == 0);
        any |= through[v];
    }
    __builtin_memcpy(lanes->x, x, sizeof x);
    __builtin_memcpy(lanes->y, y, sizeof y);
    __builtin_memcpy(lanes->blocks, blocks, sizeof blocks);
    __builtin_memcpy(lanes->through, through, sizeof through);
    __builtin_memcpy(lanes->escaped, escaped, sizeof escaped);
    return VECTOR_NAME(escape_any)(&any);
}

VECTOR_INLINE void VECTOR_NAME(escape_turn)(struct VECTOR_NAME(escape_lanes) * lanes, struct escape_batch *batch,
                                            size_t *next, int64_t blocks, uint32_t max_iter, uint32_t *counts)
{
    for (size_t lane = 0; lane < POINTS_AT_ONCE; lane++) {
        if (!lanes->through[lane])
            continue;
        if (lanes->escaped[lane] == 0) {
            counts[lanes->index[lane]] = max_iter;
        } else {
            uint32_t before = max_iter - (uint32_t)(lanes->blocks[lane] + 1) * ESCAPE_BLOCK;
            escape_append(&batch->found, lanes->x_before[lane], lanes->y_before[lane], lanes->cx[lane], lanes->cy[lane],
                          before, lanes->index[lane]);
        }
        lanes->live--;
        VECTOR_NAME(escape_refill)(lanes, lane, &batch->deep, next, blocks);
    }
}

VECTOR_INLINE void VECTOR_NAME(escape_deep)(struct escape_batch *batch, unsigned exponent, bool comes_back,
                                            const struct escape_rule *rule, int64_t blocks, uint32_t *counts)
{
    struct VECTOR_NAME(escape_lanes) lanes = {.live = 0};
    const double bound = comes_back ? rule->bound : ESCAPE_BOUND;
    size_t next = 0;
    for (size_t lane = 0; lane < POINTS_AT_ONCE; lane++)
        VECTOR_NAME(escape_refill)(&lanes, lane, &batch->deep, &next, blocks);
    while (lanes.live > 0)
        if (VECTOR_NAME(escape_block)(&lanes, exponent, comes_back, bound))
            VECTOR_NAME(escape_turn)(&lanes, batch, &next, blocks, rule->max_iter, counts);
}

/* `exponent` and `comes_back` are constants in each call, so the compiler makes special code for each combination. */
VECTOR_INLINE void VECTOR_NAME(escape_stages)(struct escape_batch *batch, unsigned exponent, bool comes_back,
                                              const struct escape_rule *rule, uint32_t *counts)
{
    const uint32_t max_iter = rule->max_iter, first_steps = escape_first_steps(max_iter);
    bool deeper = first_steps < max_iter;
    batch->deep.length = batch->found.length = 0;
    VECTOR_NAME(escape_tested)
    (&batch->fresh, deeper ? &batch->deep : NULL, exponent, rule->bound, first_steps, counts);
    if (!deeper)
        return;
    if (!comes_back)
        escape_take_out(&batch->deep, rule, counts);
    VECTOR_NAME(escape_deep)(batch, exponent, comes_back, rule, (max_iter - first_steps) / ESCAPE_BLOCK, counts);
    VECTOR_NAME(escape_tested)(&batch->found, NULL, exponent, rule->bound, ESCAPE_BLOCK, counts);
}

VECTOR_TARGET static void VECTOR_NAME(escape_run)(struct escape_batch *batch, const struct escape_rule *rule,
                                                  uint32_t *counts)
{
    const bool comes_back = rule->bound != ESCAPE_BOUND;
    escape_begin(&batch->fresh);
    if (rule->exponent == 2 && !comes_back)
        VECTOR_NAME(escape_stages)(batch, 2, false, rule, counts);
    else if (rule->exponent == 2)
        VECTOR_NAME(escape_stages)(batch, 2, true, rule, counts);
    else if (!comes_back)
        VECTOR_NAME(escape_stages)(batch, 4, false, rule, counts);
    else
        VECTOR_NAME(escape_stages)(batch, 4, true, rule, counts);
}

#undef POINTS_AT_ONCE
#undef vec
#undef mask
#undef LANES
#undef VECTORS
#undef VECTOR_TARGET
