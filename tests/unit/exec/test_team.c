/* SPDX-License-Identifier: MIT */
/* A team: each iteration once and in its place whatever the technique and however many threads contend for it, chunks
 * that overlap and finish in order, failures where they happened, and chunks that are given up. The threads are started
 * here, without OpenMP, so that the same file is also a test under ThreadSanitizer. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "tests/lib/suite.h"
#include "worker/exec/ring.h"
#include "worker/exec/thread_pool.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOOP_MAX = 150000, CHUNKS_MAX = 64 };

/* --- a kernel that counts how often each iteration is run --- */

static struct {
    _Atomic unsigned char runs[LOOP_MAX];
    _Atomic unsigned opened, closed;
    uint64_t fail_at[3];
    unsigned fails;
    uint64_t spins;           /* of an iteration, times its number modulo 7 */
    uint64_t hold_below;      /* of these iterations one is held by a thread that is not the main one, ... */
    _Atomic bool held, taken; /* ... while `held`; taken: there is one */
    pthread_t main_thread;
    unsigned slow; /* the instance that naps four times for each iteration, all others once; 0: none naps */
} kernel;

static uint64_t value_of(uint64_t iteration)
{
    return iteration * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)error;
    *loop = (struct hdss_loop){.iterations = LOOP_MAX, .type = HDSS_UINT64, .record_length = 1, .dims = 1};
    return 0;
}

static int open_instance(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                         void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    unsigned char *bytes = calloc(2, 1);
    bytes[1] = (unsigned char)++kernel.opened;
    *instance = bytes;
    return 0;
}

static void close_instance(void *instance)
{
    free(instance);
    kernel.closed++;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void hold(void)
{
    bool is_main = pthread_equal(pthread_self(), kernel.main_thread);
    while (is_main && !atomic_load(&kernel.taken))
        nap();
    if (!is_main && !atomic_exchange(&kernel.taken, true))
        while (atomic_load(&kernel.held))
            nap();
}

static void nap_as(unsigned number)
{
    for (unsigned naps = number == kernel.slow ? 4 : 1; naps > 0; naps--)
        nap();
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    volatile unsigned char *own = instance; /* two threads in it are a race */
    uint64_t *words = records;
    *own = (unsigned char)(*own + 1);
    for (unsigned f = 0; f < kernel.fails; f++)
        if (kernel.fail_at[f] >= first && kernel.fail_at[f] < first + count) {
            snprintf(error, HDSS_ERROR_MAX, "cannot do %llu", (unsigned long long)kernel.fail_at[f]);
            return -1;
        }
    for (uint64_t i = first; i < first + count; i++) {
        kernel.runs[i]++;
        words[i - first] = value_of(i);
        if (i < kernel.hold_below)
            hold();
        if (kernel.slow > 0)
            nap_as(own[1]);
        for (volatile uint64_t spin = kernel.spins * (i % 7); spin > 0; spin--)
            ;
    }
    return 0;
}

static const struct hdss_kernel test_kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "test",
    .describe = describe,
    .open = open_instance,
    .run = run,
    .close = close_instance,
};

/* --- a team with threads of its own --- */

struct crew {
    struct thread_pool pool;
    struct hdss_loop loop;
    pthread_t thread[8];
    unsigned index[8];
    uint64_t results[LOOP_MAX];
};

static struct crew crew;

static void *serve(void *context)
{
    thread_pool_serve(&crew.pool, *(unsigned *)context);
    return NULL;
}

static void begin(unsigned threads, const char *technique, bool collect)
{
    static struct sched_spec spec;
    struct error error;
    char text[HDSS_ERROR_MAX];
    memset(&kernel, 0, sizeof kernel);
    memset(crew.results, 0, sizeof crew.results);
    kernel.main_thread = pthread_self();
    ck_assert_int_eq(sched_spec_parse(&spec, technique, &error), 0);
    ck_assert_int_eq(describe(NULL, &crew.loop, text), 0);
    const struct thread_pool_config config = {
        .exec =
            {.kernel = &test_kernel, .loop = &crew.loop, .collect = collect, .slowdown = 1, .probe_count = LOOP_MAX},
        .threads = threads,
        .technique = &spec,
        .cores = 1,
    };
    ck_assert_msg(thread_pool_init(&crew.pool, &config) == 0, "%s: %s", technique, crew.pool.error);
    for (unsigned t = 1; t < threads; t++) {
        crew.index[t] = t;
        ck_assert_int_eq(pthread_create(&crew.thread[t], NULL, serve, &crew.index[t]), 0);
    }
}

