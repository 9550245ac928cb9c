/* SPDX-License-Identifier: MIT */
/* The parsed command line of `hdss exec`. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/halt.h"
#include "deploy/cli/sources.h"

#include <stdbool.h>
#include <stdint.h>

/* What is printed about tasks. */
struct exec_shown {
    const char *tag_text, *joblog, *results;
    bool in_order, tag, line_buffer, quiet, verbose;
    bool bar;   /* always show the progress */
    bool tells; /* print the commands */
};

struct exec_request {
    struct argv words;     /* options for `hdss run` */
    char *command;         /* command line; empty: each row is one; owned */
    const char *file_word; /* word of the command that names a file, if there are no arguments; NULL: none */
    struct sources *sources;
    struct sources_options how;
    struct argv files;
    struct argv env;
    struct argv spelled;                   /* words of the command line with the option names of HDSS */
    const char *argument_mark, *file_mark; /* ::: and :::: */
    const char *place;                     /* -I: string instead of {} in the command; NULL: {} */
    const char *workdir;
    struct exec_shown shown;
    const char *output; /* NULL: standard output, or `device` unless that is NULL */
    const char *device;
    const char *set;                   /* set that gets the tasks as a job; NULL: a run of their own */
    const char *cores, *memory, *gpus; /* needs of a task, for the kernel; NULL: not given */
    unsigned workers;                  /* 0: not given */
    unsigned tries;
    int nice;
    uint64_t timeout_ns, delay_ns; /* 0: none */
    struct halt halt;
    const char *shell; /* which lines a shell reads: see worker/kernels/exec/shell.h */
    bool quotes, dry_run;
    bool resumes, again_failed; /* skip what an earlier run has done; but repeat what failed */
    bool reads_input;           /* standard input is a source */
    bool says_halt;             /* --halt was given */
    bool spreads;               /* share the arguments among the workers */
    bool is_one_task;           /* without arguments */
};

/* Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1; exec_request_fini() is required in each case. */
int exec_request_read(struct exec_request *request, int argc, char **argv, struct error *error);

/* The same for tasks that are submitted to a set without waiting. Without sources of arguments the command is one task;
 * otherwise the sources are opened. Options about waiting are refused. */
int exec_request_read_for_set(struct exec_request *request, int argc, char **argv, struct error *error);

/* False if each line goes to a shell unchanged. */
bool exec_request_looks_at_lines(const struct exec_request *request);

/* Checks a line that HDSS parses; from the first construct that only a shell can run, a line for a shell is not
 * checked. Errors begin with the column. */
int exec_request_check_line(const struct exec_request *request, const char *line, struct error *error);

/* Checks the command if HDSS parses it. */
int exec_request_check_command(const struct exec_request *request, struct error *error);

/* Adds the parameters of the kernel `exec`, except for the source of the tasks. */
void exec_request_add_parameters(const struct exec_request *request, struct argv *words);
void exec_request_fini(struct exec_request *request);

/* The option table, for --help and completion. */
struct options exec_options(void);
