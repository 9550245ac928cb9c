/* SPDX-License-Identifier: MIT */
/* Colour on terminals, for the name before a message and the state of a run. NO_COLOR in the environment turns it off.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define COLOUR_ERROR "\033[1;31m"
#define COLOUR_NAME  "\033[1m"
#define COLOUR_GOOD  "\033[32m"
#define COLOUR_WARN  "\033[33m"
#define COLOUR_BAD   "\033[31m"
#define COLOUR_END   "\033[0m"

/* True for a terminal that shows colours and a user who wants them. */
bool colour_is_on(int descriptor);

/* Prints "PROGRAM: TEXT" as a line on standard error, by one write: an error, or a note. plain() makes the text safe to
 * print. */
void say_error(const char *program, const char *text);
void say_note(const char *program, const char *text);