static void end(void)
{
    unsigned threads = crew.pool.config.threads;
    thread_pool_stop(&crew.pool);
    for (unsigned t = 1; t < threads; t++)
        pthread_join(crew.thread[t], NULL);
    executor_fini(&crew.pool.executor);
    ck_assert_uint_eq(kernel.opened, threads);
    ck_assert_uint_eq(kernel.closed, threads);
}

/* --- what comes of the chunks --- */

struct outcome {
    uint64_t digest, done, failed, failed_at[8];
    unsigned finished, slices, empty;
    uint64_t at;               /* iterations that have left or failed: events go in order */
    uint64_t ends[CHUNKS_MAX]; /* of the chunks, as they were begun */
    uint64_t firsts[CHUNKS_MAX];
    unsigned chunks;
};

static void run_chunk(struct outcome *outcome, uint64_t first, uint64_t count)
{
    if (outcome->chunks == outcome->finished)
        outcome->at = first;
    outcome->firsts[outcome->chunks] = first;
    outcome->ends[outcome->chunks++] = first + count;
    executor_begin(&crew.pool.executor, first, count, 0, false);
}

static void take_results(struct outcome *outcome, const struct event *event)
{
    const struct chunk_event *chunk = &event->chunk;
    if (chunk->data != NULL) {
        ck_assert_uint_eq(chunk->bytes, chunk->count * sizeof *crew.results);
        memcpy(&crew.results[outcome->at], chunk->data, chunk->bytes);
        ck_assert_uint_eq(chunk->digest, digest_records(outcome->at, chunk->count, chunk->data, 8));
        executor_sent(&crew.pool.executor, chunk->data);
    }
    outcome->digest += chunk->digest;
    outcome->done += chunk->count;
    outcome->at += chunk->count;
}

static void take_event(struct outcome *outcome, const struct event *event)
{
    switch (event->type) {
    case EVENT_DRY: outcome->empty++; break;
    case EVENT_SLICE:
        outcome->slices++;
        take_results(outcome, event);
        break;
    case EVENT_ITERATIONS_FAILED:
        ck_assert_uint_eq(event->chunk.count, 1);
        outcome->failed_at[outcome->failed++] = outcome->at++;
        break;
    case EVENT_FINISHED:
        take_results(outcome, event);
        ck_assert_uint_eq(outcome->at, outcome->ends[outcome->finished]);
        ck_assert_uint_gt(event->chunk.compute_ns, 0);
        outcome->at = outcome->firsts[++outcome->finished];
        break;
    default: ck_abort_msg("event %d", event->type);
    }
}

static enum turn advance(struct outcome *outcome)
{
    struct event event = {0};
    enum turn turn = executor_advance(&crew.pool.executor, &event);
    if (turn == TURN_EVENT)
        take_event(outcome, &event);
    return turn;
}

/* One turn; waits where nothing can be done. */
static void turn(struct outcome *outcome)
{
    struct pollfd bell = {.fd = executor_descriptor(&crew.pool.executor), .events = POLLIN};
    if (advance(outcome) == TURN_BLOCKED)
        ck_assert_msg(poll(&bell, 1, 20000) == 1, "nothing happens any more");
}

static void finish(struct outcome *outcome, unsigned chunks)
{
    while (outcome->finished < chunks)
        turn(outcome);
}

static uint64_t digest_of(uint64_t first, uint64_t count)
{
    uint64_t digest = 0;
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t value = value_of(i);
        digest += digest_record(i, &value, sizeof value);
    }
    return digest;
}

/* One assertion for all: each takes a message to the parent process. */
static void check_runs(uint64_t first, uint64_t count)
{
    uint64_t i = first;
    while (i < LOOP_MAX && kernel.runs[i] == (i < first + count))
        i++;
    ck_assert_msg(i == LOOP_MAX, "iteration %llu ran %d times", (unsigned long long)i, kernel.runs[i % LOOP_MAX]);
}

static void check_results(uint64_t count)
{
    uint64_t i = 0;
    while (i < count && crew.results[i] == value_of(i))
        i++;
    ck_assert_uint_eq(i, count);
}

