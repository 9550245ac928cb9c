/* SPDX-License-Identifier: MIT */
/* Lines for people. plain() makes the words in them safe to print. */
#pragma once

#include <stdio.h>

/* Prints the line and a newline. */
void say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
