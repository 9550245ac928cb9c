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

struct exec_shown {
    const char *tag_text, *joblog, *results;
    bool in_order, tag, line_buffer, quiet, verbose;
    bool bar;
    bool tells;
};

struct exec_request {
    struct argv words;
    char *command;         /* the command line; empty: each row is a command line; owned */
    const char *file_word; /* a word of the command that names a file, if no arguments are given; NULL: none */
    struct sources *sources;
    struct sources_options how;
    struct argv files;
    struct argv env;
    struct argv spelled; /* copies of words in which another spelling was replaced by the option's name */
    const char *argument_mark, *file_mark; /* the marks before arguments and before files: by default ::: and :::: */
    const char *place;                     /* -I: what stands for {} in the command; NULL: {} */
    const char *workdir;
    struct exec_shown shown;
    const char *output; /* results file; NULL: output goes to `device`, or to standard output if that is NULL too */
    const char *device;
    const char *set; /* name of the set that gets the tasks as a job; NULL: the tasks are a run of their own */
    const char *cores, *memory, *gpus; /* needs of a task, for the kernel; NULL: not given */
    unsigned workers;                  /* 0: not given */
    unsigned tries;
    int nice;
    uint64_t timeout_ns, delay_ns; /* 0: none */
    struct halt halt;
    const char *shell; /* which lines need a shell, and which shell: see worker/kernels/exec/shell.h */
    bool quotes, dry_run;
    bool resumes, again_failed; /* resumes: skip what an earlier run has done; again_failed: but repeat failed tasks */
    bool reads_input;
    bool says_halt;
    bool spreads;     /* share the arguments among the workers */
    bool is_one_task; /* without arguments, the command is one task */
};

/* Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1; exec_request_fini() is required in each case. */
int exec_request_read(struct exec_request *request, int argc, char **argv, struct error *error);

/* The same for tasks that are submitted to a set without waiting. Without sources of arguments the command is one task;
 * otherwise the sources are opened. Options about waiting are refused. */
int exec_request_read_for_set(struct exec_request *request, int argc, char **argv, struct error *error);

/* False if each line goes to a shell without being parsed. */
bool exec_request_looks_at_lines(const struct exec_request *request);

/* Checks a line that HDSS parses. If a line goes to a shell, only the part before the first construct of a shell is
 * checked. Errors begin with the column. */
int exec_request_check_line(const struct exec_request *request, const char *line, struct error *error);

int exec_request_check_command(const struct exec_request *request, struct error *error);

/* Adds the parameters of the kernel `exec`, except for the source of the tasks. */
void exec_request_add_parameters(const struct exec_request *request, struct argv *words);
void exec_request_fini(struct exec_request *request);

struct options exec_options(void);
