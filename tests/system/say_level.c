/* SPDX-License-Identifier: MIT */
/* Loaded before a rank: appends the program and the level of threads that it asks MPI for to the file LEVELS. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *name_of(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE: return "single";
    case MPI_THREAD_FUNNELED: return "funneled";
    case MPI_THREAD_SERIALIZED: return "serialized";
    default: return "multiple";
    }
}

int MPI_Init_thread(int *argc, char ***argv, int asked, int *provided)
{
    char line[256];
    const char *path = getenv("LEVELS");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    int length = snprintf(line, sizeof line, "%s %s\n", program_invocation_short_name, name_of(asked));
    if (file < 0 || write(file, line, (size_t)length) != length)
        abort();
    close(file);
    return PMPI_Init_thread(argc, argv, asked, provided);
}
