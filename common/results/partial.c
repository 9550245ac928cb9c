/* SPDX-License-Identifier: MIT */
/* Files that are renamed after completion: see partial.h. */
#include "common/results/partial.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int partial_init(struct partial *partial, const char *path, struct error *error)
{
    struct stat status;
    bool linked = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    if (!linked || realpath(path, partial->target) == NULL)
        snprintf(partial->target, sizeof partial->target, "%s", path);
    int length = snprintf(partial->name, sizeof partial->name, "%s.partial", partial->target);
    return length < (int)sizeof partial->name ? 0 : error_set(error, "%.200s: the name is too long", path);
}

FILE *partial_open(const struct partial *partial)
{
    unlink(partial->name);
    int fd = open(partial->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL)
        close(fd);
    return file;
}

int partial_keep(const struct partial *partial)
{
    return rename(partial->name, partial->target);
}

void partial_drop(const struct partial *partial)
{
    unlink(partial->name);
}
