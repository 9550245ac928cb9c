/* SPDX-License-Identifier: MIT */
/* Memory that must never be freed because MPI may still access it: the message's other end was declared lost and may
 * return. */
#pragma once

/* Keeps memory from malloc() until the process ends. NULL is allowed. */
void kept_add(void *memory);
