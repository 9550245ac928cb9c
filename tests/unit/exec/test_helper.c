/* SPDX-License-Identifier: MIT */
/* A kernel in a helper: the claims and accounts of the memory that both share, and chunks whose iterations end the
 * helper in all ways. Here a helper is a copy of the test. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/util/digest.h"
#include "common/util/random.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"
#include "tests/unit/exec/probing.h"
#include "worker/exec/channel.h"
#include "worker/exec/helper.h"
#include "worker/exec/inline.h"
#include "worker/exec/serve.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- claims --- */

START_TEST(iterations_are_claimed_up_to_the_end)
{
    _Atomic uint64_t claims = channel_claims_of(0, 10);
    ck_assert_uint_eq(channel_claim(&claims, 3), 3);
    ck_assert_uint_eq(channel_begun(claims), 3);
    ck_assert_uint_eq(channel_claim(&claims, 100), 7);
    ck_assert_uint_eq(channel_claim(&claims, 1), 0);
    ck_assert_uint_eq(channel_end(claims), 10);
    claims = channel_claims_of(0, CHANNEL_COUNT_MAX);
    ck_assert_uint_eq(channel_claim(&claims, UINT64_MAX), CHANNEL_COUNT_MAX);
    ck_assert_uint_eq(channel_claim(&claims, UINT64_MAX), 0);
}
END_TEST

START_TEST(what_has_begun_is_not_cut)
{
    _Atomic uint64_t claims = channel_claims_of(4, 10);
    ck_assert_uint_eq(channel_cut(&claims, 12), 10);
    ck_assert_uint_eq(channel_cut(&claims, 8), 8);
    ck_assert_uint_eq(channel_claim(&claims, 1), 1);
    ck_assert_uint_eq(channel_cut(&claims, 2), 5);
    ck_assert_uint_eq(channel_claim(&claims, 1), 0);
    ck_assert_uint_eq(channel_cut(&claims, 0), 5);
}
END_TEST

enum { CLAIMED = 2000000 };

static struct {
    _Atomic uint64_t claims;
    uint64_t taken;
} contest;

static void *claim_all(void *unused)
{
    for (uint64_t taken; (taken = channel_claim(&contest.claims, 3)) > 0;)
        contest.taken += taken;
    return unused;
}

/* The helper claims while the worker cuts: each iteration is one's or the other's. */
START_TEST(claims_and_cuts_share_the_iterations)
{
    pthread_t helper;
    uint64_t end = CLAIMED, cut;
    contest.claims = channel_claims_of(0, CLAIMED);
    contest.taken = 0;
    ck_assert_int_eq(pthread_create(&helper, NULL, claim_all, NULL), 0);
    do {
        cut = channel_cut(&contest.claims, end - 1);
        ck_assert_uint_le(cut, end);
        ck_assert_uint_ge(cut, end - 1);
        end = cut;
    } while (channel_begun(contest.claims) < end);
    pthread_join(helper, NULL);
    ck_assert_uint_eq(contest.taken, end);
}
END_TEST

/* --- accounts --- */

static struct channel_work accounts;

static void *publish_all(void *unused)
{
    for (uint64_t i = 1; i <= 300000; i++)
        channel_publish(&accounts, &(struct channel_done){i, 3 * i, 7 * i});
    return unused;
}

START_TEST(an_account_is_seen_as_a_whole)
{
    pthread_t helper;
    struct channel_done done = {0};
    memset(&accounts, 0, sizeof accounts);
    ck_assert_int_eq(pthread_create(&helper, NULL, publish_all, NULL), 0);
    for (uint64_t before = 0; done.count < 300000; before = done.count) {
        channel_look(&accounts, &done);
        ck_assert_uint_ge(done.count, before);
        ck_assert_uint_eq(done.digest, 3 * done.count);
        ck_assert_uint_eq(done.compute_ns, 7 * done.count);
    }
    pthread_join(helper, NULL);
}
END_TEST

/* --- a kernel that dies --- */

enum { WORDS = 16 };

enum death { LIVES, SEGFAULTS, EXITS, IS_KILLED, FAILS, RETURNS, HANGS, SHRINKS };

/* A time for which nothing happens, after which the executor is looked at again, as a worker does. */
#define LOOK_MS 20

/* Shared with the helpers. */
static struct shared {
    _Atomic uint64_t hold_at;        /* the iteration that waits until it is UINT64_MAX */
    _Atomic uint64_t runs[4096];     /* how often an iteration was begun by itself */
    _Atomic unsigned opened, probed; /* helpers that have opened the kernel; probe iterations */
    _Atomic bool closed;             /* the kernel was closed */
    _Atomic unsigned open_crashes;   /* so many times, before it works */
} * shared;

static struct {
    enum death death[4096];
    bool makes_unfit[4096]; /* its process */
    double cost_ns;
} kernel;

static uint64_t word_of(uint64_t iteration, uint64_t i)
{
    return iteration * 1000003 + i;
}

/* As without a sanitizer, which has a handler that exits. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    *instance = NULL;
    if (shared->open_crashes > 0) {
        shared->open_crashes--;
        crash();
    }
    shared->opened++;
    return 0;
}

static void close_kernel(void *instance)
{
    (void)instance;
    shared->closed = true;
}

static struct exec exec;

static int die(enum death death, char error[HDSS_ERROR_MAX])
{
    switch (death) {
    case SEGFAULTS: crash(); break;
    case EXITS: _exit(9);
    case IS_KILLED: raise(SIGKILL); break;
    case FAILS: snprintf(error, HDSS_ERROR_MAX, "cannot"); return -1;
    case RETURNS: return 7;
    case SHRINKS: return ftruncate(exec.remote.helper.file, 0) == 0; /* of the memory that its worker looks at */
    case HANGS:
        for (;;)
            pause();
    default: break;
    }
    return 0;
}

static void spend(double ns)
{
    struct timespec now;
    double until = 0;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        double at = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
        until = until > 0 ? until : at + ns;
        if (at >= until)
            return;
    } while (true);
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    uint64_t(*rows)[WORDS] = records;
    (void)instance;
    for (uint64_t k = 0; k < count; k++) {
        shared->runs[first + k] += count == 1;
        for (uint64_t i = 0; i < WORDS; i++)
            rows[k][i] = word_of(first + k, i);
        while (shared->hold_at == first + k)
            usleep(100);
        if (kernel.cost_ns > 0)
            spend(kernel.cost_ns);
        int result = die(kernel.death[first + k], error);
        if (result != 0)
            return result;
    }
    return 0;
}

