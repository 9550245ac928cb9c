/* SPDX-License-Identifier: MIT */
/* Memory that somebody else may use until the process ends, so that it is never freed: MPI reads a message, or writes
 * one, whose other end was taken for lost and may come back. */
#pragma once

/* Keeps memory of malloc() for the life of the process; NULL is fine. */
void kept_add(void *memory);
