/* SPDX-License-Identifier: MIT */
/* Draws pictures by hdss-plot, a Python program (deploy/python/hdss/_plot.py). */
#pragma once

#include "common/util/error.h"

#include <stdio.h>

/* "png" or "svg", by the name of the file; NULL: another format. */
const char *picture_format(const char *path);

/* Draws the data to `path`. An existing file is replaced only on success. */
int picture_draw(FILE *data, const char *path, struct error *error);
