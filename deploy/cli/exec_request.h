/* SPDX-License-Identifier: MIT */
/* The command line of `hdss exec`, taken apart: see exec.c. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/halt.h"
#include "deploy/cli/sources.h"

#include <stdbool.h>
#include <stdint.h>

/* What is printed of the tasks. */
struct exec_shown {
    const char *tag_text, *joblog, *results;
    bool in_order, tag, line_buffer, quiet, verbose;
    bool bar;   /* the progress, always */
    bool tells; /* the commands */
};

struct exec_request {
    struct argv words;          /* options that go on to `hdss run` */
    char *command;              /* its words joined; empty: each row is a command line; owned */
    const char *file_word;      /* a word of the command that is a file, if no arguments follow; NULL: none */
    struct sources *sources;    /* owned */
    struct sources_options how; /* of the sources */
    struct argv files;          /* of -a */
    struct argv env;
    struct argv spelled;                   /* words of the command line in our spelling */
    const char *argument_mark, *file_mark; /* ::: and :::: */
    const char *place;                     /* -I: what stands for {} in the command; NULL: {} */
    const char *workdir;
    struct exec_shown shown;
    const char *output; /* NULL: what tasks print goes to standard output, or to `device` where that is not NULL */
    const char *device;
    const char *set;                   /* the tasks are a job of this set; NULL: a run of their own */
    const char *cores, *memory, *gpus; /* what a task needs, for the kernel; NULL: not given */
    unsigned workers;                  /* 0: not given */
    unsigned tries;
    int nice;
    uint64_t timeout_ns, delay_ns; /* 0: none */
    struct halt halt;
    const char *shell; /* which lines a shell reads: see worker/kernels/exec/shell.h */
    bool quotes, dry_run;
    bool resumes, again_failed; /* what an earlier run has done is not run again; but for what failed */
    bool reads_input;           /* standard input is a source */
    bool says_halt;             /* --halt is given */
    bool spreads;               /* the arguments are shared out among the workers */
    bool is_one_task;           /* without arguments */
};

/* 0, one of OPTIONS_*, or To be freed by exec_request_fini() in any case. */
int exec_request_read(struct exec_request *request, int argc, char **argv, struct error *error);

/* The same for tasks that are handed to a set and left there. Without sources of arguments the command is one task;
 * with them, they have begun. Options of use to whoever waits for tasks are refused. */
int exec_request_read_for_set(struct exec_request *request, int argc, char **argv, struct error *error);

/* True unless each line goes to a shell as it is. */
bool exec_request_looks_at_lines(const struct exec_request *request);

/* Checks a line of which the words are looked at; one that a shell may read is left to it from what only a shell can
 * do. -1: the error begins with the column. */
int exec_request_check_line(const struct exec_request *request, const char *line, struct error *error);

/* Checks the command, if its words are looked at. */
int exec_request_check_command(const struct exec_request *request, struct error *error);

/* Adds what the kernel `exec` is to know of the tasks, beside where these come from. */
void exec_request_add_parameters(const struct exec_request *request, struct argv *words);
void exec_request_fini(struct exec_request *request);

/* The table, for --help and completions. */
struct options exec_options(void);
