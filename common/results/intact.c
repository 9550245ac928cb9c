/* SPDX-License-Identifier: MIT */
/* Detecting changes of output files by others: see intact.h. */
#include "common/results/intact.h"

#include "common/os/clock.h"
#include "common/os/files.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 1000000000u

int intact_refuse(const char *path, const char *what, struct error *error)
{
    return error_set(error, "%.200s: %s while the run wrote it: its results are not whole", path, what);
}

int intact_check(int fd, const char *path, uint64_t bytes, struct error *error)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    if (status.st_nlink == 0)
        return intact_refuse(path, "was removed or replaced", error);
    return (uint64_t)status.st_size < bytes ? intact_refuse(path, "was cut short", error) : 0;
}

int intact_check_sink(struct results_sink *sink, uint64_t bytes, struct error *error)
{
    const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (sink->looked_ns != 0 && now_ns - sink->looked_ns < LOOK_NS)
        return 0;
    sink->looked_ns = now_ns;
    return intact_check(sink->fd, sink->path, bytes, error);
}

int intact_check_name(int fd, const char *path, struct error *error)
{
    if (file_is_at(fd, path))
        return 0;
    return intact_refuse(path, access(path, F_OK) < 0 ? "was removed" : "was replaced by another file", error);
}
