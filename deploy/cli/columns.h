/* SPDX-License-Identifier: MIT */
/* The room that standard output has for a line. */
#pragma once

#define COLUMNS_MIN  40
#define COLUMNS_NONE 4000 /* where no terminal cuts lines */

/* Columns of the terminal; what goes elsewhere is not cut. */
unsigned columns_of_output(void);
