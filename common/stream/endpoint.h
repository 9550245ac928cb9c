/* SPDX-License-Identifier: MIT */
/* Sockets of streams: listening, connecting, and identification of the peer. */
#pragma once

#include "common/stream/address.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct endpoint_file {
    dev_t device;
    ino_t inode; /* inode of the socket's file; 0: the socket has no file */
};

/* Opens a socket that listens without blocking, and sets the actual port in `address`. Returns the socket, which the
 * caller owns, or -1. Sets `file` for a Unix socket. */
int endpoint_listen(struct stream_address *address, struct endpoint_file *file, struct error *error);

void endpoint_unlink(const struct stream_address *address, const struct endpoint_file *file);

#define ENDPOINT_TARGETS_MAX 8

struct endpoint_target {
    struct sockaddr_storage address[ENDPOINT_TARGETS_MAX];
    socklen_t size[ENDPOINT_TARGETS_MAX];
    unsigned count, next;
};

/* Resolves the address. This may take long. */
int endpoint_resolve(struct endpoint_target *target, const struct stream_address *address, struct error *error);

/* Begins to connect to the next address of the target. Returns a socket, which the caller owns, or -1 with errno. The
 * socket becomes writable when it is connected. */
int endpoint_connect(struct endpoint_target *target);

int endpoint_connected(int fd);

bool endpoint_is_own(int fd, uid_t *user);

/* Makes a TCP socket send without delay. Writes the address of the peer into `name`; for a Unix socket writes "this
 * machine". */
#define ENDPOINT_NAME_MAX 64
void endpoint_prepare(int fd, bool is_tcp, char name[ENDPOINT_NAME_MAX]);
