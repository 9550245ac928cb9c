/* SPDX-License-Identifier: MIT */
/* Messages for people. plain() makes words in them safe to print. */
#pragma once

#include <stdio.h>

/* Appends a newline. */
void say(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
