/* SPDX-License-Identifier: MIT */
/* The token: see bearer.h. */
#include "common/control/bearer.h"

#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool draw_token(char token[BEARER_LENGTH + 1])
{
    unsigned char bytes[BEARER_LENGTH / 2];
    ssize_t got;
    do
        got = getrandom(bytes, sizeof bytes, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Writes the token file. If an earlier process has left a file of that name behind, replaces it, because that process
 * no longer serves the socket. Does not replace folders, and does not follow links. */
static int write_file(const struct bearer *bearer)
{
    char line[BEARER_LENGTH + 2];
    unlink(bearer->path);
    const int fd = open(bearer->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    snprintf(line, sizeof line, "%s\n", bearer->token);
    const int result = fchmod(fd, 0600) < 0 ? -1 : file_write_at(fd, line, strlen(line), 0);
    const int reason = errno;
    close(fd);
    errno = reason;
    return result;
}

int bearer_draw(struct bearer *bearer, struct error *error)
{
    bearer->path[0] = '\0';
    return draw_token(bearer->token) ? 0 : error_set(error, "the system has no random numbers: %s", strerror(errno));
}

int bearer_put(struct bearer *bearer, const char *socket_path, struct error *error)
{
    const size_t length = strlen(socket_path) - strlen(CONTROL_ENDING);
    snprintf(bearer->path, sizeof bearer->path, "%.*s" CONTROL_TOKEN_ENDING, (int)length, socket_path);
    if (write_file(bearer) == 0)
        return 0;
    error_set(error, "cannot make the token in %s: %s", bearer->path, strerror(errno));
    bearer_unlink(bearer);
    return -1;
}

void bearer_unlink(struct bearer *bearer)
{
    if (bearer->path[0] != '\0')
        unlink(bearer->path);
    bearer->path[0] = '\0';
}

bool bearer_is_shown(const struct bearer *bearer, const char *value)
{
    static const char scheme[] = "Bearer ";
    const size_t length = strlen(scheme);
    unsigned char differs = 0;
    if (value == NULL || strncasecmp(value, scheme, length) != 0 || strlen(value) != length + BEARER_LENGTH)
        return false;
    for (size_t i = 0; i < BEARER_LENGTH; i++)
        differs |= (unsigned char)(value[length + i] ^ bearer->token[i]);
    return differs == 0;
}
