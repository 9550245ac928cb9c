/* SPDX-License-Identifier: MIT */
/* The table of the commands: see commands.h. */
#include "deploy/cli/commands.h"

#include <stddef.h>
#include <string.h>

const struct command commands[] = {
    {"run", "KERNEL ...", "run a job on this machine or on several hosts", command_run, run_grammar},
    {"exec", "COMMAND ...", "run a command for each of many arguments on all cores", command_exec, exec_grammar},
    {"up", "", "start a set: daemons that stay and take jobs", command_up, up_grammar},
    {"join", "[SET|FILE]", "start workers here that take part in a set", command_join, join_grammar},
    {"alloc", "[SET|FILE]", "print the batch line that starts a pod of a set", command_alloc, alloc_grammar},
    {"pods", "[SET]", "list the launches that take part in a set", command_pods, pods_grammar},
    {"submit", "KERNEL ...", "hand a job to a set", command_submit, submit_grammar},
    {"add", "ID [WORD] ...", "add rows or iterations to an open job", command_add, add_grammar},
    {"jobs", "", "list your runs and jobs here, and how far they are", command_jobs, jobs_grammar},
    {"top", "[SET|ID]", "watch your runs, sets and jobs on the whole screen", command_outside, NULL},
    {"page", "[SET|ID]", "watch a run or set in a browser", command_outside, NULL},
    {"show", "[ID]", "show all that is known of a job", command_show, show_grammar},
    {"wait", "[ID]", "wait for the end of a job", command_wait, wait_grammar},
    {"output", "[ID]", "print the output of a job of a set", command_output, output_grammar},
    {"cancel", "[ID]", "cancel a job", command_cancel, cancel_grammar},
    {"drain", "[SET|POD]", "end a set after its jobs, or make a pod leave it", command_drain, drain_grammar},
    {"down", "[SET]", "end a set", command_down, down_grammar},
    {"simulate", "KERNEL ...", "run a job on a simulated machine of any size", command_simulate, simulate_grammar},
    {"study", "FILE", "run a matrix of jobs, and make tables and pictures", command_outside, NULL},
    {"kernels", "[KERNEL]", "list the loops that can be run, and their parameters", command_kernels, kernels_grammar},
    {"techniques", "[NAME]", "list the scheduling techniques, and their parameters", command_techniques,
     techniques_grammar},
    {"chunks", "SPEC", "print the chunks that a technique cuts a loop into", command_chunks, chunks_grammar},
    {"log", "FILE", "show how tasks ended: failures, runtimes, output", command_log, log_grammar},
    {"report", "FILE ...", "make a page of charts and figures of a run", command_outside, NULL},
    {"explain", "TRACE ...", "tell which worker computed what, when, and why", command_outside, NULL},
    {NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
