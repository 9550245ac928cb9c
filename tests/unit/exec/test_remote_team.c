/* SPDX-License-Identifier: MIT */
/* Threads in a helper: whatever its iterations do to it, and whenever it is killed, each iteration is computed and
 * counted once, and an iteration fails only by its own doing. Here a helper is a copy of the test. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"
#include "tests/unit/exec/probing.h"
#include "worker/exec/helper.h"
#include "worker/exec/inline.h"
#include "worker/exec/serve.h"
#include "worker/exec/thread_pool.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOP = 60000, THREADS = 3, CHUNKS = 64 };

enum death { LIVES, SEGFAULTS, EXITS, FAILS, HANGS, SEGFAULTS_ONCE, HANGS_ONCE, SEGFAULTS_BESIDE };

/* Shared with the helpers. */
static struct shared {
    unsigned char death[LOOP];
    _Atomic bool came[LOOP]; /* the iteration has begun once */
    _Atomic unsigned opened; /* instances of the kernel */
    uint64_t spins;          /* of an iteration, times its number modulo 7 */
} * shared;

/* Threads of this process that are in the kernel. */
static _Atomic unsigned inside;

static uint64_t value_of(uint64_t iteration)
{
    return iteration * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    *instance = NULL;
    shared->opened++;
    return 0;
}

/* As without a sanitizer, which has a handler that exits. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static int die(uint64_t iteration, char error[HDSS_ERROR_MAX])
{
    const bool came = atomic_exchange(&shared->came[iteration], true);
    switch ((enum death)shared->death[iteration]) {
    case LIVES: break;
    case SEGFAULTS: crash(); break;
    case EXITS: _exit(9);
    case SEGFAULTS_ONCE: came ? (void)0 : crash(); break;
    case FAILS: snprintf(error, HDSS_ERROR_MAX, "cannot"); return -1;
    case HANGS:
        while (true)
            pause();
    case HANGS_ONCE:
        while (!came)
            pause();
        break;
    case SEGFAULTS_BESIDE: /* only together with others */
        for (unsigned looks = 0; looks < 2000 && inside < 2; looks++)
            usleep(100);
        if (inside > 1)
            crash();
        break;
    }
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    uint64_t *words = records;
    int result = 0;
    (void)instance;
    inside++;
    for (uint64_t k = 0; k < count && result == 0; k++) {
        words[k] = value_of(first + k);
        for (volatile uint64_t spin = shared->spins * ((first + k) % 7); spin > 0; spin--)
            ;
        result = die(first + k, error);
    }
    inside--;
    return result;
}

static const struct hdss_kernel deadly = {.abi = HDSS_KERNEL_ABI, .name = "deadly", .open = open_kernel, .run = run};
static const struct hdss_loop loop = {.iterations = LOOP, .type = HDSS_UINT64, .record_length = 1, .dims = 1};
static struct thread_pool pool;

/* --- a helper --- */

struct member {
    struct thread_pool *pool;
    unsigned index;
    pthread_t id;
};

static void *serve_member(void *context)
{
    struct member *member = context;
    thread_pool_serve(member->pool, member->index);
    return NULL;
}

static int run_threads(struct thread_pool *threads, int (*work)(void *context), void *context)
{
    struct member members[THREADS];
    for (unsigned t = 1; t < threads->config.threads; t++) {
        members[t] = (struct member){.pool = threads, .index = t};
        if (pthread_create(&members[t].id, NULL, serve_member, &members[t]) != 0)
            _exit(77);
    }
    int result = work(context);
    for (unsigned t = 1; t < threads->config.threads; t++)
        pthread_join(members[t].id, NULL);
    return result;
}

static pid_t begin_helper(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    const struct exec_team team = {.technique = context, .cores = THREADS, .run = run_threads};
    struct exec_config config = {.kernel = &deadly, .loop = &loop, .probe_count = LOOP, .team = &team};
    (void)error;
    pid_t helper = fork();
    if (helper != 0)
        return helper;
    const struct helper *alone = &pool.exec.remote.helper, *team_helper = &pool.team.remote->exec.remote.helper;
    serve(alone->file == file ? alone->channel : team_helper->channel, file, bell, &config, NULL);
    _exit(0);
}