static const struct hdss_kernel deadly = {
    .abi = HDSS_KERNEL_ABI, .name = "deadly", .open = open_kernel, .run = run, .close = close_kernel};
static const struct hdss_loop loop = {
    .iterations = 4096, .type = HDSS_UINT64, .record_length = WORDS, .dims = 2, .shape = {4096, WORDS}};

static pid_t begin_with(const struct exec_config *config, int file, int bell)
{
    pid_t helper = fork();
    if (helper != 0)
        return helper;
    serve(exec.remote.helper.channel, file, bell, config, NULL);
    _exit(0);
}

static pid_t begin_helper(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    (void)context, (void)error;
    return begin_with(&(struct exec_config){.kernel = &deadly, .loop = &loop, .probe_count = 4096}, file, bell);
}

/* The kernel as it is when nothing goes wrong. */
static void renew_kernel(void)
{
    memset(&kernel, 0, sizeof kernel);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    shared->hold_at = UINT64_MAX;
}

static int open_remote(bool collect)
{
    static const struct helper_start start = {.begin = begin_helper};
    const struct exec_config config = {
        .kernel = &deadly, .loop = &loop, .collect = collect, .slowdown = 1, .probe_count = 4096, .helper = &start};
    renew_kernel();
    return exec_init(&exec, &config);
}

static uint64_t digest_of(uint64_t first, uint64_t count)
{
    uint64_t record[WORDS], sum = 0;
    for (uint64_t k = first; k < first + count; k++) {
        for (uint64_t i = 0; i < WORDS; i++)
            record[i] = word_of(k, i);
        sum += digest_record(k, record, sizeof record);
    }
    return sum;
}

/* Turns until there is an event, asleep where the executor is blocked. */
static struct event next_event(void)
{
    struct pollfd news = {.fd = executor_descriptor(&exec.executor), .events = POLLIN};
    struct event event = {0};
    for (enum turn turn; (turn = executor_advance(&exec.executor, &event)) != TURN_EVENT;)
        if (turn == TURN_BLOCKED && poll(&news, 1, exec.config.limit_ns > 0 ? LOOK_MS : 20000) != 1)
            ck_assert_uint_gt(exec.config.limit_ns, 0);
    return event;
}

struct outcome {
    uint64_t done, digest, failed;
    uint64_t failed_at[64];
    char text[64][HDSS_ERROR_MAX];
    bool final[64], died[64];
};

/* Takes all events of the chunk. */
static void take_chunk(uint64_t first, struct outcome *outcome)
{
    struct event event = {0};
    uint64_t left = 0;
    *outcome = (struct outcome){0};
    while (event.type != EVENT_FINISHED) {
        event = next_event();
        if (event.type == EVENT_ITERATIONS_FAILED) {
            ck_assert_uint_eq(event.chunk.count, 1);
            outcome->failed_at[outcome->failed] = first + left;
            outcome->final[outcome->failed] = event.chunk.final;
            outcome->died[outcome->failed] = event.chunk.died;
            snprintf(outcome->text[outcome->failed++], HDSS_ERROR_MAX, "%s", event.text);
            left++;
            continue;
        }
        const uint64_t *rows = event.chunk.data;
        for (uint64_t k = 0; rows != NULL && k < event.chunk.count; k++)
            for (uint64_t i = 0; i < WORDS; i++)
                ck_assert_uint_eq(rows[k * WORDS + i], word_of(first + left + k, i));
        left += event.chunk.count;
        outcome->done += event.chunk.count;
        outcome->digest += event.chunk.digest;
        if (event.chunk.data != NULL)
            executor_sent(&exec.executor, event.chunk.data);
    }
}

START_TEST(a_death_costs_the_iteration_that_ran)
{
    static const struct {
        uint64_t at;
        enum death death;
        const char *text;
    } bad[] = {
        {0, SEGFAULTS, "killed the child process: signal 11 (Segmentation fault)"},
        {17, EXITS, "ended the child process with status 9"},
        {18, IS_KILLED, "killed the child process: signal 9 (Killed)"},
        {400, FAILS, "cannot"},
        {2000, SEGFAULTS, "killed the child process: signal 11 (Segmentation fault)"},
        {2047, RETURNS, "run() returned 7; accepted: 0, or -1 for a failure"},
    };
    const size_t count = sizeof bad / sizeof *bad;
    struct outcome outcome;
    uint64_t digest = digest_of(0, 2048);
    ck_assert_int_eq(open_remote(_i > 0), 0);
    executor_fini(&exec.executor); /* the helper is a copy of what is here when it begins */
    ck_assert(shared->closed);
    ck_assert_int_eq(open_remote(_i > 0), 0);
    for (size_t i = 0; i < count; i++) {
        kernel.death[bad[i].at] = bad[i].death;
        digest -= digest_of(bad[i].at, 1);
    }
    kernel.death[600] = SHRINKS;           /* it cannot */
    kill(exec.remote.helper.pid, SIGKILL); /* one that knows no deaths, and has nothing to do */
    executor_begin(&exec.executor, 0, 2048, 0, false);
    take_chunk(0, &outcome);
    ck_assert_uint_eq(outcome.failed, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(outcome.failed_at[i], bad[i].at);
        ck_assert_str_eq(outcome.text[i], bad[i].text);
        ck_assert_int_eq(outcome.died[i], bad[i].death != FAILS && bad[i].death != RETURNS);
        ck_assert(!outcome.final[i]);
        ck_assert_uint_eq(shared->runs[bad[i].at], 1);
    }
    ck_assert_uint_eq(outcome.done, 2048 - count);
    ck_assert_uint_eq(outcome.digest, digest);
    executor_begin(&exec.executor, 3000, 5, 0, false); /* the next one is run as always */
    take_chunk(3000, &outcome);
    ck_assert_uint_eq(outcome.digest, digest_of(3000, 5));
    executor_fini(&exec.executor);
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0); /* nobody is left */
}
END_TEST

