/* SPDX-License-Identifier: MIT */
/* A user's program with shared loops, for test_library.py: run by mpirun with any number of ranks.
 *
 *   library-loops cover N [OPTION VALUE]...   one loop in three time steps: each iteration exactly once in each
 *   library-loops many [OPTION VALUE]...      hundreds of short loops, one right after another
 *   library-loops steps [OPTION VALUE]...     the same as time steps of one loop
 *   library-loops two                         loops that are open at the same time
 *   library-loops foreign                     the program's own messages on the same communicator meanwhile
 *   library-loops threads                     several threads draw, one answers
 *   library-loops leave                       some ranks free the loop before its end
 *   library-loops wide                        more iterations than 32 bits hold
 *   library-loops wrong                       what must be refused
 *   library-loops starve                      rank 0 computes for long and others wait for it
 *   library-loops quick                       rank 0 draws one short chunk after another, and others wait for it
 *
 * One line on standard output when all is well; else one on standard error and status 1. */
#include <hdss/hdss.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void fail(const char *what, const char *where, int64_t number)
{
    fprintf(stderr, "library-loops: rank %d: %s: %s (%" PRId64 ")\n", rank, where, what, number);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(int status, int expected, const char *where)
{
    if (status != expected)
        fail(hdss_error_text(status), where, status);
}

static struct hdss_options *options_of(int words, char **word)
{
    struct hdss_options *options = hdss_options_new();
    for (int i = 0; i + 1 < words; i += 2)
        if (hdss_options_set(options, word[i], word[i + 1]) < 0)
            fail(hdss_options_error(options), "options", i);
    return options;
}

static struct hdss_options *options_with(const char *mode, const char *technique)
{
    struct hdss_options *options = hdss_options_new();
    expect(hdss_options_set(options, "mode", mode), HDSS_OK, mode);
    expect(hdss_options_set(options, "technique", technique), HDSS_OK, technique);
    return options;
}

static struct hdss_shared_loop *begin(MPI_Comm comm, int64_t iterations, struct hdss_options *options)
{
    struct hdss_shared_loop *loop = NULL;
    if (hdss_loop_new(comm, iterations, options, &loop) < 0)
        fail(hdss_options_error(options), "hdss_loop_new", iterations);
    return loop;
}

/* How often each iteration was handed out. */
static void note(int *seen, int64_t iterations, int64_t first, int64_t count)
{
    if (first < 0 || count < 1 || first > iterations - count)
        fail("a chunk outside the loop", "note", first);
    for (int64_t i = first; i < first + count; i++)
        seen[i]++;
}

static void check_once(int *seen, int64_t iterations, const char *where)
{
    MPI_Allreduce(MPI_IN_PLACE, seen, (int)iterations, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = 0; i < iterations; i++)
        if (seen[i] != 1)
            fail(seen[i] == 0 ? "an iteration was lost" : "an iteration was handed out twice", where, i);
}

/* Until the end. Returns the number of chunks. */
static int64_t draw_all(struct hdss_shared_loop *loop, int64_t iterations, int *seen)
{
    int64_t first, count, pieces = 0;
    int status;
    while ((status = hdss_loop_next(loop, &first, &count)) > 0) {
        note(seen, iterations, first, count);
        pieces++;
    }
    expect(status, 0, "hdss_loop_next");
    return pieces;
}

/* --- one loop --- */

static void cover(int words, char **word)
{
    int64_t iterations = atoll(word[0]);
    struct hdss_options *options = options_of(words - 1, word + 1);
    struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, iterations, options);
    struct hdss_totals totals;
    struct hdss_stats own;
    for (int step = 0; step < 3; step++) {
        int *seen = calloc((size_t)iterations + 1, sizeof *seen);
        int64_t pieces = draw_all(loop, iterations, seen);
        check_once(seen, iterations, "cover");
        free(seen);
        expect(hdss_loop_stats(loop, &own, sizeof own), HDSS_OK, "stats");
        expect(hdss_loop_totals(loop, &totals, sizeof totals), HDSS_OK, "totals");
        if (own.pieces != pieces || own.chunks > pieces || totals.iterations != iterations)
            fail("figures that are not those of the loop", "cover", own.pieces);
        if (step < 2)
            expect(hdss_loop_again(loop, iterations), HDSS_OK, "again");
    }
    expect(hdss_loop_free(&loop), HDSS_OK, "free");
    hdss_options_free(options);
    if (rank == 0)
        printf("ok chunks %" PRId64 "\n", totals.chunks);
}

