/* SPDX-License-Identifier: MIT */
/* Flat draws without MPI: workers that share two counters in memory and come in any order, also in the middle of one
 * another's draws. However they interleave, the chunks cover the loop exactly once. */
#include "common/dca/core.h"
#include "common/dca/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <math.h>
#include <string.h>

#define WORKERS_MAX 64

struct world {
    uint64_t counters[DCA_COUNTERS];
    struct dca_measured measured[WORKERS_MAX];
    struct dca_core cores[WORKERS_MAX];
    struct dca_machine machines[WORKERS_MAX];
    bool busy[WORKERS_MAX], over[WORKERS_MAX];
    unsigned workers, depth;
    struct random random;
    struct ranges done;
    uint64_t sizes[4096];
    size_t chunks;
};

static void draw_once(struct world *world, unsigned w);

/* Now and then another worker draws in between. */
static void let_another(struct world *world)
{
    unsigned w = (unsigned)random_between(&world->random, 0, world->workers - 1);
    if (world->busy[w] || world->over[w] || random_between(&world->random, 0, 2) > 0)
        return;
    draw_once(world, w);
}

static uint64_t fetch_add(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)assigns;
    struct world *world = self;
    let_another(world);
    uint64_t before = world->counters[counter];
    ck_assert_uint_le(amount, UINT64_MAX - before);
    world->counters[counter] += amount;
    let_another(world);
    return before;
}

static void share_of(struct world *world, unsigned w, const struct dca_measured *own, struct dca_measured *all)
{
    world->measured[w] = *own;
    memcpy(all, world->measured, world->workers * sizeof *all);
    unsigned torn = (unsigned)random_between(&world->random, 0, world->workers - 1);
    all[torn].iterations += 1000; /* read half old, half new */
}

static struct world *sharing;
static unsigned sharer;

static void share(void *self, const struct dca_measured *own, struct dca_measured *all)
{
    (void)self;
    share_of(sharing, sharer, own, all);
}

static void draw_once(struct world *world, unsigned w)
{
    const struct dca_counters counters = {.self = world, .fetch_add = fetch_add, .share = share};
    struct range chunk;
    uint64_t added;
    world->busy[w] = true;
    sharing = world;
    sharer = w;
    bool drawn = dca_machine_draw(&world->machines[w], &counters, &chunk);
    ck_assert_ptr_eq(dca_machine_check(&world->machines[w]), NULL);
    world->busy[w] = false;
    world->over[w] = !drawn;
    if (!drawn)
        return;
    ck_assert_uint_gt(chunk.count, 0);
    ck_assert_uint_le(chunk.first + chunk.count, world->cores[w].iterations);
    ck_assert_int_eq(ranges_add(&world->done, chunk.first, chunk.count, &added), 0);
    ck_assert_uint_eq(added, chunk.count);
    if (world->chunks < sizeof world->sizes / sizeof *world->sizes)
        world->sizes[world->chunks] = chunk.count;
    world->chunks++;
    dca_machine_measure(&world->machines[w], chunk.count, chunk.count * (100 + 50 * w), 20, 10, 8);
}

static void world_init(struct world *world, const char *technique, const struct sched_config *config, bool two_counters,
                       uint64_t seed)
{
    struct sched_spec spec = spec_of(technique);
    struct error error;
    memset(world, 0, sizeof *world);
    world->workers = config->workers;
    random_init(&world->random, seed);
    ranges_init(&world->done);
    for (unsigned w = 0; w < config->workers; w++) {
        const struct dca_config dca = {.technique = &spec, .sched = *config, .two_counters = two_counters};
        if (dca_init(&world->cores[w], &dca, &error) < 0)
            ck_abort_msg("%s: %s", technique, error.text);
        dca_machine_init(&world->machines[w], &world->cores[w], w, config->powers != NULL ? config->powers[w] : 1,
                         false);
    }
}

static void world_fini(struct world *world)
{
    for (unsigned w = 0; w < world->workers; w++)
        dca_fini(&world->cores[w]);
    ranges_fini(&world->done);
}

