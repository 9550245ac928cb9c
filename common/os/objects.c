/* SPDX-License-Identifier: MIT */
/* Loading users' shared objects: see objects.h. */
#include "common/os/objects.h"

#include "common/os/modules.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PYTHON_MODULE "hdss-python.so"

/* Refuses by the text of dlerror(), without the path that it begins with. Always returns -1. */
static int object_refuse(const struct object_kind *kind, const char *name, const char *path, struct error *error)
{
    const char *reason = dlerror();
    size_t length = strlen(path);
    if (reason == NULL)
        reason = "cannot be loaded";
    if (strncmp(reason, path, length) == 0 && strncmp(reason + length, ": ", 2) == 0)
        reason += length + 2;
    bool is_other_file = strstr(reason, "ELF header") != NULL || strstr(reason, "file too short") != NULL;
    return error_set(error, "%s %.200s: %.180s%s%s", kind->what, name, reason, is_other_file ? "; accepted: " : "",
                     is_other_file ? kind->other : "");
}

/* A shared object that is loaded. */
struct loaded {
    struct loaded *next;
    struct stat file;
    char path[];
};

/* Notes that the file of this name is loaded, unless it was and is another one by now: false. */
static bool note_loaded(const char *path)
{
    static struct loaded *all;
    struct loaded *known = all;
    struct stat now;
    if (stat(path, &now) < 0)
        return true; /* dlopen() says what is wrong with it */
    while (known != NULL && strcmp(known->path, path) != 0)
        known = known->next;
    if (known != NULL)
        return known->file.st_dev == now.st_dev && known->file.st_ino == now.st_ino &&
               known->file.st_mtim.tv_sec == now.st_mtim.tv_sec && known->file.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
    known = malloc(sizeof *known + strlen(path) + 1);
    if (known == NULL)
        return true;
    *known = (struct loaded){.next = all, .file = now};
    strcpy(known->path, path);
    all = known;
    return true;
}

void *object_open(const struct object_kind *kind, const char *name, struct error *error)
{
    char path[PATH_MAX];
    bool bare = strchr(name, '/') == NULL; /* the loader would look for it elsewhere */
    if (strlen(name) >= sizeof path - 2) {
        error_set(error, "%s %.60s...: the name is too long", kind->what, name);
        return NULL;
    }
    if (realpath(name, path) == NULL)
        sprintf(path, "%s%s", bare ? "./" : "", name);
    if (!note_loaded(path)) {
        error_set(error, "%s %.200s: its file has changed since an earlier job loaded it; accepted: %s", kind->what,
                  name, kind->for_changed);
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        object_refuse(kind, name, path, error);
    return handle;
}

/* Finds the module for Python among the modules of HDSS. -1 with one line. */
static int find_python(const struct object_kind *kind, const char *name, char path[PATH_MAX + sizeof PYTHON_MODULE],
                       struct error *error)
{
    char folder[PATH_MAX];
    struct error missing;
    if (modules_find(PYTHON_MODULE, folder, &missing) < 0)
        return error_set(error,
                         "%s %.40s: this HDSS has no Python: %.290s; needed: the package hdss-python3, or a build "
                         "where libpython3-dev is",
                         kind->what, name, missing.text);
    sprintf(path, "%s/" PYTHON_MODULE, folder);
    return 0;
}

void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error)
{
    char path[PATH_MAX + sizeof PYTHON_MODULE];
    if (find_python(kind, name, path, error) < 0)
        return NULL;
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* extension modules of Python look for its symbols */
    if (module == NULL) {
        object_refuse(kind, name, path, error);
        return NULL;
    }
    void *found = dlsym(module, symbol);
    if (found == NULL)
        error_set(error, "%s %.60s: %.200s is not the module for Python of this HDSS", kind->what, name, path);
    return found;
}
