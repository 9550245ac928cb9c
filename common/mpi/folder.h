/* SPDX-License-Identifier: MIT */
/* The folder of the doorbells' sockets: see folder.c. It knows nothing of MPI. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The room for its name, with the NUL: that of a socket in it must fit in a sockaddr_un. */
#define FOLDER_MAX 96

/* Makes the folder and binds its first socket, number 0. Returns that, or -1 with one line. */
int folder_make(char folder[FOLDER_MAX], struct error *error);

/* Binds the socket of that number. -1 with one line. */
int folder_bind(const char *folder, unsigned index, struct error *error);

/* Memory that the ranks of the node share, of zeros at first: `make` it, which chooses its place, or find it where that
 * says. It goes with munmap(). NULL with one line. */
void *folder_map(const char *folder, size_t bytes, bool make, bool *inside, struct error *error);

/* Removes the name, so that no process finds the memory any more. */
void folder_unmap_name(const char *folder, bool inside);

/* Sends a byte from the socket `bell` to that of the number. False where nobody has it any more. */
bool folder_ring(const char *folder, int bell, unsigned index);

/* Removes the socket of that number, and the folder if it was the last. */
void folder_leave(const char *folder, unsigned index);

/* Removes the folder with all its sockets if nobody is behind any of them. */
void folder_clear(const char *folder);

/* Does so with each folder of this user in all places where folder_make() may make one. */
void folder_clear_all(void);
