/* SPDX-License-Identifier: MIT */
/* Prints --help and --version of all commands, and ends their pages: see commands.h. */
#include "deploy/cli/commands.h"

#include "common/os/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_manual(const char *program)
{
    fputs("\n`man ", stdout);
    for (const char *at = program; *at != '\0'; at++)
        putchar(*at == ' ' ? '-' : *at);
    puts("` has the rest.");
}

int show_page(const char *program, const struct options *options, int result)
{
    if (result == OPTIONS_VERSION) {
        puts("hdss (HDSS) " HDSS_VERSION);
    } else {
        char *text = options_help(options);
        fputs(text != NULL ? text : "out of memory\n", stdout);
        free(text);
        print_manual(program);
    }
    return commands_end_page(program);
}

int commands_end_page(const char *program)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_STATUS_DONE;
    say(stderr, "%s: cannot write: %s", program, strerror(errno));
    return EXIT_STATUS_FAILED;
}
