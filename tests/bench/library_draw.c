/* SPDX-License-Identifier: MIT */
/* What a chunk of a loop with an empty body costs a program that shares it by the library:
 *
 *   library-draw COUNT [OPTION VALUE]...   one loop of COUNT iterations, drawn by all ranks
 *
 * The figure is that of the last rank, which has all its chunks from others: from the first call to the end of the
 * loop, by its chunks. One JSON line on standard output. */
#include <hdss/hdss.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what)
{
    fprintf(stderr, "library-draw: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static struct hdss_shared_loop *begin(int64_t count, int words, char **word)
{
    struct hdss_options *options = hdss_options_new();
    struct hdss_shared_loop *loop;
    for (int i = 0; i + 1 < words; i += 2)
        if (hdss_options_set(options, word[i], word[i + 1]) < 0)
            fail(hdss_options_error(options));
    if (hdss_loop_new(MPI_COMM_WORLD, count, options, &loop) < 0)
        fail(hdss_options_error(options));
    hdss_options_free(options);
    return loop;
}

/* Draws until the end; returns the chunks. */
static int64_t draw_all(struct hdss_shared_loop *loop, int64_t *iterations)
{
    int64_t first, count, chunks = 0;
    int result;
    while ((result = hdss_loop_next(loop, &first, &count)) > 0) {
        *iterations += count;
        chunks++;
    }
    if (result < 0)
        fail(hdss_loop_error(loop));
    return chunks;
}

int main(int argc, char **argv)
{
    int64_t iterations = 0, sum, count = argc >= 2 ? strtoll(argv[1], NULL, 10) : 0;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count <= 0 || argc % 2 != 0)
        fail("accepted: COUNT [OPTION VALUE]...");
    struct hdss_shared_loop *loop = begin(count, argc - 2, argv + 2);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    int64_t chunks = draw_all(loop, &iterations);
    double elapsed = MPI_Wtime() - began;
    hdss_loop_free(&loop);
    MPI_Allreduce(&iterations, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum != count)
        fail("not every iteration was handed out once");
    if (rank == ranks - 1)
        printf("{\"what\": \"library\", \"count\": %" PRId64 ", \"chunks\": %" PRId64 ", \"seconds\": %.9g}\n", count,
               chunks, chunks > 0 ? elapsed / (double)chunks : 0.0);
    MPI_Finalize();
    return 0;
}
