/* SPDX-License-Identifier: MIT */
/* Loads and describes user kernels in a helper process. So no user code runs in processes that only need to know the
 * loop: the commands of `hdss`, and the supermaster. Calls of describe() and check() are forwarded to the helper;
 * whatever happens to it becomes an error line. The helper starts at the first question and ends at ask_end() or with
 * the asking process. */
#pragma once

#include "common/config/params.h"

#include <stdbool.h>
#include <stdint.h>

/* Like kernel_loader, but user kernels that the job wants isolated are loaded by ask_load(). */
extern const struct kernel_loader asking_loader;

/* Loads the kernel in a helper. If there is no helper program, the kernel is loaded in this process; if `must`, this is
 * an error instead. The kernel is freed with the asker. Only the latest one may be described and checked. */
int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);

/* Finds a kernel to show it or to count its iterations. User kernels are loaded by ask_load(). */
int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Ends the helper, if there is one. If the kernel is described again, another helper starts. */
void ask_end(void);

/* Makes an asker for one of several jobs of a process. Jobs share no answers, because their folders may have different
 * kernels of the same name. `limit_ns`: time limit of each question. If a kernel is not loaded after `patience_ns`,
 * ask_load() fails, loading continues, and ask_load() is to be called again later. Returns NULL if memory runs out. */
struct asker;
struct asker *ask_new(uint64_t limit_ns, uint64_t patience_ns);

void ask_free(struct asker *asker);

/* Makes `asker` the current one; NULL: the asker of the process. */
void ask_use(struct asker *asker);

/* ask_is_loading(): ask_load() has failed because the kernel is still loading. ask_has_loaded(): that loading has
 * succeeded or failed since. ask_socket(): becomes readable when it may have. */
bool ask_is_loading(void);
bool ask_has_loaded(void);
int ask_socket(void);

/* For tests: sets another program than hdss-helper, and its time limit. */
void ask_set(const char *program, uint64_t limit_ns);
