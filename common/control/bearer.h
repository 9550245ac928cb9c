/* SPDX-License-Identifier: MIT */
/* The token that clients of the control socket need over TCP, where the kernel cannot identify the peer's user. The
 * token is in a file beside the socket. Only the user can read this file. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"

#include <stdbool.h>

#define BEARER_LENGTH   64
#define BEARER_PATH_MAX (CONTROL_PATH_MAX + sizeof CONTROL_TOKEN_ENDING)

struct bearer {
    char token[BEARER_LENGTH + 1];
    char path[BEARER_PATH_MAX];
};

int bearer_draw(struct bearer *bearer, struct error *error);

int bearer_put(struct bearer *bearer, const char *socket_path, struct error *error);

void bearer_unlink(struct bearer *bearer);

/* `value`: the Authorization header of a request, or NULL. Returns true if it is "Bearer TOKEN". To hide the token, the
 * time for the comparison depends only on the length of `value`. */
bool bearer_is_shown(const struct bearer *bearer, const char *value);
