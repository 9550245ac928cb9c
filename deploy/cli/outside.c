/* SPDX-License-Identifier: MIT */
/* Runs commands that are separate programs: see outside.h. */
#include "deploy/cli/outside.h"

#include "common/os/modules.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void outside_exec(char *const *argv)
{
    char name[64], folder[PATH_MAX], path[PATH_MAX], own[PATH_MAX];
    struct error error;
    snprintf(name, sizeof name, "hdss-%.50s", argv[0]);
    if (program_folder(folder, &error) < 0 || program_find(folder, name, path, &error) < 0)
        return;
    if (realpath("/proc/self/exe", own) != NULL)
        setenv("HDSS", own, 1);
    execv(path, argv);
}

int command_outside(int argc, char **argv)
{
    char program[64];
    (void)argc;
    outside_exec(argv);
    snprintf(program, sizeof program, "hdss %.50s", argv[0]);
    say_error(program,
              "it takes Python 3.9 or later and the Python package of HDSS; install them (Debian: python3-hdss)");
    return EXIT_STATUS_USAGE;
}
