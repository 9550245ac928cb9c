/* SPDX-License-Identifier: MIT */
/* Modules of HDSS: shared objects that a program loads at run time. They are next to the program (in a build
 * folder), in the library folder of the program's prefix, which may have been moved, or in the configured
 * installation folder. HDSS_MODULES replaces all of these places. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

int program_folder(char folder[PATH_MAX], struct error *error);

/* Declares that this process runs a single-file build. `names`: the programs in it except hdss, ended by NULL;
 * borrowed. */
void one_file_holds(const char *const *names);

/* Returns true in a single-file build, which loads no shared objects and resolves no host names. */
bool is_one_file(void);

/* Returns the first command-line word, which selects the program in a single-file build; NULL: the program has its
 * own file. */
const char *program_word(const char *name);

/* Finds a program of the suite: in `folder`, which has the caller's program, in the libexec folder, or in its own
 * single file. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Like modules_find(), but for a module that HDSS itself needs: HDSS_MODULES does not hide it. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
