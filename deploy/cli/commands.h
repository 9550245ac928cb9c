/* SPDX-License-Identifier: MIT */
/* The commands of `hdss`: one table, by which they are found, described and completed. */
#pragma once

#include "common/config/options.h"

enum operands {
    OPERANDS_NONE,
    OPERANDS_KERNEL,
    OPERANDS_TECHNIQUE,
    OPERANDS_TECHNIQUES,
    OPERANDS_FILE,
    OPERANDS_RUNS,
    OPERANDS_SETS,
    OPERANDS_SESSIONS,
    OPERANDS_COMMAND,
};

struct grammar {
    struct options options;
    enum operands operands;
};

struct command {
    const char *name;
    const char *words;
    const char *summary;
    /* Gets the command's name as argv[0]. Prints error messages itself. Returns an enum exit_status. */
    int (*run)(int argc, char **argv);
    void (*grammar)(struct grammar *grammar); /* NULL: the command is a separate program, see outside.h */
};

extern const struct command commands[];

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

int command_outside(int argc, char **argv);

int command_complete(int argc, char **argv);

/* `result`: OPTIONS_HELP or OPTIONS_VERSION. Returns the exit status. Errors begin with `program`. */
int show_page(const char *program, const struct options *options, int result);

int commands_end_page(const char *program);
