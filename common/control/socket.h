/* SPDX-License-Identifier: MIT */
/* The folder of a user's control sockets on this machine, and the socket of a run in it: see socket.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTROL_PATH_MAX 108
/* Limit for the name of a socket. The name has no ending .sock, but a final NUL. */
#define CONTROL_NAME_MAX     64
#define CONTROL_ENDING       ".sock"
#define CONTROL_TOKEN_ENDING ".token"
#define CONTROL_FOLDERS_MAX  3

struct control_folders {
    char path[CONTROL_FOLDERS_MAX][CONTROL_PATH_MAX];
    unsigned count;
};

struct control_socket {
    int fd; /* the listening socket; it is owned by the function that serves it; -1: there is none */
    char path[CONTROL_PATH_MAX];
    dev_t device;
    ino_t inode;
};

/* Lists the folders that may contain sockets, in the order in which they are tried. The folders need not exist. */
void control_folders(struct control_folders *folders);

/* Opens the folder and returns its descriptor. Does not follow a link. If `make` is set, creates a missing folder.
 * Fails with an empty error if the folder is missing. Fails with an error text if the folder belongs to another user,
 * if other users have rights to it, or if machines share its file system. */
int control_folder_open(const char *path, bool make, struct error *error);

/* Creates the socket NAME.sock in the first usable folder and listens. Removes sockets at which no process listens any
 * more. */
int control_listen(struct control_socket *made, const char *name, struct error *error);

/* Returns true if the socket still has its name. If the name was removed or replaced, no client can connect. */
bool control_is_named(const struct control_socket *made);

/* Removes the name of the socket, and the folder if it is then empty. */
void control_unlink(struct control_socket *made);

/* Returns a connected socket, or -1 with errno. ECONNREFUSED means that no process listens any more. */
int control_connect(const char *path);

/* Calls `each` with the path and the name (without ending) of each socket at which a process listens. Removes sockets
 * at which no process listens. */
void control_each(void (*each)(void *context, const char *path, const char *name), void *context);

/* Like control_each(), but does not try to connect, so it also calls `each` for sockets at which no process listens. */
void control_each_unasked(void (*each)(void *context, const char *path, const char *name), void *context);

void control_clear(void);

bool control_peer_may(int fd);

bool control_user_may(uid_t user, uid_t own);
