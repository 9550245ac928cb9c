/* SPDX-License-Identifier: MIT */
/* Kernels of a user that another process loads and describes, a helper, so that nothing of them runs in who only has to
 * know what their loop is: the commands of `hdss` and the supermaster. Their describe() and check() ask that process;
 * whatever becomes of it is one line of an error. It is begun with the first question, and ends with ask_end(), or with
 * the process that asks. */
#pragma once

#include "common/config/params.h"

#include <stdint.h>

/* Loads kernels as kernel_loader does, those of a user by ask_load() where the job wants them isolated. */
extern const struct kernel_loader asking_loader;

/* Has a helper load the kernel. Where there is no program for that it is loaded here, unless it `must` not be. The
 * kernel lives as long as this process; only the one that was loaded last may be described and checked. -1 with one
 * line. */
int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);

/* The kernel of that name for who shows it or counts its iterations: one of a user is loaded by ask_load(). -1 with one
 * line. */
int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Ends the helper, if there is one. The kernel can still be described: that begins another one. */
void ask_end(void);

/* For tests: the program that answers in the place of hdss-helper, and how long it has. */
void ask_set(const char *program, uint64_t limit_ns);
