/* SPDX-License-Identifier: MIT */
/* Reads files for kernels: see input.h. */
#include "deploy/examples/kernels/papers/input.h"

#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *input_read(const char *path, size_t *size, struct error *error)
{
    struct stat status;
    char *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) < 0)
        error_set(error, "%s", strerror(errno));
    else if (!S_ISREG(status.st_mode))
        error_set(error, "not a regular file");
    else if ((bytes = malloc((size_t)status.st_size + 1)) == NULL)
        error_set(error, "out of memory for its %lld bytes", (long long)status.st_size);
    else if ((*size = (size_t)status.st_size, file_read_at(fd, bytes, *size, 0)) != 0) {
        error_set(error, "cannot be read as a whole");
        free(bytes);
        bytes = NULL;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}
