/* SPDX-License-Identifier: MIT */
/* hdss-plot, a program in Python, as a child that makes a picture of data (deploy/python/hdss/_plot.py). */
#pragma once

#include "common/util/error.h"

#include <stdio.h>

/* "png" or "svg", as the file's name ends in it; NULL for others. */
const char *picture_format(const char *path);

/* Has the data drawn, and makes what comes of it the file `path`, which is replaced only then. -1 with one line. */
int picture_draw(FILE *data, const char *path, struct error *error);
