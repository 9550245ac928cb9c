/* SPDX-License-Identifier: MIT */
/* Reading and writing files completely. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the content of a file with a final NUL; the caller frees it. Fails for files above FILE_READ_MAX bytes. */
#define FILE_READ_MAX (64u << 20)
char *file_read(const char *path, struct error *error);

/* Writes a temporary file and renames it to `path`. Readers see the old file or the complete new file, never a part. */
int file_write(const char *path, const char *text, size_t length, struct error *error);

/* Like file_write(), but the file has mode 0644 whatever the umask is. */
int file_publish(const char *path, const char *text, size_t length, struct error *error);

/* Checks whether file_write() will probably succeed, so that a long run does not fail at its end. Creates nothing. */
int file_check_writable(const char *path, struct error *error);

int file_check_folder(const char *path, struct error *error);

int file_refuse_folder(const char *path, const char *name, struct error *error);

int file_make_folders(const char *path, struct error *error);

/* Opens a folder. Fails unless the folder belongs to this user and only this user can write to it. Otherwise other
 * users could plant files in it. */
int file_open_own_folder(const char *path, struct error *error);

/* Opens a file for writing. `flags` are additional flags of open(), such as O_CREAT. If the file is a pipe without a
 * reader, returns -1 with ENXIO at once. */
int file_open_to_write(const char *path, int flags);

const char *file_write_error(int reason);

/* These functions read or write exactly `size` bytes at `offset`. They return 0, FILE_ENDS if the file is shorter, or
 * -1 with errno. */
#define FILE_ENDS 1
int file_read_at(int fd, void *bytes, size_t size, uint64_t offset);
int file_write_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* Returns the folder of temporary files: TMPDIR, or /tmp if TMPDIR is not set. */
const char *file_temporary(void);

/* Opens /dev/null or, if it does not exist, an empty file in memory. Returns -1 with errno on failure. */
int file_open_nothing(void);

int file_sync(const char *path);
int file_sync_name(const char *path);

/* Both functions lock a file until it is closed. file_lock() tries for up to a second, because a killed process may
 * keep its lock until the kernel has cleaned up. Both functions return false if another process holds the lock. They
 * return true if the file system has no locks. On a network file system `fd` must be open for writing. */
bool file_lock(int fd);
bool file_lock_now(int fd);

bool file_is_at(int fd, const char *path);

/* Opens a regular file and locks it like file_lock(). If another process replaces the file before it is locked, opens
 * the new file. Returns the descriptor, or -1 with errno: EWOULDBLOCK if another process holds the lock, EINVAL for
 * other kinds of files. */
int file_open_locked(const char *path, int flags);

/* Opens /dev/null for each closed standard stream. The descriptor has the wrong mode for the stream, so reads and
 * writes of the stream still fail. Without this call, the next opened file would get the number of the stream, and
 * printed text would go to that file. Call it at the beginning of a program. */
void file_hold_standard(void);

/* Closes all descriptors from `first` on, even without close_range() (kernel 5.9). Async-signal-safe. */
void file_close_from(int first);

bool file_is_program(const char *path);
