/* SPDX-License-Identifier: MIT */
/* A kernel's parameters: from the words of a command line to checked values and back to text.
 *
 * Only this module reads the kernel's table, so that all ranks and programs reject the same values with the same
 * messages. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_PARAM_TEXT_MAX 64

/* Source of kernels and plug-in techniques. Daemons use kernel_loader of worker/kernels/kernels.h; the supermaster,
 * `hdss run` and `hdss simulate` use asking_loader of worker/helper/ask.h. */
struct kernel_loader {
    /* Loads a kernel by name. The kernel is valid until the process ends. */
    int (*load)(const char *name, const struct hdss_kernel **kernel, struct error *error);
    /* For use before a launch: makes those checks of kernel->check() that create no files and call no user code, with
     * the same results. */
    int (*look)(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);
    /* Like load(), but another process loads and describes the kernel, and no user code runs in this one. `must`: fails
     * if that process cannot load it. NULL: this process loads kernels. */
    int (*ask)(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);
    /* Loads a plug-in technique, for example "./mine.so:param=value". For ranks that cut chunks and for programs that
     * check a job. NULL on other ranks, which use technique_elsewhere(). */
    int (*technique)(struct sched_spec *spec, const char *text, struct error *error);
};

unsigned kernel_params_count(const struct hdss_kernel *kernel);

/* Parses `count` words "name=value" into values[0 .. kernel_params_count()), in table order; missing parameters get
 * their defaults. Text values point into the words. Fails for a word without '=', an unknown or repeated name, and a
 * value of the wrong kind or out of range. */
int kernel_params_parse(const struct hdss_kernel *kernel, unsigned count, const char *const *words,
                        union hdss_value *values, struct error *error);

/* Checks the table of a loaded kernel; `name` appears in errors. */
int kernel_check_table(const char *name, const struct hdss_kernel *kernel, struct error *error);

/* True if a resumed run may use another value of the parameter: see `manner` in hdss/kernel.h. */
bool kernel_param_is_manner(const struct hdss_kernel *kernel, const struct hdss_param *param);

/* Writes which values are accepted, as in "an integer from 1 to 1048576" or "one of row, column", and returns
 * `text`. */
const char *kernel_param_accepts(const struct hdss_param *param, char *text, size_t size);

/* Returns the value as text, a real with the fewest digits that restore it. The text is in `text`, or belongs to the
 * kernel's table or to the value. */
const char *kernel_param_text(const struct hdss_param *param, union hdss_value value, char text[KERNEL_PARAM_TEXT_MAX]);

/* Calls kernel->describe() with a zeroed loop and checks the result with kernel_check_loop(). */
int kernel_describe(const struct hdss_kernel *kernel, const union hdss_value *values, struct hdss_loop *loop,
                    struct error *error);

/* Calls kernel->grow() and updates `*iterations`. Returns 1 if there may be more, 0 if the loop is complete, or -1. */
int kernel_grow(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t *iterations,
                struct error *error);

/* Calls kernel->precedence(), if any; `precedence` is closed or empty afterwards. Also fails for cycles; then nothing
 * is owned. */
struct precedence;
int kernel_precedence(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                      struct precedence *precedence, struct error *error);

/* Calls kernel->inputs(), which must exist. */
int kernel_inputs(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t iterations,
                  uint64_t *digest, struct error *error);

int kernel_check_loop(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error);
