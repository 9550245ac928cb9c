/* SPDX-License-Identifier: MIT */
/* The worker in a launch without a supermaster. */
#pragma once

/* For a command line with --dca. Returns the exit status. */
int dca_program(int argc, char **argv, const char *version);
