/* SPDX-License-Identifier: MIT */
/* gnuplot as a child that makes a picture of a script. */
#pragma once

#include "common/util/error.h"

#include <stdio.h>

/* -1 with one line that names the package where gnuplot is not in PATH. */
int gnuplot_check(struct error *error);

/* gnuplot's word for the kind of picture that the file's name ends in, .png or .svg; NULL for others. */
const char *gnuplot_terminal(const char *path);

/* Runs the script, which has a `set terminal` and no `set output`, and makes what it draws the file `path`, which is
 * replaced only then. The user's own settings of gnuplot are not read. -1 with one line. */
int gnuplot_draw(FILE *script, const char *path, struct error *error);

/* Writes `text` as a string of gnuplot's language: nothing in it is more than a letter. */
void gnuplot_quote(FILE *script, const char *text);
