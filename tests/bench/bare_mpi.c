/* SPDX-License-Identifier: MIT */
/* What MPI itself needs, to be seen beside what HDSS needs:
 *
 *   bare_mpi fetch COUNT            all ranks draw COUNT numbers from a counter in a window of rank 0: elapsed / COUNT
 *   bare_mpi ping COUNT             ranks 0 and 1 exchange COUNT messages of 64 bytes and their answers: elapsed /
 * COUNT bare_mpi serve COUNT            rank 0 answers COUNT requests of 64 bytes of all others, one each time: elapsed
 * / COUNT bare_mpi stream COUNT BYTES     rank 0 receives COUNT messages of BYTES from the others: elapsed bare_mpi
 * file COUNT BYTES FILE  the same, each written to its place in FILE: elapsed bare_mpi hold FILE              nothing,
 * asleep until FILE is there: seconds from the process's start to the end of MPI_Init and a barrier, on the slowest
 * rank; printed at once
 *
 * One JSON line on standard output. */
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES 64

/* Messages on their way to rank 0, and buffers of a sender: as many as HDSS's executor and collector have. */
#define RECEIVES 4
#define SENDS    2

enum { TAG_WORK, TAG_STOP };

struct plan {
    const char *what;
    uint64_t count, bytes;
    const char *file;
    int rank, ranks;
};

