/* SPDX-License-Identifier: MIT */
/* Output that does not block: see outlet.h.
 *
 * The descriptor stays in blocking mode, because other processes share the mode with this process. If poll() says that
 * a pipe or terminal is writable, there is room for PIPE_BUF bytes. So a write of that size does not block. */
#include "deploy/cli/outlet.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)

int outlet_init(struct outlet *outlet, int fd, const char *name, struct error *error)
{
    struct stat status;
    *outlet = (struct outlet){.fd = fd, .name = name};
    if (fd < 0)
        return 0;
    outlet->is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    outlet->is_terminal = isatty(fd) == 1;
    outlet->buffer = malloc(BUFFER_BYTES);
    return outlet->buffer != NULL ? 0 : error_set(error, "%s: out of memory", name);
}

void outlet_fini(struct outlet *outlet)
{
    free(outlet->buffer);
    outlet->buffer = NULL;
}

size_t outlet_put(struct outlet *outlet, const void *bytes, size_t count)
{
    if (outlet->fd < 0)
        return count;
    if (outlet_is_empty(outlet))
        outlet->length = outlet->sent = 0;
    const size_t room = BUFFER_BYTES - outlet->length, taken = count < room ? count : room;
    if (taken > 0)
        memcpy(outlet->buffer + outlet->length, bytes, taken);
    outlet->length += taken;
    return taken;
}

static bool is_ready(const struct outlet *outlet)
{
    struct pollfd polled = {.fd = outlet->fd, .events = POLLOUT};
    return outlet->is_file || poll(&polled, 1, 0) > 0;
}

int outlet_flush(struct outlet *outlet, struct error *error)
{
    while (!outlet_is_empty(outlet)) {
        size_t count = outlet->length - outlet->sent;
        if (!outlet->is_file && count > PIPE_BUF)
            count = PIPE_BUF;
        if (!is_ready(outlet))
            return 0;
        ssize_t done = write(outlet->fd, outlet->buffer + outlet->sent, count);
        if (done < 0 && errno == EAGAIN) /* another process has made the descriptor non-blocking */
            return 0;
        if (done < 0 && errno != EINTR)
            return error_set(error, "%s: cannot write: %s", outlet->name, strerror(errno));
        if (done > 0) {
            outlet->sent += (size_t)done;
            outlet->written += (uint64_t)done;
            outlet->is_in_line = outlet->buffer[outlet->sent - 1] != '\n';
        }
    }
    return 1;
}