static bool all_over(const struct world *world)
{
    for (unsigned w = 0; w < world->workers; w++)
        if (!world->over[w])
            return false;
    return true;
}

static void run_world(struct world *world)
{
    while (!all_over(world)) {
        unsigned w = (unsigned)random_between(&world->random, 0, world->workers - 1);
        if (!world->over[w])
            draw_once(world, w);
    }
}

static const char *const techniques[] = {
    "static",
    "ss",
    "css:chunk=13",
    "mfsc",
    "gss",
    "tss",
    "tss:variant=paper",
    "tss:decrement=real",
    "fac2",
    "tfss",
    "fiss",
    "viss",
    "rnd",
    "pls:swr=0.7",
    "wf",
    "wf:variant=paper",
    "dtss",
    "dtss:decrement=real",
    "dfss",
    "dgss",
    "dfss:alpha=1",
    "dfss:alpha=3.5",
    "af",
    "awf-b",
    "awf-c",
    "awf-d",
    "awf-e",
    "tap:mu=1,sigma=0.5,alpha=1.3",
    "fsc:h=0.01,sigma=0.06",
};
enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

static const uint64_t lengths[] = {0, 1, 2, 7, 64, 1000, 2311};
static const unsigned crowds[] = {1, 2, 3, 8, 64};

/* Powers from very different to equal. */
static void fill_powers(double *powers, unsigned workers, unsigned kind)
{
    for (unsigned w = 0; w < workers; w++)
        powers[w] = kind == 0 ? 1 : kind == 1 ? 1 + w % 3 : w == 0 ? 0.01 : 100;
}

/* With weighting none and power it does nothing. */
static void load_world(struct world *world)
{
    for (unsigned w = 0; w < world->workers; w++)
        dca_machine_set_load(&world->machines[w], 1 + w % 3);
}

static void cover(const char *technique, enum sched_weighting weighting, bool two_counters)
{
    struct world *world = malloc(sizeof *world);
    double powers[WORKERS_MAX];
    for (unsigned n = 0; n < sizeof lengths / sizeof *lengths; n++)
        for (unsigned p = 0; p < sizeof crowds / sizeof *crowds; p++)
            for (unsigned kind = 0; kind < 3; kind++) {
                fill_powers(powers, crowds[p], kind);
                const struct sched_config config = {.iterations = lengths[n],
                                                    .workers = crowds[p],
                                                    .powers = powers,
                                                    .weighting = weighting,
                                                    .loads = true,
                                                    .min_chunk = kind == 1 ? 5 : 1};
                world_init(world, technique, &config, two_counters, n * 100 + p * 10 + kind);
                load_world(world);
                run_world(world);
                ck_assert_uint_eq(ranges_total(&world->done), lengths[n]);
                world_fini(world);
            }
    free(world);
}

START_TEST(covers_the_loop_once)
{
    cover(techniques[_i], SCHED_WEIGHTING_NONE, false);
}
END_TEST

START_TEST(covers_the_loop_once_with_two_counters)
{
    cover(techniques[_i], SCHED_WEIGHTING_NONE, true);
}
END_TEST

START_TEST(covers_the_loop_once_when_weighted)
{
    cover(techniques[_i], SCHED_WEIGHTING_POWER, false);
}
END_TEST

START_TEST(covers_the_loop_once_when_cores_are_loaded)
{
    cover(techniques[_i], SCHED_WEIGHTING_ACP, false);
}
END_TEST

/* Nobody draws in between. */
static uint64_t add_alone(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)assigns;
    uint64_t *counters = self, before = counters[counter];
    counters[counter] += amount;
    return before;
}

static void measure_nothing(void *self, const struct dca_measured *own, struct dca_measured *all)
{
    (void)self, (void)own, (void)all;
}

