/* SPDX-License-Identifier: MIT */
/* A client of the control socket, for tests that serve it in the same thread. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that comes until the connection ends, in `answer`, as text; closes the client. `look` has the server look at its
 * clients. */
static inline const char *client_take(int client, void (*look)(void), char *answer, size_t room)
{
    size_t length = 0;
    ssize_t got;
    do {
        look();
        got = recv(client, answer + length, room - 1 - length, MSG_DONTWAIT);
        if (got > 0)
            length += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EAGAIN));
    answer[length] = '\0';
    close(client);
    return answer;
}
