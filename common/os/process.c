/* SPDX-License-Identifier: MIT */
/* Other processes of this machine: see process.h. */
#include "common/os/process.h"

#include <stdio.h>
#include <string.h>

char process_state(int pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    /* The name stands before the state, in parentheses, and may have some itself. */
    const char *end = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    fclose(file);
    return end == NULL || end[1] == '\0' ? '\0' : end[2];
}
