/* SPDX-License-Identifier: MIT */
/* A kernel's description of itself and of its loop as one word of a command line: ranks that do not run it take the
 * word from the job, and load nothing of a user's. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* A kernel that can be asked about, and not run: each of its functions fails. */
struct description {
    struct hdss_kernel kernel;
    struct hdss_loop loop; /* without its note */
    char *texts;           /* owned: what the texts of both point into */
};

/* The word. The same kernel and loop make the same word. The caller frees it; NULL when memory is out. */
char *description_text(const struct hdss_kernel *kernel, const struct hdss_loop *loop);

/* Reads a word, and checks it as what a kernel describes is checked. -1 with one line, nothing owned. */
int description_read(struct description *description, const char *text, struct error *error);
void description_fini(struct description *description);

/* True if the word is that of the kernel and loop, also where the loop has grown between the two: then its inputs are
 * not compared. */
bool description_matches(const char *text, const struct hdss_kernel *kernel, const struct hdss_loop *loop);

/* A kernel's table without its functions, as another process has it: each function fails. */
struct kernel_table {
    struct hdss_kernel kernel;
    struct hdss_param params[HDSS_PARAMS_MAX + 1];
    char *texts; /* owned: what the texts of both point into */
};

/* The table as a word, which has all but what the functions do. The caller frees it; NULL when memory is out. */
char *kernel_table_text(const struct hdss_kernel *kernel);

/* Reads a word into a table that stays where it is, and checks it as a loaded kernel's is checked. `name` stands in the
 * error. -1 with one line, nothing owned. */
int kernel_table_read(struct kernel_table *table, const char *name, const char *text, struct error *error);
void kernel_table_fini(struct kernel_table *table);