/* --- loops one after another --- */

#define LOOPS   300
#define LONGEST 97
#define MODES   5

static int64_t length_of(int number)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 64, LONGEST, 5, 17};
    return lengths[number % 8];
}

/* Nothing between the loops but their own calls: all are looked at in the end. */
static void check_many(int (*seen)[LONGEST])
{
    for (int i = 0; i < LOOPS; i++) {
        check_once(seen[i], length_of(i), "many");
        for (int64_t k = length_of(i); k < LONGEST; k++)
            if (seen[i][k] != 0)
                fail("an iteration of another loop", "many", k);
    }
    free(seen);
    if (rank == 0)
        printf("ok %d loops\n", LOOPS);
}

static void many(int words, char **word)
{
    struct hdss_options *options = options_of(words, word);
    int(*seen)[LONGEST] = calloc(LOOPS, sizeof *seen);
    for (int i = 0; i < LOOPS; i++) {
        struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, length_of(i), options);
        draw_all(loop, length_of(i), seen[i]);
        expect(hdss_loop_free(&loop), HDSS_OK, "free");
    }
    hdss_options_free(options);
    check_many(seen);
}

static void steps(int words, char **word)
{
    struct hdss_options *options = options_of(words, word);
    int(*seen)[LONGEST] = calloc(LOOPS, sizeof *seen);
    struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, length_of(0), options);
    for (int i = 0; i < LOOPS; i++) {
        draw_all(loop, length_of(i), seen[i]);
        if (i + 1 < LOOPS)
            expect(hdss_loop_again(loop, length_of(i + 1)), HDSS_OK, "again");
    }
    expect(hdss_loop_free(&loop), HDSS_OK, "free");
    hdss_options_free(options);
    check_many(seen);
}

/* --- loops at the same time --- */

#define LENGTH 500

/* The inner loop of a part of the ranks within each chunk of the outer one, and a second one beside it. */
static void two(int words, char **word)
{
    static const char *const modes[MODES] = {"central", "hierarchical", "two-sided", "rma", "node"};
    (void)words, (void)word;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int m = 0; m < MODES; m++) {
        int *seen = calloc(LENGTH, sizeof *seen), *seen_half = calloc(2 * LENGTH, sizeof *seen_half);
        struct hdss_options *outer_options = options_with(modes[m], "gss"),
                            *inner_options = options_with("central", "ss");
        struct hdss_shared_loop *outer = begin(MPI_COMM_WORLD, LENGTH, outer_options);
        struct hdss_shared_loop *inner = begin(half, LENGTH, inner_options);
        expect(hdss_loop_link(outer, inner), HDSS_OK, "link");
        int64_t first, count;
        int outer_left = 1, inner_left = 1;
        while (outer_left || inner_left) {
            if (outer_left && (outer_left = hdss_loop_next(outer, &first, &count)) > 0)
                note(seen, LENGTH, first, count);
            if (inner_left && (inner_left = hdss_loop_next(inner, &first, &count)) > 0)
                note(seen_half + rank % 2 * LENGTH, LENGTH, first, count);
        }
        expect(outer_left | inner_left, 0, "two");
        check_once(seen, LENGTH, "outer");
        check_once(seen_half, ranks > 1 ? 2 * LENGTH : LENGTH, "inner");
        expect(hdss_loop_free(&outer), HDSS_OK, "free");
        expect(hdss_loop_free(&inner), HDSS_OK, "free");
        hdss_options_free(outer_options);
        hdss_options_free(inner_options);
        free(seen);
        free(seen_half);
    }
    MPI_Comm_free(&half);
    if (rank == 0)
        printf("ok\n");
}

