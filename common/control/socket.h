/* SPDX-License-Identifier: MIT */
/* The folder of a user's control sockets on this machine, and the socket of a run in it: see socket.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTROL_PATH_MAX 108
/* Without the ending, with NUL. */
#define CONTROL_NAME_MAX     64
#define CONTROL_ENDING       ".sock"
#define CONTROL_TOKEN_ENDING ".token"
#define CONTROL_FOLDERS_MAX  3

struct control_folders {
    char path[CONTROL_FOLDERS_MAX][CONTROL_PATH_MAX];
    unsigned count;
};

struct control_socket {
    int fd; /* listening socket, owned by the function that takes it; -1: none */
    char path[CONTROL_PATH_MAX];
    dev_t device;
    ino_t inode;
};

/* Lists the possible folders, the preferred folder first; they need not exist. */
void control_folders(struct control_folders *folders);

/* Opens the folder, but follows no link; `make`: creates it. Returns a descriptor. Fails if the folder is missing (the
 * error is empty) or not private to the user. */
int control_folder_open(const char *path, bool make, struct error *error);

/* Creates the socket NAME.sock in the first usable folder and listens. Removes abandoned sockets. */
int control_listen(struct control_socket *made, const char *name, struct error *error);

/* False if the name was removed or replaced, so that no client can connect. */
bool control_is_named(const struct control_socket *made);

/* Also removes the folder if it is empty. */
void control_unlink(struct control_socket *made);

/* -1 with errno; ECONNREFUSED means that the socket was abandoned. */
int control_connect(const char *path);

/* Calls `each` with path and name (without ending) of each socket that is served. Removes abandoned ones. */
void control_each(void (*each)(void *context, const char *path, const char *name), void *context);

/* Does not connect, so it includes abandoned sockets. */
void control_each_unasked(void (*each)(void *context, const char *path, const char *name), void *context);

void control_clear(void);

bool control_peer_may(int fd);

bool control_user_may(uid_t user, uid_t own);