/* The part of a chunk that has not begun goes back in the middle of an iteration. */
START_TEST(a_chunk_is_cut_while_an_iteration_runs)
{
    struct outcome outcome;
    struct event event;
    ck_assert_int_eq(open_remote(_i > 0), 0);
    shared->hold_at = 105;
    executor_begin(&exec.executor, 100, 50, 0, false);
    do { /* until it is at the iteration that waits */
        ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
        usleep(100);
    } while (channel_begun(atomic_load(&helper_work(&exec.remote.helper)->claims)) < 6);
    struct range cut = executor_cut(&exec.executor, 1);
    ck_assert_uint_eq(cut.first + cut.count, 150);
    ck_assert_uint_gt(cut.count, 0);
    struct range rest = executor_cut(&exec.executor, RECALL_ALL);
    ck_assert_uint_eq(rest.first + rest.count, cut.first);
    ck_assert_uint_ge(rest.first, 106);
    ck_assert_uint_eq(executor_cut(&exec.executor, RECALL_ALL).count, 0);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    shared->hold_at = UINT64_MAX;
    take_chunk(100, &outcome);
    ck_assert_uint_eq(outcome.done, rest.first - 100);
    ck_assert_uint_eq(outcome.digest, digest_of(100, outcome.done));
    executor_fini(&exec.executor);
}
END_TEST

/* Runs the chunk up to the iteration `at`, which waits for as long as hold_at says so. */
static void run_up_to(uint64_t first, uint64_t count, uint64_t at)
{
    struct event event;
    shared->hold_at = at;
    executor_begin(&exec.executor, first, count, 0, false);
    do {
        ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
        usleep(100);
    } while (first + channel_begun(atomic_load(&helper_work(&exec.remote.helper)->claims)) <= at);
}

/* Lets the iteration go on, and turns until nothing runs. Returns how much of the chunk has been done. */
static uint64_t stand_still(void)
{
    struct pollfd news = {.fd = executor_descriptor(&exec.executor), .events = POLLIN};
    struct event event = {0};
    ck_assert(!executor_put_off(&exec.executor));
    shared->hold_at = UINT64_MAX;
    while (!executor_put_off(&exec.executor)) {
        ck_assert_int_ne(executor_advance(&exec.executor, &event), TURN_EVENT);
        if (!executor_put_off(&exec.executor))
            ck_assert_int_eq(poll(&news, 1, 20000), 1);
    }
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    return exec.chunk.done;
}

/* It stops behind the iteration that runs, and goes on from there; also where its helper dies meanwhile. */
START_TEST(a_chunk_that_is_put_off_goes_on_where_it_stopped)
{
    struct outcome outcome;
    ck_assert_int_eq(open_remote(_i % 2 > 0), 0);
    run_up_to(100, 50, 105);
    const uint64_t begun = channel_begun(atomic_load(&helper_work(&exec.remote.helper)->claims));
    ck_assert_uint_lt(begun, 50);
    ck_assert_uint_eq(stand_still(), begun);
    if (_i / 2 > 0)
        kill(exec.remote.helper.pid, SIGKILL);
    executor_go_on(&exec.executor);
    take_chunk(100, &outcome);
    ck_assert_uint_eq(outcome.done, 50);
    ck_assert_uint_eq(outcome.digest, digest_of(100, 50));
    ck_assert_uint_eq(shared->opened, 1 + (unsigned)_i / 2);
    executor_fini(&exec.executor);
}
END_TEST

/* What has not begun of it is another worker's, and its end is told, while it is put off. */
START_TEST(a_chunk_that_is_put_off_is_cut)
{
    struct outcome outcome;
    ck_assert_int_eq(open_remote(_i > 0), 0);
    run_up_to(100, 50, 105);
    const uint64_t done = stand_still();
    ck_assert_uint_eq(executor_cut(&exec.executor, RECALL_ALL).count, 50 - done);
    take_chunk(100, &outcome);
    ck_assert_uint_eq(outcome.digest, digest_of(100, done));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(nothing_begins_of_an_executor_that_is_put_off)
{
    struct outcome outcome;
    struct event event;
    ck_assert_int_eq(open_remote(_i > 0), 0);
    ck_assert(executor_put_off(&exec.executor));
    executor_begin(&exec.executor, 0, 10, 0, false);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    ck_assert_int_eq(exec.remote.helper.state, HELPER_READY);
    executor_go_on(&exec.executor);
    take_chunk(0, &outcome);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 10));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(whatever_is_cut_and_whoever_dies_the_rest_is_whole)
{
    struct random random;
    random_init(&random, 1 + (uint64_t)_i);
    ck_assert_int_eq(open_remote(_i > 0), 0);
    for (unsigned i = 0; i < 4096; i++)
        kernel.death[i] = random_between(&random, 0, 150) == 0 ? 1 + (enum death)random_between(&random, 0, 4) : LIVES;
    kernel.cost_ns = 3000;
    kill(exec.remote.helper.pid, SIGKILL);
    for (uint64_t first = 0, count, end; first < 1000; first += count) {
        struct event event = {0};
        uint64_t digest = 0, left = 0, bad = 0;
        count = random_between(&random, 1, 90);
        end = first + count;
        executor_begin(&exec.executor, first, count, random_between(&random, 0, count), false);
        while (event.type != EVENT_FINISHED) {
            if (random_between(&random, 0, 3) == 0) {
                const struct range cut = executor_cut(&exec.executor, (unsigned)random_between(&random, 1, 4));
                executor_check(&exec.executor);
                end -= cut.count;
                ck_assert(end > first && (cut.count == 0 || cut.first == end));
            }
            if (random_between(&random, 0, 20) == 0)
                executor_put_off(&exec.executor);
            if (random_between(&random, 0, 10) == 0)
                executor_go_on(&exec.executor);
            if (random_between(&random, 0, 40) == 0 && exec.remote.helper.pid > 0)
                kill(exec.remote.helper.pid, SIGSTOP);
            if (random_between(&random, 0, 10) == 0 && exec.remote.helper.pid > 0)
                kill(exec.remote.helper.pid, SIGCONT);
            event.type = EVENT_MARK;
            if (executor_advance(&exec.executor, &event) != TURN_EVENT || event.type == EVENT_MARK)
                continue;
            if (event.type == EVENT_ITERATIONS_FAILED) {
                ck_assert_int_ne(kernel.death[first + left], LIVES);
                bad += digest_of(first + left, 1);
                left++;
                continue;
            }
            digest += event.chunk.digest;
            left += event.chunk.count;
            if (event.chunk.data != NULL)
                executor_sent(&exec.executor, event.chunk.data);
        }
        kill(exec.remote.helper.pid, SIGCONT);
        ck_assert_uint_eq(left, end - first);
        ck_assert_uint_eq(digest, digest_of(first, left) - bad);
    }
    executor_fini(&exec.executor);
}
END_TEST