static uint64_t first_chunk(const char *technique, double load)
{
    const double powers[] = {1, 1, 1, 1};
    uint64_t values[DCA_COUNTERS] = {0};
    const struct dca_counters counters = {.self = values, .fetch_add = add_alone, .share = measure_nothing};
    const struct sched_spec spec = spec_of(technique);
    const struct dca_config config = {
        .technique = &spec,
        .sched = {
            .iterations = 100000, .workers = 4, .powers = powers, .weighting = SCHED_WEIGHTING_ACP, .loads = true}};
    struct dca_core core;
    struct dca_machine machine;
    struct range chunk;
    struct error error;
    ck_assert_msg(dca_init(&core, &config, &error) == 0, "%s", error.text);
    dca_machine_init(&machine, &core, 1, 1, false);
    dca_machine_set_load(&machine, load);
    ck_assert(dca_machine_draw(&machine, &counters, &chunk));
    dca_fini(&core);
    return chunk.count;
}

START_TEST(a_loaded_worker_draws_in_proportion)
{
    static const char *const loaded[] = {"css:chunk=1200", "fac2", "tss", "dgss", "wf", "af", "awf-b", "awf-c"};
    for (size_t t = 0; t < sizeof loaded / sizeof *loaded; t++) {
        uint64_t alone = first_chunk(loaded[t], 1);
        ck_assert_uint_gt(alone, 100);
        ck_assert_uint_eq(first_chunk(loaded[t], 2), alone / 2);
    }
}
END_TEST

/* Worker w takes 1 + w units for an iteration, and one at a time draws, the one that is free first: what each computes
 * in all is in proportion to its speed, as with a coordinator. */
static void draw_by_speed(const char *technique, uint64_t *computed, unsigned workers)
{
    struct world *world = malloc(sizeof *world);
    const struct sched_config config = {.iterations = 100000, .workers = workers};
    uint64_t values[DCA_COUNTERS] = {0}, free_at[WORKERS_MAX] = {0};
    const struct dca_counters counters = {.self = values, .fetch_add = add_alone, .share = measure_nothing};
    world_init(world, technique, &config, false, 1);
    for (struct range chunk;;) {
        unsigned first = 0;
        for (unsigned w = 1; w < workers; w++)
            first = free_at[w] < free_at[first] ? w : first;
        for (unsigned w = 0; w < workers; w++) {
            world->cores[first].fresh[w] = world->machines[w].own;
            dca_seal(&world->cores[first].fresh[w]);
        }
        if (!dca_machine_draw(&world->machines[first], &counters, &chunk))
            break;
        const uint64_t took = chunk.count * (1 + first) * 1000;
        computed[first] += chunk.count;
        free_at[first] += took;
        dca_machine_measure(&world->machines[first], chunk.count, took, first * chunk.count * 10, 0, 0);
    }
    world_fini(world);
    free(world);
}

/* The slowest has its first chunk, an eighth of the loop, before anything is measured: a little too much. */
START_TEST(learned_weights_are_those_of_the_speeds)
{
    static const char *const learning[] = {"awf-b", "awf-c", "awf-d", "awf-e"};
    enum { WORKERS = 4 };
    for (size_t t = 0; t < sizeof learning / sizeof *learning; t++) {
        uint64_t computed[WORKERS] = {0}, all = 0;
        draw_by_speed(learning[t], computed, WORKERS);
        for (unsigned w = 0; w < WORKERS; w++)
            all += computed[w];
        ck_assert_uint_eq(all, 100000);
        for (unsigned w = 0; w < WORKERS; w++) { /* 48, 24, 16 and 12 % */
            const double share = 12.0 / (1 + w) / 25;
            ck_assert_double_lt(fabs((double)computed[w] / 100000 - share), 0.03);
        }
    }
}
END_TEST

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t expect_sizes(const char *technique, unsigned workers, uint64_t iterations, uint64_t *sizes,
                             size_t *count)
{
    struct sched sched = loop_of(technique, iterations, workers);
    uint64_t sum = 0;
    for (*count = 0; sum < iterations; sum += sizes[(*count)++])
        sizes[*count] = sched_at(&sched, *count);
    sched_fini(&sched);
    return sum;
}

