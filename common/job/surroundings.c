/* SPDX-License-Identifier: MIT */
/* Entering the surroundings of a job: see surroundings.h. */
#include "common/job/surroundings.h"

#include "common/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before, struct error *error)
{
    *before = (struct surroundings_before){.folder = -1};
    if (surroundings->folder == NULL)
        return 0;
    before->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (before->folder < 0 || chdir(surroundings->folder) < 0) {
        const int cause = errno;
        if (before->folder >= 0)
            close(before->folder);
        before->folder = -1;
        return error_set(error, "cannot enter the job's folder '%s': %s", surroundings->folder, strerror(cause));
    }
    before->umask = umask(surroundings->umask);
    return 0;
}

void surroundings_leave(struct surroundings_before *before)
{
    if (before->folder < 0)
        return;
    umask(before->umask);
    if (fchdir(before->folder) < 0) { /* from here on relative names would mean other files */
        perror("hdss: cannot return to the own folder");
        abort();
    }
    close(before->folder);
    before->folder = -1;
}