/* --- the chunk behind the running one --- */

static struct channel_work *next_work(void)
{
    return helper_next_work(&exec.remote.helper);
}

/* Opens the executor with the kernel as it is, and begins the chunks [0, 10) and [10, 20). */
static void begin_two(bool collect)
{
    static const struct helper_start start = {.begin = begin_helper};
    const struct exec_config config = {
        .kernel = &deadly, .loop = &loop, .collect = collect, .slowdown = 1, .probe_count = 4096, .helper = &start};
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 0, 10, 0, false);
    executor_begin(&exec.executor, 10, 10, 0, false);
    executor_check(&exec.executor);
}

/* Waits, without a look at the executor, until so many iterations of the second chunk have begun. */
static void await_begun_of_next(uint64_t count)
{
    while (channel_begun(atomic_load(&next_work()->claims)) < count)
        usleep(100);
}

static void check_chunk(uint64_t first, uint64_t count)
{
    struct outcome outcome;
    take_chunk(first, &outcome);
    ck_assert_uint_eq(outcome.failed, 0);
    ck_assert_uint_eq(outcome.done, count);
    ck_assert_uint_eq(outcome.digest, digest_of(first, count));
}

START_TEST(a_helper_goes_on_to_the_next_chunk_by_itself)
{
    const struct helper *helper = &exec.remote.helper;
    renew_kernel();
    begin_two(_i > 0);
    for (uint64_t first = 0; first < 100; first += 10) {
        while (!channel_is_over(helper->channel, helper->current + CHANNEL_STEP))
            usleep(100);
        check_chunk(first, 10);
        executor_begin(&exec.executor, first + 20, 10, 0, false);
    }
    check_chunk(100, 10);
    check_chunk(110, 10);
    ck_assert(!executor_has_chunk(&exec.executor, true));
    ck_assert_uint_eq(shared->opened, 1);
    executor_fini(&exec.executor);
}
END_TEST