/* --- messages of the program --- */

/* Each rank sends to the next before the loop and in it, with tags of all kinds, and takes them only afterwards. */
static void foreign(int words, char **word)
{
    static const char *const modes[MODES] = {"central", "hierarchical", "two-sided", "rma", "node"};
    (void)words, (void)word;
    for (int m = 0; m < MODES; m++) {
        struct hdss_options *options = options_with(modes[m], "ss");
        int seen[LENGTH] = {0}, sent = 0, got = 0, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        MPI_Request requests[LENGTH + 8];
        for (; sent < 8; sent++)
            MPI_Isend(&seen[0], 1, MPI_INT, next, sent, MPI_COMM_WORLD, &requests[sent]);
        struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, LENGTH, options);
        int64_t first, count;
        while (hdss_loop_next(loop, &first, &count) > 0) {
            note(seen, LENGTH, first, count);
            if (sent < 60)
                MPI_Isend(&seen[0], 1, MPI_INT, next, sent, MPI_COMM_WORLD, &requests[sent]), sent++;
        }
        expect(hdss_loop_free(&loop), HDSS_OK, "free");
        int expected = 0;
        MPI_Sendrecv(&sent, 1, MPI_INT, next, 999, &expected, 1, MPI_INT, before, 999, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int value; got < expected; got++)
            MPI_Recv(&value, 1, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < sent; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check_once(seen, LENGTH, modes[m]);
        hdss_options_free(options);
    }
    if (rank == 0)
        printf("ok\n");
}

/* --- threads --- */

struct drawer {
    struct hdss_shared_loop *loop;
    int seen[LENGTH];
    int status;
};

static void *draw_in_thread(void *context)
{
    struct drawer *drawer = context;
    int64_t first, count;
    while ((drawer->status = hdss_loop_next(drawer->loop, &first, &count)) > 0)
        note(drawer->seen, LENGTH, first, count);
    return NULL;
}

#define DRAWERS 3

static void threads(int words, char **word)
{
    static const char *const modes[] = {"central", "hierarchical", "two-sided"};
    (void)words, (void)word;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        struct hdss_options *options = options_with(modes[m], "ss");
        expect(hdss_options_set(options, "thread", "yes"), HDSS_OK, "thread");
        struct drawer drawers[DRAWERS];
        pthread_t thread[DRAWERS];
        int seen[LENGTH] = {0}, ended = 0;
        memset(drawers, 0, sizeof drawers);
        struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, LENGTH, options);
        for (int i = 0; i < DRAWERS; i++) {
            drawers[i].loop = loop;
            pthread_create(&thread[i], NULL, draw_in_thread, &drawers[i]);
        }
        for (int i = 0; i < DRAWERS; i++) {
            pthread_join(thread[i], NULL);
            ended += drawers[i].status == 0;
            if (drawers[i].status != 0)
                expect(drawers[i].status, HDSS_ERROR_ENDED, "a thread after the end");
            for (int k = 0; k < LENGTH; k++)
                seen[k] += drawers[i].seen[k];
        }
        if (ended != 1)
            fail("not one thread was told the end", modes[m], ended);
        expect(hdss_loop_free(&loop), HDSS_OK, "free");
        check_once(seen, LENGTH, modes[m]);
        hdss_options_free(options);
    }
    if (rank == 0)
        printf("ok\n");
}

/* --- before the end --- */

