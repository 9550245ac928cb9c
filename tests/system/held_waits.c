/* SPDX-License-Identifier: MIT */
/* Loaded into the ranks of a run with --slowdown, holds a loop of the product as the kernel `unhurried` holds one of
 * the tests: what its workers wait takes its time until something is recorded, then lasts until there is a file
 * `hurry`, and takes no time from then on. Each byte of a file `more` lets them go on until something else is recorded.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_US = 5000 }; /* it looks for the files so often */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static off_t size_of(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? found.st_size : 0;
}

static bool is_held(void)
{
    static off_t before, more;
    const off_t now = size_of("out.npy.journal"), told = size_of("more");
    if (before == 0 || told > more) {
        before = now;
        more = told;
    }
    return now > before && !exists("hurry");
}

static bool is_over(clockid_t clock, const struct timespec *end)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

/* Of the functions that wait, the one by which --slowdown does: until a time. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *end, struct timespec *left)
{
    const bool is_worker = strstr(program_invocation_short_name, "worker") != NULL;
    (void)flags, (void)left;
    while ((is_worker && is_held()) || !(is_over(clock, end) || (is_worker && exists("hurry"))))
        usleep(LOOK_US);
    return 0;
}