/* Whoever kills the helper in the first chunk. */
START_TEST(a_death_costs_the_next_chunk_nothing)
{
    struct outcome outcome;
    renew_kernel();
    kernel.death[4] = _i / 2 == 0 ? SEGFAULTS : LIVES;
    shared->hold_at = _i / 2 == 0 ? UINT64_MAX : 4;
    begin_two(_i % 2 > 0);
    while (_i / 2 > 0 && channel_begun(atomic_load(&helper_work(&exec.remote.helper)->claims)) < 5)
        usleep(100);
    if (_i / 2 > 0)
        kill(exec.remote.helper.pid, SIGKILL);
    shared->hold_at = UINT64_MAX;
    take_chunk(0, &outcome);
    ck_assert_uint_le(outcome.failed, 1); /* one that did not run alone is run again */
    ck_assert_uint_eq(outcome.failed, outcome.done == 9);
    ck_assert_int_eq(outcome.failed == 1 && outcome.failed_at[0] != 4, 0);
    ck_assert(outcome.failed == 1 || _i / 2 > 0);
    check_chunk(10, 10);
    ck_assert_uint_eq(shared->opened, 2);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_death_in_the_next_chunk_is_not_held_against_the_first)
{
    struct outcome outcome;
    siginfo_t end;
    renew_kernel();
    kernel.death[12] = EXITS;
    begin_two(_i > 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)exec.remote.helper.pid, &end, WEXITED | WNOWAIT), 0);
    check_chunk(0, 10);
    take_chunk(10, &outcome);
    ck_assert_uint_eq(outcome.failed, 1);
    ck_assert_uint_eq(outcome.failed_at[0], 12);
    ck_assert_str_eq(outcome.text[0], "ended the child process with status 9");
    ck_assert_uint_eq(outcome.digest, digest_of(10, 10) - digest_of(12, 1));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(the_next_chunk_is_given_back_first)
{
    renew_kernel();
    shared->hold_at = 5;
    begin_two(_i > 0);
    struct range cut = executor_cut(&exec.executor, 1);
    ck_assert_uint_eq(cut.first, 15);
    ck_assert_uint_eq(cut.count, 5);
    cut = executor_cut(&exec.executor, RECALL_ALL);
    ck_assert_uint_eq(cut.first, 10);
    ck_assert_uint_eq(cut.count, 5);
    cut = executor_cut(&exec.executor, RECALL_ALL);
    ck_assert_uint_eq(cut.first + cut.count, 10);
    shared->hold_at = UINT64_MAX;
    check_chunk(0, cut.first);
    ck_assert(!executor_has_chunk(&exec.executor, true));
    executor_begin(&exec.executor, 30, 5, 0, false);
    check_chunk(30, 5);
    ck_assert_uint_eq(shared->runs[10], 0);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(of_a_next_chunk_that_has_begun_the_rest_is_given_back)
{
    renew_kernel();
    shared->hold_at = 11;
    begin_two(_i > 0);
    await_begun_of_next(2);
    const struct range cut = executor_cut(&exec.executor, RECALL_ALL);
    ck_assert_uint_eq(cut.first + cut.count, 20);
    ck_assert_uint_ge(cut.first, 12);
    ck_assert_uint_eq(executor_cut(&exec.executor, RECALL_ALL).count, 0);
    shared->hold_at = UINT64_MAX;
    check_chunk(0, 10);
    check_chunk(10, cut.first - 10);
    executor_fini(&exec.executor);
}
END_TEST

/* Whether the helper is at it or not, the chunk that begins then is computed, and nothing of the other is told. */
START_TEST(the_next_chunk_is_given_up)
{
    const bool has_begun = _i / 2 > 0;
    renew_kernel();
    shared->hold_at = has_begun ? 11 : 5;
    begin_two(_i % 2 > 0);
    if (has_begun)
        await_begun_of_next(2);
    executor_forget(&exec.executor);
    executor_check(&exec.executor);
    if (!has_begun)
        shared->hold_at = UINT64_MAX;
    check_chunk(0, 10);
    ck_assert(!executor_has_chunk(&exec.executor, true));
    executor_begin(&exec.executor, 30, 5, 0, false);
    shared->hold_at = UINT64_MAX;
    check_chunk(30, 5);
    ck_assert(has_begun || shared->runs[10] == 0);
    ck_assert_uint_eq(shared->opened, 1);
    executor_fini(&exec.executor);
}
END_TEST

/* What has begun of the second goes on to its end, whichever that is. */
START_TEST(chunks_that_are_put_off_go_on_in_their_order)
{
    struct pollfd news = {.events = POLLIN};
    struct event event = {0};
    const bool has_begun = _i / 2 > 0;
    uint64_t told = 0;
    renew_kernel();
    shared->hold_at = has_begun ? 11 : 5;
    begin_two(_i % 2 > 0);
    news.fd = executor_descriptor(&exec.executor);
    if (has_begun)
        await_begun_of_next(2);
    else
        while (channel_begun(atomic_load(&helper_work(&exec.remote.helper)->claims)) < 6)
            usleep(100);
    ck_assert(!executor_put_off(&exec.executor));
    shared->hold_at = UINT64_MAX;
    while (!executor_put_off(&exec.executor)) {
        const enum turn turn = executor_advance(&exec.executor, &event);
        if (turn == TURN_EVENT) {
            told += event.chunk.count;
            if (event.chunk.data != NULL)
                executor_sent(&exec.executor, event.chunk.data);
        }
        if (turn == TURN_BLOCKED && !executor_put_off(&exec.executor))
            ck_assert_int_eq(poll(&news, 1, 20000), 1);
    }
    ck_assert_uint_eq(told, has_begun ? 10 : 0);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    executor_go_on(&exec.executor);
    if (!has_begun)
        check_chunk(0, 10);
    check_chunk(10, 10);
    executor_fini(&exec.executor);
}
END_TEST

/* A moment behind which nothing begins holds for it, too. */
START_TEST(the_next_chunk_waits_where_the_time_is_over)
{
    renew_kernel();
    shared->hold_at = 5;
    begin_two(_i > 0);
    executor_stop_at(&exec.executor, 1);
    shared->hold_at = UINT64_MAX;
    check_chunk(0, 10);
    ck_assert_uint_eq(shared->runs[10], 0);
    executor_stop_at(&exec.executor, UINT64_MAX);
    check_chunk(10, 10);
    executor_fini(&exec.executor);
}
END_TEST

/* Random events behind one another, with a chunk ahead as often as not. */
START_TEST(whatever_becomes_of_the_next_chunk_both_are_whole)
{
    struct random random;
    struct range chunk[2] = {{0}}; /* the running one, and the next one; count 0: there is none */
    uint64_t free = 0, left = 0, digest = 0, bad = 0;
    random_init(&random, 100 + (uint64_t)_i);
    renew_kernel();
    for (unsigned i = 0; i < 4096; i++)
        kernel.death[i] = random_between(&random, 0, 150) == 0 ? 1 + (enum death)random_between(&random, 0, 4) : LIVES;
    kernel.cost_ns = _i / 2 % 2 > 0 ? 3000 : 0;
    begin_two(_i % 2 > 0);
    chunk[0] = (struct range){0, 10};
    chunk[1] = (struct range){10, 10};
    for (free = 20; free < 1000 || chunk[0].count > 0;) {
        struct event event = {.type = EVENT_MARK};
        const unsigned at = chunk[0].count > 0;
        if (free < 1000 && chunk[at].count == 0 && random_between(&random, 0, 1) == 0) {
            chunk[at] = (struct range){free, random_between(&random, 1, 40)};
            free += chunk[at].count;
            executor_begin(&exec.executor, chunk[at].first, chunk[at].count,
                           random_between(&random, 0, chunk[at].count), false);
        }
        if (random_between(&random, 0, 8) == 0) {
            const struct range cut = executor_cut(&exec.executor, (unsigned)random_between(&random, 1, 4));
            const unsigned of = chunk[1].count > 0 && cut.first + cut.count == chunk[1].first + chunk[1].count;
            chunk[of].count -= cut.count;
            ck_assert(cut.count == 0 ||
                      (cut.first == chunk[of].first + chunk[of].count && (of == 1 || chunk[0].count > 0)));
        }
        if (random_between(&random, 0, 20) == 0 && chunk[1].count > 0) {
            executor_forget(&exec.executor);
            chunk[1].count = 0;
        }
        if (random_between(&random, 0, 20) == 0)
            executor_put_off(&exec.executor);
        if (random_between(&random, 0, 10) == 0)
            executor_go_on(&exec.executor);
        if (random_between(&random, 0, 20) == 0)
            executor_stop_at(&exec.executor, random_between(&random, 0, 1) == 0 ? 1 : UINT64_MAX);
        if (random_between(&random, 0, 40) == 0 && exec.remote.helper.pid > 0)
            kill(exec.remote.helper.pid, SIGSTOP);
        if (random_between(&random, 0, 10) == 0 && exec.remote.helper.pid > 0)
            kill(exec.remote.helper.pid, SIGCONT);
        executor_check(&exec.executor);
        if (random_between(&random, 0, 10) == 0)
            usleep((unsigned)random_between(&random, 0, 300));
        if (executor_advance(&exec.executor, &event) != TURN_EVENT || event.type == EVENT_MARK)
            continue;
        if (event.type == EVENT_ITERATIONS_FAILED) {
            ck_assert_int_ne(kernel.death[chunk[0].first + left], LIVES);
            bad += digest_of(chunk[0].first + left++, 1);
            continue;
        }
        digest += event.chunk.digest;
        left += event.chunk.count;
        if (event.chunk.data != NULL)
            executor_sent(&exec.executor, event.chunk.data);
        if (event.type != EVENT_FINISHED)
            continue;
        ck_assert_uint_eq(event.chunk.first, chunk[0].first);
        ck_assert_uint_eq(left, chunk[0].count);
        ck_assert_uint_eq(digest, digest_of(chunk[0].first, left) - bad);
        left = digest = bad = 0;
        chunk[0] = chunk[1];
        chunk[1].count = 0;
    }
    if (exec.remote.helper.pid > 0)
        kill(exec.remote.helper.pid, SIGCONT);
    executor_fini(&exec.executor);
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0);
}
END_TEST

/* --- iterations that take too long --- */

