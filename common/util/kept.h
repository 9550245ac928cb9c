/* SPDX-License-Identifier: MIT */
/* Memory that must never be freed, because MPI may still access it: the other end of a message was declared lost and
 * may come back. */
#pragma once

/* NULL is allowed. */
void kept_add(void *memory);
