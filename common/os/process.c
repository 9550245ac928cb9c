/* SPDX-License-Identifier: MIT */
/* Other processes of this machine: see process.h. */
#include "common/os/process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool process_read(int pid, char *state, int *parent)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    /* the program's name, in parentheses, is before the state; it may itself contain parentheses */
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

static bool visit_children_of_thread(const char *path, process_visitor *visit, void *context)
{
    int child;
    bool on = true;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true;
    while (on && fscanf(file, "%d", &child) == 1)
        on = visit(child, context);
    fclose(file);
    return on;
}

/* Checks all processes, because a kernel without CONFIG_PROC_CHILDREN does not list the children of a process. */
static bool visit_children_among_all(pid_t parent, process_visitor *visit, void *context)
{
    bool on = true;
    DIR *all = opendir("/proc");
    if (all == NULL)
        return false;
    for (struct dirent *entry; on && (entry = readdir(all)) != NULL;) {
        const int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid > 0 && process_parent(pid) == parent)
            on = visit(pid, context);
    }
    closedir(all);
    return on;
}

bool process_visit_children(pid_t parent, process_visitor *visit, void *context)
{
    char path[320];
    bool on = true;
    if (access("/proc/thread-self/children", F_OK) < 0)
        return visit_children_among_all(parent, visit, context);
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    if (threads == NULL)
        return false;
    for (struct dirent *entry; on && (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, entry->d_name);
        on = visit_children_of_thread(path, visit, context);
    }
    closedir(threads);
    return on;
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
