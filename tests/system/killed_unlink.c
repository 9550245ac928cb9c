/* SPDX-License-Identifier: MIT */
/* For the tests of sets: preloaded, a process is killed when it has removed the journal of a job. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

int unlink(const char *path)
{
    int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    const size_t length = strlen(path), ending = strlen(".npy.journal");
    const int result = next(path);
    if (result == 0 && length >= ending && strcmp(path + length - ending, ".npy.journal") == 0)
        raise(SIGKILL);
    return result;
}