/* How many of the sorted `some` are not among the sorted `all`. */
static size_t strangers(const uint64_t *some, size_t some_count, const uint64_t *all, size_t all_count)
{
    size_t found = 0;
    for (size_t i = 0, j = 0; i < some_count && j < all_count; j++)
        if (some[i] == all[j])
            i++, found++;
        else if (some[i] < all[j])
            i++, j--;
    return some_count - found;
}

/* The sizes drawn are those of the closed form. By place all of them; by two counters the chunk that is assigned last
 * is cut, whichever it is, and some may find nothing left. */
static void compare_sizes(const char *technique, unsigned workers, bool two_counters)
{
    struct world *world = malloc(sizeof *world);
    const struct sched_config config = {.iterations = 2311, .workers = workers};
    uint64_t expected[4096];
    size_t count;
    uint64_t sum = expect_sizes(technique, workers, 2311, expected, &count);
    world_init(world, technique, &config, two_counters, 7);
    run_world(world);
    if (!two_counters)
        expected[count - 1] -= sum - 2311;
    qsort(expected, count, sizeof *expected, by_size);
    qsort(world->sizes, world->chunks, sizeof *world->sizes, by_size);
    ck_assert_uint_le(strangers(world->sizes, world->chunks, expected, count), two_counters ? 1 : 0);
    if (!two_counters)
        ck_assert_uint_eq(world->chunks, count);
    world_fini(world);
    free(world);
}

START_TEST(sizes_are_those_of_the_closed_form)
{
    static const char *const closed[] = {
        "static", "ss",          "css:chunk=13",      "mfsc", "gss", "tss", "fac2", "tfss", "fiss", "viss",
        "rnd",    "pls:swr=0.7", "tap:mu=1,sigma=0.5"};
    for (unsigned i = 0; i < sizeof closed / sizeof *closed; i++)
        for (unsigned workers = 1; workers <= 16; workers *= 4)
            compare_sizes(closed[i], workers, _i == 1);
}
END_TEST

