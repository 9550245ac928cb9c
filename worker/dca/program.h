/* SPDX-License-Identifier: MIT */
/* The worker in a launch without a supermaster. */
#pragma once

/* Returns the exit status. For a command line with --dca. */
int dca_program(int argc, char **argv, const char *version);