static void begin(const char *technique, bool collect, uint64_t limit_ns)
{
    static struct sched_spec spec;
    static struct helper_start start;
    struct error error;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_int_eq(sched_spec_parse(&spec, technique, &error), 0);
    start = (struct helper_start){.begin = begin_helper, .context = &spec};
    const struct thread_pool_config config = {.exec = {.kernel = &deadly,
                                                       .loop = &loop,
                                                       .collect = collect,
                                                       .slowdown = 1,
                                                       .probe_count = LOOP,
                                                       .helper = &start,
                                                       .limit_ns = limit_ns},
                                              .threads = THREADS,
                                              .technique = &spec,
                                              .cores = 1};
    ck_assert_msg(thread_pool_init(&pool, &config) == 0, "%s", pool.error);
    ck_assert_uint_eq(shared->opened, THREADS);
}

static void end(void)
{
    executor_fini(&pool.executor);
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0); /* nobody is left */
    munmap(shared, sizeof *shared);
}

/* --- what comes of the chunks --- */

static struct outcome {
    uint64_t digest, done, at;
    unsigned chunks, finished, failures;
    uint64_t firsts[CHUNKS], ends[CHUNKS];
    unsigned char fate[LOOP]; /* 0: unknown, 1: done, 2: failed, 3: its process has died, 4: cut off */
} outcome;

static void run_chunk(uint64_t first, uint64_t count)
{
    if (outcome.chunks == outcome.finished)
        outcome.at = first;
    outcome.firsts[outcome.chunks] = first;
    outcome.ends[outcome.chunks++] = first + count;
    executor_begin(&pool.executor, first, count, 0, false);
}

/* A part that is given up, as it was then. */
static bool gives_up;
static struct {
    const void *bytes;
    size_t size;
    unsigned char copy[1000];
} kept_part;

static void give_up(const struct chunk_event *chunk)
{
    ck_assert_uint_le(chunk->bytes, sizeof kept_part.copy);
    kept_part.bytes = chunk->data;
    kept_part.size = chunk->bytes;
    memcpy(kept_part.copy, chunk->data, chunk->bytes);
    executor_abandon(&pool.executor, chunk->data);
}

static void take_results(const struct chunk_event *chunk)
{
    const unsigned char *records = chunk->data; /* at any address */
    for (uint64_t k = 0; k < chunk->count; k++) {
        uint64_t word = 0;
        ck_assert_uint_eq(outcome.fate[outcome.at + k], 0);
        outcome.fate[outcome.at + k] = 1;
        if (records != NULL)
            memcpy(&word, records + k * sizeof word, sizeof word);
        if (records != NULL && word != value_of(outcome.at + k))
            ck_abort_msg("iteration %llu has another's record", (unsigned long long)(outcome.at + k));
    }
    if (records != NULL && kept_part.bytes == NULL && gives_up)
        give_up(chunk);
    else if (records != NULL)
        executor_sent(&pool.executor, records);
    outcome.digest += chunk->digest;
    outcome.done += chunk->count;
    outcome.at += chunk->count;
}

static void take_event(const struct event *event)
{
    if (event->type == EVENT_FATAL)
        ck_abort_msg("%s", event->text);
    if (event->type == EVENT_ITERATIONS_FAILED) {
        outcome.failures++;
        outcome.fate[outcome.at++] = event->chunk.died ? 3 : 2;
    }
    if (event->type == EVENT_SLICE || event->type == EVENT_FINISHED)
        take_results(&event->chunk);
    if (event->type == EVENT_FINISHED) {
        ck_assert_uint_eq(outcome.at, outcome.ends[outcome.finished]);
        outcome.at = outcome.firsts[++outcome.finished];
    }
}

/* One turn; waits a moment where nothing can be done, as a worker does. */
static void turn(void)
{
    struct pollfd news = {.fd = executor_descriptor(&pool.executor), .events = POLLIN};
    struct event event = {0};
    enum turn turned = executor_advance(&pool.executor, &event);
    if (turned == TURN_EVENT)
        take_event(&event);
    else if (turned == TURN_BLOCKED)
        poll(&news, 1, pool.executor.is_put_off ? 1 : 20);
}

static void finish(void)
{
    while (outcome.finished < outcome.chunks)
        turn();
}

static uint64_t digest_of_done(uint64_t count)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = value_of(i);
        digest += outcome.fate[i] == 1 ? digest_record(i, &value, sizeof value) : 0;
    }
    return digest;
}

/* All iterations below `count` have the fate that is theirs, but for those that were cut off. */
static void check_fates(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const enum death death = shared->death[i];
        unsigned expected = death == SEGFAULTS || death == EXITS || death == HANGS ? 3 : death == FAILS ? 2 : 1;
        if (outcome.fate[i] != expected && outcome.fate[i] != 4)
            ck_abort_msg("iteration %llu came to %u, not %u", (unsigned long long)i, outcome.fate[i], expected);
    }
    ck_assert_uint_eq(outcome.digest, digest_of_done(count));
}

