/* SPDX-License-Identifier: MIT */
/* `hdss study` is a program in Python, hdss-study. What it asks the tables and the kernels of HDSS, and the runs that
 * it makes, go through a command that is for it alone. */
#pragma once

/* The commit from which this program was built; "unknown" where neither git nor an archive of git's could tell. */
extern const char hdss_commit[];

/* `hdss for-study` answers questions, and `hdss for-study SECONDS run|simulate WORD...` makes a run: see for_study.c.
 */
int command_for_study(int argc, char **argv);
