/* SPDX-License-Identifier: MIT */
/* A kernel's description of itself and its loop as one word of a command line. Ranks that do not run the kernel receive
 * this word with the job and need not load user code. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* A kernel and its loop, read from a description. Each function of this kernel only returns an error. */
struct description {
    struct hdss_kernel kernel;
    struct hdss_loop loop;
    char *texts; /* owned; the strings of `kernel` and `loop` point into it */
};

/* Returns the description as a word. Equal kernels with equal loops give equal words. The caller frees the word. */
char *description_text(const struct hdss_kernel *kernel, const struct hdss_loop *loop);

/* Reads a word and makes the same checks as for a loaded kernel that has described its loop. If it fails, nothing is
 * owned. */
int description_read(struct description *description, const char *text, struct error *error);
void description_fini(struct description *description);

/* Returns true if the word describes this kernel and loop. If the loop grows, its length and its digest of inputs are
 * not compared. */
bool description_matches(const char *text, const struct hdss_kernel *kernel, const struct hdss_loop *loop);

struct kernel_table {
    struct hdss_kernel kernel;
    struct hdss_param params[HDSS_PARAMS_MAX + 1];
    char *texts; /* owned */
};

/* Returns the kernel's table as one word. For each function of the table, the word contains only whether the kernel has
 * this function. The caller frees the word. */
char *kernel_table_text(const struct hdss_kernel *kernel);

/* Reads a word into `table`, which must not be moved afterwards. Makes the same checks as for the table of a loaded
 * kernel. Errors contain the name `name`. If the function fails, nothing is owned. */
int kernel_table_read(struct kernel_table *table, const char *name, const char *text, struct error *error);
void kernel_table_fini(struct kernel_table *table);