/* The steps that weights leave undrawn do not go out in crumbs. */
START_TEST(weighted_chunks_leave_no_crumbs)
{
    struct world *world = malloc(sizeof *world);
    const double powers[] = {1, 0.1, 0.1, 0.1};
    const struct sched_config config = {
        .iterations = 1000000, .workers = 4, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    world_init(world, "gss", &config, false, 3);
    while (!all_over(world)) /* the fastest is away */
        for (unsigned w = 1; w < 4; w++)
            if (!world->over[w])
                draw_once(world, w);
            else
                world->over[0] = true;
    ck_assert_uint_eq(ranges_total(&world->done), 1000000);
    ck_assert_uint_lt(world->chunks, 2000);
    world_fini(world);
    free(world);
}
END_TEST

/* Two workers draw by turns chunks of these sizes, `count` of them. */
static void expect_draws(const char *technique, const struct sched_config *config, const uint64_t *expected,
                         unsigned count)
{
    struct world *world = malloc(sizeof *world);
    world_init(world, technique, config, false, 1);
    const struct dca_counters counters = {.self = world, .fetch_add = fetch_add};
    world->busy[0] = world->busy[1] = true;
    for (unsigned i = 0; i < count; i++) {
        struct range chunk;
        ck_assert(dca_machine_draw(&world->machines[i % 2], &counters, &chunk));
        ck_assert_uint_eq(chunk.count, expected[i]);
    }
    world_fini(world);
    free(world);
}

/* N = 100, P = 2, w = 1.5 and 0.5: fac2's 25 25 13 13 7 7 4 4 times the weight, rounded up, with nothing carried. */
START_TEST(wf_to_the_letter_rounds_up)
{
    const double powers[] = {3, 1};
    const struct sched_config config = {.iterations = 100, .workers = 2, .powers = powers};
    static const uint64_t expected[] = {38, 13, 20, 7, 11, 4, 6, 1};
    expect_draws("wf:variant=paper", &config, expected, 8);
}
END_TEST

/* [SW] eq 2, N = 100, P = 2, V = 1 and 0.4: tss's 25 22 19 16 13 10 7 4 1 1 .. times the power, rounded down. */
START_TEST(tss_to_the_letter_ends_with_its_last_chunk)
{
    const double powers[] = {1, 0.4};
    const struct sched_config config = {
        .iterations = 100, .workers = 2, .powers = powers, .weighting = SCHED_WEIGHTING_POWER};
    static const uint64_t expected[] = {25, 8, 19, 6, 13, 4, 7, 1, 1, 1, 1, 1};
    expect_draws("tss:variant=paper", &config, expected, 12);
}
END_TEST

START_TEST(weights_give_their_share)
{
    struct world *world = malloc(sizeof *world);
    const double powers[] = {3, 1};
    const struct sched_config config = {.iterations = 10000, .workers = 2, .powers = powers};
    static const char *const weighted[] = {"wf", "dfss", "dtss", "dgss"};
    for (unsigned i = 0; i < 4; i++) {
        struct range first, second;
        world_init(world, weighted[i], &config, false, 1);
        const struct dca_counters counters = {.self = world, .fetch_add = fetch_add};
        world->busy[0] = world->busy[1] = true;
        ck_assert(dca_machine_draw(&world->machines[0], &counters, &first));
        ck_assert(dca_machine_draw(&world->machines[1], &counters, &second));
        double ratio = (double)first.count / (double)second.count;
        ck_assert_msg(ratio > 2.5 && ratio < 13, "%s: %g", weighted[i], ratio);
        world_fini(world);
    }
    free(world);
}
END_TEST

/* From R alone, one worker after another, as the recursive form has it where the powers are equal. */
START_TEST(by_rest_follows_the_recursive_form)
{
    static const char *const rest[] = {"dfss", "dgss", "dtss"};
    for (unsigned i = 0; i < 3; i++) {
        const double powers[] = {1, 1, 1, 1};
        const struct sched_config config = {.iterations = 100000, .workers = 4, .powers = powers};
        struct sched next = loop_with(rest[i], &config), from = loop_with(rest[i], &config);
        uint64_t left = 100000;
        for (unsigned k = 0; k < 24; k++) {
            uint64_t expected = sched_next(&next, k % 4), size = sched_from_rest(&from, k % 4, left);
            double off = (double)size - (double)expected;
            ck_assert_msg(off <= 2 && off >= -2, "%s, chunk %u: %" PRIu64 ", not %" PRIu64, rest[i], k, size, expected);
            left -= expected;
        }
        sched_fini(&next);
        sched_fini(&from);
    }
}
END_TEST

START_TEST(nobody_draws_after_a_stop)
{
    for (unsigned i = 0; i < TECHNIQUES; i++) {
        struct world *world = malloc(sizeof *world);
        const struct sched_config config = {.iterations = 1000000, .workers = 8};
        world_init(world, techniques[i], &config, i % 2 == 1, i);
        const struct dca_counters counters = {.self = world, .fetch_add = fetch_add, .share = share};
        draw_once(world, 0);
        ck_assert(!dca_is_stopped(&world->cores[1], &counters));
        for (unsigned w = 0; w < 8; w++)
            world->busy[w] = true; /* nobody draws in between */
        for (unsigned w = 0; w < 8; w++)
            dca_machine_stop(&world->machines[w], &counters); /* as mpirun sends a signal to all */
        ck_assert(dca_is_stopped(&world->cores[1], &counters));
        uint64_t drawn = ranges_total(&world->done);
        for (unsigned w = 0; w < 8; w++)
            draw_once(world, w);
        ck_assert_uint_eq(ranges_total(&world->done), drawn);
        world_fini(world);
        free(world);
    }
}
END_TEST

START_TEST(the_longest_loop_overflows_nothing)
{
    static const char *const some[] = {"css:chunk=2^59", "dgss", "wf"};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned two = 0; two < 2; two++) {
            struct world *world = malloc(sizeof *world);
            const struct sched_config config = {
                .iterations = DCA_SPAN / 64, .workers = 64, .min_chunk = DCA_SPAN / 128};
            world_init(world, some[i], &config, two, i);
            run_world(world);
            ck_assert_uint_eq(ranges_total(&world->done), DCA_SPAN / 64);
            const struct dca_counters counters = {.self = world, .fetch_add = fetch_add};
            for (unsigned w = 0; w < 64; w++)
                dca_machine_stop(&world->machines[w], &counters);
            world_fini(world);
            free(world);
        }
}
END_TEST