/* Chunks of random lengths, as many at a time as may be, until the loop is over. */
static uint64_t run_loop(struct outcome *outcome, uint64_t longest, unsigned chunks, uint64_t seed)
{
    struct random random;
    random_init(&random, seed);
    uint64_t first = 0;
    while (outcome->finished < chunks) {
        while (outcome->chunks < chunks && outcome->chunks - outcome->finished < POOL_CHUNKS_MAX) {
            uint64_t count = 1 + random_next(&random) % longest;
            run_chunk(outcome, first, count);
            first += count;
        }
        turn(outcome);
    }
    return first;
}

/* --- tests --- */

/* With what cannot be measured given. */
static const char *spec_of(const struct technique *technique)
{
    static const char *const given[][2] = {{"fsc", "fsc:h=0.01,sigma=0.01"},
                                           {"fac", "fac:mu=1,sigma=0.5"},
                                           {"mfac", "mfac:mu=1,sigma=0.5"},
                                           {"tap", "tap:mu=1,sigma=0.5"},
                                           {"pls", "pls:swr=0.5"}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (strcmp(given[i][0], technique->name) == 0)
            return given[i][1];
    return technique->name;
}

/* Under a sanitizer, which takes ten times as long, fewer. */
#ifdef __SANITIZE_THREAD__
enum { BEGUN = 10 };
static const unsigned threads_tried[] = {3, 8};
#else
enum { BEGUN = 40 };
static const unsigned threads_tried[] = {1, 2, 3, 4, 5, 6, 7, 8};
#endif

START_TEST(each_iteration_is_run_once_by_every_technique)
{
    size_t count, tried = 0;
    const struct technique *const *all = sched_techniques(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; t < sizeof threads_tried / sizeof *threads_tried; t++) {
            unsigned threads = threads_tried[t];
            struct outcome outcome = {0};
            begin(threads, spec_of(all[i]), false);
            uint64_t done = run_loop(&outcome, threads % 2 ? 3 : 1000, 40, threads);
            check_runs(0, done);
            ck_assert_uint_eq(outcome.done, done);
            ck_assert_uint_eq(outcome.digest, digest_of(0, done));
            end();
        }
        tried++;
    }
    ck_assert_uint_ge(tried, 20);
}
END_TEST

/* How fast the threads are, the first over the second, as the technique has learned it in the slot. */
static double learned_ratio(uint64_t slot)
{
    struct ring *ring = &crew.pool.ring;
    const struct sched *sched = &ring->plan[slot].sched;
    pthread_mutex_lock(&ring->learning);
    double ratio = sched_weight(sched, 0) / sched_weight(sched, 1);
    pthread_mutex_unlock(&ring->learning);
    return ratio;
}

/* How many times as fast the first of two threads is in what the technique has learned, where the second naps four
 * times as long. */
static double learned_of_naps(const char *spec)
{
    struct outcome outcome = {0};
    begin(2, spec, false);
    kernel.slow = 2;
    for (unsigned chunk = 0; chunk < 3; chunk++) {
        outcome.at = 200 * chunk;
        run_chunk(&outcome, 200 * chunk, 200);
        finish(&outcome, chunk + 1);
    }
    check_runs(0, 600);
    double ratio = learned_ratio(2);
    end();
    return ratio;
}

/* What disturbs the machine for a moment is not to be learned anew, and may go into what is learned: one quiet trial of
 * five says enough. */
START_TEST(a_slow_thread_is_known_to_be_slow)
{
    static const char *const learning[] = {"awf:restart=0",   "awf-b:restart=0", "awf-c:restart=0",
                                           "awf-d:restart=0", "awf-e:restart=0", "af:restart=0"};
    for (size_t i = 0; i < sizeof learning / sizeof *learning; i++) {
        double ratio = 0;
        for (unsigned trial = 0; trial < 5 && ratio <= 2; trial++)
            ratio = learned_of_naps(learning[i]);
        ck_assert_msg(ratio > 2, "%s: %g times as fast", learning[i], ratio);
    }
}
END_TEST

static void ignore(void *context)
{
    (void)context;
}

static uint64_t draw_of(struct ring *ring, unsigned thread)
{
    uint64_t first, end;
    ring_enter(ring, thread);
    ck_assert(!ring_draw(ring, thread, &first, &end));
    return ring_draw_learned(ring, thread, &first, &end) ? end - first : 0;
}

/* By the book, with no clock: what is measured in one slot counts in the slots after it, and a slot that is closed has
 * nothing for anybody. */
