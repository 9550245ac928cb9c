/* SPDX-License-Identifier: MIT */
/* The launch of this process: see launched.h. */
#include "common/os/launched.h"

#include "common/os/own_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool launched_by_mpi(const char *variable(const char *name))
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (variable(names[i]) != NULL)
            return true;
    return false;
}

static const char *present_variable(const char *name)
{
    return getenv(name);
}

bool launched_as_rank(void)
{
    return launched_by_mpi(present_variable) || launched_without_mpi();
}

bool launched_to_be_bound(void)
{
    return launched_by_mpi(own_environment_get);
}

bool launched_beside_others(void)
{
    const char *programs = getenv("OMPI_NUM_APP_CTX");
    return programs != NULL && atoi(programs) > 1;
}

static bool is_program(const char *word)
{
    const char *slash = strrchr(word, '/'), *name = slash != NULL ? slash + 1 : word;
    return strcmp(name, "supermaster") == 0 || strcmp(name, "master") == 0 || strcmp(name, "worker") == 0;
}

static bool sets_count(const char *word)
{
    return strcmp(word, "-n") == 0 || strcmp(word, "-np") == 0 || strcmp(word, "-c") == 0 || strcmp(word, "--n") == 0 ||
           strcmp(word, "--np") == 0;
}

bool launched_line_has_none(const char *line, size_t size)
{
    const char *word = "", *before = "";
    bool is_none = false, is_of_launcher = true;
    for (size_t i = 0; i < size; i += strlen(word) + 1, before = word) {
        word = line + i;
        if (strcmp(word, ":") == 0) {
            is_none = false;
            is_of_launcher = true;
        } else if (is_of_launcher && is_program(word)) {
            if (is_none)
                return true;
            is_of_launcher = false;
        } else if (is_of_launcher && sets_count(before))
            is_none = strcmp(word, "0") == 0;
    }
    return false;
}

bool launched_with_none(void)
{
    char path[64], line[16384];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)getppid());
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[size] = '\0';
    return launched_line_has_none(line, size);
}

bool launched_without_mpi(void)
{
    return getenv(LAUNCHED_WITHOUT_MPI) != NULL;
}

static const struct {
    const char *all, *here;
} sizes[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_SIZE", "MPI_LOCALNRANKS"},
};

bool launched_on_one_node(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *all = getenv(sizes[i].all), *here = getenv(sizes[i].here);
        if (all != NULL && here != NULL)
            return strcmp(all, here) == 0;
    }
    return false;
}

static bool joinable;

void launched_note_joinable(void)
{
    joinable = true;
}

bool launched_is_joinable(void)
{
    return joinable;
}
