/* SPDX-License-Identifier: MIT */
/* Programs as they are written for DLS4LB, for test_dls4lb.py: run by mpirun with any number of ranks.
 *
 *   dls4lb-program lengths       every method with short loops and a long one: each iteration exactly once
 *   dls4lb-program distributed   the same with Configure_Chunk_Calculation_Mode(DECENTRALIZED)
 *   dls4lb-program many          hundreds of loops right after one another
 *   dls4lb-program foreign       the program's own messages, with the tags of the original, lie unread meanwhile
 *   dls4lb-program wide          2^32 iterations, from the smallest int to the largest
 *   dls4lb-program fields        an infoDLS full of rubbish before it is set up, parameters, wrong use
 *   dls4lb-program steps         a time-stepping program whose ranks differ in speed
 *   dls4lb-program nested        a loop in a loop, with groups
 *   dls4lb-program once          one loop: for many ranks
 *
 * One line on standard output when all is well; else one on standard error and status 1. */
#include <mpi.h>

#include <LB4MPI.h>

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

static int rank, ranks;

static void fail(const char *where, const char *what, long long number)
{
    fprintf(stderr, "dls4lb-program: rank %d: %s: %s (%lld)\n", rank, where, what, number);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(int holds, const char *where, const char *what, long long number)
{
    if (!holds)
        fail(where, what, number);
}

/* Runs iterations first .. last and counts each. Returns how many this rank had. */
static int run_loop(infoDLS *info, int first, int last, int method, int *seen)
{
    int start, size, iterations, mine = 0;
    double seconds;
    DLS_StartLoop(info, first, last, method);
    while (!DLS_Terminated(info)) {
        DLS_StartChunk(info, &start, &size);
        for (int i = start; i < start + size; i++) {
            expect(i >= first && i <= last, "run_loop", "an iteration of another loop", i);
            seen[i - first]++;
        }
        mine += size;
        DLS_EndChunk(info);
    }
    DLS_EndLoop(info, &iterations, &seconds);
    expect(iterations == mine && seconds >= 0, "DLS_EndLoop", "not the iterations of this rank", iterations);
    return mine;
}

static void check_once(int *seen, int count, const char *where, int method)
{
    MPI_Allreduce(MPI_IN_PLACE, seen, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        expect(seen[i] == 1, where, seen[i] == 0 ? "an iteration was lost" : "an iteration was run twice",
               method * 1000000LL + i);
}

#define LONG 1000

static void lengths(void)
{
    static const int lengths_of[] = {1, 2, 3, 4, 5, 7, 64, LONG, 0};
    for (int method = STATIC; method <= TAP; method++) {
        infoDLS info;
        int seen[LONG];
        if (method % 2 == 0)
            DLS_Setup(MPI_COMM_WORLD, &info);
        else
            DLS_Parameters_Setup(MPI_COMM_WORLD, &info, ranks, method % 4 == 1 ? -1 : 3, method % 4 == 1 ? -1 : 2,
                                 method % 3 - 1, 0.013716, 0.0605, ranks / 2, 1.85, 0.414);
        for (size_t i = 0; i < sizeof lengths_of / sizeof *lengths_of; i++) {
            memset(seen, 0, sizeof seen);
            run_loop(&info, 5, 5 + lengths_of[i] - 1, method, seen);
            check_once(seen, lengths_of[i], get_DLS_ShortName(method), method);
            expect(info.timeStep == (int)i + 1 && info.N == lengths_of[i], "lengths", "timeStep or N", info.timeStep);
            if (rank == 0 && info.N > 0)
                expect(info.itersScheduled == info.N && info.numChunks > 0, "lengths", "itersScheduled",
                       info.itersScheduled);
        }
        DLS_Finalize(&info);
    }
}

static void distributed(void)
{
    Configure_Chunk_Calculation_Mode(DECENTRALIZED);
    lengths();
    Configure_Chunk_Calculation_Mode(CENTRALIZED);
    lengths();
}

#define LOOPS 400
#define SHORT 64

static void many(void)
{
    static const int methods[] = {SS, FAC, GSS, STATIC, AWF_C, mFSC};
    static int seen[LOOPS][SHORT];
    infoDLS info;
    DLS_Setup(MPI_COMM_WORLD, &info);
    for (int i = 0; i < LOOPS; i++)
        run_loop(&info, 0, SHORT - 1, methods[i % 6], seen[i]);
    DLS_Finalize(&info);
    for (int i = 0; i < LOOPS; i++)
        check_once(seen[i], SHORT, "many", i);
}

static void foreign(void)
{
    static const int tags[] = {9970, 9960, 9940, 9950, 0, 1};
    enum { MESSAGES = 6 };
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, seen[LONG] = {0}, value;
    MPI_Request requests[MESSAGES];
    infoDLS info;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(&tags[i], 1, MPI_INT, next, tags[i], MPI_COMM_WORLD, &requests[i]);
    DLS_Setup(MPI_COMM_WORLD, &info);
    run_loop(&info, 1, LONG, SS, seen);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Recv(&value, 1, MPI_INT, before, tags[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(value == tags[i], "foreign", "a message of the program was changed", value);
    }
    for (int i = 0; i < MESSAGES; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check_once(seen, LONG, "foreign", SS);
    DLS_Finalize(&info);
}

static void wide(void)
{
    static const int methods[] = {TSS, GSS, STATIC, FAC};
    for (int m = 0; m < 4; m++) {
        infoDLS info;
        int start, size, iterations;
        double seconds;
        int64_t sums[2] = {0, 0};
        DLS_Setup(MPI_COMM_WORLD, &info);
        DLS_StartLoop(&info, INT_MIN, INT_MAX, methods[m]);
        while (!DLS_Terminated(&info)) {
            DLS_StartChunk(&info, &start, &size);
            expect(size >= 0, "wide", "a negative chunk", size);
            sums[0] += size;
            sums[1] += size * (2 * (int64_t)start + size - 1) / 2 % 1000003;
            DLS_EndChunk(&info);
        }
        DLS_EndLoop(&info, &iterations, &seconds);
        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        expect(sums[0] == INT64_C(1) << 32, "wide", "iterations were lost or doubled", (long long)sums[0]);
        DLS_Finalize(&info);
    }
}

static void check_setup(infoDLS *info)
{
    expect(info->comm == MPI_COMM_WORLD && info->crew == MPI_COMM_NULL, "fields", "comm or crew", 0);
    expect(info->commSize == ranks && info->myRank == rank, "fields", "commSize or myRank", info->commSize);
    expect(info->foreman == 0 && info->firstRank == 0 && info->lastRank == ranks - 1, "fields", "the ranks",
           info->lastRank);
    expect(info->timeStep == 0 && info->myIters == 0 && info->workTime == 0, "fields", "the counts", info->timeStep);
    for (int i = 0; i < ranks; i++)
        expect(info->stats[3 * i] == -1 && info->stats[3 * i + 2] == 0, "fields", "stats", i);
}

static void fields(void)
{
    infoDLS info;
    int seen[10] = {0}, start, size;
    memset(&info, 0xAB, sizeof info);
    DLS_Setup(MPI_COMM_WORLD, &info);
    check_setup(&info);
    expect(info.requestWhen < 0 && info.breakAfter < 0, "fields", "requestWhen or breakAfter", info.requestWhen);
    run_loop(&info, 0, 9, 99, seen); /* no method: as STATIC */
    check_once(seen, 10, "fields", 99);
    expect(info.method == STATIC, "fields", "method", info.method);
    DLS_StartChunk(&info, &start, &size); /* after the end */
    expect(size == 0, "fields", "a chunk after the end", size);
    DLS_EndChunk(&info);
    DLS_Finalize(&info);
    DLS_Finalize(&info);
    memset(&info, 0xAB, sizeof info);
    DLS_Parameters_Setup(MPI_COMM_WORLD, &info, ranks, 4, 5, 6, 0.1, 0.2, 1, 3, 1);
    check_setup(&info);
    double sum = 0;
    for (int i = 0; i < ranks; i++)
        sum += info.weights[i];
    expect(sum > ranks - 1e-9 && sum < ranks + 1e-9, "fields", "the weights' mean is not 1", (long long)sum);
    expect(ranks == 1 || info.weights[0] > 2.9 * info.weights[ranks - 1], "fields", "weights", 0);
    DLS_Finalize(&info);
    expect(strcmp(get_DLS_ShortName(FAC), "FAC") == 0 && strcmp(get_DLS_ShortName(-1), "UNKNOWN") == 0, "fields",
           "names", 0);
}

/* --- a time-stepping program --- */

static void compute(double seconds)
{
    double until = MPI_Wtime() + seconds;
    while (MPI_Wtime() < until)
        ;
}

/* The last rank takes four times as long over an iteration: from the second step on it is given less. */
static void steps(void)
{
    static const int methods[] = {AWF, AWF_B, AWF_C, AWF_D, AWF_E, AF, SimAS};
    for (int m = 0; m < 7; m++) {
        infoDLS info;
        int mine = 0;
        DLS_Setup(MPI_COMM_WORLD, &info);
        for (int step = 0; step < 5; step++) {
            int start, size, iterations;
            double seconds;
            DLS_StartLoop(&info, 1, 200, methods[m]);
            while (!DLS_Terminated(&info)) {
                DLS_StartChunk(&info, &start, &size);
                for (int i = 0; i < size; i++)
                    compute(rank == ranks - 1 ? 40e-6 : 10e-6);
                DLS_EndChunk(&info);
            }
            DLS_EndLoop(&info, &iterations, &seconds);
            mine += iterations;
            expect(info.timeStep == step + 1, "steps", "timeStep", info.timeStep);
        }
        int all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(all == 1000, "steps", "iterations were lost or doubled", all);
        for (int i = 0; rank == 0 && i < ranks; i++)
            expect(info.stats[3 * i + 2] == 0 || info.stats[3 * i] > 0, "steps", "a mean time that is none", i);
        DLS_Finalize(&info);
    }
}

/* --- a loop in a loop --- */

#define ROWS    23
#define COLUMNS 40

static void nested_with(int coordinator, int outer, int inner)
{
    infoDLS rows, columns;
    static int seen[ROWS * COLUMNS];
    int row, row_count, column, column_count, iterations;
    double seconds;
    memset(seen, 0, sizeof seen);
    DLS_GroupSetup(MPI_COMM_WORLD, coordinator, &rows, &columns);
    if (ranks > 1 && rank == coordinator)
        expect(rows.myRank == 0 && rows.crew == MPI_COMM_NULL && columns.comm == MPI_COMM_NULL, "nested", "coordinator",
               rank);
    DLS_StartLoop(&rows, 0, ROWS - 1, outer);
    while (!DLS_Terminated(&rows)) {
        DLS_StartChunk(&rows, &row, &row_count);
        for (int r = row; r < row + row_count; r++) {
            int length = COLUMNS - r % 3;
            DLS_StartLoop(&columns, 0, length - 1, inner);
            while (!DLS_Terminated(&columns)) {
                DLS_StartChunk(&columns, &column, &column_count);
                for (int c = column; c < column + column_count; c++)
                    seen[r * COLUMNS + c]++;
                DLS_EndChunk(&columns);
            }
            DLS_EndLoop(&columns, &iterations, &seconds);
        }
        DLS_EndChunk(&rows);
    }
    DLS_EndLoop(&rows, &iterations, &seconds);
    MPI_Allreduce(MPI_IN_PLACE, seen, ROWS * COLUMNS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            expect(seen[r * COLUMNS + c] == (c < COLUMNS - r % 3), "nested", "not exactly once", r * COLUMNS + c);
    DLS_Finalize(&columns);
    DLS_Finalize(&rows);
}

static void nested(void)
{
    static const int outer[] = {SS, FAC, STATIC, AWF_C}, inner[] = {GSS, SS, FAC, AWF_B};
    for (int i = 0; i < 4; i++)
        for (int coordinator = 0; coordinator < ranks; coordinator++)
            nested_with(coordinator, outer[i], inner[i]);
}

static void once(void)
{
    infoDLS info;
    static int seen[2000];
    DLS_Parameters_Setup(MPI_COMM_WORLD, &info, ranks, -1, -1, 1, 0.01, 0.06, 0, 1, 1);
    run_loop(&info, 0, 1999, WF, seen);
    check_once(seen, 2000, "once", WF);
    DLS_Finalize(&info);
}

static const struct {
    const char *name;
    void (*run)(void);
} commands[] = {
    {"lengths", lengths}, {"distributed", distributed}, {"many", many},   {"foreign", foreign},
    {"wide", wide},       {"fields", fields},           {"steps", steps}, {"nested", nested},
    {"once", once},
};

int main(int argc, char **argv)
{
    size_t i = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (i < sizeof commands / sizeof *commands && (argc < 2 || strcmp(commands[i].name, argv[1]) != 0))
        i++;
    expect(i < sizeof commands / sizeof *commands, "main", "no such command", argc);
    commands[i].run();
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
