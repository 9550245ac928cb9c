/* SPDX-License-Identifier: MIT */
/* The help texts of Open MPI. A rank of version 4 sends each to mpirun, and waits inside MPI until mpirun has taken it.
 * One that deals with the loss of a node may take none any more: the rank, which has lost a connection to that node,
 * would hang, and a supermaster with all of its run.
 *
 * How a text is told is a pointer to a function, for the layers above Open MPI's lowest one (opal/util/show_help.h of
 * its sources). Here it leads to standard error, each text once. Those about connections are not told at all: the
 * machines tell of each loss, and mpirun of version 4 prints none of them, as `hdss run` launches it. */
#include "common/carrier/openmpi_help.h"

#include <mpi.h>

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of which it is noted that they were told, by their topics. */
#define TOLD_MAX  16
#define TOPIC_MAX 80

typedef int show_help(const char *file, const char *topic, int with_head, ...);
typedef char *render_help(const char *file, const char *topic, bool with_head, va_list values);

static render_help *render;
static char told[TOLD_MAX][TOPIC_MAX];
static unsigned told_count;

/* False at the first time. */
static bool is_told(const char *topic)
{
    for (unsigned i = 0; i < told_count; i++)
        if (strncmp(told[i], topic, TOPIC_MAX - 1) == 0)
            return true;
    if (told_count < TOLD_MAX)
        snprintf(told[told_count++], TOPIC_MAX, "%s", topic);
    return false;
}

/* The third parameter is a bool, in front of whose `...` C has no va_start(): of the word that it comes in one byte is
 * told. */
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
    memcpy(&render, &found, sizeof render); /* C has no way from an object's address to a function's */
    if (place != NULL && render != NULL)
        *place = print_help;
}

#else

void openmpi_help_print_here(void)
{
}

#endif