START_TEST(what_is_measured_counts_in_the_next_slots)
{
    struct ring ring;
    struct sched_spec spec;
    struct error error;
    const struct range chunk = {.first = 1000, .count = 1000};
    ck_assert_int_eq(sched_spec_parse(&spec, "awf", &error), 0);
    ck_assert_int_eq(ring_init(&ring, 2, &spec, ignore, NULL, &error), 0);
    for (unsigned slot = 0; slot < 3; slot++) {
        ck_assert_ptr_nonnull(ring_free_slot(&ring));
        ck_assert_int_eq(ring_begin(&ring, &chunk, 0, NULL, &error), 0);
        for (unsigned thread = 0; thread < 2; thread++) {
            uint64_t expected = slot == 0 ? 250 : thread == 0 ? 400 : 100;
            ck_assert_uint_eq(draw_of(&ring, thread), expected);
            ring_learn(&ring, thread, 10, thread == 0 ? 1000 : 4000);
        }
        ring_close_slot(&ring, slot);
        ck_assert_uint_eq(draw_of(&ring, 0), 0);
        ring_leave(&ring, 0);
        ring_leave(&ring, 1);
    }
    ring_fini(&ring);
}
END_TEST

/* A thread's chunk is learned from when it draws the next: the first one's is not known to be the quicker before. */
START_TEST(what_is_measured_counts_in_the_next_draw)
{
    static const uint64_t expected[] = {250, 188, 141, 43, 152};
    struct ring ring;
    struct sched_spec spec;
    struct error error;
    const struct range chunk = {.first = 0, .count = 1000};
    ck_assert_int_eq(sched_spec_parse(&spec, "awf-c", &error), 0);
    ck_assert_int_eq(ring_init(&ring, 2, &spec, ignore, NULL, &error), 0);
    ck_assert_int_eq(ring_begin(&ring, &chunk, 0, NULL, &error), 0);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        ck_assert_uint_eq(draw_of(&ring, i % 2), expected[i]);
        ring_learn(&ring, i % 2, expected[i], expected[i] * (i % 2 == 0 ? 100 : 400));
    }
    ring_fini(&ring);
}
END_TEST

/* Draws once; 0: the slot is dry. */
static uint64_t draw_step(struct ring *ring, unsigned thread, uint64_t *first)
{
    uint64_t end;
    return ring_draw(ring, thread, first, &end) ? end - *first : 0;
}

static void begin_steps(struct ring *ring, unsigned threads, const struct range *chunk)
{
    struct sched_spec spec;
    struct error error;
    ck_assert_int_eq(sched_spec_parse(&spec, "ss", &error), 0);
    ck_assert_int_eq(ring_init(ring, threads, &spec, ignore, NULL, &error), 0);
    ck_assert_int_eq(ring_begin(ring, chunk, 0, NULL, &error), 0);
    for (unsigned i = 0; i < threads; i++) {
        ring->thread[i].ahead_most = RING_AHEAD_MAX;
        ck_assert(ring_enter(ring, i));
    }
}

/* What a thread has drawn ahead is its own for as long as there is something else, and anybody's after that. */
START_TEST(what_was_drawn_ahead_waits_for_nobody)
{
    struct ring ring;
    const struct range chunk = {.first = 100, .count = RING_AHEAD_MAX + 2};
    uint64_t first;
    begin_steps(&ring, 3, &chunk);
    ck_assert_uint_eq(draw_step(&ring, 0, &first), 1);
    ck_assert_uint_eq(first, 100);
    for (uint64_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(draw_step(&ring, 1, &first), 1);
        ck_assert_uint_eq(first, 100 + RING_AHEAD_MAX + i);
    }
    for (uint64_t i = 1; i < RING_AHEAD_MAX; i++) {
        ck_assert_uint_eq(draw_step(&ring, (unsigned)(i % 3), &first), 1);
        ck_assert_uint_eq(first, 100 + i);
    }
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(draw_step(&ring, i, &first), 0);
    ring_fini(&ring);
}
END_TEST

START_TEST(what_was_drawn_ahead_is_closed_with_its_slot)
{
    struct ring ring;
    const struct range chunk = {.first = 0, .count = 1000};
    uint64_t first;
    begin_steps(&ring, 2, &chunk);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_eq(draw_step(&ring, i, &first), 1);
    ring_close_slot(&ring, 0);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_uint_eq(draw_step(&ring, i, &first), 0);
    ring_fini(&ring);
}
END_TEST

enum { TAKERS = 4, TAKEN = 200000 };