static double fetch(const struct plan *plan)
{
    MPI_Win window;
    uint64_t *counter, one = 1, drawn = 0;
    MPI_Win_allocate(plan->rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (plan->rank == 0)
        *counter = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    while (drawn < plan->count) {
        MPI_Fetch_and_op(&one, &drawn, MPI_UINT64_T, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    double elapsed = MPI_Wtime() - began, longest;
    MPI_Allreduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    return longest / (double)plan->count;
}

static double ping(const struct plan *plan)
{
    char bytes[BYTES] = "";
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t i = 0; i < plan->count && plan->rank < 2; i++) {
        if (plan->rank == 0) {
            MPI_Send(bytes, BYTES, MPI_BYTE, 1, TAG_WORK, MPI_COMM_WORLD);
            MPI_Recv(bytes, BYTES, MPI_BYTE, 1, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bytes, BYTES, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(bytes, BYTES, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - began) / (double)plan->count;
}

static void answer_all(uint64_t count, int ranks)
{
    char bytes[BYTES] = "";
    int stopped = 0;
    for (uint64_t served = 0; stopped < ranks - 1; served++) {
        MPI_Status status;
        MPI_Recv(bytes, BYTES, MPI_BYTE, MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD, &status);
        int tag = served < count ? TAG_WORK : TAG_STOP;
        stopped += tag == TAG_STOP;
        MPI_Send(bytes, BYTES, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD);
    }
}

static void ask_until_stopped(void)
{
    char bytes[BYTES] = "";
    MPI_Status status = {.MPI_TAG = TAG_WORK};
    while (status.MPI_TAG != TAG_STOP) {
        MPI_Send(bytes, BYTES, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD);
        MPI_Recv(bytes, BYTES, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    }
}

static double serve(const struct plan *plan)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (plan->rank == 0)
        answer_all(plan->count, plan->ranks);
    else
        ask_until_stopped();
    return (MPI_Wtime() - began) / (double)plan->count;
}

static void *buffer_of(uint64_t bytes)
{
    void *buffer = malloc(bytes);
    if (buffer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(buffer, 1, bytes);
    return buffer;
}

/* The k-th message of all comes from rank 1 + k % senders and belongs at k * bytes of the file. */
static void receive_stream(const struct plan *plan, int file)
{
    MPI_Request request[RECEIVES];
    char *buffer[RECEIVES];
    const uint64_t senders = (uint64_t)plan->ranks - 1;
    for (uint64_t k = 0; k < plan->count + RECEIVES; k++) {
        uint64_t slot = k % RECEIVES;
        if (k >= RECEIVES) {
            MPI_Wait(&request[slot], MPI_STATUS_IGNORE);
            if (file >= 0 && pwrite(file, buffer[slot], plan->bytes, (off_t)((k - RECEIVES) * plan->bytes)) < 0)
                MPI_Abort(MPI_COMM_WORLD, 1);
        } else
            buffer[slot] = buffer_of(plan->bytes);
        request[slot] = MPI_REQUEST_NULL;
        if (k < plan->count)
            MPI_Irecv(buffer[slot], (int)plan->bytes, MPI_BYTE, 1 + (int)(k % senders), TAG_WORK, MPI_COMM_WORLD,
                      &request[slot]);
    }
    for (int slot = 0; slot < RECEIVES; slot++)
        free(buffer[slot]);
}

static void send_stream(const struct plan *plan)
{
    MPI_Request request[SENDS];
    char *buffer[SENDS];
    for (int slot = 0; slot < SENDS; slot++) {
        buffer[slot] = buffer_of(plan->bytes);
        request[slot] = MPI_REQUEST_NULL;
    }
    const uint64_t senders = (uint64_t)plan->ranks - 1;
    for (uint64_t k = (uint64_t)plan->rank - 1, n = 0; k < plan->count; k += senders, n++) {
        MPI_Wait(&request[n % SENDS], MPI_STATUS_IGNORE);
        MPI_Isend(buffer[n % SENDS], (int)plan->bytes, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD, &request[n % SENDS]);
    }
    for (int slot = 0; slot < SENDS; slot++) {
        MPI_Wait(&request[slot], MPI_STATUS_IGNORE);
        free(buffer[slot]);
    }
}

static double stream(const struct plan *plan)
{
    int file = -1;
    if (plan->file != NULL && plan->rank == 0) {
        file = open(plan->file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        if (file < 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (plan->rank == 0)
        receive_stream(plan, file);
    else
        send_stream(plan);
    double elapsed = MPI_Wtime() - began;
    if (file >= 0)
        close(file);
    return elapsed;
}

/* Seconds since this process began: field 22 of /proc/self/stat, in ticks since boot. */
static double age(void)
{
    char line[1024] = "";
    unsigned long long ticks = 0;
    struct timespec now;
    FILE *file = fopen("/proc/self/stat", "re");
    if (file != NULL && fgets(line, sizeof line, file) != NULL && strrchr(line, ')') != NULL)
        sscanf(strrchr(line, ')') + 1,
               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &ticks);
    if (file != NULL)
        fclose(file);
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Prints at once and then sleeps, so that others can look at the ranks. */
static void hold(const struct plan *plan)
{
    double own, longest;
    MPI_Barrier(MPI_COMM_WORLD);
    own = age();
    MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (plan->rank == 0) {
        printf("{\"what\": \"hold\", \"ranks\": %d, \"seconds\": %.9g}\n", plan->ranks, longest);
        fflush(stdout);
    }
    while (access(plan->file, F_OK) < 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static const struct mode {
    const char *name;
    int words, least_ranks;
    double (*run)(const struct plan *plan);
} modes[] = {
    {"fetch", 3, 1, fetch},   {"ping", 3, 2, ping},   {"serve", 3, 2, serve},
    {"stream", 4, 2, stream}, {"file", 5, 2, stream}, {"hold", 3, 1, NULL},
};

static const struct mode *mode_of(int argc, char **argv, struct plan *plan)
{
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
        const struct mode *mode = &modes[i];
        if (strcmp(argv[1], mode->name) != 0 || argc != mode->words || plan->ranks < mode->least_ranks)
            continue;
        plan->what = mode->name;
        plan->count = strtoull(argv[2], NULL, 10);
        plan->bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
        plan->file = mode->run == NULL ? argv[2] : argc > 4 ? argv[4] : NULL;
        return mode->run == NULL || (plan->count > 0 && (argc < 4 || plan->bytes > 0)) ? mode : NULL;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &plan.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plan.ranks);
    const struct mode *mode = mode_of(argc, argv, &plan);
    if (mode == NULL) {
        if (plan.rank == 0)
            fprintf(stderr,
                    "bare_mpi: accepted: fetch COUNT, ping COUNT, serve COUNT, stream COUNT BYTES, file COUNT BYTES "
                    "FILE, hold FILE; all but fetch and hold with at least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    if (mode->run == NULL)
        hold(&plan);
    else {
        double seconds = mode->run(&plan);
        if (plan.rank == 0)
            printf("{\"what\": \"%s\", \"ranks\": %d, \"count\": %" PRIu64 ", \"seconds\": %.9g}\n", plan.what,
                   plan.ranks, plan.count, seconds);
    }
    MPI_Finalize();
    return 0;
}
