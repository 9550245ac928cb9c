/* SPDX-License-Identifier: MIT */
/* The master program: the daemon's machine, its runtime and its effects wired together. main() calls it and does
 * nothing else, so that tests can link all of it. Returns the exit status. */
#pragma once

int master_program(int argc, char **argv, const char *version);
