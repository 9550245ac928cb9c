/* SPDX-License-Identifier: MIT */
/* Commands that are separate Python programs. `hdss NAME` runs hdss-NAME, which is beside this program or in its
 * libexec folder. `hdss-NAME --complete WORD...` completes the last word, as `hdss complete` does. */
#pragma once

/* Runs hdss-NAME with these words; the first one is NAME. Returns only if that fails. */
void outside_exec(char *const *argv);
