/* SPDX-License-Identifier: MIT */
/* The cores of this machine that we may use. */
#pragma once

/* Cores, not hardware threads: what mpirun counts as well. At least 1. */
unsigned cores_usable(void);

/* The cores that this process could use if it were not bound to some of them: those that the job has of this machine.
 * At least 1. */
unsigned cores_unbound(void);

/* Lets this process, or a child that shares its memory, run on all of those. Calls nothing that could take a lock. */
void cores_unbind(void);
