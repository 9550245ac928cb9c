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
