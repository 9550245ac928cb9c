/* SPDX-License-Identifier: MIT */
/* Modules of HDSS: shared objects that a program loads at run time. They are in the program's folder (in a build
 * folder), in the library folder of the program's prefix, which may have been moved, or in the configured installation
 * folder. If HDSS_MODULES is set, it replaces all of these folders. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

int program_folder(char folder[PATH_MAX], struct error *error);

/* Declares that all programs of HDSS are in this executable. `names`: the names of these programs except hdss, ended by
 * NULL; borrowed. */
void one_file_holds(const char *const *names);

/* Returns whether all programs of HDSS are in one executable, which loads no shared objects and resolves no host
 * names. */
bool is_one_file(void);

/* Returns the first command-line word by which a single-file build selects the program `name`; NULL if the program
 * needs no such word. */
const char *program_word(const char *name);

/* Finds the executable of a program of HDSS. In a single-file build it is this executable. Otherwise it is in `folder`,
 * the folder of the caller's program, or in ../libexec/hdss beside that folder. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Like modules_find(), but for a module that HDSS itself needs: HDSS_MODULES does not hide it. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
