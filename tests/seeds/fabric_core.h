/* SPDX-License-Identifier: MIT */
/* Between the halves of the fabric: fabric.c is the machine, fabric_mpi.c is MPI. */
#pragma once

#include "common/carrier/carrier.h"
#include "tests/seeds/fabric.h"

/* One step of the rank that runs: time passes, others may go on, and this rank may end here. */
void fabric_step(void);

/* The rank that runs does nothing until then, or until somebody wakes it. */
void fabric_rest(uint64_t until_ns);
void fabric_wake(unsigned rank, uint64_t at_ns);

bool fabric_is_over(unsigned rank);
bool fabric_is_halted(void);
bool fabric_has_ulfm(void);
const struct fabric_config *fabric_config(void);

/* Ends the rank that runs. */
_Noreturn void fabric_end(int status);
/* MPI_Abort(): the launcher ends all others. */
void fabric_abort_others(void);

/* --- fabric_mpi.c --- */

void mpi_begin(void);
void mpi_fini(void);
/* Says what is under way. */
void mpi_say(void);
/* The rank has ended: what it has not sent will not be. `all`: nor does what is on its way arrive. */
void mpi_forget(unsigned rank, bool all);
/* When something comes to the rank by which it may go on; NEVER: nothing is on its way. */
uint64_t mpi_next_ns(unsigned rank);
/* A block of memory is freed by the rank. */
void mpi_check_free(unsigned rank, const void *bytes, size_t size);
