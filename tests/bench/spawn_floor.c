/* SPDX-License-Identifier: MIT */
/* spawn-floor COUNT SLOTS PROGRAM [ARGUMENT..]: runs a program COUNT times, SLOTS at a time, by posix_spawn() and
 * wait() and nothing else, and prints the seconds: what starting processes takes here, whoever does it. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    const long count = argc > 3 ? atol(argv[1]) : 0, slots = argc > 3 ? atol(argv[2]) : 0;
    if (count <= 0 || slots <= 0) {
        fprintf(stderr, "usage: %s COUNT SLOTS PROGRAM [ARGUMENT..]\n", argv[0]);
        return 2;
    }
    const double began = seconds();
    for (long begun = 0, running = 0; begun < count || running > 0; running--) {
        for (pid_t child; begun < count && running < slots; begun++, running++)
            if (posix_spawnp(&child, argv[3], NULL, NULL, argv + 3, environ) != 0)
                return 1;
        if (wait(NULL) < 0)
            return 1;
    }
    printf("%.6f\n", seconds() - began);
    return 0;
}
