/* SPDX-License-Identifier: MIT */
/* The commands of `hdss`: one table, from which they are found, listed and completed. */
#pragma once

#include "common/config/options.h"

/* The meaning of the words of a command line that are not options. */
enum operands {
    OPERANDS_NONE,
    OPERANDS_KERNEL,     /* a kernel and its parameters */
    OPERANDS_TECHNIQUE,  /* a technique, or `auto` */
    OPERANDS_TECHNIQUES, /* techniques with their parameters */
    OPERANDS_FILE,       /* a file */
    OPERANDS_RUNS,       /* jobs that go on */
    OPERANDS_SETS,       /* sets that are up */
    OPERANDS_SESSIONS,   /* a set that is up, or a job that goes on */
    OPERANDS_COMMAND,    /* a command line: any files */
};

struct grammar {
    struct options options;
    enum operands operands;
};

struct command {
    const char *name;  /* NULL ends the table */
    const char *words; /* words that follow the name */
    const char *summary;
    /* Called with its own name as argv[0]; prints what it has to say, returns the exit status (enum exit_status). */
    int (*run)(int argc, char **argv);
    void (*grammar)(struct grammar *grammar); /* NULL for a program of its own: see outside.h */
};

extern const struct command commands[];

/* NULL where there is none of that name. */
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

/* Runs a command that is a program of its own. */
int command_outside(int argc, char **argv);

/* Requests of the shells, which is no command for people: see complete.c. */
int command_complete(int argc, char **argv);

/* The page that `result`, OPTIONS_HELP or OPTIONS_VERSION, asks for. Returns the exit status; a failure is named after
 * `program`. */
int show_page(const char *program, const struct options *options, int result);

/* Brings to its end what a page has printed. Returns as show_page(). */
int commands_end_page(const char *program);
