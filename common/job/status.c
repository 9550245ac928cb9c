/* SPDX-License-Identifier: MIT */
/* Reports to the launcher of a run: see status.h. */
#include "common/job/status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int status_open(const char *variable)
{
    const char *path = getenv(variable);
    struct stat found;
    int given;
    /* Only a pipe is accepted. An MPI launcher may have closed the inherited descriptor and reused its number for
     * another file. */
    if (path != NULL && sscanf(path, STATUS_DESCRIPTOR, &given) == 1)
        return fstat(given, &found) == 0 && S_ISFIFO(found.st_mode) ? fcntl(given, F_DUPFD_CLOEXEC, 3) : -1;
    return path != NULL ? open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC) : -1;
}

/* Writes the whole line or nothing. The line begins with a newline, which ends an incomplete line of another
 * process. */
static void status_file_tell(const char *line, int length)
{
    int file = status_open(STATUS_VARIABLE);
    if (file < 0)
        return;
    ssize_t written = write(file, line, (size_t)length);
    (void)written;
    close(file);
}

bool status_may_lose_ranks(void)
{
    return getenv(SURVIVAL_VARIABLE) != NULL;
}

void status_tell_begun(void)
{
    char line[64];
    status_file_tell(line, snprintf(line, sizeof line, "\n" STATUS_BEGUN "\n", (int)getpid()));
}

void status_tell_draining(void)
{
    status_file_tell("\n" STATUS_DRAINING "\n", (int)strlen("\n" STATUS_DRAINING "\n"));
}

void status_tell_over(void)
{
    status_file_tell("\n" STATUS_OVER "\n", (int)strlen("\n" STATUS_OVER "\n"));
}

void status_tell_again(void)
{
    status_file_tell("\n" STATUS_AGAIN "\n", (int)strlen("\n" STATUS_AGAIN "\n"));
}

void status_tell_ran(const struct range *range)
{
    char line[64];
    status_file_tell(line, snprintf(line, sizeof line, "\n" STATUS_RAN "\n", range->first, range->count));
}

void status_tell_end(const char *role, int status, bool degraded)
{
    char line[64];
    status_file_tell(line,
                     snprintf(line, sizeof line, "\n" STATUS_END "\n", role, status, degraded ? STATUS_DEGRADED : ""));
}

static int status_open_pipe(const char *variable)
{
    struct stat found;
    int file = status_open(variable);
    if (file < 0 || (fstat(file, &found) == 0 && S_ISFIFO(found.st_mode)))
        return file;
    close(file); /* On another machine this path may belong to an unrelated file, so only a pipe is accepted. */
    return -1;
}

bool status_tell_summary(const char *text)
{
    const size_t length = strlen(text);
    int file = length <= SUMMARY_PIPED_MAX ? status_open_pipe(SUMMARY_VARIABLE) : -1;
    if (file < 0)
        return false;
    bool told = write(file, text, length) == (ssize_t)length;
    close(file);
    return told;
}

/* A progress line that does not fit in the pipe is dropped, because the next one follows soon. */
bool status_tell_progress(const char *text)
{
    int file = status_open_pipe(PROGRESS_VARIABLE);
    if (file < 0)
        return false;
    ssize_t written = write(file, text, strlen(text));
    (void)written;
    close(file);
    return true;
}
