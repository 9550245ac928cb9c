/* SPDX-License-Identifier: MIT */
/* The commands of `hdss`: one table for look-up, help and completion. */
#pragma once

#include "common/config/options.h"

/* What the operands of a command are. */
enum operands {
    OPERANDS_NONE,
    OPERANDS_KERNEL,     /* a kernel and its parameters */
    OPERANDS_TECHNIQUE,  /* a technique, or `auto` */
    OPERANDS_TECHNIQUES, /* techniques with their parameters */
    OPERANDS_FILE,
    OPERANDS_RUNS, /* jobs that are not over */
    OPERANDS_SETS,
    OPERANDS_SESSIONS, /* a set, or a job that is not over */
    OPERANDS_COMMAND,  /* a command line with files */
};

struct grammar {
    struct options options;
    enum operands operands;
};

struct command {
    const char *name;  /* NULL ends the table */
    const char *words; /* words that follow the name */
    const char *summary;
    /* Called with its name as argv[0]; prints its messages and returns an enum exit_status. */
    int (*run)(int argc, char **argv);
    void (*grammar)(struct grammar *grammar); /* NULL for a separate program: see outside.h */
};

extern const struct command commands[];

/* NULL if there is no such command. */
const struct command *command_find(const char *name);

int command_add(int argc, char **argv);
int command_techniques(int argc, char **argv);
int command_kernels(int argc, char **argv);
int command_chunks(int argc, char **argv);
int command_exec(int argc, char **argv);
int command_log(int argc, char **argv);
int command_cancel(int argc, char **argv);
int command_down(int argc, char **argv);
int command_drain(int argc, char **argv);
int command_jobs(int argc, char **argv);
int command_output(int argc, char **argv);
int command_show(int argc, char **argv);
int command_wait(int argc, char **argv);
int command_run(int argc, char **argv);
int command_submit(int argc, char **argv);
int command_up(int argc, char **argv);
int command_join(int argc, char **argv);
int command_pods(int argc, char **argv);
int command_alloc(int argc, char **argv);
int command_simulate(int argc, char **argv);
void add_grammar(struct grammar *grammar);
void techniques_grammar(struct grammar *grammar);
void kernels_grammar(struct grammar *grammar);
void chunks_grammar(struct grammar *grammar);
void exec_grammar(struct grammar *grammar);
void log_grammar(struct grammar *grammar);
void cancel_grammar(struct grammar *grammar);
void down_grammar(struct grammar *grammar);
void drain_grammar(struct grammar *grammar);
void jobs_grammar(struct grammar *grammar);
void output_grammar(struct grammar *grammar);
void show_grammar(struct grammar *grammar);
void wait_grammar(struct grammar *grammar);
void run_grammar(struct grammar *grammar);
void submit_grammar(struct grammar *grammar);
void up_grammar(struct grammar *grammar);
void join_grammar(struct grammar *grammar);
void pods_grammar(struct grammar *grammar);
void alloc_grammar(struct grammar *grammar);
void simulate_grammar(struct grammar *grammar);

/* Runs a command that is a separate program. */
int command_outside(int argc, char **argv);

/* Internal command for shell completions: see complete.c. */
int command_complete(int argc, char **argv);

/* Prints the page for `result`, OPTIONS_HELP or OPTIONS_VERSION. Returns the exit status; errors are named after
 * `program`. */
int show_page(const char *program, const struct options *options, int result);

/* Finishes a page: writes the reference to the manual and flushes. Returns like show_page(). */
int commands_end_page(const char *program);
