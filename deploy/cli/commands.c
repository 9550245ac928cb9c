/* SPDX-License-Identifier: MIT */
/* The table of the commands: see commands.h. */
#include "deploy/cli/commands.h"

#include <stddef.h>
#include <string.h>

const struct command commands[] = {
    {"run", "KERNEL ...", "run a job: compose its mpirun line and launch it", command_run, run_grammar},
    {"exec", "COMMAND ...", "run a command for each of many arguments, all cores at a time", command_exec,
     exec_grammar},
    {"up", "", "start a set: daemons that stay and take jobs", command_up, up_grammar},
    {"join", "[SET|FILE]", "start workers here that take part in a set", command_join, join_grammar},
    {"alloc", "[SET|FILE]", "the batch line that starts a pod of a set", command_alloc, alloc_grammar},
    {"pods", "[SET]", "launches that take part in a set", command_pods, pods_grammar},
    {"submit", "KERNEL ...", "hand a job to a set", command_submit, submit_grammar},
    {"add", "ID [WORD] ...", "add rows or iterations to an open job", command_add, add_grammar},
    {"jobs", "", "your runs and jobs on this machine, and how far they are", command_jobs, jobs_grammar},
    {"top", "[SET|ID]", "your runs, sets and jobs as they go on, on the whole screen", command_outside, NULL},
    {"page", "[SET|ID]", "a run or set as it goes on, in a browser", command_outside, NULL},
    {"show", "[ID]", "all that is known of a job", command_show, show_grammar},
    {"wait", "[ID]", "wait for the end of a job", command_wait, wait_grammar},
    {"output", "[ID]", "what a job of a set has printed", command_output, output_grammar},
    {"cancel", "[ID]", "have a job drain", command_cancel, cancel_grammar},
    {"drain", "[SET|POD]", "have a set end when its jobs are over, or a pod leave it", command_drain, drain_grammar},
    {"down", "[SET]", "end a set", command_down, down_grammar},
    {"simulate", "KERNEL ...", "run a job on a simulated machine of any size", command_simulate, simulate_grammar},
    {"study", "FILE", "run a matrix of jobs, with tables and pictures of it", command_outside, NULL},
    {"kernels", "[KERNEL]", "the loops that can be run, and their parameters", command_kernels, kernels_grammar},
    {"techniques", "[NAME]", "the scheduling techniques, and their parameters", command_techniques, techniques_grammar},
    {"chunks", "SPEC", "the chunks that a technique cuts a loop into", command_chunks, chunks_grammar},
    {"log", "FILE", "what became of tasks: failures, runtimes, their output", command_log, log_grammar},
    {"report", "FILE ...", "a run as a page: who computed what and when, and how well", command_outside, NULL},
    {"explain", "TRACE ...", "who computed what, when, and why there", command_outside, NULL},
    {NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
