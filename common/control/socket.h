/* SPDX-License-Identifier: MIT */
/* The folder of the control sockets of a user on this machine, and the socket of a run in it: see socket.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The room for the path of a socket, with the NUL: that of sun_path. */
#define CONTROL_PATH_MAX 108
/* The room for its name without the ending, with the NUL. */
#define CONTROL_NAME_MAX 64
#define CONTROL_ENDING   ".sock"
/* The ending of the file with the token of a run or set that answers over TCP, too: bearer.h. */
#define CONTROL_TOKEN_ENDING ".token"
/* Folders that there may be. */
#define CONTROL_FOLDERS_MAX 3

struct control_folders {
    char path[CONTROL_FOLDERS_MAX][CONTROL_PATH_MAX];
    unsigned count;
};

struct control_socket {
    int fd;                      /* listens; -1: there is none. Owned by whoever takes it */
    char path[CONTROL_PATH_MAX]; /* empty: there is none */
    dev_t device;                /* of the file at the path */
    ino_t inode;
};

/* The folders in which sockets of this user may be, the best one first, whether they are there or not. */
void control_folders(struct control_folders *folders);

/* Opens the folder, without following a link, and with `make` makes it where it is missing. -1 where it is not there or
 * not of this user alone; then with one line, which is empty where it is merely missing. */
int control_folder_open(const char *path, bool make, struct error *error);

/* Makes the socket NAME.sock in the first of the folders that can have it, and listens. Those that nobody listens to
 * any more are removed. -1 with one line. */
int control_listen(struct control_socket *made, const char *name, struct error *error);

/* False where somebody has removed the socket's name, or put something else there: nobody can connect to it then. */
bool control_is_named(const struct control_socket *made);

/* Removes the socket's name, and the folder if it was the last. */
void control_unlink(struct control_socket *made);

/* Connects to the socket. -1 with errno; ECONNREFUSED: nobody listens any more. */
int control_connect(const char *path);

/* The names of the sockets in the folders, each where somebody listens; one where nobody does is removed. Calls `each`
 * with the path and the name without its ending. */
void control_each(void (*each)(void *context, const char *path, const char *name), void *context);

/* The same without connecting to any: some may be of runs that were killed. */
void control_each_unasked(void (*each)(void *context, const char *path, const char *name), void *context);

/* Removes the sockets that nobody listens to, and the folders that have no other: they are of runs that were killed. */
void control_clear(void);

/* True if the process at the other end is of this user, or of root. */
bool control_peer_may(int fd);

/* True for a user who may ask a run of `own`. */
bool control_user_may(uid_t user, uid_t own);
