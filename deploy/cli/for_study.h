/* SPDX-License-Identifier: MIT */
/* The internal command by which the Python program hdss-study asks about options and kernels, and makes runs. */
#pragma once

/* Commit of the source; "unknown" if it was built neither with git nor from an archive that git has made. */
extern const char hdss_commit[];

int command_for_study(int argc, char **argv);
