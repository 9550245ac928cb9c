/* Who catches a signal: see ready.h. */
#include "deploy/cli/ready.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool catches(pid_t pid, int signal_number)
{
    char path[64], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigCgt:", 7) == 0)
            mask = strtoull(line + 7, NULL, 16);
    fclose(file);
    return mask >> (signal_number - 1) & 1;
}

/* The children that one thread has started, counted into `*count`; false when one does not catch the signal. */
static bool children_catch(const char *path, int signal_number, unsigned *count)
{
    int child;
    bool all = true;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    while (all && fscanf(file, "%d", &child) == 1) {
        all = catches(child, signal_number);
        ++*count;
    }
    fclose(file);
    return all;
}

bool ready_for(pid_t launcher, int signal_number)
{
    char path[320];
    unsigned children = 0;
    bool all = catches(launcher, signal_number);
    snprintf(path, sizeof path, "/proc/%d/task", (int)launcher);
    DIR *threads = opendir(path);
    if (threads == NULL)
        return false;
    for (struct dirent *entry; all && (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)launcher, entry->d_name);
        all = children_catch(path, signal_number, &children);
    }
    closedir(threads);
    return all && children > 0;
}