/* --- tests --- */

static const char *const techniques[] = {"ss", "fac2", "static", "css:chunk=7"};
enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

START_TEST(threads_in_a_helper_compute)
{
    struct speed speed = {0};
    begin(techniques[_i], _i % 2, 0);
    probe_whole(&pool.executor, &speed);
    ck_assert(speed.mean_ns > 0);
    for (uint64_t first = 0; first < 20000; first += 1000)
        run_chunk(first, 1000);
    finish();
    check_fates(20000);
    ck_assert_uint_eq(outcome.done, 20000);
    ck_assert_uint_eq(shared->opened, THREADS); /* one helper did all */
    end();
}
END_TEST

START_TEST(a_part_that_was_given_up_stays_as_it_is)
{
    gives_up = true;
    begin(techniques[_i], true, 0);
    for (uint64_t first = 0; first < 5000; first += 100) {
        run_chunk(first, 100);
        finish();
    }
    check_fates(5000);
    end();
    ck_assert_mem_eq(kept_part.bytes, kept_part.copy, kept_part.size);
}
END_TEST

START_TEST(a_crash_costs_its_iteration_only)
{
    static const uint64_t at[] = {0, 1, 77, 78, 500, 2999};
    begin(techniques[_i], _i % 2, 0);
    for (unsigned k = 0; k < 6; k++)
        shared->death[at[k]] = k % 3 == 0 ? SEGFAULTS : k % 3 == 1 ? EXITS : FAILS;
    for (uint64_t first = 0; first < 3000; first += 600)
        run_chunk(first, 600);
    finish();
    check_fates(3000);
    ck_assert_uint_eq(outcome.failures, 6);
    end();
}
END_TEST

START_TEST(what_crashes_with_others_only_or_once_works_alone)
{
    begin(techniques[_i], _i % 2, 0);
    shared->death[333] = SEGFAULTS_BESIDE;
    shared->death[800] = SEGFAULTS_ONCE;
    run_chunk(0, 500);
    finish();
    run_chunk(500, 500);
    finish();
    check_fates(1000);
    ck_assert_uint_eq(outcome.failures, 0);
    end();
}
END_TEST

START_TEST(what_hangs_is_ended)
{
    begin(techniques[_i], _i % 2, 200000000);
    shared->death[50] = HANGS;
    shared->death[150] = HANGS_ONCE;
    run_chunk(0, 200);
    run_chunk(200, 300);
    finish();
    check_fates(500);
    ck_assert_uint_eq(outcome.failures, 1);
    end();
}
END_TEST

/* Notes what was cut off, and which chunk has lost it. */
static void cut_some(unsigned waiting)
{
    const struct range cut = executor_cut(&pool.executor, waiting);
    unsigned index = outcome.finished;
    executor_check(&pool.executor);
    if (cut.count == 0)
        return;
    memset(outcome.fate + cut.first, 4, cut.count);
    while (outcome.ends[index] != cut.first + cut.count)
        index++;
    outcome.ends[index] = cut.first;
    if (cut.first > outcome.firsts[index])
        return;
    outcome.chunks--;
    for (; index < outcome.chunks; index++) {
        outcome.firsts[index] = outcome.firsts[index + 1];
        outcome.ends[index] = outcome.ends[index + 1];
    }
}

static uint64_t calls(void)
{
    uint64_t sum = 0;
    for (unsigned t = 0; t < THREADS; t++)
        sum += pool.ring.thread[t].calls;
    return sum;
}

/* Puts the threads off, and turns until they stand still. */
static void stand_still(void)
{
    while (!executor_put_off(&pool.executor))
        turn();
}

/* No thread computes until they go on, also where some of them had nothing to do, or their helper dies meanwhile. */
START_TEST(threads_that_are_put_off_stand_still)
{
    begin(techniques[_i % TECHNIQUES], _i % 2, 200000000);
    shared->spins = 2000;
    stand_still();
    for (unsigned k = 0; k < 8; k++) {
        run_chunk(500 * k, 500);
        const uint64_t before = calls();
        for (unsigned i = 0; i < 3; i++)
            turn();
        ck_assert_uint_eq(calls(), before);
        if (_i >= TECHNIQUES && k == 4)
            kill(pool.team.remote->exec.remote.helper.pid, SIGKILL);
        executor_go_on(&pool.executor);
        for (unsigned i = 0; i < k; i++)
            turn();
        stand_still();
    }
    executor_go_on(&pool.executor);
    finish();
    check_fates(4000);
    ck_assert_uint_eq(outcome.failures, 0);
    end();
}
END_TEST

