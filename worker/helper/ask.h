/* SPDX-License-Identifier: MIT */
/* Loads and describes user kernels in a helper process, so that no user code runs in processes that only need to know
 * the loop: the commands of `hdss` and the supermaster. Calls of describe() and check() are forwarded to the helper;
 * whatever happens to it becomes an error line. The helper starts at the first question and ends with ask_end() or with
 * the asking process. */
#pragma once

#include "common/config/params.h"

#include <stdbool.h>
#include <stdint.h>

/* Like kernel_loader, but user kernels that the job wants isolated are loaded by ask_load(). */
extern const struct kernel_loader asking_loader;

/* Loads the kernel in a helper. If there is no helper program, it is loaded here, unless `must` forbids that. The
 * kernel lives as long as the asker; only the latest one may be described and checked. */
int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);

/* For showing a kernel or counting its iterations: user kernels are loaded by ask_load(). */
int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Ends the helper, if there is one. The kernel can still be described, by another helper. */
void ask_end(void);

/* An asker for one of several jobs of a process. Jobs share no answers, because their folders may have different
 * kernels of the same name. `limit_ns`: time limit of each question. If a kernel is not loaded after `patience_ns`,
 * ask_load() fails, loading continues, and it is to be called again later. NULL if memory runs out. */
struct asker;
struct asker *ask_new(uint64_t limit_ns, uint64_t patience_ns);

/* Ends the helper and releases the kernels; NULL is allowed. */
void ask_free(struct asker *asker);

/* Makes this the current asker; NULL: the process's. */
void ask_use(struct asker *asker);

/* True if ask_load() failed because the kernel is still loading; true if loading has finished or failed since; and the
 * socket that becomes readable when that may be so. */
bool ask_is_loading(void);
bool ask_has_loaded(void);
int ask_socket(void);

/* For tests: another program instead of hdss-helper, and its time limit. */
void ask_set(const char *program, uint64_t limit_ns);