struct taker {
    struct ring *ring;
    unsigned thread;
    pthread_t id;
};

static _Atomic unsigned char taken[TAKEN];

/* The later threads go while there is something left, with steps that they have drawn ahead. */
static void *take_steps(void *context)
{
    struct taker *taker = context;
    uint64_t first;
    for (unsigned i = 0; taker->thread == 0 || i < 1000 * taker->thread; i++) {
        if (draw_step(taker->ring, taker->thread, &first) == 0)
            break;
        taken[first]++;
    }
    return NULL;
}

START_TEST(each_step_is_taken_once)
{
    struct ring ring;
    struct taker takers[TAKERS];
    const struct range chunk = {.first = 0, .count = TAKEN};
    memset((void *)taken, 0, sizeof taken);
    begin_steps(&ring, TAKERS, &chunk);
    for (unsigned i = 0; i < TAKERS; i++) {
        takers[i] = (struct taker){.ring = &ring, .thread = i};
        ck_assert_int_eq(pthread_create(&takers[i].id, NULL, take_steps, &takers[i]), 0);
    }
    for (unsigned i = 0; i < TAKERS; i++)
        pthread_join(takers[i].id, NULL);
    for (unsigned i = 0; i < TAKEN; i++)
        ck_assert_msg(taken[i] == 1, "step %u was taken %u times", i, taken[i]);
    ring_fini(&ring);
}
END_TEST

START_TEST(records_lie_where_they_belong)
{
    for (unsigned threads = 2; threads <= 4; threads++) {
        struct outcome outcome = {0};
        begin(threads, threads == 3 ? "ss" : "gss", true);
        uint64_t done = run_loop(&outcome, 6000, 40, threads);
        check_runs(0, done);
        check_results(done);
        end();
    }
}
END_TEST

START_TEST(long_chunks_leave_in_slices)
{
    struct outcome outcome = {0};
    begin(2, "fac2", true);
    run_chunk(&outcome, 0, LOOP_MAX); /* 1.6 MB */
    finish(&outcome, 1);
    ck_assert_uint_ge(outcome.slices, 1);
    check_results(LOOP_MAX);
    end();
}
END_TEST

/* One thread is held in the first chunk, and the others go through the next ones. */
START_TEST(threads_go_on_with_the_next_chunk)
{
    struct outcome outcome = {0};
    begin(4, "ss", false);
    kernel.hold_below = 10;
    kernel.held = true;
    run_chunk(&outcome, 0, 10);
    run_chunk(&outcome, 10, 1000);
    run_chunk(&outcome, 1010, 1000);
    for (uint64_t i = 10; i < 2010; i++)
        while (kernel.runs[i] == 0)
            if (advance(&outcome) == TURN_BLOCKED)
                nap(); /* the bell may have rung for the last of them before this turn */
    ck_assert_uint_eq(outcome.finished, 0);
    kernel.held = false;
    finish(&outcome, 3);
    check_runs(0, 2010);
    end();
}
END_TEST

START_TEST(what_fails_is_told_in_its_place)
{
    for (int collect = 0; collect < 2; collect++) {
        struct outcome outcome = {0};
        begin(3, "fac2", collect);
        kernel.fails = 3;
        kernel.fail_at[0] = 0;
        kernel.fail_at[1] = 777;
        kernel.fail_at[2] = 2999;
        run_chunk(&outcome, 0, 1000);
        run_chunk(&outcome, 1000, 2000);
        finish(&outcome, 2);
        ck_assert_uint_eq(outcome.failed, 3);
        for (unsigned f = 0; f < 3; f++)
            ck_assert_uint_eq(outcome.failed_at[f], kernel.fail_at[f]);
        ck_assert_uint_eq(outcome.done, 2997);
        ck_assert_uint_eq(outcome.digest, digest_of(1, 776) + digest_of(778, 2221));
        end();
    }
}
END_TEST

START_TEST(all_but_the_oldest_chunk_are_given_up)
{
    for (unsigned time = 0; time < 8; time++) {
        struct outcome outcome = {0};
        begin(3, "ss", time % 2);
        kernel.spins = 100;
        for (unsigned i = 0; i < 10; i++)
            run_chunk(&outcome, 100 * i, 100);
        turn(&outcome);
        if (outcome.finished == 10) {
            end();
            continue;
        }
        uint64_t finished = outcome.finished;
        executor_forget(&crew.pool.executor);
        finish(&outcome, (unsigned)finished + 1);
        outcome.chunks = (unsigned)finished + 1;
        outcome.at = 1000;
        run_chunk(&outcome, 1000, 500);
        finish(&outcome, (unsigned)finished + 2);
        check_runs(1000, 500);
        end();
    }
}
END_TEST

