/* SPDX-License-Identifier: MIT */
/* A kernel's description of itself and its loop as one word of a command line. Ranks that do not run the kernel receive
 * this word with the job and need not load user code. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* All functions of the kernel fail. */
struct description {
    struct hdss_kernel kernel;
    struct hdss_loop loop;
    char *texts; /* owned; the strings of both members point into it */
};

/* Returns the word, which is equal for equal kernels and loops. The caller frees it. */
char *description_text(const struct hdss_kernel *kernel, const struct hdss_loop *loop);

/* Checks the word as if the kernel had just described its loop. On failure nothing is owned. */
int description_read(struct description *description, const char *text, struct error *error);
void description_fini(struct description *description);

/* True if the word describes this kernel and loop. If the loop grows, its length and inputs are not compared. */
bool description_matches(const char *text, const struct hdss_kernel *kernel, const struct hdss_loop *loop);

struct kernel_table {
    struct hdss_kernel kernel;
    struct hdss_param params[HDSS_PARAMS_MAX + 1];
    char *texts; /* owned */
};

/* The word does not say what the functions do, only which of them exist. The caller frees it. */
char *kernel_table_text(const struct hdss_kernel *kernel);

/* Reads a word into `table`, which must not be moved afterwards, and checks it like the table of a loaded kernel.
 * `name` names the kernel in errors. On failure nothing is owned. */
int kernel_table_read(struct kernel_table *table, const char *name, const char *text, struct error *error);
void kernel_table_fini(struct kernel_table *table);
