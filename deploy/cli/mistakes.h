/* SPDX-License-Identifier: MIT */
/* Common mistakes of people who know other programs: the messages say what to type here. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"

#include <stdbool.h>

/* Sets the error for an unknown command argv[0]. It may be a kernel, a technique, a file, or an option before the
 * command. Always returns -1. */
int mistakes_refuse_command(int argc, char *const *argv, struct error *error);

/* True if `word` names a program or is a whole command line, unless it is a kernel's name. */
bool mistakes_is_command(const char *word);

/* Must be called after the command line was refused. For a common mistake, replaces the error by one that says what to
 * type. Such a mistake is: a parameter of the kernel was written as an option or the other way round, an option has the
 * name that another launcher gives it or lacks its value, or a file or program stands in the place of the kernel.
 * Always returns -1. */
int mistakes_explain(const struct options *options, int argc, char *const *argv, struct error *error);
