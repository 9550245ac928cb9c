/* SPDX-License-Identifier: MIT */
/* Loads and describes user kernels in a helper process. The commands of `hdss` and the supermaster only need to know
 * the loop. With this helper they run no user code themselves. Calls of describe() and check() are forwarded to the
 * helper. If the helper crashes or hangs, the caller gets an error line. The helper starts at the first question. It
 * ends at ask_end() or with the asking process. */
#pragma once

#include "common/config/params.h"

#include <stdbool.h>
#include <stdint.h>

/* Like kernel_loader, but calls ask_load() for user kernels that the job wants to be isolated. */
extern const struct kernel_loader asking_loader;

/* Loads the kernel in a helper. If there is no helper program, loads it in this process; fails instead if `must`. The
 * kernel is freed with the asker. Only the kernel that was loaded last may be described and checked. */
int ask_load(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);

int ask_kernel(const char *name, const struct hdss_kernel **kernel, struct error *error);

void ask_end(void);

/* Makes an asker for one of several jobs of a process. Jobs share no answers, because their folders may have different
 * kernels of the same name. `limit_ns`: time limit of each question. If a kernel is not loaded after `patience_ns`,
 * ask_load() fails and the loading continues; call ask_load() again later. Returns NULL if memory runs out. */
struct asker;
struct asker *ask_new(uint64_t limit_ns, uint64_t patience_ns);

void ask_free(struct asker *asker);

void ask_use(struct asker *asker);

/* ask_is_loading() is true if ask_load() has failed because the kernel is still loading. ask_has_loaded() is true after
 * the loading has succeeded or failed. ask_socket() returns a descriptor that becomes readable when the loading may
 * have ended. */
bool ask_is_loading(void);
bool ask_has_loaded(void);
int ask_socket(void);

/* For tests: sets another program instead of hdss-helper, and the time limit of its answers. */
void ask_set(const char *program, uint64_t limit_ns);
