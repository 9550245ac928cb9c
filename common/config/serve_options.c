/* SPDX-License-Identifier: MIT */
/* The options of a set: see serve_options.h. */
#include "common/config/serve_options.h"

#include "common/config/options.h"
#include "common/util/number.h"

#include <stdio.h>
#include <string.h>

#define SERVE_NAME   "main"
#define IDLE_MAX_S   31536000
#define RUN_NAME     "run-"
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

bool serve_is_asked(int argc, char *const *argv)
{
    return argc > 1 && (strcmp(argv[1], "--serve") == 0 || strncmp(argv[1], "--serve=", 8) == 0);
}

bool serve_is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length < SERVE_NAME_MAX && strspn(name, NAME_LETTERS) == length && name[0] != '.' &&
           name[0] != '-' && strncmp(name, RUN_NAME, strlen(RUN_NAME)) != 0;
}

static int take_name(void *target, const char *value, struct error *error)
{
    struct serve_options *options = target;
    (void)error;
    if (value == NULL)
        return 0;
    if (!serve_is_name(value))
        return -1;
    snprintf(options->name, sizeof options->name, "%s", value);
    return 0;
}

static int serve_take_http(void *target, const char *value, struct error *error)
{
    return address_parse(&((struct serve_options *)target)->http, value, error);
}

int serve_parse_listen(const char *value, struct address *address, struct error *error)
{
    *address = (struct address){0};
    return strcmp(value, "local") == 0 ? 0 : address_parse(address, value, error);
}

static int serve_take_listen(void *target, const char *value, struct error *error)
{
    struct serve_options *options = target;
    options->listens = true;
    return serve_parse_listen(value, &options->listen, error);
}

int serve_parse_chunk_time(const char *value, uint64_t *ns)
{
    double seconds;
    if (number_parse_real(value, &seconds) < 0 ||
        !(seconds >= SERVE_CHUNK_TIME_MIN_S && seconds <= SERVE_CHUNK_TIME_MAX_S))
        return -1;
    *ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static int take_chunk_time(void *target, const char *value, struct error *error)
{
    (void)error;
    return serve_parse_chunk_time(value, &((struct serve_options *)target)->chunk_time_ns);
}

static const struct option_row rows[] = {
    {"serve", 0, "[NAME]",
     "up to 40 letters, digits, '.', '_' and '-', of which '.' and '-' are not the first, and not run-..",
     "serve a set of this name: the ranks stay up and take jobs. Must be the first word (default " SERVE_NAME ")",
     take_name},
    {"state", 0, "FOLDER", NULL,
     "keep the queue and the output of jobs in this folder (default $XDG_STATE_HOME/hdss/NAME, or "
     "~/.local/state/hdss/NAME)",
     TAKES_PATH(struct serve_options, state)},
    {"resume", 0, NULL, NULL, "continue the jobs that an earlier set has left",
     TAKES_FLAG(struct serve_options, resumes)},
    {"after-loss", 0, NULL, NULL,
     "with --resume, after the loss of the earlier set: give up a job that was running at three losses, at the last "
     "one alone",
     TAKES_FLAG(struct serve_options, after_loss)},
    {"forget", 0, NULL, NULL, "drop the jobs that an earlier set has left, unless --resume is also given",
     TAKES_FLAG(struct serve_options, forgets)},
    {"jobs-at-once", 0, "N", NULL, "run up to N jobs at once (default 8)",
     TAKES_INTEGER(struct serve_options, at_once, 1, SERVE_MOST)},
    {"max-chunk-time", 0, "SECONDS", SERVE_CHUNK_TIME_TEXT,
     "if other jobs wait for a worker, interrupt its chunk after SECONDS (0.001 to 60 s) and continue the chunk in its "
     "turn (default 0.01)",
     take_chunk_time},
    {"idle-timeout", 0, "SECONDS", NULL, "end the set after SECONDS without a job (default: never)",
     TAKES_SECONDS(struct serve_options, idle_ns, IDLE_MAX_S)},
    {"group-by", 0, "node|even", NULL,
     "node: workers and their master share a node. even: all masters serve about equally many workers (default node)",
     TAKES_CHOICE(struct serve_options, group_even)},
    {"http", 0, "ADDRESS", ADDRESS_ACCEPTED,
     "also answer at a TCP port, but only clients with the set's token. PORT: for this machine. HOST:PORT: also for "
     "other machines, not encrypted (default: no port)",
     serve_take_http},
    {"listen", 0, "ADDRESS", SERVE_LISTEN_TEXT,
     "let pods of more workers join by `hdss join`. local: from this machine. HOST:PORT: also from other machines, "
     "encrypted with the key in the file pods of the folder --state (default: no pods)",
     serve_take_listen},
    {"metrics-file", 0, "FILE", "the name of a file",
     "write figures for Prometheus's textfile collector to this file every 10 s and at the end; its name should end in "
     ".prom (default: none)",
     TAKES_PATH(struct serve_options, metrics_file)},
    {NULL},
};

static const struct options table = {
    .usage = "supermaster --serve[=NAME] [OPTION]...",
    .about = "Keeps masters and workers up as a set, which takes jobs over its control socket.",
    .sections = {{"Options", rows}, {"Help", options_common}},
    .notes = "Launch supermaster beside masters and workers, without a job:\n"
             "    mpirun -n 1 supermaster --serve : -n 4 master : -n 64 worker",
};

int serve_options_parse(struct serve_options *options, int argc, char *const *argv, struct error *error)
{
    *options =
        (struct serve_options){.name = SERVE_NAME, .at_once = SERVE_AT_ONCE, .chunk_time_ns = SERVE_CHUNK_TIME_NS};
    return options_parse(&table, argc, argv, options, NULL, error);
}

char *serve_help_text(void)
{
    return options_help(&table);
}