/* Longer than a busy machine pauses. */
#define LIMIT_NS UINT64_C(500000000)

START_TEST(an_iteration_that_hangs_is_ended)
{
    static const struct helper_start start = {.begin = begin_helper};
    static struct hdss_loop limited;
    struct outcome outcome;
    renew_kernel();
    kernel.death[17] = HANGS;
    limited = loop;
    limited.has_effects = true;
    const struct exec_config config = {.kernel = &deadly,
                                       .loop = &limited,
                                       .collect = true,
                                       .slowdown = 1,
                                       .probe_count = 4096,
                                       .helper = &start,
                                       .limit_ns = LIMIT_NS};
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 0, 420, 0, false);
    take_chunk(0, &outcome);
    ck_assert_uint_eq(outcome.failed, 1);
    ck_assert_uint_eq(outcome.failed_at[0], 17);
    ck_assert_str_eq(outcome.text[0], "ran for longer than 0.5 s (--iteration-timeout)");
    ck_assert(!outcome.final[0]);
    for (unsigned k = 0; k < 420; k++)
        ck_assert_uint_eq(shared->runs[k], 1);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 420) - digest_of(17, 1));
    executor_fini(&exec.executor);
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0);
}
END_TEST

/* --- variable output --- */

static int run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char error[HDSS_ERROR_MAX])
{
    (void)instance;
    for (uint64_t i = first; i < first + count; i++) {
        static unsigned char bytes[3u << 20];
        size_t length = i % 50 == 49 ? sizeof bytes : i % 7;
        memset(bytes, 'a' + (int)(i % 26), length);
        if (length > 0 && output->put(output, i, 0, bytes, length) < 0)
            return -1;
        if (i % 3 == 0 && output->put(output, i, 1, "three", 5) < 0)
            return -1;
        if (i == 11 && output->failed(output, i) < 0)
            return -1;
        int result = die(kernel.death[i], error);
        if (result != 0)
            return result;
    }
    return 0;
}

static const struct hdss_kernel wordy = {
    .abi = HDSS_KERNEL_ABI, .name = "wordy", .open = open_kernel, .run_variable = run_variable};
static const struct hdss_loop streams = {
    .iterations = 200, .streams = 2, .stream = {{.ending = ""}, {.ending = ".err"}}};

static pid_t begin_wordy(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    (void)context, (void)error;
    return begin_with(&(struct exec_config){.kernel = &wordy, .loop = &streams, .probe_count = 200}, file, bell);
}

/* Takes the chunk [0, 200): sums up its digest and the bytes of the blocks. */
static void take_wordy(struct outcome *outcome, uint64_t *bytes)
{
    struct event event = {0};
    *outcome = (struct outcome){0};
    for (*bytes = 0; event.type != EVENT_FINISHED;) {
        event = next_event();
        if (event.type == EVENT_ITERATIONS_FAILED) {
            snprintf(outcome->text[outcome->failed++], HDSS_ERROR_MAX, "%s", event.text);
            continue;
        }
        outcome->done += event.chunk.count;
        outcome->digest += event.chunk.digest;
        *bytes += event.chunk.bytes;
        if (event.chunk.data != NULL)
            executor_sent(&exec.executor, event.chunk.data);
    }
}

START_TEST(variable_output_is_that_of_an_executor_without_a_helper)
{
    static const struct helper_start start = {.begin = begin_wordy};
    struct outcome expected, outcome;
    uint64_t bytes[2];
    const bool collect = _i > 0;
    for (int remote = 0; remote < 2; remote++) {
        const struct exec_config config = {.kernel = &wordy,
                                           .loop = &streams,
                                           .collect = collect,
                                           .slowdown = 1,
                                           .probe_count = 200,
                                           .helper = remote ? &start : NULL};
        ck_assert_int_eq(open_remote(false), 0);
        executor_fini(&exec.executor);
        kernel.death[150] = FAILS;
        kernel.death[151] = remote ? SEGFAULTS : FAILS;
        ck_assert_int_eq(exec_init(&exec, &config), 0);
        executor_begin(&exec.executor, 0, 200, 0, false);
        take_wordy(remote ? &outcome : &expected, &bytes[remote]);
        executor_fini(&exec.executor);
    }
    ck_assert_uint_eq(outcome.done, expected.done);
    ck_assert_uint_eq(outcome.done, 198 - !collect); /* what the kernel calls failed has no place */
    ck_assert_uint_eq(outcome.failed, expected.failed);
    ck_assert_uint_eq(outcome.digest, expected.digest);
    ck_assert_int_eq(bytes[0] > 0, collect);
    ck_assert_str_eq(outcome.text[outcome.failed - 1], "killed the child process: signal 11 (Segmentation fault)");
}
END_TEST

/* Blocks of one chunk stay where they are while those of the next one are put. */
START_TEST(variable_output_of_two_chunks_stays_apart)
{
    static const struct helper_start start = {.begin = begin_wordy};
    struct exec_config config = {
        .kernel = &wordy, .loop = &streams, .collect = _i > 0, .slowdown = 1, .probe_count = 200};
    struct outcome expected, outcome[2];
    uint64_t bytes, parts[2];
    renew_kernel();
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 12, 188, 0, false);
    take_wordy(&expected, &bytes);
    executor_fini(&exec.executor);
    config.helper = &start;
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 12, 37, 0, false);
    executor_begin(&exec.executor, 49, 151, 0, false);
    while (channel_begun(atomic_load(&next_work()->claims)) == 0)
        usleep(100);
    for (unsigned i = 0; i < 2; i++)
        take_wordy(&outcome[i], &parts[i]);
    ck_assert_uint_eq(outcome[0].done + outcome[1].done, expected.done);
    ck_assert_uint_eq(outcome[0].digest + outcome[1].digest, expected.digest);
    ck_assert_int_eq(parts[0] + parts[1] > 0, _i > 0);
    ck_assert_uint_eq(outcome[0].failed + outcome[1].failed, expected.failed);
    executor_fini(&exec.executor);
}
END_TEST

/* --- effects --- */

static int run_with_effects(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                            char error[HDSS_ERROR_MAX])
{
    (void)instance;
    for (uint64_t i = first; i < first + count; i++) {
        shared->runs[i]++;
        if (output->put(output, i, 0, "it", 2) < 0)
            return -1;
        if (kernel.makes_unfit[i])
            output->unfit(output);
        if (die(kernel.death[i], error) != 0)
            return -1;
    }
    return 0;
}

