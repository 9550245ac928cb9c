/* SPDX-License-Identifier: MIT */
/* Ranks that the MPI library says have failed: see ulfm.c. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct ulfm {
    bool told; /* by an operation that failed */
    int known;
    uint64_t due_ns;
};

void ulfm_begin(MPI_Comm comm);
/* True where an operation returned `result` because a rank has failed. */
bool ulfm_is_loss(struct ulfm *ulfm, int result);
/* True where a receive has its message, by the result and the flag of testing it. */
bool ulfm_has_arrived(int result, int arrived);
/* Reports ranks that have failed; cheap when that is not due. */
void ulfm_look(struct runtime *runtime, uint64_t now_ns);