static void leave(int words, char **word)
{
    static const char *const modes[MODES] = {"central", "hierarchical", "two-sided", "rma", "node"};
    (void)words, (void)word;
    for (int m = 0; m < MODES; m++)
        for (int i = 0; i < 2 * (ranks + 1); i++) {
            bool ahead = i % 2 == 1; /* what was asked for ahead goes with the rank, as does a group's pool in mode 1 */
            int leaver = i / 2;
            struct hdss_options *options = options_with(modes[m], "ss");
            expect(hdss_options_set(options, "request-when", ahead ? "auto" : "off"), HDSS_OK, "request-when");
            struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, LENGTH, options);
            int64_t first, count;
            int seen[LENGTH] = {0};
            for (int k = 0; k < 2 || (rank != leaver && leaver < ranks); k++) {
                if (hdss_loop_next(loop, &first, &count) <= 0)
                    break;
                note(seen, LENGTH, first, count);
            }
            expect(hdss_loop_free(&loop), HDSS_OK, "free");
            MPI_Allreduce(MPI_IN_PLACE, seen, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            for (int k = 0; k < LENGTH; k++)
                if (seen[k] > 1 || (seen[k] == 0 && ranks > 1 && leaver < ranks && m != 1 && !ahead))
                    fail("an iteration was lost or handed out twice", modes[m], k);
            hdss_options_free(options);
        }
    if (rank == 0)
        printf("ok\n");
}

/* --- 64 bits --- */

static void wide(int words, char **word)
{
    static const char *const modes[MODES] = {"central", "hierarchical", "two-sided", "rma", "node"};
    const int64_t iterations = INT64_C(5) << 32;
    (void)words, (void)word;
    for (int m = 0; m < MODES; m++) {
        struct hdss_options *options = options_with(modes[m], "css:chunk=100000000");
        struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, iterations, options);
        int64_t first, count, sum[2] = {0, 0};
        while (hdss_loop_next(loop, &first, &count) > 0) {
            sum[0] += count;
            sum[1] += first % 1000003 * (count % 1000003) + count * (count - 1) / 2 % 1000003;
        }
        MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (sum[0] != iterations)
            fail("iterations were lost or doubled", modes[m], sum[0]);
        expect(hdss_loop_free(&loop), HDSS_OK, "free");
        hdss_options_free(options);
    }
    if (rank == 0)
        printf("ok\n");
}

/* --- wrong use --- */

static void wrong_options(void)
{
    const double powers[3] = {1, -1, 2};
    struct hdss_options *options = hdss_options_new();
    expect(hdss_options_set(options, "speed", "1"), HDSS_ERROR_OPTION, "an unknown option");
    expect(hdss_options_set(options, "technique", "gsss"), HDSS_ERROR_OPTION, "an unknown technique");
    if (strstr(hdss_options_error(options), "gsss") == NULL)
        fail(hdss_options_error(options), "the value is not named", 0);
    expect(hdss_options_set(options, "technique", "css:chunk=0"), HDSS_ERROR_OPTION, "a bad parameter");
    expect(hdss_options_set(options, "min-chunk", "-1"), HDSS_ERROR_OPTION, "a negative threshold");
    expect(hdss_options_set(options, NULL, "1"), HDSS_ERROR_USE, "no name");
    expect(hdss_options_set(options, "mode", NULL), HDSS_ERROR_USE, "no value");
    expect(hdss_options_set(NULL, "mode", "rma"), HDSS_ERROR_USE, "no options");
    expect(hdss_options_set_powers(options, powers, 3), HDSS_ERROR_OPTION, "a negative power");
    expect(hdss_options_set_powers(options, NULL, 3), HDSS_ERROR_USE, "no powers");
    expect(hdss_options_set_powers(options, powers, -3), HDSS_ERROR_USE, "a negative number of powers");
    hdss_options_free(options);
    hdss_options_free(NULL);
}

static void expect_new(MPI_Comm comm, int64_t iterations, struct hdss_options *options, int expected, const char *where)
{
    struct hdss_shared_loop *loop = NULL;
    expect(hdss_loop_new(comm, iterations, options, &loop), expected, where);
    if (loop != NULL)
        fail("a loop that was refused is there", where, expected);
    if (options != NULL && *hdss_options_error(options) == '\0')
        fail("an error without a text", where, expected);
}

