/* SPDX-License-Identifier: MIT */
/* Modules of HDSS: shared objects that a program loads at run time. They are in one of three folders: the folder of the
 * program (in a build folder), the library folder of the program's prefix, or the configured installation folder. The
 * prefix may have been moved. If HDSS_MODULES is set, it replaces these three folders. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

int program_folder(char folder[PATH_MAX], struct error *error);

/* Declares that all programs of HDSS are in this executable. `names` are the names of these programs except hdss, ended
 * by NULL; borrowed. */
void one_file_holds(const char *const *names);

/* Returns whether all programs of HDSS are in one executable, which loads no shared objects and resolves no host
 * names. */
bool is_one_file(void);

/* In a single-file build, the first word of the command line may select a program. Returns this word for the program
 * `name`; NULL if the program needs no such word. */
const char *program_word(const char *name);

/* Finds the executable of a program of HDSS. In a single-file build this is the running executable. Otherwise it is in
 * `folder`, the folder of the caller's program, or in `folder`/../libexec/hdss. */
int program_find(const char *folder, const char *name, char path[PATH_MAX], struct error *error);

int modules_find(const char *name, char folder[PATH_MAX], struct error *error);

/* Like modules_find(), but for a module that HDSS itself needs. Such a module is found even if HDSS_MODULES is set. */
int modules_find_own(const char *name, char folder[PATH_MAX], struct error *error);

int modules_find_from(const char *own, const char *name, char folder[PATH_MAX], struct error *error);
