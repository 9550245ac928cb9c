/* SPDX-License-Identifier: MIT */
/* Small files that a program reads or writes whole, and pieces of large ones of which nothing is to be left out. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file's text, NUL-terminated; the caller frees it. NULL with one line. At most FILE_READ_MAX bytes. */
#define FILE_READ_MAX (64u << 20)
char *file_read(const char *path, struct error *error);

/* Writes the file anew, by way of a temporary name beside it, so that no reader sees half of it. -1 with one line. */
int file_write(const char *path, const char *text, size_t length, struct error *error);

/* The same for a file that every user may read (0644), whatever the umask is. */
int file_publish(const char *path, const char *text, size_t length, struct error *error);

/* Looks before a long run whether file_write() can be expected to work, and makes nothing. -1 with one line. */
int file_check_writable(const char *path, struct error *error);

/* Looks whether files can be made in the folder of this one, be it there or not. -1 with one line that names the
 * folder. */
int file_check_folder(const char *path, struct error *error);

/* -1 with one line where there is a folder of that name; `name` is a file's, for an example of what is accepted. */
int file_refuse_folder(const char *path, const char *name, struct error *error);

/* Makes the folder, and those above it where they are not there, for the user alone. -1 with one line. */
int file_make_folders(const char *path, struct error *error);

/* Opens a folder that belongs to this user, and in which nobody else may write: others could put files into its place
 * that are then believed, or written. -1 with one line. */
int file_open_own_folder(const char *path, struct error *error);

/* Opens a file for writing, with further flags of open(); O_CREAT makes it. A pipe without a reader is not waited for:
 * -1 with ENXIO. */
int file_open_to_write(const char *path, int flags);

/* Words for the errno of file_open_to_write(). */
const char *file_write_error(int reason);

/* Reads or writes all `size` bytes at `offset` of an open file, however many calls that takes. 0, or -1 with errno;
 * reading returns FILE_ENDS where the file is shorter. */
#define FILE_ENDS 1
int file_read_at(int fd, void *bytes, size_t size, uint64_t offset);
int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* Opens /dev/null for reading and writing, or an empty file in memory if there is no /dev/null. -1 with errno. */
int file_open_nothing(void);

/* Brings a file or a folder to the disk; the file's name, that is the folder that it lies in. 0, or -1 with errno. */
int file_sync(const char *path);
int file_sync_name(const char *path);

/* Locks a file for as long as it stays open here; on a network the descriptor must be one to write by. A file system
 * without locks locks nothing. False where another process holds the lock and goes on to: one that was killed a moment
 * ago may until the kernel has taken it away, and is waited for. */
bool file_lock(int fd);
bool file_lock_now(int fd); /* does not wait */

/* True if the path leads to the open file. */
bool file_is_at(int fd, const char *path);

/* Opens a regular file with `flags` and locks it as file_lock() does. If it was removed or replaced while its lock was
 * waited for, what the path leads to by then is opened. The descriptor, the caller's to close, or -1 with errno:
 * EWOULDBLOCK if another process holds the lock, EINVAL if the file is not a regular one. */
int file_open_locked(const char *path, int flags);

/* Closes all descriptors from this one on: one by one where the kernel (before 5.9) cannot do it at once.
 * Calls nothing that could take a lock or allocate. */
void file_close_from(int first);

/* A regular file that may be executed. */
bool file_is_program(const char *path);
