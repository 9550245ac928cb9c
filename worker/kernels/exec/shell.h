/* SPDX-License-Identifier: MIT */
/* Which program reads a command line that is for a shell, and which lines are for one. */
#pragma once

#include <stdbool.h>

#define SHELL_AUTO "auto" /* a shell runs the lines that need one */
#define SHELL_NO   "no"   /* a shell runs no line */
#define SHELL_YES  "yes"  /* a shell runs each line */

/* The path of the shell for `wish`, one of the words above, or the name or path of a program. Without a name it is
 * $SHELL if that is bash, ksh or zsh, else bash, else /bin/sh. The text lasts until the next call or a change of the
 * environment. */
const char *shell_path(const char *wish);

/* True for a shell that reads what bash reads, by the name of its program. */
bool shell_is_large(const char *path);

/* True for a word above, or a program whose quotes are known: a value in a line of another would not be safe. */
bool shell_is_known(const char *wish);

/* The programs, for errors. */
#define SHELL_ACCEPTED "bash, dash, fish, ksh, mksh, sh, zsh, or a path that ends so"

/* True for fish, in whose single quotes a backslash is one. */
bool shell_is_fish(const char *path);

/* True if only a shell can run the command `name`: a keyword or builtin without a program, such as `cd` and `[[`, or a
 * function that bash has exported. */
bool shell_has(const char *name);