static void wrong_loops(void)
{
    const double powers[1] = {1};
    MPI_Comm half, inter;
    struct hdss_options *options = hdss_options_new(), *adaptive = options_with("rma", "awf"),
                        *odd = hdss_options_new();
    expect_new(MPI_COMM_NULL, 10, options, HDSS_ERROR_COMM, "MPI_COMM_NULL");
    expect_new(MPI_COMM_WORLD, -1, options, HDSS_ERROR_COUNT, "a negative length");
    expect_new(MPI_COMM_WORLD, rank == 0 ? -5 : 10, options, HDSS_ERROR_COUNT, "a negative length on one rank");
    expect_new(MPI_COMM_WORLD, 10, adaptive, HDSS_ERROR_TECHNIQUE, "a technique without a closed form");
    expect(hdss_options_set(odd, "report", "/no/such/folder/report.json"), HDSS_OK, "report");
    expect_new(MPI_COMM_WORLD, 10, odd, HDSS_ERROR_REPORT, "a report that cannot be written");
    if (ranks > 1) {
        expect_new(MPI_COMM_WORLD, 10 + rank, options, HDSS_ERROR_DIFFERENT, "lengths that differ");
        hdss_options_set(options, "technique", rank == 0 ? "ss" : "gss");
        expect_new(MPI_COMM_WORLD, 10, options, HDSS_ERROR_DIFFERENT, "techniques that differ");
        hdss_options_set_powers(odd, powers, 1);
        hdss_options_set(odd, "report", "");
        expect_new(MPI_COMM_WORLD, 10, odd, HDSS_ERROR_OPTION, "too few powers");
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
        expect_new(inter, 10, odd, HDSS_ERROR_COMM, "an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    expect(hdss_loop_new(MPI_COMM_WORLD, 10, NULL, NULL), HDSS_ERROR_USE, "nowhere to put the loop");
    hdss_options_free(options);
    hdss_options_free(adaptive);
    hdss_options_free(odd);
}

static void wrong(int words, char **word)
{
    struct hdss_shared_loop *loop = NULL;
    struct hdss_totals totals;
    int64_t first, count;
    (void)words, (void)word;
    wrong_options();
    wrong_loops();
    expect(hdss_loop_next(NULL, &first, &count), HDSS_ERROR_USE, "no loop");
    expect(hdss_loop_progress(NULL), HDSS_ERROR_USE, "no loop");
    expect(hdss_loop_again(NULL, 1), HDSS_ERROR_USE, "no loop");
    expect(hdss_loop_free(NULL), HDSS_ERROR_USE, "no loop");
    expect(hdss_loop_free(&loop), HDSS_ERROR_USE, "no loop");
    expect(hdss_loop_new(MPI_COMM_WORLD, 10, NULL, &loop), HDSS_OK, "new");
    expect(hdss_loop_next(loop, NULL, &count), HDSS_ERROR_USE, "nowhere to put the chunk");
    expect(hdss_loop_totals(loop, &totals, sizeof totals), HDSS_ERROR_USE, "totals before the end");
    while (hdss_loop_next(loop, &first, &count) > 0)
        ;
    expect(hdss_loop_next(loop, &first, &count), HDSS_ERROR_ENDED, "next after the end");
    if (strstr(hdss_loop_error(loop), "ended") == NULL)
        fail(hdss_loop_error(loop), "next after the end", 0);
    expect(hdss_loop_link(loop, NULL), HDSS_ERROR_USE, "linked to nothing");
    expect(hdss_loop_again(loop, -2), HDSS_ERROR_COUNT, "a negative length");
    expect(hdss_loop_again(loop, 3), HDSS_OK, "again");
    expect(hdss_loop_free(&loop), HDSS_OK, "free");
    expect(hdss_loop_free(&loop), HDSS_ERROR_USE, "freed twice");
    if (rank == 0)
        printf("ok\n");
}

/* --- waiting for rank 0 --- */

static double now_s(void)
{
    return MPI_Wtime();
}

/* Rank 0 computes a long iteration and calls hdss_loop_progress() in it: the others get all the rest meanwhile. */
static void starve(int words, char **word)
{
    (void)words, (void)word;
    struct hdss_options *options = options_with("central", "ss");
    struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, LENGTH, options);
    int64_t first, count;
    struct hdss_stats own;
    int *done = NULL;
    MPI_Win window;
    MPI_Win_allocate(rank == 0 ? sizeof *done : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &done, &window);
    if (rank == 0)
        *done = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    while (hdss_loop_next(loop, &first, &count) > 0) {
        const int one = 1;
        int before;
        double began = now_s();
        if (rank == 0) /* until the others have computed nearly all, which they can only if they are answered */
            do {
                expect(hdss_loop_progress(loop), HDSS_OK, "progress");
                MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_NO_OP, window);
                MPI_Win_flush(0, window);
            } while (before < LENGTH / 2 && ranks > 1 && now_s() - began < 60);
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    hdss_loop_stats(loop, &own, sizeof own);
    if (rank == 0 && ranks > 1 && own.iterations > LENGTH / 2)
        fail("the others were not answered", "starve", own.iterations);
    expect(hdss_loop_free(&loop), HDSS_OK, "free");
    MPI_Win_free(&window);
    hdss_options_free(options);
    if (rank == 0)
        printf("ok\n");
}

/* Rank 0 draws until each of the others has had some chunks, of a loop that it does not come to the end of. */
static void draw_beside_others(struct hdss_shared_loop *loop, const char *mode)
{
    int64_t first, count;
    int arrived = 0;
    const double began = now_s();
    for (int k = 0; rank != 0 && k < 10; k++)
        expect(hdss_loop_next(loop, &first, &count), 1, mode);
    if (rank != 0)
        MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int left = rank == 0 ? ranks - 1 : 0; left > 0; left -= arrived) {
        expect(hdss_loop_next(loop, &first, &count), 1, mode);
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        if (arrived)
            MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (now_s() - began > 60)
            fail("the others were not answered", mode, left);
    }
}

