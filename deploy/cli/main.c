/* hdss: the front end. One command each for looking up what there is, and one for running a job. */
#include "common/config/nearest.h"
#include "common/util/error.h"
#include "deploy/cli/commands.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    const char *words; /* what follows the name */
    const char *summary;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"run", "KERNEL [KEY=VALUE]...", "compose the mpirun line for a job, print it, run it", command_run},
    {"kernels", "[KERNEL]", "the loops that can be run, and their parameters", command_kernels},
    {"techniques", "[NAME]", "the scheduling techniques, and their parameters", command_techniques},
    {"chunks", "SPEC", "the chunks that a technique cuts a loop into", command_chunks},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int show_help(void)
{
    printf("Usage: hdss COMMAND [ARGUMENT]...\n"
           "\n"
           "Runs large loops over all cores of a machine or a cluster, so that all of\n"
           "them finish together, and shows what there is to run them with.\n"
           "\n"
           "Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-10s %-22s %s\n", commands[i].name, commands[i].words, commands[i].summary);
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
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < COMMANDS; i++)
        nearest_offer(&nearest, commands[i].name);
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
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
