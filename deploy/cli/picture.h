/* SPDX-License-Identifier: MIT */
/* Draws pictures by hdss-plot, a Python program (deploy/python/hdss/_plot.py). */
#pragma once

#include "common/util/error.h"

#include <stdio.h>

/* "png" or "svg", from the file name; NULL for others. */
const char *picture_format(const char *path);

/* Draws the data to the file `path`, which is replaced only on success. */
int picture_draw(FILE *data, const char *path, struct error *error);
