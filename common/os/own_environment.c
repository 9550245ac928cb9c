/* SPDX-License-Identifier: MIT */
/* The own environment: see own_environment.h. */
#include "common/os/own_environment.h"

#include <stdlib.h>
#include <unistd.h>

static char **kept;

void own_environment_keep(char **own)
{
    kept = own;
}

const char *own_environment_get(const char *name)
{
    char **of_job = environ;
    if (kept != NULL)
        environ = kept;
    const char *value = getenv(name);
    environ = of_job;
    return value;
}

const char *own_environment_of_job(const char *name)
{
    return kept != NULL ? getenv(name) : NULL;
}
