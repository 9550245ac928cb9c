/* SPDX-License-Identifier: MIT */
/* Commands in separate Python programs: `hdss NAME` runs hdss-NAME, which is beside this program or in its libexec
 * folder. hdss-NAME --complete WORD ... completes the last word, like `hdss complete`. */
#pragma once

/* Executes hdss-NAME with these words, the first of which is NAME. Returns only on failure. */
void outside_exec(char *const *argv);
