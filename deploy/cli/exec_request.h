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
    char *command;         /* owned; empty: each row is a command line */
    const char *file_word; /* if no arguments are given: a word of the command that names a file; NULL: none */
    struct sources *sources;
    struct sources_options how;
    struct argv files;
    struct argv env;
    struct argv spelled; /* owned copies of words whose spelling was changed */
    const char *argument_mark, *file_mark;
    const char *place;
    const char *workdir;
    struct exec_shown shown;
    const char *output; /* results file; NULL: output goes to `device`, or to standard output if `device` is NULL too */
    const char *device;
    const char *set;
    const char *cores, *memory, *gpus;
    unsigned workers;
    unsigned tries;
    int nice;
    uint64_t timeout_ns, delay_ns;
    struct halt halt;
    const char *shell; /* which lines need a shell, and which shell: see worker/kernels/exec/shell.h */
    bool quotes, dry_run;
    /* `resumes`: skip what an earlier run has done; `again_failed`: but repeat failed tasks */
    bool resumes, again_failed;
    bool reads_input;
    bool says_halt;
    bool spreads;
    bool is_one_task;
};

/* Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1; exec_request_fini() must be called in all cases. */
int exec_request_read(struct exec_request *request, int argc, char **argv, struct error *error);

/* Reads the command line of tasks that `hdss submit` hands over to a set. Without sources of arguments the command is
 * one task. With sources, opens them. Refuses options that need `hdss exec` itself to run on, for example because it
 * prints the output of tasks. */
int exec_request_read_for_set(struct exec_request *request, int argc, char **argv, struct error *error);

/* False if a shell gets each line, and HDSS does not parse it. */
bool exec_request_looks_at_lines(const struct exec_request *request);

/* Checks a line that HDSS parses. Of a line for a shell, only the part before the first shell construct is checked. An
 * error begins with the column in the line. */
int exec_request_check_line(const struct exec_request *request, const char *line, struct error *error);

int exec_request_check_command(const struct exec_request *request, struct error *error);

void exec_request_add_parameters(const struct exec_request *request, struct argv *words);
void exec_request_fini(struct exec_request *request);

struct options exec_options(void);
