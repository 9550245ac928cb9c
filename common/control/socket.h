/* SPDX-License-Identifier: MIT */
/* The folder of a user's control sockets on this machine, and the socket of a run in it: see socket.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Size of sun_path, with NUL. */
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
    dev_t device; /* of the file at the path */
    ino_t inode;
};

/* Lists the possible folders, the preferred one first; they may not exist. */
void control_folders(struct control_folders *folders);

/* Opens the folder, but no links; `make`: creates it. Fails if it is missing (empty error) or not private to the
 * user. */
int control_folder_open(const char *path, bool make, struct error *error);

/* Creates the socket NAME.sock in the first usable folder and listens. Removes abandoned sockets. */
int control_listen(struct control_socket *made, const char *name, struct error *error);

/* False if the name was removed or replaced, so that no client can connect. */
bool control_is_named(const struct control_socket *made);

/* Also removes the folder if it is empty. */
void control_unlink(struct control_socket *made);

/* Connects to a control socket. -1 with errno; ECONNREFUSED means that the socket was abandoned. */
int control_connect(const char *path);

/* Calls `each` with path and name (without ending) of each socket that is served. Removes abandoned ones. */
void control_each(void (*each)(void *context, const char *path, const char *name), void *context);

/* Like control_each(), but does not connect and includes abandoned sockets. */
void control_each_unasked(void (*each)(void *context, const char *path, const char *name), void *context);

/* Removes abandoned sockets and empty folders of killed runs. */
void control_clear(void);

/* True if the peer is this user or root. */
bool control_peer_may(int fd);

bool control_user_may(uid_t user, uid_t own);
