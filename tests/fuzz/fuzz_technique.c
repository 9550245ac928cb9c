/* SPDX-License-Identifier: MIT */
/* A technique as users write it, and the loop that it cuts. The first HEAD_BYTES bytes are the loop, what follows is
 * the spec. Whatever it says, it is refused with one line, or: it reads back from its canonical spelling; each chunk is
 * at least 1 and at most what remains; the closed form's boundaries are the sums of its chunks. */
#include "tests/fuzz/fuzz.h"
#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "proto/wire.h"

#include <string.h>

/* 0 flags, 1 workers - 1, 2 shift, 3 zero, 4 min_chunk, 8 iterations, 16 two measured values of any bits */
enum { HEAD_BYTES = 32, SHIFT_AT = 2, MIN_CHUNK_AT = 4, ITERATIONS_AT = 8, VALUES_AT = 16 };
enum { FLAG_WEIGHTED = 1, FLAG_POWERS = 2, FLAG_PROBED = 4, FLAG_FEEDBACK = 8, FLAG_LOADS = 16 };
enum { STEPS_MAX = 100, WALK_MAX = 2000, WORKERS_MAX = 256 };

static void check_spelling(const struct sched_spec *spec)
{
    char text[SCHED_SPEC_TEXT_MAX], again[SCHED_SPEC_TEXT_MAX];
    struct sched_spec back;
    struct error error;
    sched_spec_format(spec, text, sizeof text);
    if (strlen(text) + 1 == sizeof text)
        return; /* it may be cut */
    REQUIRE(sched_spec_parse(&back, text, &error) == 0);
    sched_spec_format(&back, again, sizeof again);
    REQUIRE(strcmp(text, again) == 0 && memcmp(spec->given, back.given, sizeof spec->given) == 0);
}

static void feed_back(struct sched *sched, unsigned worker, uint64_t chunk, const uint8_t *head)
{
    const struct sched_feedback feedback = {
        .worker = worker,
        .chunks = 1,
        .iterations = chunk,
        .compute_s = wire_get_double(head + VALUES_AT),
        .wait_s = 1e-6 * worker,
        .deviation_s = wire_get_double(head + VALUES_AT + 8),
        .samples = (uint32_t)chunk,
    };
    sched_feedback(sched, &feedback);
    REQUIRE(sched_weight(sched, worker) >= 0); /* and so not NaN */
}

static void draw_chunks(struct sched *sched, const uint8_t *head)
{
    for (unsigned i = 0; i < STEPS_MAX; i++) {
        uint64_t before = sched->remaining;
        unsigned worker = i % sched->workers;
        sched_set_load(sched, worker, 1 + (double)(i % 5) * 0.8);
        uint64_t chunk = sched_next(sched, worker);
        REQUIRE(chunk <= before && (chunk > 0) == (before > 0) && sched->remaining == before - chunk);
        REQUIRE(chunk >= sched->min_chunk || chunk == before);
        if (head[0] & FLAG_FEEDBACK && chunk > 0)
            feed_back(sched, worker, chunk, head);
        if (i % 7 == 6)
            sched_give_back(sched, chunk / 2);
    }
}

static void draw_from_rest(struct sched *sched)
{
    uint64_t rest = sched->iterations;
    for (unsigned i = 0; i < STEPS_MAX && rest > 0; i++) {
        uint64_t chunk = sched_from_rest(sched, i % sched->workers, rest);
        REQUIRE(chunk > 0 && chunk <= rest);
        rest -= chunk;
    }
}

/* The boundaries, as far as a walk over some steps shows them. */
static void check_bounds(const struct sched *sched)
{
    struct sched_bounds bounds;
    struct error error = {0};
    uint64_t expected = 0, first;
    if (sched_bounds_init(&bounds, sched, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    for (uint64_t step = 0; step < bounds.count && step < WALK_MAX; step++) {
        uint64_t count = sched_bounds_chunk(&bounds, step, &first);
        REQUIRE(first == expected && count > 0 && count <= sched->iterations - first);
        REQUIRE(sched_bounds_start(&bounds, step) == first);
        expected += count;
    }
    REQUIRE(bounds.count > WALK_MAX || expected == sched->iterations);
    REQUIRE(sched_bounds_start(&bounds, bounds.count) == sched->iterations);
    sched_bounds_fini(&bounds);
}

/* Where boundaries take a table or a long walk, only those of loops that are not too long. */
static bool is_cheap(const struct sched *sched)
{
    return sched->iterations <= WALK_MAX || sched->iterations / sched->min_chunk <= WALK_MAX;
}

static void run_loop(const struct sched_spec *spec, const struct sched_config *config, const uint8_t *head)
{
    struct sched sched;
    struct error error = {0};
    struct sched_value_used used[SCHED_PARAMS_MAX];
    if (sched_init(&sched, spec, config, &error) < 0) {
        require_one_line(error.text);
        return;
    }
    if (spec->technique->from_rest != NULL)
        draw_from_rest(&sched);
    if (sched_again(&sched, config->iterations, &error) == 0) {
        if (sched_check_closed(&sched, &error) == 0 && is_cheap(&sched))
            check_bounds(&sched);
        draw_chunks(&sched, head);
        REQUIRE(sched_values_used(&sched, used) <= SCHED_PARAMS_MAX);
        if (sched_again(&sched, config->iterations / 2, &error) == 0)
            draw_chunks(&sched, head);
    }
    sched_fini(&sched);
}

static void set_up(struct sched_config *config, double powers[WORKERS_MAX], const uint8_t *head)
{
    bool probed = head[0] & FLAG_PROBED;
    *config = (struct sched_config){
        .iterations = wire_get64(head + ITERATIONS_AT) >> (head[SHIFT_AT] & 63),
        .workers = head[1] + 1u,
        .powers = head[0] & FLAG_POWERS ? powers : NULL,
        .min_chunk = wire_get32(head + MIN_CHUNK_AT),
        .weighting = head[0] & FLAG_LOADS      ? SCHED_WEIGHTING_ACP
                     : head[0] & FLAG_WEIGHTED ? SCHED_WEIGHTING_POWER
                                               : SCHED_WEIGHTING_NONE,
        .loads = true,
        .overhead_s = probed ? wire_get_double(head + VALUES_AT) : 0,
        .swr = probed ? wire_get_double(head + VALUES_AT + 8) : 0,
    };
    for (unsigned i = 0; i < config->workers; i++)
        powers[i] = i % 3 == 2 ? wire_get_double(head + VALUES_AT) : 1.0 / (i + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    double powers[WORKERS_MAX];
    struct sched_config config;
    struct sched_spec spec;
    struct error error = {0};
    if (size < HEAD_BYTES)
        return 0;
    char *text = fuzz_text(bytes + HEAD_BYTES, size - HEAD_BYTES);
    set_up(&config, powers, bytes);
    if (sched_spec_parse(&spec, text, &error) < 0) {
        require_one_line(error.text);
    } else {
        check_spelling(&spec);
        run_loop(&spec, &config, bytes);
    }
    free(text);
    return 0;
}
