/* SPDX-License-Identifier: MIT */
/* Capturing a program's output: see capture.h. */
#include "deploy/cli/capture.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

void capture(char *const *argv, char *text, size_t size)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid;
    size_t length = 0;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int result = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t count = 1; result == 0 && count > 0 && length + 1 < size; length += count > 0 ? (size_t)count : 0)
        count = read(ends[0], text + length, size - 1 - length);
    text[length] = '\0';
    close(ends[0]);
    if (result == 0)
        waitpid(pid, NULL, 0);
}
