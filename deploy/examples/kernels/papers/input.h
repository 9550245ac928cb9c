/* SPDX-License-Identifier: MIT */
/* Files that kernels read. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* The whole of a regular file; the caller frees it. NULL with one line. */
char *input_read(const char *path, size_t *size, struct error *error);
