/* SPDX-License-Identifier: MIT */
/* The program hdss: finds and runs the command. */
#include "common/os/files.h"
#include "common/os/objects.h"
#include "common/util/error.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/for_study.h"
#include "deploy/cli/mistakes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int show_help(void)
{
    printf("Usage: hdss COMMAND [ARGUMENT]...\n"
           "\n"
           "Distributes large loops and lists of tasks over all cores of a machine or a\n"
           "cluster, so that all cores finish together.\n"
           "\n"
           "Commands:\n");
    for (const struct command *command = commands; command->name != NULL; command++)
        printf("  %-10s %-10s  %s\n", command->name, command->words, command->summary);
    printf("\n"
           "`hdss help COMMAND` shows the options of a command, `man hdss` the manuals.\n"
           "\n"
           "  -h, --help             show this page\n"
           "  -V, --version          show the version\n"
           "\n"
           "Examples:\n"
           "    hdss exec wc -c ::: *.dat\n"
           "    hdss run python:mine.f --output f.npy\n"
           "    salloc -N 2 --exclusive hdss exec ./fit ::: *.dat\n");
    return commands_end_page("hdss");
}

static int show_version(void)
{
    static const struct options none = {0};
    return show_page("hdss", &none, OPTIONS_VERSION);
}

static bool is_either(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int show_help_of(int argc, char **argv, struct error *error)
{
    static char help[] = "--help";
    char *words[] = {argv[0], help, NULL};
    const struct command *command = argc > 0 ? command_find(argv[0]) : NULL;
    if (command != NULL)
        return command->run(2, words);
    return argc == 0 || is_either(argv[0], "help", "version") ? show_help() : mistakes_refuse_command(1, argv, error);
}

static int run_command(int argc, char **argv, struct error *error)
{
    const struct command *command = command_find(argv[0]);
    if (is_either(argv[0], "--help", "-h") || strcmp(argv[0], "help") == 0)
        return show_help_of(argc - 1, argv + 1, error);
    if (is_either(argv[0], "--version", "-V") || strcmp(argv[0], "version") == 0)
        return show_version();
    if (strcmp(argv[0], "complete") == 0)
        return command_complete(argc, argv);
    if (strcmp(argv[0], "for-study") == 0)
        return command_for_study(argc, argv);
    return command != NULL ? command->run(argc, argv) : mistakes_refuse_command(argc, argv, error);
}

/* Flushes standard output. If that fails, a command that had succeeded fails; a command that had failed has already
 * said why. */
static int end_output(int status)
{
    struct error error;
    errno = 0;
    const bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (is_written || status == EXIT_STATUS_FAILED || status == EXIT_STATUS_USAGE)
        return status;
    error_set(&error, "standard output: cannot write: %s",
              errno != 0 ? strerror(errno) : "an earlier write has failed");
    say_error("hdss", error.text);
    return EXIT_STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct error error;
    file_hold_standard();
    objects_tell_faults();
    if (argc < 2)
        error_set(&error, "no command is given; `hdss --help` shows what there is");
    int status = argc < 2 ? -1 : run_command(argc - 1, argv + 1, &error);
    if (status >= 0)
        return end_output(status);
    say_error("hdss", error.text);
    return EXIT_STATUS_USAGE;
}
