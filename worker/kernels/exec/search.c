/* SPDX-License-Identifier: MIT */
/* Finds programs: see search.h. This file only lists paths. Which of them works is found by executing them. */
#include "worker/kernels/exec/search.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USUAL_FOLDERS "/usr/local/bin:/usr/bin:/bin"

static bool is_relative(const char *folders)
{
    while (*folders == '/') {
        folders += strcspn(folders, ":");
        folders += *folders == ':';
        if (*folders == '\0')
            return folders[-1] == ':';
    }
    return true;
}

int search_init(struct search *search, const char *folders)
{
    *search = (struct search){.folders = strdup(folders != NULL ? folders : USUAL_FOLDERS)};
    if (search->folders == NULL)
        return -1;
    search->is_relative = is_relative(search->folders);
    return 0;
}

static void search_forget(struct search *search)
{
    free(search->name);
    free(search->text);
    free(search->paths);
    search->name = search->text = NULL;
    search->paths = NULL;
    search->found = 0;
}

void search_fini(struct search *search)
{
    search_forget(search);
    free(search->folders);
    search->folders = NULL;
}

static size_t count_folders(const char *folders)
{
    size_t count = 1;
    for (; *folders != '\0'; folders++)
        count += *folders == ':';
    return count;
}

/* An empty `folder` means the current folder. Returns the end of the path. */
static char *put_path(char *at, const char *folder, size_t length, const char *name)
{
    memcpy(at, folder, length);
    at += length;
    if (length > 0)
        *at++ = '/';
    strcpy(at, name);
    return at + strlen(name) + 1;
}

static void list_paths(struct search *search, const char *name)
{
    char *at = search->text;
    size_t count = 0;
    for (const char *folder = search->folders;; folder++) {
        size_t length = strcspn(folder, ":");
        search->paths[count++] = at;
        at = put_path(at, folder, length, name);
        folder += length;
        if (*folder == '\0')
            break;
    }
    search->paths[count] = NULL;
}

const char *const *search_paths(struct search *search, const char *name)
{
    if (search->name != NULL && strcmp(search->name, name) == 0) {
        if (search->is_relative)
            search->found = 0;
        return search->paths;
    }
    search_forget(search);
    size_t folders = count_folders(search->folders), length = strlen(name);
    search->name = strdup(name);
    search->text = malloc(strlen(search->folders) + folders * (length + 2) + 1);
    search->paths = calloc(folders + 1, sizeof *search->paths);
    if (search->name == NULL || search->text == NULL || search->paths == NULL) {
        search_forget(search);
        return NULL;
    }
    if (name[0] == '\0' || strchr(name, '/') != NULL) {
        strcpy(search->text, name);
        search->paths[0] = search->text;
    } else {
        list_paths(search, name);
    }
    return search->paths;
}

const char *search_program(int folder, const char *folders, const char *name)
{
    static char found[PATH_MAX];
    struct search search;
    struct stat status;
    const char *place = NULL;
    if (search_init(&search, folders) < 0)
        return NULL;
    const char *const *paths = search_paths(&search, name);
    for (; paths != NULL && *paths != NULL && place == NULL; paths++)
        if (faccessat(folder, *paths, X_OK, 0) == 0 && fstatat(folder, *paths, &status, 0) == 0 &&
            S_ISREG(status.st_mode) && (size_t)snprintf(found, sizeof found, "%s", *paths) < sizeof found)
            place = found;
    search_fini(&search);
    return place;
}

const char *search_in_path(const char *name)
{
    return search_program(AT_FDCWD, getenv("PATH"), name);
}