static void refuses(const char *technique, uint64_t iterations, const char *expected)
{
    struct sched_spec spec = spec_of(technique);
    struct dca_core core;
    struct error error = {0};
    const struct dca_config config = {.technique = &spec, .sched = {.iterations = iterations, .workers = 4}};
    ck_assert_int_eq(dca_init(&core, &config, &error), -1);
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
}

START_TEST(what_cannot_run_as_dca_is_refused)
{
    refuses("awf", 1000, "technique awf cannot run without a coordinator (--dca)");
    refuses("tap", 1000, "mu=");
    refuses("pls", 1000, "swr=");
    refuses("gss", DCA_SPAN / 4 + 1, "accepted is up to 576460752303423488");
    refuses("gss:round=floor", DCA_SPAN, "too long for 4 workers");
}
END_TEST

static uint64_t all_after(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)counter, (void)assigns;
    *(uint64_t *)self += amount;
    return *(uint64_t *)self - amount;
}

START_TEST(drawn_tells_how_far_it_is)
{
    struct world *world = malloc(sizeof *world);
    const struct sched_config config = {.iterations = 1000, .workers = 4};
    uint64_t own = 0;
    const struct dca_counters counters = {.self = &own, .fetch_add = all_after};
    struct range chunk;
    world_init(world, "fac2", &config, false, 1);
    ck_assert_int_eq(dca_first_counter(&world->cores[0]), DCA_STEP);
    ck_assert_uint_eq(dca_drawn(&world->cores[0], own), 0);
    ck_assert(dca_machine_draw(&world->machines[0], &counters, &chunk));
    ck_assert_uint_eq(dca_drawn(&world->cores[0], own), 125);
    ck_assert_uint_eq(dca_drawn(&world->cores[0], UINT64_MAX), 1000);
    world_fini(world);
    world_init(world, "dgss", &config, false, 1);
    ck_assert_int_eq(dca_first_counter(&world->cores[0]), DCA_START);
    ck_assert_uint_eq(dca_drawn(&world->cores[0], 77), 77);
    world_fini(world);
    free(world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flat-core");
    TCase *tcase = tcase_create("draws");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, covers_the_loop_once, 0, TECHNIQUES);
    tcase_add_loop_test(tcase, covers_the_loop_once_with_two_counters, 0, TECHNIQUES);
    tcase_add_loop_test(tcase, covers_the_loop_once_when_weighted, 0, TECHNIQUES);
    tcase_add_loop_test(tcase, covers_the_loop_once_when_cores_are_loaded, 0, TECHNIQUES);
    tcase_add_test(tcase, a_loaded_worker_draws_in_proportion);
    tcase_add_test(tcase, learned_weights_are_those_of_the_speeds);
    tcase_add_loop_test(tcase, sizes_are_those_of_the_closed_form, 0, 2);
    tcase_add_test(tcase, weighted_chunks_leave_no_crumbs);
    tcase_add_test(tcase, wf_to_the_letter_rounds_up);
    tcase_add_test(tcase, tss_to_the_letter_ends_with_its_last_chunk);
    tcase_add_test(tcase, weights_give_their_share);
    tcase_add_test(tcase, by_rest_follows_the_recursive_form);
    tcase_add_test(tcase, nobody_draws_after_a_stop);
    tcase_add_test(tcase, the_longest_loop_overflows_nothing);
    tcase_add_test(tcase, what_cannot_run_as_dca_is_refused);
    tcase_add_test(tcase, drawn_tells_how_far_it_is);
    suite_add_tcase(suite, tcase);
    return suite_run_together(suite);
}
