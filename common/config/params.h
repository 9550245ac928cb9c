/* SPDX-License-Identifier: MIT */
/* A kernel's parameters: reads and checks their values, and writes values as text. No other module reads the kernel's
 * table. So all ranks and programs reject the same values with the same errors. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_PARAM_TEXT_MAX 64

/* The functions that load kernels and plug-in techniques. Daemons use kernel_loader of worker/kernels/kernels.h; the
 * supermaster, `hdss run` and `hdss simulate` use asking_loader of worker/helper/ask.h. */
struct kernel_loader {
    /* The kernel stays valid until the process ends. */
    int (*load)(const char *name, const struct hdss_kernel **kernel, struct error *error);
    /* Programs call this function before they launch a run. It makes those checks of kernel->check() that create no
     * files and call no user code. */
    int (*look)(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);
    /* Like load(), but another process loads the kernel and describes it, so no user code runs in this process. If the
     * other process cannot load the kernel, ask() fails only if `must` is set. If `ask` is NULL, this process loads
     * kernels itself. */
    int (*ask)(const char *name, bool must, const struct hdss_kernel **kernel, struct error *error);
    /* Loads a plug-in technique, such as "./mine.so:param=value". The member is set on ranks that cut chunks, and in
     * programs that check a job. It is NULL on other ranks, which use technique_elsewhere(). */
    int (*technique)(struct sched_spec *spec, const char *text, struct error *error);
};

unsigned kernel_params_count(const struct hdss_kernel *kernel);

/* Parses `count` words "name=value" into values[0 .. kernel_params_count()), in the order of the table. Missing
 * parameters get their defaults. Text values point into the words. Fails if a word has no '=', if a name is unknown or
 * repeated, or if a value has the wrong kind or is out of range. */
int kernel_params_parse(const struct hdss_kernel *kernel, unsigned count, const char *const *words,
                        union hdss_value *values, struct error *error);

int kernel_check_table(const char *name, const struct hdss_kernel *kernel, struct error *error);

bool kernel_param_is_manner(const struct hdss_kernel *kernel, const struct hdss_param *param);

const char *kernel_param_accepts(const struct hdss_param *param, char *text, size_t size);

/* Returns the value as text; a real number gets the fewest digits that restore it. The result is `text`, or is borrowed
 * from `value`. */
const char *kernel_param_text(const struct hdss_param *param, union hdss_value value, char text[KERNEL_PARAM_TEXT_MAX]);

int kernel_describe(const struct hdss_kernel *kernel, const union hdss_value *values, struct hdss_loop *loop,
                    struct error *error);

/* Calls kernel->grow() and updates `*iterations`. Returns 1 if more iterations may follow, 0 if the loop is complete,
 * or -1 on failure. */
int kernel_grow(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t *iterations,
                struct error *error);

/* Calls kernel->precedence() and closes the set `precedence` (see precedence.h). If the kernel does not have this
 * function, the set is empty. Fails if kernel->precedence() fails, or if iterations wait for each other in a cycle. On
 * failure nothing is owned. */
struct precedence;
int kernel_precedence(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                      struct precedence *precedence, struct error *error);

int kernel_inputs(const struct hdss_kernel *kernel, const union hdss_value *values, uint64_t iterations,
                  uint64_t *digest, struct error *error);

int kernel_check_loop(const struct hdss_kernel *kernel, const struct hdss_loop *loop, struct error *error);
