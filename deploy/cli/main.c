/* SPDX-License-Identifier: MIT */
/* hdss: the front end. One command each for looking up what there is, and one for running a job. */
#include "common/config/suggest.h"
#include "common/util/error.h"
#include "deploy/cli/commands.h"

#include <stdio.h>
#include <string.h>

static int show_help(void)
{
    printf("Usage: hdss COMMAND [ARGUMENT]...\n"
           "\n"
           "Runs large loops over all cores of a machine or a cluster, so that all of\n"
           "them finish together, and shows what there is to run them with.\n"
           "\n"
           "Commands:\n");
    for (const struct command *command = commands; command->name != NULL; command++)
        printf("  %-10s %-10s  %s\n", command->name, command->words, command->summary);
    printf("\n"
           "`hdss COMMAND --help` shows the options of a command.\n"
           "\n"
           "  -h, --help             show this page\n"
           "  --version              show the version\n"
           "\n"
           "Example: hdss run --masters 2 --workers 4 mandelbrot width=2048 height=2048\n");
    return EXIT_STATUS_DONE;
}

static int unknown_command(const char *name)
{
    struct suggestion nearest;
    suggest_init(&nearest, name);
    for (const struct command *command = commands; command->name != NULL; command++)
        suggest_offer(&nearest, command->name);
    fprintf(stderr, "hdss: unknown command '%s'; ", name);
    if (nearest.name != NULL)
        fprintf(stderr, "did you mean %s?\n", nearest.name);
    else
        fprintf(stderr, "`hdss --help` shows what there is\n");
    return EXIT_STATUS_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("hdss: no command is given; `hdss --help` shows what there is\n", stderr);
        return EXIT_STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("hdss (HDSS) " HDSS_VERSION);
        return EXIT_STATUS_DONE;
    }
    if (strcmp(argv[1], "complete") == 0)
        return command_complete(argc - 1, argv + 1);
    const struct command *command = command_find(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
