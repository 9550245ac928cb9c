/* Small files that a program reads or writes whole. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* The file's text, NUL-terminated; the caller frees it. NULL with one line. At most FILE_READ_MAX bytes. */
#define FILE_READ_MAX (64u << 20)
char *file_read(const char *path, struct error *error);

/* Writes the file anew, by way of a temporary name beside it, so that no reader sees half of it. -1 with one line. */
int file_write(const char *path, const char *text, size_t length, struct error *error);

/* Whether file_write() can be expected to work, before a long run. -1 with one line. */
int file_check_writable(const char *path, struct error *error);
