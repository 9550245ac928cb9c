/* SPDX-License-Identifier: MIT */
/* Modules of HDSS are shared objects that a program loads while it runs. They lie beside the program, as in a build
 * folder; in the library folder of the prefix that the program stands in, which may have been moved since the
 * installation; or where HDSS was configured to be installed. HDSS_MODULES names one folder instead of all of them. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

/* The folder of the running program, without links. -1 with one line. */
int program_folder(char folder[PATH_MAX], struct error *error);

/* --- one file: all programs in one that is linked statically (deploy/one) --- */

/* Notes that this process runs such a file. `names`: the programs in it beside hdss, ended by NULL; borrowed. */
void one_file_holds(const char *const *names);

/* True in such a file, which loads no shared objects and looks up no names. */
bool is_one_file(void);

/* The word that has to come first on the command line of this file to make it the program of that name. NULL: the
 * program is a file of its own. */
const char *program_word(const char *name);

/* --- programs and modules --- */

/* Finds a program of the suite for one in the folder: beside it, or where a distribution puts programs that are not for
 * people; or the own file if it has the program. -1 with one line. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

/* The first folder that has the module. -1 with one line that says where it was looked for. */
int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Finds a module that HDSS runs on, which HDSS_MODULES may name a folder of but does not hide. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

/* Finds the module as modules_find() does, for a program in the folder `own`; "" where its folder is not known. */
int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
