/* SPDX-License-Identifier: MIT */
/* The token of the control socket over TCP, which takes the place of what the kernel says of a peer: whoever has it may
 * ask. It lies in a file beside the socket, which only the user can read. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Letters of a token: 256 bits, four in each. */
#define BEARER_LENGTH   64
#define BEARER_PATH_MAX (CONTROL_PATH_MAX + sizeof CONTROL_TOKEN_ENDING)

struct bearer {
    char token[BEARER_LENGTH + 1];
    char path[BEARER_PATH_MAX]; /* of the file; empty: there is none */
};

/* Makes a token that nobody can guess, without a file. -1 with one line. */
int bearer_draw(struct bearer *bearer, struct error *error);

/* Writes the token to a file beside the socket of that path. -1 with one line. */
int bearer_put(struct bearer *bearer, const char *socket_path, struct error *error);

/* Removes the file. */
void bearer_unlink(struct bearer *bearer);

/* True where the value of a request's Authorization, NULL if it has none, is "Bearer TOKEN". It takes the same time
 * for any token of the right length. */
bool bearer_is_shown(const struct bearer *bearer, const char *value);