static const struct hdss_kernel effective = {
    .abi = HDSS_KERNEL_ABI, .name = "effective", .open = open_kernel, .run_variable = run_with_effects};
static const struct hdss_loop effects = {
    .iterations = 200, .streams = 1, .stream = {{.ending = ""}}, .has_effects = true};

static pid_t begin_effective(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    (void)context, (void)error;
    return begin_with(&(struct exec_config){.kernel = &effective, .loop = &effects}, file, bell);
}

/* A process ends behind each iteration that makes it unfit, whether that works or fails; others are neither blamed for
 * that, nor run again. So it is behind one that kills it. */
START_TEST(an_unfit_process_is_replaced)
{
    static const struct helper_start start = {.begin = begin_effective};
    const struct exec_config config = {
        .kernel = &effective, .loop = &effects, .collect = true, .slowdown = 1, .helper = &start};
    struct outcome outcome;
    uint64_t bytes;
    unsigned ended = 0;
    renew_kernel();
    for (unsigned i = 0; i < 200; i++) {
        const bool fails = i >= 100 && i < 106;
        kernel.makes_unfit[i] = fails || i == 0 || i == 5 || i == 99 || i == 199;
        kernel.death[i] = fails ? FAILS : i == 150 ? SEGFAULTS : LIVES;
        ended += kernel.makes_unfit[i] || i == 150;
    }
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 0, 100, 0, false);
    executor_begin(&exec.executor, 100, 100, 0, false);
    take_wordy(&outcome, &bytes);
    ck_assert_uint_eq(outcome.done, 100);
    ck_assert_uint_eq(outcome.failed, 0);
    take_wordy(&outcome, &bytes);
    ck_assert_uint_eq(outcome.done, 93);
    ck_assert_uint_eq(outcome.failed, 7);
    executor_fini(&exec.executor);
    ck_assert_uint_ge(shared->opened, ended); /* the last may have ended before or behind the executor */
    ck_assert_uint_le(shared->opened, ended + 1);
    for (unsigned i = 0; i < 200; i++)
        ck_assert_uint_eq(shared->runs[i], 1);
}
END_TEST

START_TEST(a_helper_that_is_killed_while_idle_is_replaced)
{
    struct outcome outcome;
    struct event event = {0};
    ck_assert_int_eq(open_remote(false), 0);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    kill(exec.remote.helper.pid, SIGKILL);
    struct pollfd news = {.fd = executor_descriptor(&exec.executor), .events = POLLIN};
    ck_assert_int_eq(poll(&news, 1, 20000), 1);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    ck_assert_int_eq(poll(&news, 1, 0), 0); /* it is not told again and again */
    executor_begin(&exec.executor, 0, 100, 0, false);
    take_chunk(0, &outcome);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 100));
    ck_assert_uint_eq(shared->opened, 2);
    executor_fini(&exec.executor);
}
END_TEST

/* Waits until an iteration stands still, and those before it are done. */
static void await_standstill(uint64_t iteration)
{
    const struct channel_work *work = helper_work(&exec.remote.helper);
    while (atomic_load(&shared->runs[iteration]) == 0 || atomic_load(&work->published) >> 1 < iteration)
        usleep(100);
}

static void check_ended(uint64_t first, uint64_t count)
{
    const pid_t helper = exec.remote.helper.pid;
    const struct range rest = executor_end(&exec.executor);
    executor_check(&exec.executor);
    ck_assert_uint_eq(rest.first, first);
    ck_assert_uint_eq(rest.count, count);
    const struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, first);
    ck_assert_uint_eq(event.chunk.digest, digest_of(0, first));
    ck_assert_int_eq(kill(helper, 0), -1);
    ck_assert_uint_eq(shared->closed, false);
}

/* What is done stays, and leaves; the process that runs the rest is gone by then, and no iteration is blamed. */
START_TEST(a_helper_is_killed_when_nobody_wants_the_rest)
{
    for (uint64_t held = 0; held < 2; held++) {
        ck_assert_int_eq(open_remote(_i > 0), 0);
        shared->hold_at = held;
        executor_begin(&exec.executor, 0, 2, 0, false);
        await_standstill(held);
        check_ended(held, 2 - held);
        executor_fini(&exec.executor);
    }
}
END_TEST

/* Leads a group, as the helper of a job of a set does, and has left a process behind that has the pipe. */
static int held[2];

static pid_t begin_with_child(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    (void)context, (void)error;
    const pid_t helper = fork();
    if (helper != 0)
        return helper;
    setpgid(0, 0);
    close(held[0]);
    if (fork() == 0)
        while (true)
            pause();
    close(held[1]);
    serve(exec.remote.helper.channel, file, bell, &(struct exec_config){.kernel = &deadly, .loop = &loop}, NULL);
    _exit(0);
}

START_TEST(what_a_helper_leaves_behind_ends_with_it)
{
    static const struct helper_start start = {.begin = begin_with_child};
    const struct exec_config config = {.kernel = &deadly, .loop = &loop, .slowdown = 1, .helper = &start};
    renew_kernel();
    ck_assert_int_eq(pipe(held), 0);
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    close(held[1]);
    executor_fini(&exec.executor);
    struct pollfd end = {.fd = held[0], .events = POLLIN};
    ck_assert_int_eq(poll(&end, 1, 20000), 1);
    ck_assert_int_eq(end.revents, POLLHUP);
    ck_assert_int_lt(waitpid(-1, NULL, WNOHANG), 0);
}
END_TEST

