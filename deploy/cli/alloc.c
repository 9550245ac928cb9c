/* SPDX-License-Identifier: MIT */
/* hdss alloc: prints a command line, which the user submits to a batch system. The batch job then starts a pod of a
 * set. */
#include "common/os/modules.h"
#include "common/stream/ticket.h"
#include "common/util/text.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/mistakes.h"
#include "deploy/cli/pods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NODES_MAX 100000

static const char program[] = "hdss alloc";

enum batch { BATCH_SLURM, BATCH_PBS, BATCH_LSF };

struct alloc_request {
    const char *set;
    unsigned nodes;
    uint64_t seconds;
    int batch;
};

static int take_time(void *target, const char *value, struct error *error)
{
    (void)error;
    return duration_parse_some(value, &((struct alloc_request *)target)->seconds);
}

static const struct option_row alloc_rows[] = {
    {"nodes", 'N', "N", NULL, "ask for N whole nodes (default 1)",
     TAKES_INTEGER(struct alloc_request, nodes, 1, NODES_MAX)},
    {"time", 't', "TIME", DURATION_ACCEPTED, "ask for TIME (default 1h)", take_time},
    {"batch", 0, "slurm|pbs|lsf", NULL, "print the line for this batch system (default slurm)",
     TAKES_CHOICE(struct alloc_request, batch)},
    {NULL},
};

static const struct options alloc_options = {
    .usage = "hdss alloc [OPTION]... [SET|FILE|HOST:PORT]",
    .about = "Prints the command that makes a batch system start a pod of a set on some nodes, and submits nothing.",
    .sections = {{"Options", alloc_rows}, {"Help", options_common}},
    .notes = "Other nodes must be able to reach the set (`hdss up --listen HOST:PORT`) and its folder. If munge runs, "
             "HOST:PORT needs no folder.\n"
             "Example:\n"
             "    eval \"$(hdss alloc --nodes 4 --time 2h)\"",
};

void alloc_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){alloc_options, OPERANDS_SETS};
}

static int alloc_take_operand(void *target, const char *word, struct error *error)
{
    struct alloc_request *request = target;
    if (request->set != NULL)
        return error_set(error, "unexpected word '%.100s': one set is joined", word);
    request->set = word;
    return 0;
}

static char *command_of_pod(const char *hdss, const char *ticket)
{
    struct text text;
    text_init(&text);
    text_add(&text, "exec ");
    text_add_quoted(&text, hdss);
    text_add(&text, " join --wait 10m ");
    text_add_quoted(&text, ticket);
    return text_take(&text);
}

static uint64_t minutes(uint64_t seconds)
{
    return (seconds + 59) / 60;
}

static void add_line(struct text *line, const struct alloc_request *request, const char *command)
{
    const uint64_t seconds = request->seconds;
    switch ((enum batch)request->batch) {
    case BATCH_SLURM:
        text_add(line, "sbatch --job-name=hdss-pod --nodes=%u --exclusive --time=%" PRIu64 " --wrap=", request->nodes,
                 minutes(seconds));
        text_add_quoted(line, command);
        break;
    case BATCH_PBS:
        text_add(line, "echo ");
        text_add_quoted(line, command);
        text_add(line,
                 " | qsub -N hdss-pod -l select=%u -l place=excl -l walltime=%" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                 request->nodes, seconds / 3600, seconds / 60 % 60, seconds % 60);
        break;
    case BATCH_LSF:
        text_add(line, "bsub -J hdss-pod -nnodes %u -W %" PRIu64 " ", request->nodes, minutes(seconds));
        text_add_quoted(line, command);
        break;
    }
    text_add(line, "\n");
}

/* Fails if `path` is the ticket or socket of a set without a TCP port, because other nodes cannot join that set. */
static int check_reach(const char *path, struct error *error)
{
    struct ticket ticket;
    struct stat status;
    const bool is_socket = stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
    if (path[0] != '/')
        return 0;
    if (!is_socket && ticket_read(&ticket, path, error) < 0)
        return -1;
    for (size_t i = 0; !is_socket && i < ticket.count; i++)
        if (stream_address_is_tcp(&ticket.addresses[i]))
            return 0;
    return error_set(error,
                     "%.300s leads to a socket of this machine, which no other node can reach; accepted: a set that "
                     "was started with --listen HOST:PORT",
                     path);
}

static int print_line(const struct alloc_request *request, struct error *error)
{
    char ticket[PATH_MAX], folder[PATH_MAX], hdss[PATH_MAX];
    struct text line;
    if (pods_find_ticket(request->set, ticket, error) < 0 || check_reach(ticket, error) < 0 ||
        program_folder(folder, error) < 0 || program_find(folder, "hdss", hdss, error) < 0)
        return EXIT_STATUS_USAGE;
    char *command = command_of_pod(hdss, ticket);
    if (command == NULL) {
        error_set(error, "out of memory");
        return EXIT_STATUS_FAILED;
    }
    text_init(&line);
    add_line(&line, request, command);
    free(command);
    char *text = text_take(&line);
    if (text != NULL)
        fputs(text, stdout);
    free(text);
    return commands_end_page(program);
}

int command_alloc(int argc, char **argv)
{
    struct alloc_request request = {.nodes = 1, .seconds = 3600};
    struct error error = {0};
    int status = EXIT_STATUS_USAGE;
    const int result = options_parse(&alloc_options, argc, argv, &request, alloc_take_operand, &error);
    if (result > 0)
        status = show_page(program, &alloc_options, result);
    else if (result == 0)
        status = print_line(&request, &error);
    else
        mistakes_explain(&alloc_options, argc, argv, &error);
    if (error.text[0] != '\0')
        say_error(program, error.text);
    return status;
}
