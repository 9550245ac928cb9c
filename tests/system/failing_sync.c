/* SPDX-License-Identifier: MIT */
/* Loaded before a program: its first calls of fdatasync() succeed, SYNCS of them, and those after that fail as on a
 * broken disk. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int fd)
{
    static int calls;
    const char *syncs = getenv("SYNCS");
    if (calls++ < (syncs != NULL ? atoi(syncs) : 0))
        return fsync(fd);
    errno = EIO;
    return -1;
}
