/* SPDX-License-Identifier: MIT */
/* Line width of standard output. */
#pragma once

#define COLUMNS_MIN  40
#define COLUMNS_NONE 4000 /* if standard output is no terminal */

/* Columns of the terminal, or COLUMNS_NONE. */
unsigned columns_of_output(void);
