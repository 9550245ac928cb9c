/* SPDX-License-Identifier: MIT */
/* Memory that must never be freed, because MPI may still access it. It belongs to a message to or from a rank that was
 * declared lost. Such a rank may still be running. */
#pragma once

/* NULL is allowed. */
void kept_add(void *memory);
