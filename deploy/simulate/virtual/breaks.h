/* SPDX-License-Identifier: MIT */
/* For a simulated rank that both computes and serves, in virtual time and on SimGrid: when it checks for messages. */
#pragma once

#include <stdint.h>

/* Time between two checks, and longest turn of the executor, as for real ranks (worker/job/job.c and
 * worker/dca/work.c). */
#define BREAK_NS      50000.0
#define BREAK_TURN_NS 2000000.0

/* Returns the number of iterations between two checks. This is `asked`, the value of --break-after. If `asked` is 0, it
 * is the number of iterations that take BREAK_NS. It is never more than the iterations of a turn. */
static inline uint64_t break_stride(double iteration_ns, uint64_t asked)
{
    const double in_turn = iteration_ns > 0 ? BREAK_TURN_NS / iteration_ns : 1e9;
    const double in_time = asked > 0 ? (double)asked : iteration_ns > 0 ? BREAK_NS / iteration_ns : 1e9;
    const double most = in_time < in_turn ? in_time : in_turn;
    return most < 1 ? 1 : most < 1e9 ? (uint64_t)most : 1000000000;
}

static inline uint64_t break_next(uint64_t looked_at, uint64_t begun, uint64_t stride)
{
    const uint64_t before = begun > looked_at ? begun - looked_at : 1;
    return looked_at + (before + stride - 1) / stride * stride;
}
