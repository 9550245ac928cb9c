/* SPDX-License-Identifier: MIT */
/* Shells: see shell.h. */
#include "worker/kernels/exec/shell.h"
#include "worker/kernels/exec/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static bool shell_is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

static const char *program_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool shell_is_large(const char *path)
{
    static const char *const large[] = {"bash", "ksh", "ksh93", "mksh", "zsh", NULL};
    return is_one_of(program_of(path), large);
}

bool shell_is_known(const char *wish)
{
    static const char *const known[] = {"ash", "dash", "fish", "sh", SHELL_AUTO, SHELL_NO, SHELL_YES, NULL};
    return shell_is_large(wish) || is_one_of(program_of(wish), known);
}

bool shell_is_fish(const char *path)
{
    return strcmp(program_of(path), "fish") == 0;
}

static const char *users_shell(void)
{
    const char *path = getenv("SHELL");
    return path != NULL && strchr(path, '/') != NULL && shell_is_large(path) && shell_is_program(path) ? path : NULL;
}

static const char *default_shell(void)
{
    const char *shell = users_shell();
    if (shell == NULL)
        shell = shell_is_program("/bin/bash") ? "/bin/bash" : search_in_path("bash");
    if (shell == NULL)
        shell = "/bin/sh";
    return shell;
}

const char *shell_path(const char *wish)
{
    const char *found = NULL;
    if (strcmp(wish, SHELL_AUTO) == 0 || strcmp(wish, SHELL_NO) == 0 || strcmp(wish, SHELL_YES) == 0)
        return default_shell();
    if (strchr(wish, '/') == NULL)
        found = search_in_path(wish);
    return found != NULL ? found : wish;
}

static bool shell_exports(const char *name)
{
    char variable[300];
    const int length = snprintf(variable, sizeof variable, "BASH_FUNC_%s%%%%", name);
    return name[0] != '\0' && length < (int)sizeof variable && getenv(variable) != NULL;
}

bool shell_has(const char *name)
{
    static const char *const words[] = {
        "!",    ".",        ":",        "[[",     "readarray", "times",   "jobs",  "dirs",    "enable", "alias",
        "bg",   "builtin",  "case",     "cd",     "command",   "declare", "eval",  "exec",    "exit",   "export",
        "fg",   "for",      "function", "hash",   "if",        "let",     "local", "mapfile", "popd",   "pushd",
        "read", "readonly", "return",   "select", "set",       "shift",   "shopt", "source",  "time",   "trap",
        "type", "typeset",  "ulimit",   "umask",  "unalias",   "unset",   "until", "wait",    "while",  NULL};
    return is_one_of(name, words) || shell_exports(name);
}
