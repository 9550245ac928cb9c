/* SPDX-License-Identifier: MIT */
/* Memory that must never be freed, because MPI may still access it: it belongs to a message to or from a rank that was
 * declared lost, but that may in fact still run. */
#pragma once

/* NULL is allowed. */
void kept_add(void *memory);
