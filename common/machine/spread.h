/* SPDX-License-Identifier: MIT */
/* Spread of the time of one iteration, as the pieces of a chunk show it.
 *
 * A chunk is timed in K pieces; piece k has n_k iterations, of a mean time m_k. Neighbouring pieces are compared:
 *
 *     s^2 = sum over k of (m_(k+1) - m_k)^2 / (1/n_k + 1/n_(k+1)), over K - 1
 *
 * is an unbiased estimate of the variance of one iteration's time where the iterations are independent: the difference
 * of two means then varies by s^2 (1/n_k + 1/n_(k+1)). A trend along the chunk, which the distances from the mean of
 * all would take for spread, multiplied by the length of a piece, hardly shows in neighbours (von Neumann 1941). A
 * change of the cost, or a core that is shared, makes neighbours differ by more, and is counted in. */
#pragma once

#include <stdint.h>

/* A chunk shows its spread in so many pieces, or up to twice as many. */
#define SPREAD_PIECES 8
/* No piece is shorter on purpose: reading the clock takes some 50 ns a piece, which is to stay below 1 %. */
#define SPREAD_PIECE_NS 10000.0

struct spread {
    uint64_t pieces;
    double sum;                           /* sum over the compared pairs, of which there is one less than pieces */
    double last_iterations, last_mean_ns; /* the latest piece, of which the next one is a neighbour */
};

/* Number of the `left` last iterations of a chunk of `count` that make the next piece, when one takes about
 * `iteration_ns` (0: not known). 1 .. left. */
uint64_t spread_piece(uint64_t count, uint64_t left, double iteration_ns);

/* Adds a piece of `iterations`, at least 1, that took `elapsed_ns`. */
void spread_add(struct spread *spread, uint64_t iterations, double elapsed_ns);

/* Takes two chunks together: pieces of different chunks are no neighbours, so that `pieces` is one more than the pairs
 * that were compared. */
void spread_merge(struct spread *spread, const struct spread *other);

/* A chunk of which only the deviation is known, and of how many pieces that is. */
struct spread spread_of_chunk(double deviation_ns, uint64_t pieces);

/* The sample standard deviation of one iteration's time; 0 with fewer than two pieces. */
double spread_deviation_ns(const struct spread *spread);
