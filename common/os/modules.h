/* SPDX-License-Identifier: MIT */
/* Modules of HDSS are shared objects that a program loads while it runs. They lie beside the program, as in a build
 * folder; in the library folder of the prefix that the program stands in, which may have been moved since the
 * installation; or where HDSS was configured to be installed. HDSS_MODULES names one folder instead of all of them. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* The folder of the running program, without links. -1 with one line. */
int program_folder(char folder[PATH_MAX], struct error *error);

/* Finds a program of the suite for one in the folder: beside it, or where a distribution puts programs that are not for
 * people. -1 with one line. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

/* The first folder that has the module. -1 with one line that says where it was looked for. */
int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Finds a module that HDSS runs on, which HDSS_MODULES may name a folder of but does not hide. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

/* Finds the module as modules_find() does, for a program in the folder `own`; "" where its folder is not known. */
int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
