/* SPDX-License-Identifier: MIT */
/* The internal command by which the Python program hdss-study asks about options and kernels, and makes runs. */
#pragma once

/* Commit of the source; "unknown" if it was built without git and not from an archive made by git. */
extern const char hdss_commit[];

/* `hdss for-study` answers questions, and `hdss for-study SECONDS run|simulate WORD...` makes a run: see for_study.c.
 */
int command_for_study(int argc, char **argv);
