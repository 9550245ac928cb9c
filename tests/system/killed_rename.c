/* SPDX-License-Identifier: MIT */
/* For the tests of sets: preloaded, a process is killed when it writes that a job is over into the journal of the job,
 * which gets its name for the second time then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

int rename(const char *from, const char *to)
{
    static int times;
    int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    const size_t length = strlen(to), ending = strlen(".npy.journal");
    const int result = next(from, to);
    if (result == 0 && length >= ending && strcmp(to + length - ending, ".npy.journal") == 0 && ++times == 2)
        raise(SIGKILL);
    return result;
}
