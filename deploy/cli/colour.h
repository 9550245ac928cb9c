/* SPDX-License-Identifier: MIT */
/* Colours for the name before a message, and for the state of a run. The environment variable NO_COLOR turns them
 * off. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define COLOUR_ERROR "\033[1;31m"
#define COLOUR_NAME  "\033[1m"
#define COLOUR_GOOD  "\033[32m"
#define COLOUR_WARN  "\033[33m"
#define COLOUR_BAD   "\033[31m"
#define COLOUR_END   "\033[0m"

bool colour_is_on(int descriptor);

/* These two print "PROGRAM: TEXT" on standard error in one write, after plain() has made the text safe for a
 * terminal. */
void say_error(const char *program, const char *text);
void say_note(const char *program, const char *text);
