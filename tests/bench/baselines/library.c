/* SPDX-License-Identifier: MIT */
/* The loop of counter.c and stealing.c by libhdss: library COUNT MEAN_US. */
#include "tests/bench/baselines/work.h"

#include <hdss/hdss.h>

int main(int argc, char **argv)
{
    struct work work;
    struct hdss_shared_loop *loop;
    int64_t first, count;
    MPI_Init(&argc, &argv);
    work_begin(&work, argc, argv);
    if (hdss_loop_new(MPI_COMM_WORLD, (int64_t)work.costs.iterations, NULL, &loop) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (hdss_loop_next(loop, &first, &count) > 0)
        work_do(&work, (uint64_t)first, (uint64_t)count);
    work_end(&work);
    hdss_loop_free(&loop);
    MPI_Finalize();
    return 0;
}
