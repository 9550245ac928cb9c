/* SPDX-License-Identifier: MIT */
/* Lines for people. Words from outside in them are shown as plain() does. */
#pragma once

#include <stdio.h>

/* Prints a line, to which it adds its newline. */
void say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
