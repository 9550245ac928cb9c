/* SPDX-License-Identifier: MIT */
/* A kernel's parameters: from the words of a command line to checked values, and back to text.
 *
 * The kernel's own table says what exists, what is accepted and what the default is; this is the one place
 * that reads it, so that every rank and every program refuses the same things with the same words. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_PARAM_TEXT_MAX 64

/* Source of the kernels, and of techniques that are plug-ins. Daemons hand in kernel_loader of
 * worker/kernels/kernels.h, the supermaster, `hdss run` and `hdss simulate` asking_loader of worker/helper/ask.h. */
struct kernel_loader {
    /* The kernel that a command line names. The kernel is borrowed for the rest of the process. -1 with one line. */
    int (*load)(const char *name, const struct hdss_kernel **kernel, struct error *error);
    /* The part of kernel->check() that makes nothing and calls nothing of a user's kernel, for a look before a run is
     * launched. 0, or another value and one line in `error`. */
    int (*look)(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);
    /* As load(), of a kernel that another process loads and describes: nothing of it runs in this one. `must`: it is
     * not loaded here either where there is no other process. NULL where kernels are loaded here. */
    int (*ask)(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);
    /* The technique of `text` where that is a plug-in, "./mine.so:param=value", for ranks that cut chunks and for who
     * looks at a job before they do. -1 with one line. NULL for other ranks, which have technique_elsewhere(). */
    int (*technique)(struct sched_spec *spec, const char *text, struct error *error);
};

/* Parameters in the kernel's table, at most HDSS_PARAMS_MAX. */
unsigned kernel_params_count(const struct hdss_kernel *kernel);

/* Parses `count` words "name=value" into values[0 .. kernel_params_count()), in table order; what no word names
 * gets its default. Values of text point into the words. -1 with one line in `error` for a word without '=', an
 * unknown or repeated name, and a value that is not of its kind or not within its range. */
int kernel_params_parse(const struct hdss_kernel *kernel, unsigned count, const char *const *words,
                        union hdss_value *values, struct error *error);

/* Checks whether the kernel's table is one, for kernels that are loaded: `name` stands in the error. -1 with one
 * line. */
int kernel_check_table(const char *name, const struct hdss_kernel *kernel, struct error *error);

/* True if a run may be resumed with another value of the parameter: see `manner` in hdss/kernel.h. */
bool kernel_param_is_manner(const struct hdss_kernel *kernel, const struct hdss_param *param);

/* Describes the values that one parameter accepts, for people: "an integer from 1 to 1048576", "one of row, column".
 * Returns `text`. */
const char *kernel_param_accepts(const struct hdss_param *param, char *text, size_t size);

/* The effective value as a user would write it. Reals are as short as reading them back exactly allows. Returns a
 * pointer to `text`, to the table, or to the text value itself. */
const char *kernel_param_text(const struct hdss_param *param, union hdss_value value, char text[KERNEL_PARAM_TEXT_MAX]);

/* kernel->describe() with a zeroed loop, and a check that what it says about the output fits together. */
int kernel_describe(const struct hdss_kernel *kernel, const union hdss_value *values, struct hdss_loop *loop,
                    struct error *error);

/* kernel->grow(), of a loop that grows: `*iterations` is what it had, and then what it has. 1: there may be more; 0:
 * these are all; -1 with one line. */
int kernel_grow(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t *iterations,
                struct error *error);

/* kernel->precedence(), of any kernel: `precedence` is closed where some of the loop's iterations wait for others, else
 * it is empty. -1 with one line, also for a circle, and nothing owned. */
struct precedence;
int kernel_precedence(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                      struct precedence *precedence, struct error *error);

/* kernel->inputs(), of a kernel that has it. -1 with one line. */
int kernel_inputs(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t iterations,
                  uint64_t *digest, struct error *error);

/* The check alone, of a loop that the kernel has described. -1 with one line. */
int kernel_check_loop(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error);
