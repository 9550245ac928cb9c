/* SPDX-License-Identifier: MIT */
/* Entering the surroundings of a job: see surroundings.h. Folders are kept as descriptors, which stay valid if a
 * folder is renamed. */
#include "common/job/surroundings.h"

#include "common/config/job.h"
#include "common/os/own_environment.h"
#include "common/util/error.h"
#include "proto/announcement.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int try_folder(int folder)
{
    return folder < 0 ? -1 : faccessat(folder, ".", X_OK, AT_EACCESS);
}

int surroundings_open(struct surroundings *surroundings, const char *folder, mode_t umask, char *const *environment,
                      struct error *error)
{
    *surroundings = (struct surroundings){open_folder(folder), umask, environment};
    if (try_folder(surroundings->folder) == 0)
        return 0;
    const int cause = errno;
    surroundings_close(surroundings);
    return error_set(error, "cannot enter the job's folder %.200s: %s", folder, strerror(cause));
}

int surroundings_open_announced(struct surroundings *surroundings, const struct announcement *announced, bool is_of_pod,
                                struct error *error)
{
    if (surroundings_open(surroundings, announced->folder, announced->umask, announced->environment, error) == 0)
        return 0;
    if (!is_of_pod)
        return -1;
    struct job job;
    struct error unused;
    if (job_parse(&job, (int)announced->word_count, announced->words, &unused) == 0 && job.results == JOB_RESULTS_HERE)
        return surroundings_open(surroundings, ".", announced->umask, announced->environment, error);
    return error_after(error, "; accepted: a pod that has the folder, too, or --results here");
}

void surroundings_close(struct surroundings *surroundings)
{
    if (surroundings->folder >= 0)
        close(surroundings->folder);
    surroundings->folder = -1;
}

int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before, struct error *error)
{
    *before = (struct surroundings_before){.folder = -1};
    if (surroundings->folder < 0)
        return 0;
    before->folder = open_folder(".");
    if (before->folder < 0 || fchdir(surroundings->folder) < 0) {
        const int cause = errno;
        if (before->folder >= 0)
            close(before->folder);
        before->folder = -1;
        return error_set(error, "cannot enter the job's folder: %s", strerror(cause));
    }
    fegetenv(&before->arithmetic);
    pthread_sigmask(SIG_SETMASK, NULL, &before->signals);
    before->umask = umask(surroundings->umask);
    before->environment = environ;
    own_environment_keep(environ);
    environ = (char **)surroundings->environment;
    return 0;
}

void surroundings_leave(struct surroundings_before *before)
{
    if (before->folder < 0)
        return;
    /* The process cannot continue, because its relative file names would refer to other files. */
    if (fchdir(before->folder) < 0) {
        perror("hdss: cannot return to the own folder");
        abort();
    }
    close(before->folder);
    umask(before->umask);
    environ = before->environment;
    own_environment_keep(NULL);
    pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
    fesetenv(&before->arithmetic);
    before->folder = -1;
}
