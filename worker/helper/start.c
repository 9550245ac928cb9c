/* SPDX-License-Identifier: MIT */
/* Finds and starts hdss-helper: see start.h. */
#include "worker/helper/start.h"

#include "common/os/modules.h"
#include "common/os/signals.h"
#include "worker/exec/channel.h"
#include "worker/helper/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELPER_NAME "hdss-helper"

int helper_program_init(struct helper_program *program, unsigned words, char *const *word, struct error *error)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct error missing = {""};
    *program = (struct helper_program){.argv = NULL};
    if (program_folder(folder, &missing) < 0 || program_find(folder, HELPER_NAME, path, &missing) < 0)
        return error_set(error, "--isolate: %s", missing.text);
    return helper_program_init_at(program, path, words, word, error);
}

int helper_program_init_at(struct helper_program *program, const char *path, unsigned words, char *const *word,
                           struct error *error)
{
    *program = (struct helper_program){.argv = NULL};
    snprintf(program->path, sizeof program->path, "%s", path);
    const char *own = program_word(HELPER_NAME);
    program->argv = calloc((size_t)words + 3, sizeof *program->argv);
    if (program->argv == NULL || environment_init(&program->environment, environ, false) < 0 ||
        environment_begin(&program->environment, 0) < 0) {
        helper_program_fini(program);
        return error_set(error, "out of memory for the command line of a helper");
    }
    char **argv = program->argv;
    *argv++ = program->path;
    if (own != NULL)
        *argv++ = (char *)(uintptr_t)own;
    memcpy(argv, word, words * sizeof *word);
    return 0;
}

void helper_program_fini(struct helper_program *program)
{
    environment_fini(&program->environment);
    free(program->argv);
    program->argv = NULL;
}

/* Signals get their default action, except those that HDSS turns into errors. Drain signals stay blocked until the
 * helper catches them. In a set the helper leads a process group, so that processes which the kernel has started can be
 * ended, too. A plain run needs no group, because all its processes are ended together. */
static int prepare_process(posix_spawnattr_t *attributes, bool leads_group)
{
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    sigset_t standard, held;
    sigfillset(&standard);
    sigdelset(&standard, SIGPIPE);
    sigdelset(&standard, SIGXFSZ);
    drain_signals_set(&held);
    posix_spawnattr_setsigdefault(attributes, &standard);
    posix_spawnattr_setsigmask(attributes, &held);
    posix_spawnattr_setpgroup(attributes, 0);
    flags |= leads_group ? POSIX_SPAWN_SETPGROUP : 0;
    return posix_spawnattr_setflags(attributes, flags);
}

static pid_t spawn_helper(struct helper_program *program, int file, int bell, char error[HDSS_ERROR_MAX])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = -1;
    /* Each descriptor may already have the number that the other one must get. So both are first copied to higher
     * numbers. */
    int file_copy = fcntl(file, F_DUPFD_CLOEXEC, CHANNEL_BELL + 1),
        bell_copy = fcntl(bell, F_DUPFD_CLOEXEC, CHANNEL_BELL + 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int result = file_copy < 0 || bell_copy < 0 ? errno : 0;
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, file_copy, CHANNEL_FILE);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, bell_copy, CHANNEL_BELL);
    if (result == 0)
        result = prepare_process(&attributes, program->surroundings != NULL);
    if (result == 0)
        result = posix_spawn(&child, program->path, &actions, &attributes, program->argv,
                             environment_vector(&program->environment));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (file_copy >= 0)
        close(file_copy);
    if (bell_copy >= 0)
        close(bell_copy);
    if (result == 0)
        return child;
    snprintf(error, HDSS_ERROR_MAX, "no helper can be started: %s", strerror(result));
    return -1;
}

pid_t helper_program_begin(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    struct helper_program *program = context;
    struct surroundings_before before;
    struct error problem;
    if (program->surroundings == NULL)
        return spawn_helper(program, file, bell, error);
    const pid_t ready = spare_give(program, file, bell);
    if (ready > 0)
        return ready;
    if (surroundings_enter(program->surroundings, &before, &problem) < 0) {
        snprintf(error, HDSS_ERROR_MAX, "no helper can be started: %.200s", problem.text);
        return -1;
    }
    const pid_t child = spawn_helper(program, file, bell, error);
    surroundings_leave(&before);
    return child;
}
