/* SPDX-License-Identifier: MIT */
/* Finds sets: see sets.h. To find a set by its name, no connection is made. */
#include "deploy/cli/sets.h"

#include "common/util/text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_BEGINS   "run-"
#define DEFAULT_NAME "main"
#define OWN_BEGINS   "own-"

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool sets_is_name(const char *name)
{
    size_t length = 0;
    for (; name[length] != '\0'; length++)
        if (!is_letter(name[length]) && (length == 0 || (name[length] != '.' && name[length] != '-')))
            return false;
    return length > 0 && length < SET_NAME_MAX && strncmp(name, RUN_BEGINS, strlen(RUN_BEGINS)) != 0;
}

bool sets_is_private(const char *name)
{
    return strncmp(name, OWN_BEGINS, strlen(OWN_BEGINS)) == 0;
}

int sets_check_name(const char *name, struct error *error)
{
    if (sets_is_name(name))
        return 0;
    return error_set(error,
                     "'%.60s' cannot be the name of a set; accepted: up to %d letters, digits, '.', '_' and '-', of "
                     "which '.' and '-' and \"" RUN_BEGINS "\" cannot be the first",
                     name, SET_NAME_MAX - 1);
}

static bool batch_name(char name[SET_NAME_MAX])
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const char *id = getenv(jobs[i]);
        if (id == NULL || id[0] == '\0')
            continue;
        size_t length = 0;
        for (; length + 1 < SET_NAME_MAX && (is_letter(id[length]) || (length > 0 && id[length] == '.')); length++)
            name[length] = id[length];
        name[length] = '\0';
        return sets_is_name(name);
    }
    return false;
}

void sets_default_name(char name[SET_NAME_MAX])
{
    const char *variable = getenv(SET_VARIABLE);
    if (variable != NULL && variable[0] != '\0')
        snprintf(name, SET_NAME_MAX, "%s", variable);
    else if (!batch_name(name))
        strcpy(name, DEFAULT_NAME);
}

static bool find_named(const char *name, struct set_place *set)
{
    struct control_folders folders;
    struct stat status;
    struct error error;
    control_folders(&folders);
    for (unsigned i = 0; i < folders.count; i++) {
        const int folder = control_folder_open(folders.path[i], false, &error);
        if (folder < 0)
            continue;
        char file[SET_NAME_MAX + sizeof CONTROL_ENDING];
        snprintf(file, sizeof file, "%s" CONTROL_ENDING, name);
        const bool is_there = fstatat(folder, file, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode);
        close(folder);
        if (is_there && snprintf(set->path, sizeof set->path, "%s/%s", folders.path[i], file) < (int)sizeof set->path) {
            snprintf(set->name, sizeof set->name, "%s", name);
            return true;
        }
    }
    return false;
}

struct each_set {
    void (*each)(void *context, const char *path, const char *name);
    void *context;
};

static void pass_set(void *context, const char *path, const char *name)
{
    const struct each_set *all = context;
    if (sets_is_name(name))
        all->each(all->context, path, name);
}

void sets_each(void (*each)(void *context, const char *path, const char *name), void *context)
{
    struct each_set all = {each, context};
    control_each(pass_set, &all);
}

struct only_set {
    struct set_place *set;
    struct text names;
    unsigned count;
};

static void take_set(void *context, const char *path, const char *name)
{
    struct only_set *only = context;
    if (sets_is_private(name))
        return;
    text_add(&only->names, "%s%s", only->count++ > 0 ? ", " : "", name);
    snprintf(only->set->name, sizeof only->set->name, "%s", name);
    snprintf(only->set->path, sizeof only->set->path, "%s", path);
}

/* A single socket is taken without asking whether its set is up. Only if there are several, the sets are asked. */
static int find_only(struct set_place *set, struct error *error)
{
    struct only_set only = {.set = set};
    text_init(&only.names);
    control_each_unasked(pass_set, &(struct each_set){take_set, &only});
    if (only.count > 1) {
        only.count = 0;
        text_fini(&only.names);
        text_init(&only.names);
        sets_each(take_set, &only);
    }
    char *names = text_take(&only.names);
    if (only.count == 0)
        error_set(error, "no set of yours is up on this machine; `hdss up` starts one");
    else if (only.count > 1)
        error_set(error, "%u sets are up: %.200s; say which by --set or " SET_VARIABLE, only.count,
                  names != NULL ? names : "");
    free(names);
    return only.count == 1 ? 0 : -1;
}

int sets_find(const char *given, struct set_place *set, struct error *error)
{
    const char *variable = getenv(SET_VARIABLE);
    const char *name = given != NULL ? given : variable != NULL && variable[0] != '\0' ? variable : NULL;
    char batch[SET_NAME_MAX];
    if (name == NULL)
        return batch_name(batch) && find_named(batch, set) ? 0 : find_only(set, error);
    if (sets_is_name(name) && find_named(name, set))
        return 0;
    return error_set(error, "%s'%.60s' is no set of yours on this machine; `hdss jobs` shows those that are up",
                     given == NULL ? SET_VARIABLE ": " : "", name);
}

int sets_find_with_pods(const char *given, struct set_place *set, struct error *error)
{
    const bool is_run = given != NULL && strncmp(given, RUN_BEGINS, strlen(RUN_BEGINS)) == 0;
    return is_run && find_named(given, set) ? 0 : sets_find(given, set, error);
}

int sets_refuse_lost(const char *name, struct error *error)
{
    return error_set(error, "the set %s was lost; `hdss up --resume` goes on with its jobs", name);
}

int sets_state_folder(const char *name, char path[PATH_MAX], struct error *error)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;
    if (base != NULL && base[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/hdss/%s", base, name);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/state/hdss/%s", home, name);
    else
        return error_set(error, "neither XDG_STATE_HOME nor HOME says where the set's folder can be; accepted: --state "
                                "FOLDER");
    return length < PATH_MAX ? 0 : error_set(error, "the path of the set's folder is too long");
}
