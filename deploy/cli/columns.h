/* SPDX-License-Identifier: MIT */
/* The width of standard output. */
#pragma once

#define COLUMNS_MIN  40
#define COLUMNS_NONE 4000

unsigned columns_of_output(void);
