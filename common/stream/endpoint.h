/* SPDX-License-Identifier: MIT */
/* Sockets at the addresses of streams: listening, connecting, and who is at the other end. */
#pragma once

#include "common/stream/address.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The file of a socket, by which it is known again. */
struct endpoint_file {
    dev_t device;
    ino_t inode; /* 0: none */
};

/* Listens, and never blocks. The port of the address is the one that was found afterwards. Returns the socket, which is
 * the caller's, and whose file is `file`; -1 with one line. */
int endpoint_listen(struct stream_address *address, struct endpoint_file *file, struct error *error);

/* Removes the file, if it is still that one. */
void endpoint_unlink(const struct stream_address *address, const struct endpoint_file *file);

/* Addresses of a name that are tried one after another. */
#define ENDPOINT_TARGETS_MAX 8

struct endpoint_target {
    struct sockaddr_storage address[ENDPOINT_TARGETS_MAX];
    socklen_t size[ENDPOINT_TARGETS_MAX];
    unsigned count, next;
};

/* Looks the address up, which may take long. -1 with one line. */
int endpoint_resolve(struct endpoint_target *target, const struct stream_address *address, struct error *error);

/* Begins to connect to the next of them, without waiting. Returns the socket, which is the caller's and can be written
 * once it is connected; -1 with errno. */
int endpoint_connect(struct endpoint_target *target);

/* 0, or the errno with which it could not connect. */
int endpoint_connected(int fd);

/* True where the other end of a socket in a folder is a process of this user; else `user` is whose. */
bool endpoint_is_own(int fd, uid_t *user);

/* Makes a connected socket send without delay, and writes the other end's name. */
#define ENDPOINT_NAME_MAX 64
void endpoint_prepare(int fd, bool is_tcp, char name[ENDPOINT_NAME_MAX]);
