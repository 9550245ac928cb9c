/* SPDX-License-Identifier: MIT */
/* Commands that are programs of their own, in Python: `hdss NAME` runs hdss-NAME, which is beside this program or in
 * its folder of libexec. hdss-NAME --complete WORD ... prints what completes the last word, as `hdss complete` does. */
#pragma once

/* Becomes hdss-NAME with these words, of which the first is NAME. Returns if that cannot be run. */
void outside_exec(char *const *argv);
