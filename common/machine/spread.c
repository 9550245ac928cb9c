/* SPDX-License-Identifier: MIT */
/* The spread of the iterations' times: see spread.h. */
#include "common/machine/spread.h"

#include <math.h>

uint64_t spread_piece(uint64_t count, uint64_t left, double iteration_ns)
{
    uint64_t size = count / SPREAD_PIECES > 0 ? count / SPREAD_PIECES : 1;
    double least = iteration_ns > 0 ? ceil(SPREAD_PIECE_NS / iteration_ns) : 1;
    if (least >= (double)left)
        return left;
    if (least > (double)size)
        size = (uint64_t)least;
    /* this piece gets all remaining iterations if few would remain after it */
    return left <= size + size / 2 ? left : size;
}

void spread_add(struct spread *spread, uint64_t iterations, double elapsed_ns)
{
    double count = (double)iterations, mean = elapsed_ns / count, distance = mean - spread->last_mean_ns;
    if (spread->pieces > 0)
        spread->sum += distance * distance / (1 / spread->last_iterations + 1 / count);
    spread->pieces++;
    spread->last_iterations = count;
    spread->last_mean_ns = mean;
}

void spread_merge(struct spread *spread, const struct spread *other)
{
    if (other->pieces == 0)
        return;
    spread->sum += other->sum;
    spread->pieces += spread->pieces == 0 ? other->pieces : other->pieces - 1;
}

struct spread spread_of_chunk(double deviation_ns, uint64_t pieces)
{
    return (struct spread){
        .pieces = pieces,
        .sum = pieces > 1 ? deviation_ns * deviation_ns * (double)(pieces - 1) : 0,
    };
}

double spread_deviation_ns(const struct spread *spread)
{
    return spread->pieces < 2 ? 0 : sqrt(spread->sum / (double)(spread->pieces - 1));
}