static void quick(int words, char **word)
{
    static const char *const modes[MODES] = {"central", "hierarchical", "two-sided", "rma", "node"};
    (void)words, (void)word;
    for (int m = 0; m < MODES; m++) {
        struct hdss_options *options = options_with(modes[m], "ss");
        struct hdss_shared_loop *loop = begin(MPI_COMM_WORLD, INT64_C(1000000000000), options);
        draw_beside_others(loop, modes[m]);
        expect(hdss_loop_free(&loop), HDSS_OK, "free");
        hdss_options_free(options);
    }
    if (rank == 0)
        printf("ok\n");
}

static const struct {
    const char *name;
    void (*run)(int words, char **word);
} commands[] = {
    {"cover", cover}, {"many", many}, {"steps", steps}, {"two", two},       {"foreign", foreign}, {"threads", threads},
    {"leave", leave}, {"wide", wide}, {"wrong", wrong}, {"starve", starve}, {"quick", quick},
};

int main(int argc, char **argv)
{
    int provided;
    struct hdss_shared_loop *loop = NULL;
    expect(hdss_loop_new(MPI_COMM_WORLD, 1, NULL, &loop), HDSS_ERROR_MPI, "before MPI_Init");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t i = 0;
    while (i < sizeof commands / sizeof *commands && (argc < 2 || strcmp(commands[i].name, argv[1]) != 0))
        i++;
    if (i == sizeof commands / sizeof *commands)
        fail("no such command", argc < 2 ? "" : argv[1], argc);
    commands[i].run(argc - 2, argv + 2);
    MPI_Finalize();
    expect(hdss_loop_new(MPI_COMM_WORLD, 1, NULL, &loop), HDSS_ERROR_MPI, "after MPI_Finalize");
    return 0;
}
