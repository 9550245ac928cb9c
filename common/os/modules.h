/* SPDX-License-Identifier: MIT */
/* Modules of HDSS: shared objects that a program loads at run time. They are next to the program (build folder), in the
 * library folder of its prefix, which may have been moved, or in the configured installation folder. HDSS_MODULES
 * replaces all of these. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

/* The folder of the running program, with links resolved. */
int program_folder(char folder[PATH_MAX], struct error *error);

/* Declares that this process runs such a file. `names`: its programs other than hdss, ended by NULL; borrowed. */
void one_file_holds(const char *const *names);

/* True in a single-file build, which loads no shared objects and resolves no host names. */
bool is_one_file(void);

/* First command-line word that selects the program in a single-file build. NULL: a file of its own. */
const char *program_word(const char *name);

/* Finds a program of the suite for one in `folder`: there, in the libexec folder, or in the own single file. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

/* Finds the first folder with the module. The error lists the folders searched. */
int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Like modules_find(), for a module that HDSS needs itself, which HDSS_MODULES does not hide. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

/* modules_find() for a program in the folder `own`, "" if unknown. */
int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
