/* SPDX-License-Identifier: MIT */
/* The folder of the doorbells' sockets: see folder.c. Independent of MPI. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Size of the folder's name with its NUL. It is so small that the name of a socket in the folder fits into a
 * sockaddr_un. */
#define FOLDER_MAX 96

/* Creates the folder, binds socket number 0 in it, and returns this socket, which the caller owns. */
int folder_make(char folder[FOLDER_MAX], struct error *error);

int folder_bind(const char *folder, unsigned index, struct error *error);

/* Maps zeroed memory that the ranks of the node share. The caller unmaps it by munmap(). If `make` is set, creates the
 * memory, and sets `*inside` to whether its file is in the folder. Otherwise opens the memory that another rank has
 * created, in the folder if `*inside` is set. Returns NULL on failure. */
void *folder_map(const char *folder, size_t bytes, bool make, bool *inside, struct error *error);

void folder_unmap_name(const char *folder, bool inside);

/* Sends a byte from the socket `bell` to socket number `index` of the folder. Returns false if no process has that
 * socket open. */
bool folder_ring(const char *folder, int bell, unsigned index);

void folder_leave(const char *folder, unsigned index);

void folder_clear(const char *folder);

void folder_clear_all(void);