START_TEST(who_finds_nothing_says_so_once)
{
    struct outcome outcome = {0};
    begin(2, "ss", false);
    kernel.hold_below = 6;
    kernel.held = true;
    run_chunk(&outcome, 0, 6);
    while (outcome.empty == 0)
        turn(&outcome);
    kernel.held = false;
    finish(&outcome, 1);
    ck_assert_uint_eq(outcome.empty, 1);
    end();
}
END_TEST

START_TEST(what_the_threads_did_is_known_at_the_end_of_a_chunk)
{
    struct outcome outcome = {0};
    begin(2, "css:chunk=10", false);
    kernel.spins = 1000;
    run_chunk(&outcome, 0, 1000);
    finish(&outcome, 1);
    const struct threads *figures = &crew.pool.executor.figures;
    ck_assert_uint_eq(figures->count, 2);
    ck_assert_uint_eq(figures->chunks, 100);
    ck_assert(figures->max_over_mean >= 1 && figures->max_over_mean <= 2 && figures->cov <= 1);
    end();
}
END_TEST

/* --- cutting: what nobody has drawn goes back --- */

/* Cuts, and forgets a chunk of which nothing is left. */
static struct range cut_team(struct outcome *outcome, unsigned waiting)
{
    const struct range cut = executor_cut(&crew.pool.executor, waiting);
    unsigned index = outcome->finished;
    executor_check(&crew.pool.executor);
    if (cut.count == 0)
        return cut;
    while (outcome->ends[index] != cut.first + cut.count && index < outcome->chunks)
        index++;
    ck_assert(index < outcome->chunks && cut.first >= outcome->firsts[index]);
    outcome->ends[index] = cut.first;
    if (cut.first > outcome->firsts[index])
        return cut;
    ck_assert_uint_gt(index, outcome->finished);
    outcome->chunks--;
    for (; index < outcome->chunks; index++) {
        outcome->firsts[index] = outcome->firsts[index + 1];
        outcome->ends[index] = outcome->ends[index + 1];
    }
    return cut;
}

/* The end of a slot's steps, by the book: draws, those ahead too, are left alone, and the draw is whole. */
START_TEST(a_slot_is_cut_behind_its_draws)
{
    struct ring ring;
    struct sched_spec spec;
    struct error error;
    const struct range chunk = {.first = 100, .count = 1000};
    uint64_t first;
    begin_steps(&ring, 2, &chunk);
    struct ring_slot *slot = ring_slot(&ring, 0);
    ck_assert_uint_eq(ring_undrawn(&ring, slot), 1000);
    ck_assert_uint_eq(ring_cut(&ring, slot, 900), 900);
    ck_assert_uint_eq(ring_undrawn(&ring, slot), 900);
    ck_assert_uint_eq(draw_step(&ring, 0, &first), 1);
    ck_assert_uint_eq(ring_undrawn(&ring, slot), 900 - RING_AHEAD_MAX);
    ck_assert_uint_eq(ring_cut(&ring, slot, 0), RING_AHEAD_MAX);
    ck_assert_uint_eq(ring_cut(&ring, slot, 0), RING_AHEAD_MAX);
    for (unsigned i = 1; i < RING_AHEAD_MAX; i++)
        ck_assert_uint_eq(draw_step(&ring, 1, &first), 1);
    ck_assert_uint_eq(draw_step(&ring, 0, &first) + draw_step(&ring, 1, &first), 0);
    uint64_t done = RING_AHEAD_MAX;
    for (unsigned i = 0; i < RING_PARTS; i++)
        done += atomic_load(&slot->part[i].done);
    ck_assert_uint_eq(done, 1000);
    ring_fini(&ring);

    ck_assert_int_eq(sched_spec_parse(&spec, "gss", &error), 0);
    ck_assert_int_eq(ring_init(&ring, 2, &spec, ignore, NULL, &error), 0);
    ck_assert_int_eq(ring_begin(&ring, &chunk, 0, NULL, &error), 0);
    ck_assert(ring_enter(&ring, 0));
    ck_assert_uint_eq(draw_step(&ring, 0, &first), 500);
    ck_assert_uint_eq(ring_cut(&ring, ring_slot(&ring, 0), 600), 750);
    ck_assert_uint_eq(draw_step(&ring, 0, &first), 250);
    ck_assert_uint_eq(draw_step(&ring, 0, &first), 0);
    ring_fini(&ring);

    ck_assert_int_eq(sched_spec_parse(&spec, "awf", &error), 0); /* cut at any iteration */
    ck_assert_int_eq(ring_init(&ring, 2, &spec, ignore, NULL, &error), 0);
    ck_assert_int_eq(ring_begin(&ring, &chunk, 0, NULL, &error), 0);
    ck_assert_uint_eq(draw_of(&ring, 0), 250);
    ck_assert_uint_eq(ring_cut(&ring, ring_slot(&ring, 0), 300), 300);
    ck_assert_uint_eq(draw_of(&ring, 0), 50);
    ck_assert_uint_eq(draw_of(&ring, 0), 0);
    ck_assert_uint_eq(ring_undrawn(&ring, ring_slot(&ring, 0)), 0);
    ring_fini(&ring);
}
END_TEST

