/* SPDX-License-Identifier: MIT */
/* The process's own environment: see own_environment.h. */
#include "common/os/own_environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **kept;

void own_environment_keep(char **own)
{
    kept = own;
}

const char *own_environment_get(const char *name)
{
    const size_t length = strlen(name);
    for (char **variable = kept != NULL ? kept : environ; variable != NULL && *variable != NULL; variable++)
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
            return *variable + length + 1;
    return NULL;
}

const char *own_environment_of_job(const char *name)
{
    return kept != NULL ? getenv(name) : NULL;
}