START_TEST(a_probe_is_ended)
{
    struct speed speed = {0};
    ck_assert_int_eq(open_remote(false), 0);
    shared->hold_at = 0;
    ck_assert(!executor_probe(&exec.executor, &speed));
    while (shared->runs[0] == 0) {
        struct event event = {0};
        ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    }
    const pid_t helper = exec.remote.helper.pid;
    ck_assert_uint_eq(executor_end(&exec.executor).count, 0);
    await_probe(&exec.executor, &speed);
    ck_assert_uint_eq(speed.levels, 1);
    ck_assert_uint_eq(shared->runs[0], 1);
    ck_assert_int_eq(kill(helper, 0), -1);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_kernel_that_crashes_when_it_is_opened_says_so)
{
    ck_assert_int_eq(open_remote(false), 0);
    executor_fini(&exec.executor);
    memset(&exec, 0, sizeof exec);
    static const struct helper_start start = {.begin = begin_helper};
    const struct exec_config config = {
        .kernel = &deadly, .loop = &loop, .slowdown = 1, .probe_count = 4096, .helper = &start};
    shared->open_crashes = 3;
    ck_assert_int_eq(exec_init(&exec, &config), -1);
    ck_assert_uint_eq(shared->open_crashes, 0);
    ck_assert_str_eq(exec.error,
                     "deadly: loading or opening it killed the child process: signal 11 (Segmentation fault)");
    struct event event = {0}; /* the worker, which says why, goes on until it is let go */
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    ck_assert_int_eq(executor_descriptor(&exec.executor), -1);
}
END_TEST

/* A helper that dies while it opens the kernel is replaced: the first one, one that follows a death, and one that is to
 * probe. */
START_TEST(a_kernel_that_crashes_when_it_is_opened_is_opened_again)
{
    static const struct helper_start start = {.begin = begin_helper};
    const struct exec_config config = {
        .kernel = &deadly, .loop = &loop, .slowdown = 1, .probe_count = 4096, .helper = &start};
    struct outcome outcome;
    struct speed speed = {0};
    renew_kernel();
    shared->open_crashes = 2;
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    shared->open_crashes = 1; /* that the helper is killed may be seen as a death of its own */
    kill(exec.remote.helper.pid, SIGKILL);
    executor_begin(&exec.executor, 0, 100, 0, false);
    take_chunk(0, &outcome);
    ck_assert_uint_eq(outcome.failed, 0);
    ck_assert_uint_eq(outcome.digest, digest_of(0, 100));
    shared->open_crashes = 2;
    kill(exec.remote.helper.pid, SIGKILL);
    probe_whole(&exec.executor, &speed);
    ck_assert_uint_gt(speed.levels, 0);
    shared->open_crashes = 3;
    kill(exec.remote.helper.pid, SIGKILL);
    executor_begin(&exec.executor, 100, 10, 0, false);
    take_chunk(100, &outcome);
    ck_assert_uint_eq(outcome.failed, 1);
    ck_assert_uint_eq(outcome.done, 9);
    ck_assert_uint_eq(shared->open_crashes, 0);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_probe_leaves_out_what_kills)
{
    struct speed speed = {0};
    ck_assert_int_eq(open_remote(false), 0);
    kernel.death[0] = SEGFAULTS; /* the first probe iteration */
    kernel.death[2048] = EXITS;  /* the second */
    kernel.cost_ns = 100000;
    kill(exec.remote.helper.pid, SIGKILL);
    probe_whole(&exec.executor, &speed);
    ck_assert_uint_gt(speed.levels, 0);
    ck_assert_double_gt(speed.mean_ns, 50000);
    ck_assert_uint_eq(shared->runs[0], 1);
    executor_fini(&exec.executor);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("helper");
    TCase *channel = tcase_create("channel"), *remote = tcase_create("remote");
    tcase_add_test(channel, iterations_are_claimed_up_to_the_end);
    tcase_add_test(channel, what_has_begun_is_not_cut);
    tcase_add_test(channel, claims_and_cuts_share_the_iterations);
    tcase_add_test(channel, an_account_is_seen_as_a_whole);
    suite_add_tcase(suite, channel);
    tcase_add_loop_test(remote, a_death_costs_the_iteration_that_ran, 0, 2);
    tcase_add_loop_test(remote, a_chunk_is_cut_while_an_iteration_runs, 0, 2);
    tcase_add_loop_test(remote, a_chunk_that_is_put_off_goes_on_where_it_stopped, 0, 4);
    tcase_add_loop_test(remote, a_chunk_that_is_put_off_is_cut, 0, 2);
    tcase_add_loop_test(remote, nothing_begins_of_an_executor_that_is_put_off, 0, 2);
    tcase_add_loop_test(remote, whatever_is_cut_and_whoever_dies_the_rest_is_whole, 0, 2);
    tcase_add_loop_test(remote, variable_output_is_that_of_an_executor_without_a_helper, 0, 2);
    tcase_add_test(remote, an_unfit_process_is_replaced);
    tcase_add_test(remote, a_helper_that_is_killed_while_idle_is_replaced);
    tcase_add_loop_test(remote, a_helper_is_killed_when_nobody_wants_the_rest, 0, 2);
    tcase_add_test(remote, what_a_helper_leaves_behind_ends_with_it);
    tcase_add_test(remote, a_probe_is_ended);
    tcase_add_test(remote, a_kernel_that_crashes_when_it_is_opened_says_so);
    tcase_add_test(remote, a_kernel_that_crashes_when_it_is_opened_is_opened_again);
    tcase_add_test(remote, a_probe_leaves_out_what_kills);
    suite_add_tcase(suite, remote);
    TCase *ahead = tcase_create("ahead");
    tcase_add_loop_test(ahead, a_helper_goes_on_to_the_next_chunk_by_itself, 0, 2);
    tcase_add_loop_test(ahead, a_death_costs_the_next_chunk_nothing, 0, 4);
    tcase_add_loop_test(ahead, a_death_in_the_next_chunk_is_not_held_against_the_first, 0, 2);
    tcase_add_loop_test(ahead, the_next_chunk_is_given_back_first, 0, 2);
    tcase_add_loop_test(ahead, of_a_next_chunk_that_has_begun_the_rest_is_given_back, 0, 2);
    tcase_add_loop_test(ahead, the_next_chunk_is_given_up, 0, 4);
    tcase_add_loop_test(ahead, chunks_that_are_put_off_go_on_in_their_order, 0, 4);
    tcase_add_loop_test(ahead, the_next_chunk_waits_where_the_time_is_over, 0, 2);
    tcase_add_loop_test(ahead, whatever_becomes_of_the_next_chunk_both_are_whole, 0, 4);
    tcase_add_loop_test(ahead, variable_output_of_two_chunks_stays_apart, 0, 2);
    suite_add_tcase(suite, ahead);
    TCase *limit = tcase_create("limit");
    tcase_add_test(limit, an_iteration_that_hangs_is_ended);
    suite_add_tcase(suite, limit);
    return suite_run(suite);
}