START_TEST(chunks_go_from_the_newest_on)
{
    struct outcome outcome = {0};
    begin(2, "ss", _i > 0);
    ck_assert_uint_eq(cut_team(&outcome, RECALL_ALL).count, 0);
    kernel.hold_below = 10;
    kernel.held = true;
    run_chunk(&outcome, 0, 4);
    run_chunk(&outcome, 4, 100);
    run_chunk(&outcome, 104, 100);
    while (!kernel.taken) /* the other thread is held in the oldest */
        nap();
    struct range cut = cut_team(&outcome, 1);
    ck_assert_uint_eq(cut.first, 154);
    ck_assert_uint_eq(cut.count, 50);
    cut = cut_team(&outcome, RECALL_ALL);
    ck_assert_uint_eq(cut.first, 104);
    ck_assert_uint_eq(cut.count, 50);
    cut = cut_team(&outcome, RECALL_ALL);
    ck_assert_uint_eq(cut.first, 4);
    ck_assert_uint_eq(cut.count, 100);
    ck_assert_uint_eq(outcome.chunks, 1);
    cut = cut_team(&outcome, RECALL_ALL);
    ck_assert_uint_eq(cut.first, 1); /* of the oldest what was drawn */
    ck_assert_uint_eq(cut.count, 3);
    ck_assert_uint_eq(cut_team(&outcome, RECALL_ALL).count, 0);
    run_chunk(&outcome, 300, 100);
    kernel.held = false;
    finish(&outcome, 2);
    ck_assert_uint_eq(outcome.done, 101);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 1) + digest_of(300, 100));
    end();
}
END_TEST

/* A share that is less than a draw takes nothing of an older chunk: who has them knows of the newest only. */
START_TEST(a_chunk_of_one_draw_goes_as_a_whole)
{
    struct outcome outcome = {0};
    begin(2, "css:chunk=10", false);
    kernel.hold_below = 10;
    kernel.held = true;
    run_chunk(&outcome, 0, 100);
    run_chunk(&outcome, 100, 10);
    while (!kernel.taken)
        nap();
    const struct range cut = cut_team(&outcome, 1);
    ck_assert_uint_eq(cut.first, 100);
    ck_assert_uint_eq(cut.count, 10);
    kernel.held = false;
    finish(&outcome, 1);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 100));
    end();
}
END_TEST

/* In a child process: nothing of it has begun before it is the oldest, and then what the child runs. */
START_TEST(an_isolated_chunk_is_cut)
{
    struct outcome outcome = {0};
    begin(2, "gss", _i > 0);
    executor_begin(&crew.pool.executor, 0, 1000, 0, true);
    outcome.firsts[0] = 0;
    outcome.ends[0] = 1000;
    outcome.chunks = 1;
    ck_assert_uint_eq(cut_team(&outcome, 1).first, 500);
    ck_assert_uint_eq(cut_team(&outcome, RECALL_ALL).first, 1);
    executor_begin(&crew.pool.executor, 1, 1000, 0, true);
    outcome.firsts[1] = 1;
    outcome.ends[1] = 1001;
    outcome.chunks = 2;
    ck_assert_uint_eq(cut_team(&outcome, 1).first, 501);
    while (outcome.finished == 0)
        turn(&outcome);
    while (!crew.pool.oldest.alone && outcome.finished < 2)
        turn(&outcome);
    uint64_t left = 501 - cut_team(&outcome, RECALL_ALL).count; /* some, where the child has not begun yet */
    finish(&outcome, 2);
    ck_assert_uint_eq(outcome.done, left);
    ck_assert_uint_eq(outcome.digest, digest_of(0, left));
    end();
}
END_TEST

