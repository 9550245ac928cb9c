/* SPDX-License-Identifier: MIT */
/* Draws pictures by hdss-plot, a Python program (deploy/python/hdss/_plot.py). */
#pragma once

#include "common/util/error.h"

#include <stdio.h>

/* Returns "png" or "svg", by the ending of the name, or NULL. */
const char *picture_format(const char *path);

/* Draws the data to `path`. An existing file is replaced only on success. */
int picture_draw(FILE *data, const char *path, struct error *error);
