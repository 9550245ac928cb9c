/* SPDX-License-Identifier: MIT */
/* A launcher whose fork() is slow, and a reader of /proc that is held up until a process which was just forked runs its
 * own program: loaded into both, they let each of the moments come that a busy machine has now and then. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { FORK_US = 30000, LOOK_US = 200, LOOKS_MAX = 2000 };

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (real == NULL)
        *(void **)&real = find("fork");
    usleep(FORK_US);
    pid_t pid = real();
    usleep(2 * FORK_US); /* both: the parent before the next one, the child before it is a rank */
    return pid;
}

static int is_same_program(int pid, const char *before, ssize_t length)
{
    char path[64], now[512];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    return readlink(path, now, sizeof now) == length && memcmp(now, before, (size_t)length) == 0;
}

/* Returns when the process runs another program than it does now, or after some time. Ranks run what they run to their
 * end, and are not waited for: they run no mpirun. */
static void wait_for_program(int pid)
{
    char path[64], before[512];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    const ssize_t length = readlink(path, before, sizeof before);
    for (int i = 0; length > 7 && i < LOOKS_MAX && is_same_program(pid, before, length); i++)
        usleep(LOOK_US);
}

static int is_forked(int pid, FILE *(*open)(const char *path, const char *mode))
{
    char path[64], line[256], exe[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = open(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "PPid: %d", &parent);
    if (file != NULL)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    const ssize_t length = readlink(path, exe, sizeof exe);
    return length > 0 && is_same_program(parent, exe, length);
}

/* By another name in the library where files may be large. */
#define FOPEN (_FILE_OFFSET_BITS == 64 ? "fopen64" : "fopen")

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *path, const char *mode);
    int pid, end = 0;
    if (real == NULL)
        *(void **)&real = find(FOPEN);
    if (sscanf(path, "/proc/%d/cmdline%n", &pid, &end) == 1 && end > 0 && is_forked(pid, real))
        wait_for_program(pid);
    return real(path, mode);
}
