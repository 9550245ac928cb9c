/* SPDX-License-Identifier: MIT */
/* See fabric_memory.c. A program that links it has malloc(), free(), close() and so on go through it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* From now on a rank runs, and what is allocated is its. */
void memory_enter(bool inside);

/* munmap() leaves these bytes alone. */
void memory_keep_mapped(const void *bytes, size_t size);

/* The file belongs to the rank that runs, until it is closed. Returns it. */
int memory_own_file(int file);

/* For the fabric itself. */
void *memory_take(size_t size);
void memory_give(void *bytes);

/* Frees and closes what the rank has. Returns how many bytes that were. */
size_t memory_clear(unsigned rank);
