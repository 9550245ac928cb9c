/* SPDX-License-Identifier: MIT */
/* Finding modules: see modules.h. */
#include "common/os/modules.h"

#include "common/os/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PLACES_MAX = 4 };

struct places {
    char folder[PLACES_MAX][PATH_MAX];
    unsigned count;
};

/* names of the other programs that are in this executable; NULL: each program has an executable of its own */
static const char *const *held;

void one_file_holds(const char *const *names)
{
    held = names;
}

bool is_one_file(void)
{
    return held != NULL;
}

const char *program_word(const char *name)
{
    const char *const *word = held;
    while (word != NULL && *word != NULL && strcmp(*word, name) != 0)
        word++;
    return word != NULL ? *word : NULL;
}

static bool program_path(char path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    const char *begun = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    if (length <= 0)
        return begun != NULL && realpath(begun, path) != NULL;
    path[length] = '\0';
    return true;
}

int program_folder(char folder[PATH_MAX], struct error *error)
{
    char program[PATH_MAX];
    if (!program_path(program))
        return error_set(error, "the folder of this program is not known: /proc/self/exe: %s", strerror(errno));
    *strrchr(program, '/') = '\0';
    strcpy(folder, program);
    return 0;
}

int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error)
{
    static const char *const places[] = {"", "../libexec/hdss/"};
    if (program_word(name) != NULL || (is_one_file() && strcmp(name, "hdss") == 0))
        return program_path(path) ? 0 : error_set(error, "the path of this program is not known: /proc is not mounted");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *candidate;
        if (asprintf(&candidate, "%s/%s%s", folder, places[i], name) < 0)
            return error_set(error, "out of memory for a path");
        bool found = realpath(candidate, path) != NULL && file_is_program(path);
        free(candidate);
        if (found)
            return 0;
    }
    return error_set(error, "the program %s is neither in %.200s nor in ../libexec/hdss beside it", name, folder);
}

static void modules_add(struct places *places, const char *folder)
{
    if (folder[0] == '\0' || strlen(folder) >= PATH_MAX)
        return;
    for (unsigned i = 0; i < places->count; i++)
        if (strcmp(places->folder[i], folder) == 0)
            return;
    strcpy(places->folder[places->count++], folder);
}

static size_t prefix_length(const char *own)
{
    static const char *const homes[] = {"/" HDSS_BINDIR, "/" HDSS_LIBEXECDIR "/hdss"};
    size_t length = strlen(own);
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        size_t tail = strlen(homes[i]);
        if (length > tail && strcmp(own + length - tail, homes[i]) == 0)
            return length - tail;
    }
    return 0;
}

static void add_places(struct places *places, const char *own)
{
    char in_prefix[2 * PATH_MAX];
    size_t prefix = prefix_length(own);
    modules_add(places, own);
    if (prefix > 0 && HDSS_LIBDIR[0] != '/') {
        snprintf(in_prefix, sizeof in_prefix, "%.*s/" HDSS_LIBDIR "/hdss", (int)prefix, own);
        modules_add(places, in_prefix);
    }
    modules_add(places, HDSS_MODULE_DIR);
}

static bool has_file(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int say_missing(const struct places *places, const char *name, struct error *error)
{
    char list[ERROR_TEXT_MAX] = "";
    size_t length = 0;
    for (unsigned i = 0; i < places->count && length < sizeof list; i++) {
        const char *separator = i == 0 ? "" : i + 1 < places->count ? ", " : " or ";
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.90s", separator, places->folder[i]);
    }
    return error_set(error, "there is no %.60s in %s", name, list);
}

static int find_in(const struct places *places, const char *name, char folder[PATH_MAX], struct error *error)
{
    if (is_one_file())
        return error_set(error, "this HDSS is one file, which loads no %.60s", name);
    for (unsigned i = 0; i < places->count; i++)
        if (has_file(places->folder[i], name)) {
            strcpy(folder, places->folder[i]);
            return 0;
        }
    return say_missing(places, name, error);
}

int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error)
{
    struct places places = {.count = 0};
    const char *given = getenv("HDSS_MODULES");
    if (given != NULL && given[0] != '\0')
        modules_add(&places, given);
    else
        add_places(&places, own);
    return find_in(&places, name, folder, error);
}

int modules_find(const char *name, char folder[PATH_MAX], struct error *error)
{
    char own[PATH_MAX];
    return modules_find_from(program_folder(own, NULL) == 0 ? own : "", name, folder, error);
}

int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error)
{
    struct places places = {.count = 0};
    char own[PATH_MAX];
    const char *given = getenv("HDSS_MODULES");
    if (given != NULL)
        modules_add(&places, given);
    add_places(&places, program_folder(own, NULL) == 0 ? own : "");
    return find_in(&places, name, folder, error);
}
