/* SPDX-License-Identifier: MIT */
/* Corrects common mistakes of people who know other programs: the messages say what to type here. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Writes the message for an unknown command argv[0]: a kernel, a technique, a file, or an option before the command.
 * Always returns -1. */
int mistakes_refuse_command(int argc, char *const *argv, struct error *error);

/* True for a program or a command line in one word that is no kernel's name. */
bool mistakes_is_command(const char *word);

/* Called after the line was refused: for common mistakes replaces the error by one that says what to type: a kernel's
 * parameter written as an option or vice versa, an option name of another launcher, an option without its value, a file
 * or program instead of the kernel. Always returns -1. */
int mistakes_explain(const struct options *options, int argc, char *const *argv, struct error *error);
