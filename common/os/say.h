/* SPDX-License-Identifier: MIT */
/* Prints a line for people. plain() makes the words safe to print, and a newline is appended. */
#pragma once

#include <stdio.h>

void say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
