/* SPDX-License-Identifier: MIT */
/* Lines for people. plain() makes their words safe to print, and the newline is appended. */
#pragma once

#include <stdio.h>

void say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
