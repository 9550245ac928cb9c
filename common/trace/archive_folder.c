/* SPDX-License-Identifier: MIT */
/* See archive_folder.h. */
#include "common/trace/archive_folder.h"

#include "common/os/files.h"
#include "common/util/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file_of_archive(const char *name)
{
    return strcmp(name, ARCHIVE_NAME ".otf2") == 0 || strcmp(name, ARCHIVE_NAME ".def") == 0 ||
           strcmp(name, ARCHIVE_NAME ".marker") == 0;
}

/* A number and an ending. */
static bool is_file_of_location(const char *name)
{
    const char *ending = name;
    while (isdigit((unsigned char)*ending))
        ending++;
    return ending > name && (strcmp(ending, ".evt") == 0 || strcmp(ending, ".def") == 0);
}

static bool is_a_folder(int parent, const char *name)
{
    struct stat status;
    return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* Opens a folder, not by way of a link. NULL where it cannot be. */
static DIR *open_known_folder(int parent, const char *name)
{
    const int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    if (folder == NULL && file >= 0)
        close(file);
    return folder;
}

/* The next name in the folder but . and .. ; NULL behind the last one. */
static const char *next_name(DIR *folder)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return entry->d_name;
    return NULL;
}

/* True where all in the folder has a name that `is_known`, or is the folder of the locations where `has_locations`. */
static bool has_known_names(int parent, const char *name, bool (*is_known)(const char *name), bool has_locations)
{
    DIR *folder = open_known_folder(parent, name);
    bool known = folder != NULL;
    for (const char *entry; known && (entry = next_name(folder)) != NULL;)
        known = has_locations && strcmp(entry, ARCHIVE_NAME) == 0
                    ? has_known_names(dirfd(folder), entry, is_file_of_location, false)
                    : is_known(entry) && !is_a_folder(dirfd(folder), entry);
    if (folder != NULL)
        closedir(folder);
    return known;
}

static bool is_empty(const char *path)
{
    DIR *folder = open_known_folder(AT_FDCWD, path);
    const bool empty = folder != NULL && next_name(folder) == NULL;
    if (folder != NULL)
        closedir(folder);
    return empty;
}

static bool is_archive(const char *path)
{
    struct text anchor;
    text_init(&anchor);
    text_add(&anchor, "%s/" ARCHIVE_NAME ".otf2", path);
    char *name = text_take(&anchor);
    const bool has_anchor = name != NULL && access(name, F_OK) == 0;
    free(name);
    return has_anchor && has_known_names(AT_FDCWD, path, is_file_of_archive, true);
}

int archive_folder_check(const char *path, struct error *error)
{
    struct stat status;
    if (lstat(path, &status) == 0 && !(S_ISDIR(status.st_mode) && (is_empty(path) || is_archive(path))))
        return error_set(error,
                         "%.200s: it is there, and is no OTF2 archive of an earlier run, which would be replaced; "
                         "accepted: another name",
                         path);
    return file_check_folder(path, error);
}

/* --- removing --- */

/* Removes the files of known names in a folder; those of others stay. */
static void remove_known_files(int parent, const char *name, bool (*is_known)(const char *name))
{
    DIR *folder = open_known_folder(parent, name);
    for (const char *entry; folder != NULL && (entry = next_name(folder)) != NULL;)
        if (is_known(entry))
            unlinkat(dirfd(folder), entry, 0);
    if (folder != NULL)
        closedir(folder);
}

int archive_folder_remove(const char *path, struct error *error)
{
    struct stat status;
    if (lstat(path, &status) < 0 && errno == ENOENT)
        return 0;
    if (!has_known_names(AT_FDCWD, path, is_file_of_archive, true))
        return error_set(error, "%.300s: it is there, and is not what a trace leaves", path);
    const int parent = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent >= 0) {
        remove_known_files(parent, ARCHIVE_NAME, is_file_of_location);
        unlinkat(parent, ARCHIVE_NAME, AT_REMOVEDIR);
        close(parent);
    }
    remove_known_files(AT_FDCWD, path, is_file_of_archive);
    return rmdir(path) == 0 ? 0 : error_set(error, "%.300s: cannot be removed: %.100s", path, strerror(errno));
}

/* --- replacing --- */

/* A folder that is not empty cannot be replaced in one step: the earlier archive is renamed first. */
static int replace_archive(const char *unfinished, const char *path, const char *earlier, struct error *error)
{
    if (archive_folder_check(path, error) < 0 || archive_folder_remove(earlier, error) < 0)
        return -1;
    const bool is_there = rename(path, earlier) == 0;
    if (rename(unfinished, path) == 0)
        return is_there ? archive_folder_remove(earlier, error) : 0;
    error_set(error, "%.300s: %.100s", path, strerror(errno));
    if (is_there)
        rename(earlier, path);
    return -1;
}

int archive_folder_place(const char *unfinished, const char *path, struct error *error)
{
    struct text name;
    text_init(&name);
    text_add(&name, "%s.old.part", path);
    char *earlier = text_take(&name);
    const int result = earlier != NULL ? replace_archive(unfinished, path, earlier, error)
                                       : error_set(error, "out of memory for a trace");
    free(earlier);
    return result;
}
