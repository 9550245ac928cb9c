/* SPDX-License-Identifier: MIT */
/* Answers to what people type who know other programs: what they meant, as it is typed here. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"

#include <stdbool.h>

/* The line for the words behind `hdss` of which the first is no command: a kernel, a technique, a file, or an option
 * that stands before the command. `argv[0]` is the word. Always returns -1. */
int mistakes_refuse_command(int argc, char *const *argv, struct error *error);

/* True for a word that is no kernel's name, and one of a program, or a command line in one word. */
bool mistakes_is_command(const char *word);

/* Where the line was refused: replaces the error by one that says what to type, where it is one of the common mistakes:
 * a parameter of the kernel that is written as an option, or the other way round, an option by the name that other
 * launchers have for it, an option without its value, a file or a program in the place of the kernel. Always returns
 * -1. */
int mistakes_explain(const struct options *options, int argc, char *const *argv, struct error *error);