/* The helper is killed at any instant, between any two of its words, while chunks come and are cut. */
START_TEST(whenever_it_is_killed_the_rest_is_whole)
{
    struct random random;
    uint64_t first = 0;
    random_init(&random, 1 + (uint64_t)_i);
    begin(techniques[_i % TECHNIQUES], _i % 8 >= 4, 0);
    for (uint64_t i = 0; _i % 3 == 0 && i < LOOP; i++)
        shared->death[i] =
            random_between(&random, 0, 1500) == 0 ? 1 + (enum death)random_between(&random, 0, 2) : LIVES;
    shared->spins = _i % 5 == 0 ? 2000 : _i % 2 ? 20 : 0;
    for (unsigned steps = 0; first < 12000 || outcome.finished < outcome.chunks; steps++) {
        const struct helper *helper = &pool.team.remote->exec.remote.helper;
        if (first < 12000 && outcome.chunks - outcome.finished < 6 && outcome.chunks < CHUNKS) {
            const uint64_t count = random_between(&random, 200, 900);
            run_chunk(first, count);
            first += count;
        }
        if (random_between(&random, 0, 12) == 0)
            cut_some(random_between(&random, 0, 9) == 0 ? RECALL_ALL : (unsigned)random_between(&random, 1, 3));
        if (random_between(&random, 0, 20) == 0)
            executor_put_off(&pool.executor);
        if (random_between(&random, 0, 10) == 0)
            executor_go_on(&pool.executor);
        if (steps < 300 && random_between(&random, 0, 2) == 0 && helper->pid > 0 && helper->state == HELPER_RUNNING) {
            usleep((useconds_t)random_between(&random, 0, 300));
            kill(helper->pid, SIGKILL);
        }
        turn();
    }
    check_fates(first);
    end();
}
END_TEST

/* Whatever the threads are at, what is done at the beginning of the oldest chunk stays and leaves, and nothing else. */
START_TEST(threads_are_ended)
{
    const bool collect = _i % 2, fails = _i / 2 % 2;
    begin("ss", collect, 0);
    shared->spins = 10000;
    shared->death[_i < 4 ? 0 : 700] = HANGS;
    if (fails)
        shared->death[300] = FAILS;
    run_chunk(0, 2000);
    run_chunk(2000, 500);
    while (!shared->came[_i < 4 ? 0 : 700])
        turn();
    executor_forget(&pool.executor);
    const struct range rest = executor_end(&pool.executor);
    executor_check(&pool.executor);
    outcome.chunks = 1;
    ck_assert_uint_eq(rest.first + rest.count, 2000);
    ck_assert_uint_le(rest.first, _i < 4 ? 0 : 700);
    outcome.ends[0] = rest.first;
    finish();
    check_fates(rest.first);
    ck_assert_uint_eq(outcome.done + outcome.failures, rest.first);
    ck_assert_int_eq(pool.team.remote->exec.remote.helper.pid, 0);
    end();
}
END_TEST

START_TEST(a_probe_of_threads_is_ended)
{
    struct speed speed = {0};
    begin("ss", false, 0);
    shared->death[0] = HANGS;
    ck_assert(!executor_probe(&pool.executor, &speed));
    while (!shared->came[0]) {
        struct event event = {0};
        ck_assert_int_eq(executor_advance(&pool.executor, &event), TURN_BLOCKED);
    }
    ck_assert_uint_eq(executor_end(&pool.executor).count, 0);
    await_probe(&pool.executor, &speed);
    ck_assert_uint_eq(speed.levels, 1);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec-remote-team");
    TCase *all = tcase_create("helper");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, threads_in_a_helper_compute, 0, TECHNIQUES);
    tcase_add_loop_test(all, a_part_that_was_given_up_stays_as_it_is, 0, TECHNIQUES);
    tcase_add_loop_test(all, a_crash_costs_its_iteration_only, 0, TECHNIQUES);
    tcase_add_loop_test(all, what_crashes_with_others_only_or_once_works_alone, 0, TECHNIQUES);
    tcase_add_loop_test(all, what_hangs_is_ended, 0, TECHNIQUES);
    tcase_add_loop_test(all, threads_that_are_put_off_stand_still, 0, 2 * TECHNIQUES);
    tcase_add_loop_test(all, whenever_it_is_killed_the_rest_is_whole, 0, 24);
    tcase_add_loop_test(all, threads_are_ended, 0, 8);
    tcase_add_test(all, a_probe_of_threads_is_ended);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