/* Chunks of random lengths are cut at random while the threads draw, and some iterations fail: each iteration is done,
 * failed or cut off, and once. */
START_TEST(each_iteration_is_computed_or_cut_off)
{
    static const char *const techniques[] = {"ss", "gss", "fac2", "static", "css:chunk=7", "awf-b", "af"};
    for (size_t t = 0; t < sizeof techniques / sizeof *techniques; t++) {
        struct random random;
        struct outcome outcome = {0};
        uint64_t first = 0, given = 0, expected = 0, failed = 0;
        bool is_cut[LOOP_MAX] = {0};
        unsigned begun = 0, threads = _i % 4 == 0 ? 8 : 2 + (unsigned)_i % 3;
        random_init(&random, (uint64_t)_i * 100 + t);
        begin(threads, techniques[t], _i % 2);
        kernel.spins = random_between(&random, 0, 1) ? 300 : 0;
        kernel.fails = (unsigned)random_between(&random, 0, 3);
        for (unsigned f = 0; f < kernel.fails; f++)
            kernel.fail_at[f] = random_between(&random, 0, 20000) + 20001 * f;
        while (begun < BEGUN || outcome.finished < outcome.chunks) {
            while (begun < BEGUN && outcome.chunks - outcome.finished < 5 && random_between(&random, 0, 3) > 0) {
                uint64_t count = 1 + random_next(&random) % 3000;
                run_chunk(&outcome, first, count);
                first += count;
                begun++;
            }
            if (random_between(&random, 0, 2) == 0) {
                unsigned waiting = (unsigned)random_between(&random, 0, 4);
                const struct range cut = cut_team(&outcome, waiting < 4 ? waiting : RECALL_ALL);
                given += cut.count;
                memset(is_cut + cut.first, 1, cut.count);
            }
            if (outcome.finished < outcome.chunks)
                turn(&outcome);
        }
        for (uint64_t i = 0; i < first; i++) {
            bool fails = false;
            for (unsigned f = 0; f < kernel.fails; f++)
                fails |= kernel.fail_at[f] == i;
            ck_assert(!is_cut[i] || kernel.runs[i] == 0);
            failed += !is_cut[i] && fails;
            expected += is_cut[i] || fails ? 0 : digest_of(i, 1);
            if (!is_cut[i] && !fails && _i % 2)
                ck_assert_uint_eq(crew.results[i], value_of(i));
        }
        ck_assert_uint_eq(outcome.done + outcome.failed + given, first);
        ck_assert_uint_eq(outcome.failed, failed);
        ck_assert_uint_eq(outcome.digest, expected);
        end();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec-team");
    TCase *all = tcase_create("threads");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, each_iteration_is_run_once_by_every_technique);
    tcase_add_test(all, a_slow_thread_is_known_to_be_slow);
    tcase_add_test(all, what_is_measured_counts_in_the_next_slots);
    tcase_add_test(all, what_is_measured_counts_in_the_next_draw);
    tcase_add_test(all, what_was_drawn_ahead_waits_for_nobody);
    tcase_add_test(all, what_was_drawn_ahead_is_closed_with_its_slot);
    tcase_add_test(all, each_step_is_taken_once);
    tcase_add_test(all, records_lie_where_they_belong);
    tcase_add_test(all, long_chunks_leave_in_slices);
    tcase_add_test(all, threads_go_on_with_the_next_chunk);
    tcase_add_test(all, what_fails_is_told_in_its_place);
    tcase_add_test(all, all_but_the_oldest_chunk_are_given_up);
    tcase_add_test(all, who_finds_nothing_says_so_once);
    tcase_add_test(all, what_the_threads_did_is_known_at_the_end_of_a_chunk);
    tcase_add_test(all, a_slot_is_cut_behind_its_draws);
    tcase_add_loop_test(all, chunks_go_from_the_newest_on, 0, 2);
    tcase_add_test(all, a_chunk_of_one_draw_goes_as_a_whole);
    tcase_add_loop_test(all, an_isolated_chunk_is_cut, 0, 2);
    tcase_add_loop_test(all, each_iteration_is_computed_or_cut_off, 0, 8);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
