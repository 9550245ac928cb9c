/* SPDX-License-Identifier: MIT */
/* hdss as one file: all programs in one static executable, for machines on which nothing is installed. To start another
 * program, it starts itself, with the program's name as the first word. deploy/meson.build renames the main() of each
 * program. */
#include "common/os/modules.h"

#include <stddef.h>
#include <string.h>

int hdss_main(int argc, char **argv);
int supermaster_main(int argc, char **argv);
int master_main(int argc, char **argv);
int worker_main(int argc, char **argv);
int fork_main(int argc, char **argv);
int helper_main(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} programs[] = {
    {DAEMON_PREFIX "supermaster", supermaster_main},
    {DAEMON_PREFIX "master", master_main},
    {DAEMON_PREFIX "worker", worker_main},
    {"hdss-fork", fork_main},
    {"hdss-helper", helper_main},
};

enum { PROGRAMS = sizeof programs / sizeof *programs };

int main(int argc, char **argv)
{
    static const char *names[PROGRAMS + 1];
    for (size_t i = 0; i < PROGRAMS; i++)
        names[i] = programs[i].name;
    one_file_holds(names);
    for (size_t i = 0; i < PROGRAMS && argc > 1; i++)
        if (strcmp(argv[1], names[i]) == 0)
            return programs[i].run(argc - 1, argv + 1);
    return hdss_main(argc, argv);
}
