/* SPDX-License-Identifier: MIT */
/* Spread of the time of one iteration, from the pieces of a chunk.
 *
 * A chunk is timed in K pieces; piece k has n_k iterations with mean time m_k. The variance of one iteration's time is
 * estimated from neighbouring pieces:
 *     s^2 = 1 / (K - 1) * sum over k of (m_(k+1) - m_k)^2 / (1/n_k + 1/n_(k+1))
 *
 * The estimate is unbiased if iterations are independent: m_(k+1) - m_k then has the variance s^2 (1/n_k + 1/n_(k+1)).
 * A trend along the chunk hardly changes the differences of neighbours. It would dominate the distances from the common
 * mean (von Neumann 1941). Sudden changes of the cost, or of the load of the core, are included in s. */
#pragma once

#include <stdint.h>

/* A long chunk is timed in SPREAD_PIECES to twice as many pieces. A short chunk is timed in fewer pieces. */
#define SPREAD_PIECES 8
/* Lower bound of the time of a piece. Reading the clock takes some 50 ns per piece, which must be less than 1 % of the
 * time. */
#define SPREAD_PIECE_NS 10000.0

struct spread {
    uint64_t pieces;
    double sum;
    double last_iterations, last_mean_ns;
};

/* Returns the size of the next piece of a chunk of `count` iterations, of which `left` remain: from 1 to `left`.
 * `iteration_ns`: about how long an iteration takes; 0: unknown. */
uint64_t spread_piece(uint64_t count, uint64_t left, double iteration_ns);

void spread_add(struct spread *spread, uint64_t iterations, double elapsed_ns);

/* Adds the pieces of another chunk. The last piece of one chunk is not compared with the first piece of the other. So
 * `pieces` is always the number of compared pairs plus 1. */
void spread_merge(struct spread *spread, const struct spread *other);

struct spread spread_of_chunk(double deviation_ns, uint64_t pieces);

/* Returns 0 if there are fewer than two pieces. */
double spread_deviation_ns(const struct spread *spread);
