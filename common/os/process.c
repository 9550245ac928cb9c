/* SPDX-License-Identifier: MIT */
/* Other processes of this machine: see process.h. */
#include "common/os/process.h"

#include <stdio.h>
#include <string.h>

/* Reads state and parent. False where there is no such process. */
static bool process_read(int pid, char *state, int *parent)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    /* The name stands before the state, in parentheses, and may have some itself. */
    const char *end = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    fclose(file);
    return end != NULL && sscanf(end, ") %c %d", state, parent) == 2;
}

char process_state(int pid)
{
    char state;
    int parent;
    return process_read(pid, &state, &parent) ? state : '\0';
}

int process_parent(int pid)
{
    char state;
    int parent;
    return process_read(pid, &state, &parent) ? parent : 0;
}

bool process_is_named(int pid, const char *name)
{
    char path[64], line[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return is_read && strcmp(line, name) == 0;
}
