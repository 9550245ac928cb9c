/* SPDX-License-Identifier: MIT */
/* Common mistakes of people who know other programs: the messages say what to type here. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Sets the error for argv[0], which is no command. It may be a kernel, a technique, a file, or an option. Always
 * returns -1. */
int mistakes_refuse_command(int argc, char *const *argv, struct error *error);

/* True if `word` names a program or is a whole command line, unless it is a kernel's name. */
bool mistakes_is_command(const char *word);

/* Must be called after the command line was refused. If this was a common mistake, replaces the error by one that says
 * what to type. Always returns -1. The common mistakes:
 *    a parameter of the kernel is written as an option, or an option as a parameter;
 *    an option lacks its value, or has the name that another launcher gives it;
 *    a file or program stands in the place of the kernel. */
int mistakes_explain(const struct options *options, int argc, char *const *argv, struct error *error);
