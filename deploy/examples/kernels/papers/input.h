/* SPDX-License-Identifier: MIT */
/* Reads the files that kernels need. */
#pragma once

#include "common/util/error.h"

#include <stddef.h>

/* Returns the contents of a regular file, which the caller frees; NULL on failure. */
char *input_read(const char *path, size_t *size, struct error *error);
