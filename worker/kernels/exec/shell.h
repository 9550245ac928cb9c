/* SPDX-License-Identifier: MIT */
/* Which command lines need a shell, and which program reads these lines. */
#pragma once

#include <stdbool.h>

#define SHELL_AUTO "auto"
#define SHELL_NO   "no"
#define SHELL_YES  "yes"

/* Returns the path of the shell for `wish`: one of the words above, or the name or path of a program. For one of these
 * words, $SHELL is used if it is bash, ksh or zsh; otherwise bash; if there is no bash, /bin/sh. The path is valid
 * until the next call or a change of the environment. */
const char *shell_path(const char *wish);

bool shell_is_large(const char *path);

/* True if `wish` is one of the words above, or a program whose quoting rules are known. Inserting values into a line
 * for another program would not be safe. */
bool shell_is_known(const char *wish);

#define SHELL_ACCEPTED "bash, dash, fish, ksh, mksh, sh, zsh, or a path that ends so"

bool shell_is_fish(const char *path);

/* True if only a shell can run the command `name`. It is then a keyword, a function that bash has exported, or a
 * builtin that is not also a program, such as `cd`. */
bool shell_has(const char *name);
