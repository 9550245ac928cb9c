/* SPDX-License-Identifier: MIT */
/* Kernels of a user that another process loads and describes, a helper, so that nothing of them runs in who only has to
 * know what their loop is: the commands of `hdss` and the supermaster. Their describe() and check() ask that process;
 * whatever becomes of it is one line of an error. It is begun with the first question, and ends with ask_end(), or with
 * the process that asks. */
#pragma once

#include "common/config/params.h"

#include <stdbool.h>
#include <stdint.h>

/* Loads kernels as kernel_loader does, those of a user by ask_load() where the job wants them isolated. */
extern const struct kernel_loader asking_loader;

/* Has a helper load the kernel. Where there is no program for that it is loaded here, unless it `must` not be. The
 * kernel lives as long as who asks; only the one that was loaded last may be described and checked. -1 with one
 * line. */
int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);

/* The kernel of that name for who shows it or counts its iterations: one of a user is loaded by ask_load(). -1 with one
 * line. */
int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Ends the helper, if there is one. The kernel can still be described: that begins another one. */
void ask_end(void);

/* Who asks for one of several jobs of a process. What another job has been told of a kernel says nothing to this one:
 * its folder may have another kernel of the same name. `limit_ns` is the time for each question. A kernel that is not
 * loaded after `patience_ns` is not waited for: ask_load() fails, goes on loading, and is to be called once more when
 * the kernel is there. NULL when memory is out. */
struct asker;
struct asker *ask_new(uint64_t limit_ns, uint64_t patience_ns);

/* Ends the helper, and forgets the kernels, which nobody may use any more; NULL is fine. */
void ask_free(struct asker *asker);

/* Has this one ask from now on; NULL: that of the process. */
void ask_use(struct asker *asker);

/* True where ask_load() has failed because the kernel is not loaded yet; whether it is by now, or cannot be; and what
 * is readable when that may have changed. */
bool ask_is_loading(void);
bool ask_has_loaded(void);
int ask_socket(void);

/* For tests: the program that answers in the place of hdss-helper, and how long it has. */
void ask_set(const char *program, uint64_t limit_ns);
