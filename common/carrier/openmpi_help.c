/* SPDX-License-Identifier: MIT */
/* Help texts of Open MPI. In version 4 a rank sends each text to mpirun and waits in MPI until mpirun has received it.
 * After the loss of a node, mpirun may not receive texts any more. A rank that has lost its connection to the node,
 * such as the supermaster, would then wait forever.
 *
 * Open MPI prints help texts through a function pointer (opal/util/show_help.h in its sources). This file redirects the
 * pointer. Each text is then printed to standard error once. Texts about connections are dropped: HDSS reports each
 * loss itself. Under `hdss run` mpirun 4 would not print these texts either, because of its options. */
#include "common/carrier/openmpi_help.h"

#include <mpi.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MAX  16
#define TOPIC_MAX 80

typedef int show_help(const char *file, const char *topic, int with_head, ...);
typedef char *render_help(const char *file, const char *topic, bool with_head, va_list values);

static render_help *render;
static char told[TOLD_MAX][TOPIC_MAX];
static unsigned told_count;

static bool is_told(const char *topic)
{
    for (unsigned i = 0; i < told_count; i++)
        if (strncmp(told[i], topic, TOPIC_MAX - 1) == 0)
            return true;
    if (told_count < TOLD_MAX)
        snprintf(told[told_count++], TOPIC_MAX, "%s", topic);
    return false;
}

/* The third parameter is really a bool, but va_start() must not follow a bool parameter in C. So it is declared as int,
 * and only one byte of it is valid. */
static int print_help(const char *file, const char *topic, int with_head, ...)
{
    va_list values;
    if (strcmp(file, "help-mpi-btl-tcp.txt") == 0 || is_told(topic))
        return 0;
    va_start(values, with_head);
    char *text = render(file, topic, (with_head & 0xff) != 0, values);
    va_end(values);
    if (text != NULL)
        fputs(text, stderr);
    free(text);
    return 0;
}

void openmpi_help_print_here(void)
{
    show_help **place = dlsym(RTLD_DEFAULT, "opal_show_help");
    void *found = dlsym(RTLD_DEFAULT, "opal_show_help_vstring");
    /* C has no conversion of object pointers to function pointers, so the bytes are copied. */
    memcpy(&render, &found, sizeof render);
    if (place != NULL && render != NULL)
        *place = print_help;
}

#else

void openmpi_help_print_here(void)
{
}

#endif
