/* SPDX-License-Identifier: MIT */
/* A trace that is a folder, as libotf2 makes it: what is in it, replacing one, and removing one. Nothing is removed but
 * files of the names that an archive of HDSS has:
 *
 *     NAME.otf2/traces.otf2  traces.def  traces.marker  traces/LOCATION.evt  traces/LOCATION.def */
#pragma once

#include "common/util/error.h"

/* The name by which libotf2 calls what it makes. */
#define ARCHIVE_NAME "traces"

/* Says whether an archive can have this name: nothing is there, or an empty folder, or an archive, which will be
 * replaced. -1 with one line. */
int archive_folder_check(const char *path, struct error *error);

/* Removes an archive, or what there is of one that was not completed. None is fine. -1 with one line where something
 * else is there, which stays. */
int archive_folder_remove(const char *path, struct error *error);

/* Gives a complete archive its name; one that has it is removed. Where the process is killed meanwhile the earlier one
 * may be left as `path`.old.part. -1 with one line. */
int archive_folder_place(const char *unfinished, const char *path, struct error *error);
