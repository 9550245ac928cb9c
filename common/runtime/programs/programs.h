/* SPDX-License-Identifier: MIT */
/* The three programs: each daemon's machine, its runtime and its effects wired together. main() calls these and nothing
 * else, so that tests can link all of it. They return the exit status. */
#pragma once

int supermaster_program(int argc, char **argv, const char *version);
int master_program(int argc, char **argv, const char *version);
int worker_program(int argc, char **argv, const char *version);
